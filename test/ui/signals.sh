#!/bin/sh
# SPDX-License-Identifier: MIT
# However the program ends or stops, the terminal is given back as it was, and
# no process stays behind.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

view="$ncclstat --synthetic 8x4"

# Runs the view as the child of a shell that records the modes of the terminal
# before and after.
open_in_shell() {
	rm -f "$tmp/before" "$tmp/after"
	cat >"$tmp/child.sh" <<-END
		stty -a >"$tmp/before"
		sh -c 'echo \$\$ >"$tmp/pid"; exec $view'
		echo "ended with \$?"
		stty -a >"$tmp/after"
		exec cat
	END
	open 80x24 "exec sh $tmp/child.sh"
	started
}

# is_given_back STATUS: succeeds if the view has ended with this status and the
# terminal is as it was before.
is_given_back() {
	sees "^ended with $1" && soon test -s "$tmp/after" &&
		cmp -s "$tmp/before" "$tmp/after" && hides 'LIVE\|SLOW' &&
		[ "$(terminal display-message -p -t ui '#{alternate_on}')" = 0 ] &&
		[ "$(terminal display-message -p -t ui '#{cursor_flag}')" = 1 ]
}

for signal in TERM INT HUP QUIT; do
	open_in_shell
	kill -s "$signal" "$pid"
	is_given_back 0
	verdict "$signal: the terminal is given back" $?
done

# The program dies of these signals, and its parent must see that; but the
# program restores the terminal first.
for signal in SEGV=11 ABRT=6 BUS=7; do
	open_in_shell
	kill -s "${signal%=*}" "$pid"
	is_given_back $((128 + ${signal#*=}))
	verdict "${signal%=*}: the terminal is given back" $?
done

state_is() {
	grep -q "^State:.$2" "/proc/$1/status" 2>/dev/null
}

# After a change of size while it is stopped, only a program that has continued
# can draw this screen.
open_in_shell
kill -s STOP "$pid"
soon state_is "$pid" T
resize 61 12
kill -s CONT "$pid"
soon hides 'int 1.00s' && sees 'LIVE\|SLOW' && alive "$pid"
verdict 'STOP and CONT: the screen is painted again' $?

# Ctrl-Z in a shell with job control gives the terminal back; fg takes it again.
cat >"$tmp/jobs.sh" <<-END
	set -m
	stty -a >"$tmp/before"
	$view
	stty -a >"$tmp/after"
	fg
	echo "ended with \$?"
	exec cat
END
if command -v bash >/dev/null; then
	rm -f "$tmp/before" "$tmp/after"
	open 80x24 "exec bash $tmp/jobs.sh 2>/dev/tty"
	started
	press C-z
	soon test -s "$tmp/after" && cmp -s "$tmp/before" "$tmp/after" &&
		sees ' LIVE \| SLOW ' && press q && sees '^ended with 0'
	verdict 'Ctrl-Z and fg' $?
fi

# Once the terminal is closed, the program must end.
for trap in '' 'trap "" HUP; '; do
	open 80x24 "${trap}exec $view"
	started && {
		terminal kill-server
		soon gone "$pid"
	}
	left=$?
	verdict "a closed terminal ends it${trap:+, also if HUP is ignored}" \
		"$left"
	[ "$left" -eq 0 ] || kill -s KILL "$pid" 2>/dev/null
done

# A terminal that takes no output (Ctrl-S) must not block signals.
open 80x24 "exec $view"
started
press C-s
sleep 1
kill -s TERM "$pid"
ended 0
verdict 'TERM ends it while output is stopped' $?

# Segments that cannot be read are no job that could be judged.
mkdir "$tmp/damaged"
echo damaged >"$tmp/damaged/ncclstat.1.1.0"
open 80x24 "NCCLSTAT_DIR=$tmp/damaged exec $ncclstat"
sees 'NO VERDICT 1 segment cannot be read' && press q && ended 4 &&
	grep -q 'no segment could be read' "$tmp/stderr"
verdict 'a view of nothing but unreadable segments ends with 4' $?
mkdir "$tmp/empty"
open 80x24 "NCCLSTAT_DIR=$tmp/empty exec $ncclstat"
started && press q && ended 0
verdict 'a view without a job ends with 0' $?
finish
