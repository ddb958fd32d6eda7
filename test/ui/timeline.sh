#!/bin/sh
# SPDX-License-Identifier: MIT
# The timeline of a running job: it is opened where one is, zoomed, moved,
# paused; a collective is highlighted in every rank.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

# Ranks exchange data for as long as the program is looked at.
"$build/ncclreplay" --plugin "$build/libnccl-profiler-ncclstat.so" --loop 0 \
	test/captures/net-v5-ddp8/* >"$tmp/log" 2>&1 </dev/null &
background=$!

# The job rests now and then: some seconds are seen.
has_steps() {
	shows '0 ch 0 send 4 .*[GN]' && shows '0 AllReduce .*r'
}

open 120x40 "exec $ncclstat --interval 0.2"
started && sees '^ A  *0 ' && press 3 && sees ' 0 recv  *4 ' &&
	press / && press -l recv && press Enter 6 &&
	sees 'rank 0 of .*, ch 0 recv [45]: '
verdict 'it begins at the lane of the selected channel' $?

press - - - - - && sees '|-1000ms' && soon has_steps
verdict 'the lanes of a job at work' $?

press Z && sees PAUSED && press + + && sees '|-200ms' && before=$(screen) &&
	press S-Left && sees 'the time stays' && misses '|now' &&
	[ "$before" != "$(screen)" ]
verdict 'paused, it is zoomed and moved' $?

# What the channel does belongs to a collective, sooner or later to the left.
lit() {
	press Left Enter
	shows 'ranks: rank [0-9]* began first'
}
press G && soon lit
verdict 'a collective is highlighted' $?

# All ranks' lanes of its function, one below the other.
press '\' && press -l AllReduce && press Enter && sees '7 AllReduce .*+' &&
	press Escape && misses 'began first'
verdict 'in every rank, until Esc' $?

press Z && misses PAUSED && press q && ended 0
verdict 'it goes on, and ends' $?
finish
