#!/bin/sh
# SPDX-License-Identifier: MIT
# The demonstration shows a running job, and leaves nothing behind however it
# ends.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

folders() {
	find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ncclstat-demo.*' \
		2>/dev/null | sort
}

# left: succeeds if a process of the demonstration's session is left.
left() {
	ps -o pid= -s "$session" 2>/dev/null | grep -q .
}

nothing_left() {
	! left && [ "$(folders)" = "$before" ]
}

start_demo() {
	open 80x24 "exec env BUILD=$build setsid -c sh test/demo.sh"
	sees ' LIVE ' && sees '^   *7 .* alive' && read -r session <"$tmp/pid"
}

before=$(folders)

start_demo && left && press q && ended 0 && soon nothing_left
verdict 'q ends it' $?

for signal in TERM HUP; do
	start_demo && kill -s "$signal" "$session" && soon nothing_left
	verdict "$signal ends it" $?
done

start_demo && press C-c && soon nothing_left
verdict 'Ctrl-C ends it' $?

start_demo && terminal kill-server && soon nothing_left
verdict 'a closed terminal ends it' $?

# Before it, make says in one line how far it is, and all that is wrong.
cat >"$tmp/make" <<-'END'
	#!/bin/sh
	for step in one two three; do
		case $* in
		*-n*) echo "printf '  %-7s %s\n' CC $step; cc $step" ;;
		*) echo "  CC      $step" ;;
		esac
	done
	[ "$2" = -n ] || echo "$step.c: a warning" >&2
	exit "$1"
END
chmod +x "$tmp/make"
open 80x24 "exec sh test/progress.sh $tmp/make 0"
sees '^building: 3 of 3' && sees '^three.c: a warning' && hides CC && ended 0
verdict 'the build takes one line' $?
open 80x24 "exec sh test/progress.sh $tmp/make 2"
sees '^three.c: a warning' && ended 1
verdict 'a build that fails is told' $?

# The demonstration also runs without a terminal.
setsid -w sh test/demo.sh </dev/null >"$tmp/dump" 2>"$tmp/errors" &
session=$!
wait "$session"
[ $? -eq 0 ] && [ ! -s "$tmp/errors" ] && grep -q '^ *7 .* alive' "$tmp/dump" &&
	soon nothing_left
verdict 'without a terminal it prints a dump' $?
finish
