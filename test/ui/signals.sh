#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever ends or stops the program, the terminal is given back as it was, and
# nothing stays behind.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

view="$ncclstat --synthetic 8x4"

# A shell that runs the view as its child and notes how it finds the terminal
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

# The view is gone, and with it what it had done to the terminal.
is_given_back() {
	sees "^ended with $1" && soon test -s "$tmp/after" &&
		cmp -s "$tmp/before" "$tmp/after" && hides 'LIVE' &&
		[ "$(terminal display-message -p -t ui '#{alternate_on}')" = 0 ] &&
		[ "$(terminal display-message -p -t ui '#{cursor_flag}')" = 1 ]
}

for signal in TERM INT HUP QUIT; do
	open_in_shell
	kill -s "$signal" "$pid"
	is_given_back 0
	verdict "$signal: the terminal is given back" $?
done

# It dies of these, as its parent must see, but not on a spoilt terminal.
for signal in SEGV=11 ABRT=6 BUS=7; do
	open_in_shell
	kill -s "${signal%=*}" "$pid"
	is_given_back $((128 + ${signal#*=}))
	verdict "${signal%=*}: the terminal is given back" $?
done

state_is() {
	grep -q "^State:.$2" "/proc/$1/status" 2>/dev/null
}

# A size that only a program which runs again can have drawn.
open_in_shell
kill -s STOP "$pid"
soon state_is "$pid" T
resize 61 12
kill -s CONT "$pid"
soon hides 'int 1.00s' && sees 'LIVE' && alive "$pid"
verdict 'STOP and CONT: it is painted again' $?

# Ctrl-Z in a shell with job control, which finds the terminal as it was, and
# back.
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
		sees ' LIVE ' && press q && sees '^ended with 0'
	verdict 'Ctrl-Z and fg' $?
fi

# The terminal is closed: whatever runs in it has nobody left to show it to.
for trap in '' 'trap "" HUP; '; do
	open 80x24 "${trap}exec $view"
	started
	terminal kill-server
	soon gone "$pid"
	verdict "a closed terminal ends it${trap:+, also when HUP is ignored}" $?
	kill -s KILL "$pid" 2>/dev/null
done

# A terminal that takes nothing (Ctrl-S) must not make it deaf.
open 80x24 "exec $view"
started
press C-s
sleep 1
kill -s TERM "$pid"
ended 0
verdict 'TERM is heard while the terminal is stopped' $?
finish
