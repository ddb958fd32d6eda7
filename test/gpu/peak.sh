#!/bin/bash
# SPDX-License-Identifier: MIT
# The peak that ncclstat shows beside the bandwidth of a job over NVLink is what
# `nvidia-smi nvlink -s` says of the links of one of its GPUs together; the view, a
# recording and a head of a stream show it. Prints both. Skipped without two GPUs or
# PyTorch, and where the GPUs have no NVLink.
#
#   test/gpu/peak.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
need_gpus 2

# links: prints the speeds of all active links of the first GPU together, in GB/s,
# and their number. A line is "Link 0: 26.562 GB/s", or "Link 0: <inactive>".
links() {
	nvidia-smi nvlink -s -i 0 | awk '/Link [0-9]+:.*GB\/s/ {
		sub(/.*: */, ""); sum += $1; n++ }
		END { printf "%.3f %d\n", sum, n }'
}
read -r told count < <(links)
[ "$count" -gt 0 ] || skip "the GPUs have no active NVLink"

make_folder
use_plugin
job=

# shellcheck disable=SC2317 # the trap calls it
at_end() {
	end_job
}

# peaks FILE: prints the peaks of the communicators in the last sample of a dump.
peaks() {
	"$python" -c 'import json, sys
last = json.loads(open(sys.argv[1]).read().splitlines()[-1])
print(*sorted({"%s %.3f" % (c["peak_link"], c["peak_gbs"])
	for c in last["communicators"] if c["peak_link"]}))' "$1"
}

# same NAME FILE: whether that is the one peak, to the thousandth that each link is
# rounded to.
same() {
	local is
	is=$(peaks "$2")
	echo "| $1: ncclstat ${is:-none}; nvidia-smi $count links, $told GB/s together"
	awk -v is="$is" -v told="$told" -v count="$count" 'BEGIN {
		n = split(is, part, " ")
		off = part[2] - told
		exit !(n == 2 && part[1] == "nvlink" &&
			off <= count / 1000 && off >= -count / 1000) }'
	verdict "$1" $?
}

"$python" test/gpu/jobs.py healthy --port 29591 --told "$folder/told" \
	>"$folder/log" 2>&1 &
job=$!
for _ in $(seq 120); do
	grep -q running "$folder/told" 2>/dev/null && break
	sleep 0.5
done
describe_machine

"$build/ncclstat" --dump=json --interval 1 --count 4 >"$folder/json"
same peak_of_a_job "$folder/json"

"$build/ncclstat" --record="$folder/job.ncs" --duration 4 2>/dev/null
"$build/ncclstat" --dump=json "$folder/job.ncs" >"$folder/json"
same peak_in_a_recording "$folder/json"

"$build/ncclstat" --stream --interval 0.5 </dev/null 2>/dev/null |
	"$build/ncclstat" --follow - --dump=json --interval 1 --count 4 \
		>"$folder/json"
same peak_at_a_head "$folder/json"

{
	echo wait 4
	echo save "$folder/screen"
	echo q
} >"$folder/keys"
TERM=xterm timeout 30 "$python" -c '
import os, pty, sys
os.environ.update(LINES="24", COLUMNS="80")
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))
sys.exit(os.waitstatus_to_exitcode(status))' "$build/ncclstat" --ascii \
	--keys "$folder/keys" >/dev/null </dev/null
sed -n '1,4s/^/| /p' "$folder/screen"
grep -q "of $(printf %.0f "$told") GB/s NVLink" "$folder/screen"
verdict view_shows_it $?
exit $((failures > 0))
