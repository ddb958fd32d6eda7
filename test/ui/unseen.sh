#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording of a real job over NVLink, in which rank 1 stops calling after 3 s:
# rank 1 is named whether it is seen or left out, in text, JSON and on the screen.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

recording=$tmp/job.ncs
xz -dc test/recordings/host-busy-nvlink.ncs.xz >"$recording" || exit 1

# tells STATUS PATTERN ARGUMENT...: looks at rank 0, or at both ranks, and succeeds
# if the exit status and the text are these.
tells() {
	wanted=$1 pattern=$2
	shift 2
	status=0
	"$ncclstat" --diagnose "$@" "$recording" >"$tmp/text" || status=$?
	[ "$status" -eq "$wanted" ] && grep -q "$pattern" "$tmp/text"
}

tells 2 '^stuck: rank 1 of 58b3f9e2c9c4244d has not called AllReduce #325;'
verdict 'a rank that is seen and has not called is named' $?

grep -q '^stuck from 0:03\.[0-9]* on: rank 1 of 58b3f9e2c9c4244d has not called' \
	"$tmp/text" && grep -q '^at the end of the recording:$' "$tmp/text"
verdict 'the episodes of the recording are told, too' $?

tells 0 '^well: ' --at 3 && ! grep -q '^[a-z]* from ' "$tmp/text"
verdict 'at a time no episode is told' $?

waits='1 rank waits for rank 1 of 58b3f9e2c9c4244d, which is not seen'
tells 2 "^stuck: $waits, in AllReduce #325 " --pid 923 &&
	grep -q '^  verdict: peer_wait, possible' "$tmp/text" &&
	! grep -q '^well' "$tmp/text"
verdict 'a rank that is left out is named, too' $?

tells 0 '^well: ' --pid 923 --at 3
verdict 'before, the rank that is seen is healthy' $?

tells 1 "^slow: $waits" --pid 923 --at 5
verdict 'after one second it is slow' $?

"$ncclstat" --diagnose=json --pid 923 "$recording" >"$tmp/json"
python3 -c 'import json, sys
f = json.load(open(sys.argv[1]))["findings"][0]
sys.exit((f["verdict"], f["root"]["rank"], f["root"]["seen"], f["ranks_waiting"]) !=
         ("peer_wait", 1, False, 1))' "$tmp/json"
verdict 'JSON has it' $?

"$ncclstat" --diagnose=json "$recording" >"$tmp/json"
python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
e = d["episodes"][0]
sys.exit((e["verdict"], e["severity"], e["rank"]) !=
         ("rank_missing", "stuck", 1) or
         not 5e9 < e["until_ns"] - e["from_ns"] < 7e9)' "$tmp/json"
verdict 'JSON has the episodes' $?

open 160x40 "exec $ncclstat --replay --pid 923 --at 8.9 $recording"
sees "STUCK.*$waits" && view diagnose && sees "$waits.*"
verdict 'the screen says it in its head and in the view of findings' $?

press q && ended 0
verdict 'it quits' $?
finish
