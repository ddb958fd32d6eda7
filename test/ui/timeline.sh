#!/bin/sh
# SPDX-License-Identifier: MIT
# The timeline of a running job: it opens at the selected channel, is zoomed,
# moved and paused; a collective is highlighted in every rank.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

# The ranks exchange data until the end of the test.
"$build/ncclreplay" --plugin "$build/libnccl-profiler-ncclstat.so" --loop 0 \
	test/captures/net-v5-ddp8/* >"$tmp/log" 2>&1 </dev/null &
background=$!

# The job pauses now and then; the screen shows several seconds.
has_steps() {
	shows '0 ch 0 send 4 .*[GN]' && shows '0 AllReduce .*r'
}

# has_opened: the timeline of the channel; it has a track once it moves data.
has_opened() {
	view channels && soon shows 'Channels\]' && view timeline &&
		soon shows 'Timeline\]' && shows 'rank 0, ch 0 recv [45]: '
}

open 120x40 "exec $ncclstat --interval 0.2"
started && sees '^   *0 ' && view channels && sees ' 0 recv  *4 ' &&
	press / && press -l recv && press Enter && soon has_opened
verdict 'it opens at the track of the selected channel' $?

# It begins with the latest step or the longest wait, which take some milliseconds; a
# busy machine makes seconds of them.
sees '|-[0-9][0-9.]*m\{0,1\}s' && soon has_steps
verdict 'tracks show the activity of a running job' $?

press - - && soon has_steps && press Z && sees PAUSED && press + + &&
	sees '|now\|▼' && before=$(screen) && press S-Left && sees 'the time stands still' && misses '|now' &&
	[ "$before" != "$(screen)" ]
verdict 'zooming and panning work while paused' $?

# Moves the cursor to the left until there is an activity of a collective.
highlighted() {
	press Left Enter
	shows 'ranks: rank [0-9]* began first'
}
press G && soon highlighted
verdict 'a collective is highlighted' $?

# The filter shows the tracks of its function in all ranks, one below the other.
press '\' && press -l AllReduce && press Enter && sees '7 AllReduce .*+' &&
	press Escape && misses 'began first'
verdict 'it is highlighted in every rank until Esc' $?

press Z && misses PAUSED && press q && ended 0
verdict 'it continues, and quits' $?
finish
