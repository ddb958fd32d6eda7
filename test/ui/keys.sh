#!/bin/sh
# SPDX-License-Identifier: MIT
# Presses every key of the key table on a terminal: something on the screen
# changes, and the program survives.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

# Prints the names of all keys, as "ID name"; "\\\\" is one backslash in C.
names() {
	printf '#include "ncclstat/tables/keys.def"\n
		#define X(ID, group, keys, label, help) @ID keys@
		NCS_KEYS(X)\n' |
		${CC:-cc} -E -P -Iinclude -x c - | tr '@' '\n' |
		sed -n 's/^\([A-Z_]*\) "\(.*\)"$/\1 \2/p' |
		sed 's/\\\\/\\/' |
		awk '{ for (i = 2; i <= NF; i++) print $1, $i }'
}

# Prints the name that tmux has for a key.
tmux_name() {
	case $1 in
	PgUp) echo PPage ;;
	PgDn) echo NPage ;;
	Esc) echo Escape ;;
	Backspace) echo BSpace ;;
	Shift-Tab) echo BTab ;;
	Shift-*) echo "S-${1#Shift-}" ;;
	Ctrl-*) echo "C-$(echo "${1#Ctrl-}" | tr '[:upper:]' '[:lower:]')" ;;
	*) echo "$1" ;;
	esac
}

press_name() {
	case $1 in
	?) press -l -- "$1" ;;
	*) press "$(tmux_name "$1")" ;;
	esac
}

# still: succeeds if the screen has stopped changing, so that all keys were
# handled.
still() {
	one=$(screen)
	sleep 0.12
	[ "$one" = "$(screen)" ]
}

changed() {
	[ "$(terminal capture-pane -p -e -t ui)" != "$before" ]
}

# Goes to the middle of the channels of one rank, with a column scrolled away.
# The tested keys are pressed there only, so that the way there does not change.
go_to_the_middle() {
	press Escape "$(key_of ranks)" g Down Down Down Enter Down Down Right
	soon shows 'Chan.* . rank [0-9]' && soon still
}

# While paused and without the title, nothing changes by itself. D saves to the
# current folder.
open 80x24 "cd $tmp; exec $ncclstat --synthetic 8x4"
started
press / r e c v Enter '#' p
sees PAUSED

names >"$tmp/names"
count=0
wrong=
while read -r id key; do
	[ "$id" != QUIT ] || continue
	if ! go_to_the_middle; then
		wrong="$wrong (before $key)"
		break
	fi
	before=$(terminal capture-pane -p -e -t ui)
	press_name "$key" </dev/null
	soon changed || wrong="$wrong $key"
	alive "$pid" || { wrong="$wrong $key (dead)"; break; }
	case $key in
	p | Z | '#') press "$key" ;;
	esac
	count=$((count + 1))
done <"$tmp/names"
[ -z "$wrong" ] || echo "#  without effect:$wrong"
[ -z "$wrong" ] && [ "$count" -gt 50 ]
verdict 'every key has an effect' $?

for key in q F10 C-c; do
	open 80x24 "exec $ncclstat --synthetic 8x4"
	started
	press "$key"
	ended 0
	verdict "$key quits" $?
done
finish
