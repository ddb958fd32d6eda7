#!/bin/sh
# SPDX-License-Identifier: MIT
# A job of 512 ranks on 64 nodes on a small screen: the dead rank is first, what
# is level is one row, which opens into nodes and these into ranks.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

open 80x24 "exec $ncclstat --synthetic 512x16"
started
sees '^!   511 world *dead' && screen | sed -n '/RANK COMM/{n;p;}' | grep -q '^!   511'
verdict 'the dead rank is first' $?
sees '+ 6[45] nodes: 5[01][0-9] ranks, level'
verdict 'all that is level is one row' $?
press -l '/1100'
press Enter
sees '^    100 world'
verdict 'a hidden rank is found and shown' $?
press Home
press -l '*'
sees '^     - node000: [78] ranks, level' && sees '^      0 world'
verdict 'all open' $?
press -l '*'
misses '^      0 world' && sees '^.  + 6[45] nodes'
verdict 'all close' $?
press P
sees 'SENDB/s' && misses '6[45] nodes'
verdict 'an order by a column is of single ranks' $?
press q
ended 0
verdict 'q leaves' $?

# A rank that all others wait for is on top, and no rank that waits is hidden.
open 120x40 "exec $ncclstat --from=\"$build/ncclsimulate -S 60 -h 40 -r 8 -m 123 -\""
sees '^>   123 ' && sees '^      0 '
verdict 'the rank that others wait for is on top, above those that wait' $?
misses 'level'
verdict 'which are not folded' $?
open 120x40 "exec $ncclstat --from=\"$build/ncclsimulate -S 60 -h 40 -r 8 -\""
sees '+ 40 nodes: 320 ranks, level'
verdict 'a healthy job of 40 nodes is one row' $?
press Down Enter
sees '+ node0007: 8 ranks, level'
verdict 'which opens into its nodes' $?
press q
ended 0
verdict 'q leaves the nodes' $?
finish
