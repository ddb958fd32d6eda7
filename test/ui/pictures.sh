#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the pictures of README.md and of man/gallery.md, from screens of a job
# that is well and of one that hangs. As a test it draws them into a folder that
# it removes, to see that it can; `test/ui/pictures.sh FOLDER` (man/pictures)
# keeps them.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi
pictures=${1:-$tmp/pictures}
mkdir -p "$pictures"

# picture NAME PATTERN: draws the screen as soon as it shows the pattern.
picture() {
	sees "$2" && terminal capture-pane -e -p -t ui |
		python3 test/ui/picture.py >"$pictures/$1.svg" &&
		grep -q '<text' "$pictures/$1.svg"
	verdict "$1.svg" $?
}

"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-ddp8/* \
	>"$tmp/replay.log" 2>&1 &
job=$!
background="$background $job"
open 80x24 "exec $ncclstat"
started && sees '^ .*   7 .* alive'
verdict 'a job is shown' $?
# Speed and waits are over some looks.
sleep 8
picture well ' LIVE '
view channels
picture channels '\[.:Chan'
view proxy
picture proxy '\[.:Proxy'
view collectives
sleep 2
picture collectives '\[.:Coll'
view timeline
picture timeline '\[.:Time'
press q
kill "$job"
wait "$job" 2>/dev/null

mkdir "$tmp/calls"
python3 test/ui/faulty_job.py missing 4 "$tmp/calls"
rm -f "$tmp"/shm/ncclstat*
"$replay" --plugin "$plugin" --hold "$tmp/calls" >"$tmp/replay.log" 2>&1 &
background="$background $!"
open 80x24 "exec $ncclstat"
sees ' STUCK '
verdict 'a job that hangs is shown' $?
picture stuck 'has not called AllReduce'
view diagnose
picture diagnose '\[.:Diag'
# A picture that is kept tells of a job, not of the machine that it was drawn on.
if [ $# -gt 0 ]; then
	! grep -l 'lost [1-9]' "$pictures"/*.svg
	verdict 'nothing is lost in any picture' $?
fi
finish
