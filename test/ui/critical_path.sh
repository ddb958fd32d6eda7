#!/bin/sh
# SPDX-License-Identifier: MIT
# --critical-path and --what-if: of a captured job that was recorded, and of made-up
# jobs on several hosts, one with a rank that comes late and the same one without.
#
# Prints "ok ..." or "not ok ..." for each thing that it looks at.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
recorder=
export NCCLSTAT_DIR="$tmp/shm"
mkdir "$NCCLSTAT_DIR" "$tmp/late" "$tmp/even"

at_end() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
}

# json EXPRESSION: whether it holds for d, which is $tmp/out.
json() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
causes = d["causes_ns"]
w = {s["what_if"]: s for s in d["what_if"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("not true of " + json.dumps(d)[:2000])' "$tmp/out" "$1"
}

# --- Made-up jobs on several hosts ---------------------------------------------

"$build/ncclsimulate" -l 3:4000 "$tmp/late" >/dev/null
"$build/ncclsimulate" "$tmp/even" >/dev/null

check 'a job without stragglers is read' \
	run 0 --critical-path=json "$tmp"/even/*
even=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["elapsed_ns"])' "$tmp/out")

check 'scenarios are answered' run 0 --critical-path=json --what-if=without:3 \
	--what-if=net:x2 --what-if=producer:0.5@rank=3 "$tmp"/late/*
check 'all operations of all hosts are joined' \
	json 'd["operations"] == 300 and d["incomplete"] == 0'
check 'what was is replayed exactly' \
	json 'abs(d["replayed_ns"] / d["elapsed_ns"] - 1) < 1e-3'
check 'the causes are all of the time' \
	json 'abs(sum(causes.values()) / d["replayed_ns"] - 1) < 1e-3'
check 'the late rank has most of the time' \
	json 'max(d["ranks"], key=lambda r: r["time_ns"])["rank"] == 3'
check 'its application is the cause' \
	json 'max(causes, key=causes.get) == "host"'
check 'a job of regular calls has steps' json 'len(d["steps"]) > 10'
check 'without the late rank it is as if it had not been late' \
	json "abs(w['without:3']['after_ns'] / $even - 1) < 0.05"
check 'a faster network helps, and less than that' \
	json 'd["replayed_ns"] > w["net:x2"]["after_ns"] > d["replayed_ns"] / 2'
check 'each scenario tells its own path' \
	json 'all(abs(sum(s["causes_ns"].values()) / s["after_ns"] - 1) < 1e-3
		for s in d["what_if"])'

check 'the same in words' run 0 --what-if=without:3 "$tmp"/late/*
check 'the words name rank and scenario' \
	sh -c 'grep -q "host .*rank 3" "$1" && grep -q "without:3" "$1"' - \
	"$tmp/out"
check 'a part of it' run 0 --critical-path=json --from=1 --until=2 \
	"$tmp"/late/*
check 'is less than all' \
	json '0 < d["operations"] < 200 and d["elapsed_ns"] < 1.2e9'

check 'a path goes into a trace' run 0 --export=chrome --critical-path \
	--what-if=without:3 "--output=$tmp/trace.json" "$tmp"/even/*
check 'as slices that are all of it, beside all operations re-timed' \
	python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))
if isinstance(events, dict):
    events = events["traceEvents"]
ours = [e for e in events if e.get("cat") == "critical path"]
causes = [e for e in ours if "rank" in e["args"]]
timed = [e for e in ours if "rank" not in e["args"]]
total = sum(e["dur"] for e in causes if e["ph"] == "X") * 1e3
assert abs(total / float(sys.argv[2]) - 1) < 0.01, total
assert len(timed) >= 300 * 8, len(timed)' "$tmp/trace.json" "$even"
check 'what is no trace has no path' run 2 --export=csv --critical-path \
	"$tmp"/even/*

# --- A captured job ---------------------------------------------------------------

"$ncclstat" --record "$tmp/job.rec" --duration 30 >/dev/null 2>&1 &
recorder=$!
"$build/ncclreplay" test/captures/net-v5-ddp8 >"$tmp/log" 2>&1
sleep 0.3
kill -INT "$recorder" 2>/dev/null
wait "$recorder"
recorder=
check 'a recorded job is read' run 0 --critical-path=json "$tmp/job.rec"
check 'its path is all of the time' \
	json 'd["operations"] > 50 and
		abs(sum(causes.values()) / d["replayed_ns"] - 1) < 1e-3'

# --- What cannot be ----------------------------------------------------------------

check 'a path needs a recording' run 2 --critical-path
check 'and says so' grep -q 'expects a FILE' "$tmp/err"
check 'a scenario that is none is refused' run 2 --what-if=nett:x2 "$tmp/job.rec"
check 'with those that there are' grep -q 'none of net, latency' "$tmp/err"
check 'a value that is none is refused' run 2 --what-if=net:2 "$tmp/job.rec"
check 'with what was expected' grep -q 'is not net:xN' "$tmp/err"
check 'a range alone is refused' run 2 --range=step "$tmp/job.rec"
check 'a recording without an end is an error' \
	run 1 --critical-path --range=none --from=0 --until=0 "$tmp/job.rec"
