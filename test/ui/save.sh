#!/bin/sh
# SPDX-License-Identifier: MIT
# D saves the rows of the view to a new file.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"
ncclstat=$synthetic

folder=$tmp/folder
mkdir "$folder"

open 120x24 "cd $folder; exec $ncclstat --synthetic 8x4"
started
view collectives && press '\' R e d u c e Enter D
sees "saved to $folder/ncclstat-[0-9]*-[0-9]*.txt"
verdict 'D names the file' $?
file=$(echo "$folder"/ncclstat-*.txt)
grep -q '^ncclstat: host .*, time 20' "$file" &&
	grep -q '^view collectives, filter Reduce, [0-9]* of [0-9]* rows' \
		"$file" && grep -q '^COMM  *FUNCTION  *RANKS' "$file" &&
	grep -q 'AllReduce' "$file" && ! grep -q 'AllGather' "$file"
verdict 'the file has a title, the time and the rows of the view' $?
press D D D
several() {
	[ "$(find "$folder" -type f -size +0 | wc -l)" -eq 4 ]
}
soon several
verdict 'no file is overwritten' $?
# The lanes are as wide as on the screen.
view timeline
sees LANE
press D
lanes() {
	grep -q '^view timeline' "$folder"/* &&
		grep -q '^ *0  AllReduce  *world  *.*rr' "$folder"/* &&
		grep -q '^r  running$' "$folder"/*
}
soon lanes
verdict 'of the timeline, the lanes and what their letters mean' $?
rm -rf "$folder"
press D
sees 'not saved: No such file'
verdict 'errors are reported' $?
press q
ended 0
finish
