#!/bin/sh
# SPDX-License-Identifier: MIT
# Any size of the terminal, and many changes of size in quick succession.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

open 80x24 "exec $ncclstat --synthetic 8x4"
started

i=0
while [ "$i" -lt 150 ]; do
	resize $((1 + i * 37 % 200)) $((1 + i * 23 % 60))
	i=$((i + 1))
done
resize 100 30
sees '\[.:Ranks\] .:Diag' && alive "$pid"
verdict 'many changes of size are survived' $?

for size in 19x4 20x3 12x3 60x2; do
	resize "${size%x*}" "${size#*x}"
	soon shows 'too small'
	verdict "$size: a message says that it is too small" $?
done

# tmux does not always keep the only character of such a screen.
resize 1 1
soon shows '^.\{0,1\}$'
resize 20 4
soon shows 'RANK.*STATE' && alive "$pid"
verdict '20x4 has a table, after 1x1' $?

resize 300 100
sees 'LIVE\|SLOW' && sees 'OPERATION .*PROXY' && sees '10.*Quit'
verdict '300x100 has all columns' $?

resize 80 24
sees 'WAITS-FOR' && sees '10.*Quit' && alive "$pid"
verdict '80x24 again' $?
press q
ended 0
verdict 'it still quits' $?
finish
