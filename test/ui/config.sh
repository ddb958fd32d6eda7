#!/bin/sh
# SPDX-License-Identifier: MIT
# The configuration file: it is read, errors are reported, the command line and
# NO_COLOR override it, and only key W writes it.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

export HOME="$tmp/home"
unset XDG_CONFIG_HOME NCCLSTATRC
rc=$HOME/.config/ncclstat/ncclstatrc
job='--synthetic 8x4'

open 80x24 "exec $ncclstat $job"
started
press ] i u u C && view proxy
sees '\[.:Proxy\]' && press q && ended 0 && [ ! -e "$HOME" ]
verdict 'nothing is written unless the user asks' $?

open 80x24 "exec $ncclstat $job"
started
press ] i && view proxy
sees '\[.:Proxy\]' && press W && sees "y/n: write $rc" && press n &&
	sees 'nothing was written' && [ ! -e "$HOME" ]
verdict 'W without consent writes nothing' $?
press W
sees 'y/n: write' && press y && sees "written to $rc" &&
	[ "$(cat "$rc")" = "interval = 2
view = proxy
idle = hide" ]
verdict 'W writes what differs from the defaults' $?
press ] W
soon grep -q '^interval = 5$' "$rc"
verdict 'W asks only once' $?
press q
ended 0

open 120x24 "exec $ncclstat $job"
started
sees '\[.:Proxy\]' && sees 'int 5.00s'
verdict 'the next view begins with the saved options' $?

open 120x24 "exec $ncclstat $job --view=ranks"
started
sees '\[.:Ranks\]' && sees 'int 5.00s'
verdict 'the command line overrides the file' $?

open 120x24 "exec $ncclstat $job --config=none"
started
sees '\[.:Ranks\]' && sees 'int 1.00s' && press W && sees 'no configuration'
verdict '--config=none reads no file' $?

# In the setup screen units is the eighth line, and columns come last.
rm "$rc"
open 80x24 "exec $ncclstat $job"
started
press F2
sees '^ncclstat: setup' && press Down Down Down Down Down Down Down Down Right
sees ' units  *bits'
verdict 'the setup changes the selected option' $?
press End Up Space
sees 'column CALLED: shown'
verdict 'the setup shows a column' $?
press W
sees 'y/n: write' && press y && sees "written to $rc" &&
	grep -q '^units = bits$' "$rc" && grep -q '^columns = ranks:' "$rc"
verdict 'W in the setup writes the file' $?
press Escape
sees '\[.:Ranks\]' && sees 'BUSGb/s' && press q && ended 0
verdict 'Esc leaves the setup' $?
open 200x24 "exec $ncclstat $job"
started
sees 'SENDb/s' && shows 'CALLED'
verdict 'the next view begins with the options of the setup' $?
press q
ended 0

"$ncclstat" --synthetic 2x2 --dump >"$tmp/dump" </dev/null
[ "$(grep -c '^RANK' "$tmp/dump")" -eq 3 ]
verdict 'a dump ignores the file' $?

printf 'colour = red\nview = channels\n' >"$rc"
open 100x24 "exec $ncclstat $job"
started
sees "$rc:1: there is no option --colour" && sees '\[.:Chan' &&
	grep -q "$rc:1: there is no option --colour" "$tmp/stderr"
verdict 'errors are reported with their line' $?
view collectives && press W y
sees 'written to' && grep -q '^colour = red$' "$rc" &&
	grep -q '^view = collectives$' "$rc"
verdict 'lines that are not understood are kept' $?

chmod 666 "$rc"
open 100x24 "exec $ncclstat $job"
started
sees 'not read: others may write' && sees '\[.:Ranks\]' && press W y &&
	sees 'not written'
verdict 'a file that others may write to is refused' $?

chmod 600 "$rc"
colors() {
	terminal capture-pane -p -e -t ui | grep -q '\[3[0-7]m'
}
echo 'color = always' >"$rc"
export NO_COLOR=1
open 80x24 "exec $ncclstat $job"
started
! colors
verdict 'NO_COLOR overrides the file' $?
open 80x24 "exec $ncclstat $job --color=always"
started
soon colors
verdict 'the command line overrides NO_COLOR' $?
unset NO_COLOR
echo 'color = never' >"$rc"
open 80x24 "exec $ncclstat $job"
started
! colors
verdict 'the file overrides the default' $?
press q
ended 0
finish
