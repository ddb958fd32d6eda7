#!/bin/sh
# SPDX-License-Identifier: MIT
# --critical-path and --what-if on a recording of a captured job, and on
# simulated jobs on several hosts: one with a late rank, and the same job
# without.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
recorder=
own_segments
mkdir "$tmp/late" "$tmp/even"

at_end() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
}

# json EXPRESSION: succeeds if the expression holds for d, the JSON in $tmp/out.
json() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
causes = d["causes_ns"]
w = {s["what_if"]: s for s in d["what_if"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("not true of " + json.dumps(d)[:2000])' "$tmp/out" "$1"
}

# --- Simulated jobs on several hosts ---------------------------------------

"$build/ncclsimulate" -l 3:4000 "$tmp/late" >/dev/null
"$build/ncclsimulate" "$tmp/even" >/dev/null

check 'a job without stragglers is read' \
	run 0 --critical-path=json "$tmp"/even/*
even=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["elapsed_ns"])' "$tmp/out")

check 'scenarios are answered' run 0 --critical-path=json --what-if=without:3 \
	--what-if=net:x2 --what-if=stream:0.5@rank=3 "$tmp"/late/*
check 'all operations of all hosts are joined' \
	json 'd["operations"] == 300 and d["trust"]["incomplete"] == 0'
check 'the replayed time is the measured time' \
	json 'abs(d["replayed_ns"] / d["elapsed_ns"] - 1) < 1e-3'
check 'the causes add up to the whole time' \
	json 'abs(sum(causes.values()) / d["replayed_ns"] - 1) < 1e-3'
check 'the late rank has most of the time' \
	json 'max(d["ranks"], key=lambda r: r["time_ns"])["rank"] == 3'
check 'its application is the cause' \
	json 'max(causes, key=causes.get) == "host"'
check 'its steps are those of four calls' json 'len(d["steps"]) == 300 / 4'
check 'and all but the first take about as long' json \
	'all(0.8 < (b["ends_ns"][0] - a["ends_ns"][0]) * 75 / d["replayed_ns"]
		< 1.2 for a, b in zip(d["steps"], d["steps"][1:]))'
check '--what-if=without gives the time of the job without the late rank' \
	json "abs(w['without:3']['after_ns'] / $even - 1) < 0.05"
check 'a faster network helps, but less' \
	json 'd["replayed_ns"] > w["net:x2"]["after_ns"] > d["replayed_ns"] / 2'
check 'each scenario has a path of its own' \
	json 'all(abs(sum(s["causes_ns"].values()) / s["after_ns"] - 1) < 1e-3
		for s in d["what_if"])'

check 'the path is printed as text' run 0 --what-if=without:3 "$tmp"/late/*
check 'the text says how far it can be trusted' \
	grep -q 'arrivals by [a-z]* 300; not known: 0.0 % of the path' \
	"$tmp/out"
check 'the text names rank and scenario' \
	sh -c 'grep -q "host .*rank 3" "$1" && grep -q "without:3" "$1"' - \
	"$tmp/out"
check 'a part of the recording is read' run 0 --critical-path=json --since=1 --until=2 \
	"$tmp"/late/*
check 'a part takes less time than all' \
	json '0 < d["operations"] < 200 and d["elapsed_ns"] < 1.2e9'

check 'the path is drawn into a trace' run 0 --export=chrome --critical-path \
	--what-if=without:3 "--output=$tmp/trace.json" "$tmp"/even/*
check 'the trace has all slices of the path and all re-timed operations' \
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
check 'a format that is no trace takes no path' run 64 --export=csv --critical-path \
	"$tmp"/even/*

# --- A captured job --------------------------------------------------------

"$ncclstat" --record "$tmp/job.rec" >"$tmp/said" 2>&1 &
recorder=$!
await grep -qs 'waiting for a job' "$tmp/said"
"$build/ncclreplay" test/captures/net-v5-ddp8 >"$tmp/log" 2>&1
wait "$recorder"
recorder=
check 'a recorded job is read' run 0 --critical-path=json "$tmp/job.rec"
check 'the path covers the whole time' \
	json 'd["operations"] > 50 and
		abs(sum(causes.values()) / d["replayed_ns"] - 1) < 1e-3'

# --- What text begins and ends with ----------------------------------------

# begins PATTERN: succeeds if the first line is one sentence of this kind.
begins() {
	head -n 1 "$tmp/out" | grep -qx "$1" && [ -z "$(sed -n 2p "$tmp/out")" ]
}

check 'text is printed' run 0 --critical-path --what-if=without:3 "$tmp"/late/*
check 'it begins with what is avoidable' begins \
	'[0-9.]* % of .*s is avoidable: .*s by --what-if=without:3[.]'
check 'usual work of a host is called no cause' sh -c \
	'! grep -qi "cause" "$1"' - "$tmp/out"
check 'ranks have the names that --diagnose has' \
	grep -q '^host .*  rank 3 of world: [0-9.]* %$' "$tmp/out"
check 'its legend has the causes that are in it' sh -c '
	for cause in $(awk "/^SPENT IN/ { on = 1; next } /^\$/ { on = 0 }
		on && \$1 != \"elsewhere\" { print \$1 }" "$1"); do
		sed -n "/^LEGEND/,\$p" "$1" | grep -q "^$cause  *[a-z]" || exit 1
	done' sh "$tmp/out"
sed -n 1p "$tmp/out" >"$tmp/sentence"
run 0 --critical-path=json --what-if=without:3 "$tmp"/late/*
check 'JSON has the same sentence' \
	json "d['conclusion'] == open('$tmp/sentence').read().strip()"
run 0 --critical-path "$tmp"/late/*
check 'also if nobody asks' begins \
	'[0-9.]* % of .*s is avoidable: .*s by --what-if=without:stragglers[.]'
run 0 --critical-path=json "$tmp"/late/*
check 'by as much as the job would take without the delay' \
	json "abs(w['without:stragglers']['after_ns'] / $even - 1) < 0.05"
run 0 --critical-path "$tmp"/even/*
check 'a job without a straggler: no gain is told' begins \
	'How much of .*s is avoidable is not known: .*[.]\|0[.][0-9] % of .*'

# Over NVLink, in trees, kernels' channels stop before the last rank has come.
mkdir "$tmp/trees"
"$build/ncclsimulate" -u -h 1 "$tmp/trees" >/dev/null
run 0 --critical-path=json "$tmp"/trees/*
check 'ends before the last arrival are none' json 'd["trust"]["endless"] > 100'
endless=$(jq .trust.endless "$tmp/out")
run 0 --critical-path "$tmp"/trees/*
check 'they are named' grep -qx "  $endless operations: when they ended" \
	"$tmp/out"
check 'where much is not known there is no conclusion' begins \
	'No conclusion: [0-9.]* % of the path is not known[.]'

# --- Errors ----------------------------------------------------------------

check '--critical-path without a recording is refused' run 64 --critical-path
check 'the error asks for a FILE' grep -q 'expects a FILE' "$tmp/err"
check 'an unknown scenario is refused' run 64 --what-if=nett:x2 "$tmp/job.rec"
check 'the error lists the scenarios' grep -q 'not one of net, latency' "$tmp/err"
check 'a wrong value is refused' run 64 --what-if=net:2 "$tmp/job.rec"
check 'the error says what was expected' grep -q 'is not net:xN' "$tmp/err"
check 'a rank that there is not is refused' \
	run 1 --critical-path --what-if=without:99 "$tmp"/even/*
check 'those that there are are told' grep -q \
	"without:99: there is no rank 99; .* there are: 0-7$" "$tmp/err"
check 'so is one of a link' run 1 --critical-path --what-if=net:x2@1-99 \
	"$tmp"/even/*
check 'a range that there is not is refused' \
	run 1 --critical-path --range=absent "$tmp"/even/*
check 'as there are none' \
	grep -q 'range=absent: there is no such range; there are none' "$tmp/err"
check '--range alone is refused' run 64 --range=step "$tmp/job.rec"
check 'a recording without finished operations is an error' \
	run 1 --critical-path --range=none --since=0 --until=0 "$tmp/job.rec"
