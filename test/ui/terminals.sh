#!/bin/sh
# SPDX-License-Identifier: MIT
# Terminals of many kinds: the view uses only what they can do, and where no
# view is possible there is a dump.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

view="$ncclstat --synthetic 8x4"
escape=$(printf '\033')

# raw_is_complete: succeeds if the recorded output has stopped growing.
raw_is_complete() {
	size=$(wc -c <"$tmp/raw")
	sleep 0.1
	[ "$size" -gt 0 ] && [ "$size" -eq "$(wc -c <"$tmp/raw")" ]
}

# record COMMAND: runs it in a terminal, shows a few screens, and records all of
# its output in $tmp/raw.
record() {
	rm -f "$tmp/raw" "$tmp/go"
	open 80x24 "until [ -e $tmp/go ]; do sleep 0.02; done; exec $1"
	terminal pipe-pane -t ui "exec cat >$tmp/raw"
		: >"$tmp/go"
	started || return 1
	view channels
	sees '\[.:Chan' || return 1
	view proxy
	sees '\[.:Proxy' || return 1
	press '?'
	sees 'help on Proxy' || return 1
	press q q
	ended 0 && soon raw_is_complete
}

# The codes 3x, 4x and 9x set colours; 38 and 48 are among them.
has_color() {
	grep -q "$escape\[\([0-9;]*;\)*[349][0-7]\(;[0-9;]*\)*m" "$tmp/raw"
}

has_other_than_ascii() {
	LC_ALL=C grep -q '[^[:print:][:cntrl:]]' "$tmp/raw"
}

record "$view" && has_color && has_other_than_ascii
verdict 'colours and line characters, if the terminal has them' $?

record "env NO_COLOR=1 $view" && ! has_color
verdict 'NO_COLOR: no colours' $?

record "env NO_COLOR=1 $view --color always" && has_color
verdict '--color always overrides NO_COLOR' $?

record "$view --color never" && ! has_color
verdict '--color never' $?

record "env LC_ALL=C $view" && ! has_other_than_ascii
verdict 'LC_ALL=C: ASCII only' $?

record "$view --ascii" && ! has_other_than_ascii
verdict '--ascii: ASCII only' $?

for type in vt100 linux xterm; do
	record "env TERM=$type $view"
	verdict "TERM=$type" $?
done

dumps() {
	open 80x24 "exec $1"
	ended 0 && hides '\[.:Ranks\]' &&
		terminal capture-pane -p -S - -t ui | grep -q 'RANK'
}

for type in dumb no-such-terminal ''; do
	dumps "env TERM=$type $view"
	verdict "TERM=$type: a dump" $?
done

# If nothing changes, nothing is written; what keys changed may come late.
writes_nothing() {
	terminal pipe-pane -t ui
	rm -f "$tmp/raw"
	terminal pipe-pane -t ui "exec cat >$tmp/raw"
	soon test -e "$tmp/raw" && sleep "$1" && [ ! -s "$tmp/raw" ]
}
open 80x24 "exec $view"
started
press '#' Z
sees 'PAUSED'
press Down Up
soon hides 'paused:'
for _ in 1 2 3 4 5 6 7 8; do
	! writes_nothing 1 || break
done
writes_nothing 2.5
verdict 'nothing is written while nothing changes' $?

# --keys reads keys from a file and can save the screen to another.
cat >"$tmp/keys" <<-END
	$(key_of channels)
	T
	wait 0.2
	save $tmp/saved
	q
END
open 80x24 "exec $view --keys $tmp/keys"
ended 0 && grep -q '\[.:Chan\(nels\)\?\]' "$tmp/saved" &&
	[ "$(wc -l <"$tmp/saved")" -eq 24 ]
verdict '--keys plays keys and saves the screen' $?

open 80x24 "exec $view --count 2 --interval 0.1"
ended 0
verdict '--count ends it' $?
finish
