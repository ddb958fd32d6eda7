#!/bin/sh
# SPDX-License-Identifier: MIT
# The mouse: ignored unless it is turned on, and given back to the terminal
# however the program ends or stops.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

# mouse_is 0|1: succeeds if the terminal reports the mouse (1) or does not (0).
mouse_is() {
	[ "$(terminal display-message -p -t ui '#{mouse_any_flag}')" = "$1" ]
}

# mouse BUTTON COLUMN ROW [m]: sends a report. Button 0 is the left one, 64 and
# 65 are the wheel, 66 is a sideways wheel; m is a release. Places begin with 0.
mouse() {
	# Send it in one piece: Escape alone is a key.
	# shellcheck disable=SC2046
	press -H 1b $(printf '[<%d;%d;%d%s' "$1" $(($2 + 1)) $(($3 + 1)) \
		"${4:-M}" | od -An -tx1)
}

# mouse_bytes BUTTON COLUMN ROW: sends the report of a terminal that has no
# decimal reports.
mouse_bytes() {
	press -H 1b 5b 4d "$(printf %x $(($1 + 32)))" \
		"$(printf %x $(($2 + 33)))" "$(printf %x $(($3 + 33)))"
}

# row_of TEXT, column_of TEXT: print the place of a text on the screen.
row_of() {
	screen | awk -v text="$1" 'index($0, text) { print NR - 1; exit }'
}

column_of() {
	screen | awk -v text="$1" 'index($0, text) {
		print index($0, text) - 1; exit }'
}

# Presses and releases the left button.
click() {
	mouse 0 "$1" "$2"
	mouse 0 "$1" "$2" m
}

# rank_at ROW: prints the rank in this row of the table.
rank_at() {
	screen | sed -n "$(($1 + 1))s/^[^0-9]*\([0-9]*\) .*/\1/p"
}

click_on() {
	click "$(column_of "$1")" "$(row_of "$1")"
}

view="$ncclstat --synthetic 8x4 --ascii"
open 80x24 "exec $view"
started
mouse_is 0
verdict 'the mouse is off at first' $?
press m
sees 'mouse: on' && soon mouse_is 1
verdict 'm turns it on' $?
click_on ':Chan'
sees '\[.:Chan'
verdict 'a click on a tab shows its view' $?
click_on 'SINCE'
sees 'order: by SINCE, largest first'
verdict 'a click on a title sorts' $?
# Paused, rows keep their order.
view ranks && press p
sees '\[.:Ranks\]' && sees 'RANK' && sees ' PAUSED '
row=$(($(row_of 'RANK') + 4))
clicked=$(rank_at "$row")
below=$(rank_at $((row + 3)))
[ "$clicked" != "$below" ]
verdict 'rows that the mouse moves between differ' $?
click 10 "$row"
sees "^rank $clicked of"
verdict 'a click selects a row' $?
mouse 65 10 10
sees "^rank $below of"
verdict 'the wheel scrolls' $?
mouse 66 10 10
mouse 35 10 10
mouse_bytes 64 10 10
mouse_bytes 3 10 10
sees "^rank $clicked of"
verdict 'other buttons are ignored, reports as bytes are understood' $?
click_on '1Help'
sees '^ncclstat: help on Ranks'
verdict 'a click on the function bar has the effect of the key' $?
press q m
sees 'mouse: off' && soon mouse_is 0
verdict 'm turns it off' $?

open 80x24 "exec $view --mouse"
started
soon mouse_is 1
verdict '--mouse turns it on' $?
press q
ended 0
soon mouse_is 0
verdict 'quitting gives it back' $?

for signal in TERM SEGV; do
	open 80x24 "exec $view --mouse"
	started && soon mouse_is 1 && kill -s "$signal" "$pid" &&
		soon test -s "$tmp/status" && soon mouse_is 0
	verdict "$signal gives it back" $?
done

# Ctrl-Z needs a shell with job control.
if command -v bash >/dev/null; then
	cat >"$tmp/jobs.sh" <<-END
		set -m
		$view --mouse
		read -r line
		fg
		exec cat
	END
	open 80x24 "exec bash $tmp/jobs.sh 2>/dev/tty"
	sees 'LIVE\|SLOW' && soon mouse_is 1
	press C-z
	soon mouse_is 0
	verdict 'Ctrl-Z gives it back' $?
	press Enter
	sees 'LIVE\|SLOW' && soon mouse_is 1
	verdict 'continuing turns it on again' $?
fi

open 80x24 "TERM=vt100 exec $view --mouse"
started
press m m
sees 'mouse: on; but the terminal has none'
verdict 'without a mouse there is a message' $?
press q
ended 0
finish
