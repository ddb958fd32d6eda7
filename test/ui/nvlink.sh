#!/bin/sh
# SPDX-License-Identifier: MIT
# A job over NVLink, without channels: launches that run on a fake GPU give
# times and progress in the views, in the dumps, and in a recording.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

capture=test/captures/nvlink-v5-mix

# holds FILE PYTHON: succeeds if an expression holds for a file's JSON, `j`.
holds() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(f"({sys.argv[2]})"))' "$1" "$2"
}

# --- A recording -----------------------------------------------------------

"$ncclstat" --record "$tmp/job.ncs" --interval 0.1 2>"$tmp/record.err" &
recorder=$!
soon grep -qs 'waiting for a job' "$tmp/record.err"
"$build/ncclreplay" "$capture" >"$tmp/log" 2>&1
wait "$recorder"
verdict 'a job is recorded' $?

"$ncclstat" --dump=json "$tmp/job.ncs" >"$tmp/json" &&
	holds "$tmp/json" 'len(j["ranks"]) == 2 and all(
		r["launches"]["ended"] == 17 and r["launches"]["timed"] > 0 for r in j["ranks"])'
verdict 'all launches have ended' $?

"$ncclstat" --export=ndjson "$tmp/job.ncs" >"$tmp/lines" &&
	grep -q '"on_stream": *true' "$tmp/lines" &&
	"$ncclstat" --export=csv "$tmp/job.ncs" | grep -q '^world,.*,stream,'
verdict 'lines and tables tell times from the stream' $?

"$ncclstat" --export=chrome "$tmp/job.ncs" >"$tmp/trace" &&
	holds "$tmp/trace" '(lambda e: sum(s.get("cat") == "launch" for s in
		(e if isinstance(e, list) else e["traceEvents"])) > 20)(j)'
verdict 'a trace has the launches' $?

# A busy machine begins the job later, and times it later.
for tenths in $(seq 99); do
	at=$((tenths / 10)).$((tenths % 10))
	! COLUMNS=999 "$ncclstat" --dump --view collectives --at "$at" \
		"$tmp/job.ncs" 2>"$tmp/log" | grep -q 'AllReduce .* stream ' ||
		break
done
[ "$at" != 9.9 ]
verdict 'a recording has calls that were timed' $?
open 120x40 "exec $ncclstat --replay $tmp/job.ncs"
sees ' REPLAY \| PAUSED ' && press p C-a && sees 'at 0:00.000 of ' &&
	press : "$at" Enter && sees "at 0:0${at}00 of " && view collectives &&
	sees ' AllReduce .*stream' && view timeline && sees ' 0 kernels '
verdict 'a recording is played' $?

"$build/ncclreplay" --no-gpu --loop 0 "$capture" >"$tmp/log" 2>&1 &
background=$!
has_begun() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -eq 2 ]
}
soon has_begun && "$ncclstat" --dump=json >"$tmp/json" &&
	holds "$tmp/json" 'len(j["ranks"]) == 2 and all(
		r["launches"]["timed"] == 0 for r in j["ranks"])'
verdict 'without the fake GPU no launch is timed' $?
kill "$background"
wait "$background"

# --- A running job ---------------------------------------------------------

"$build/ncclreplay" --loop 0 test/captures/nvlink-v5-ddp8 \
	>"$tmp/log" 2>&1 </dev/null &
background=$!

has_ended() {
	"$ncclstat" --dump=json >"$tmp/json" 2>/dev/null &&
		holds "$tmp/json" 'len(j["ranks"]) == 8 and
			all(r["launches"]["ended"] > 20 for r in j["ranks"])'
}
soon has_ended
verdict 'JSON tells the progress of launches in every rank' $?

COLUMNS=999 "$ncclstat" --dump >"$tmp/dump" &&
	grep -q 'AllReduce .* stream  ' "$tmp/dump" &&
	grep -q '^RANK .*AHEAD  *BEGUN  *ENDED' "$tmp/dump"
verdict 'a dump has times from the stream' $?

# waits: a rank waits with a launch, though there are no channels.
waits() {
	shows '^WAITS .* [1-9][0-9]*%' && shows 'oldest [0-9]' &&
		shows ' alive .* \(stream\|peer\|moving\|running\) .*AllReduce'
}
open 160x40 "exec $ncclstat --interval 0.1"
started && sees '^[*! ] *0 ' && soon waits
verdict 'ranks wait with their launches' $?

view collectives && sees 'AllReduce  *[0-9][0-9.]*[KM]* ' && sees ' stream '
verdict 'collectives have times' $?

view timeline && sees ' 0 kernels ' && press - - - - && sees ' 7 kernels .*x\| 0 kernels .*xx'
verdict 'kernels are on the timeline' $?

view diagnose && sees '\[.:Diag' && misses 'stuck '
verdict 'nothing is stuck' $?

press q && ended 0
verdict 'it quits' $?
finish
