#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of a real NCCL job: two ranks that share one GPU (two_ranks.py),
# each with a recorder of its own; the clock of rank 1 is ahead, as on another
# host. Skipped without a GPU or PyTorch.
#
# Recordings are left in $KEEP if that is a folder. Must not leave processes or
# shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
ahead=1000
job=
recorders=

# shellcheck disable=SC2317 # the trap calls it
at_end() {
	# shellcheck disable=SC2086 # a list of processes
	[ -z "$job$recorders" ] || kill $job $recorders 2>/dev/null
}
make_folder
use_plugin
kept=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-test.XXXXXX")
[ -d "${KEEP:-}" ] || KEEP=$kept
trap 'at_end; rm -rf "$folder" "$kept"' EXIT

# in_json EXPRESSION FILE: succeeds if the expression holds for the JSON `d` in
# the file.
in_json() {
	"$python" -c "
import json, sys
d = json.load(open('$2'))
sys.exit(0 if ($1) else 1)" && return 0
	head -c 4000 "$2" | sed 's/^/| /'
	return 1
}

# run NAME ARGUMENT...: runs a job; each rank is recorded, by a recorder with
# the rank's clock, into NAME.0 and NAME.1.
run() {
	local name=$1 rank pid
	shift
	"$python" test/gpu/two_ranks.py "$@" >"$folder/log" 2>&1 &
	job=$!
	for _ in $(seq 120); do
		[ "$("$build/ncclstat" --list 2>/dev/null |
			grep -c /ncclstat.)" -ge 2 ] && break
		sleep 0.5
	done
	mapfile -t pids < <(pgrep -P $job)
	for rank in 0 1; do
		pid=${pids[rank]}
		nsenter -t "$pid" -T "$build/ncclstat" --pid "$pid" \
			--record "$KEEP/$name.$rank" 2>"$KEEP/$name.$rank.said" &
		recorders="$recorders $!"
	done
	wait "$job"
	verdict "${name}_ends_well" $?
	job=
	for pid in $recorders; do
		timeout 10 tail --pid="$pid" -f /dev/null
		wait "$pid"
		verdict "recorder_of_${name}_ends_with_its_rank" $?
	done
	recorders=
	sed 's/^/| /' "$KEEP/$name".?.said
	! grep -q ' lost' "$KEEP/$name".?.said
	verdict "recording_of_${name}_lost_nothing" $?
}

unshare --time true 2>/dev/null || ahead=0
[ $ahead -gt 0 ] || echo "skipped: no right to another clock"

# --- A job that looks like one on two hosts --------------------------------

run job --seconds 8 --p2p --clock-ahead $ahead
files=("$KEEP/job.0" "$KEEP/job.1")
"$build/ncclstat" --list "${files[@]}" | sed 's/^/| /'
"$build/ncclstat" --dump=json "${files[@]}" >"$folder/json"
in_json "len(d['ranks']) == 4 and d['recording']['damaged_chunks'] == 0 and
    all(f['operations'] == f['operations_done'] > 0 for r in d['ranks']
    for f in r['functions'] if f['operations'])" "$folder/json"
verdict recordings_are_complete $?
if [ $ahead -gt 0 ]; then
	in_json "d['recording']['clocks'][1]['by'] == 'traffic' and
	    d['recording']['clocks'][1]['error_ns'] < 1000000 and
	    abs(d['recording']['clocks'][1]['offset_ns'] + $ahead * 10**9) <=
	    d['recording']['clocks'][1]['error_ns']" "$folder/json"
	verdict clock_offset_is_within_the_reported_error $?
fi
"$build/ncclstat" --diagnose "${files[@]}" | sed 's/^/| /'
verdict "healthy_job_is_diagnosed_healthy" "${PIPESTATUS[0]}"
"$build/ncclstat" --export=perfetto -o "$KEEP/job.pftrace" "${files[@]}"
verdict recording_is_exported $?
"$build/ncclstat" --export=ndjson "${files[@]}" >"$folder/lines"
"$python" - "$folder/lines" <<'EOF' | sed 's/^/| /'
import collections, json, sys
streams = collections.defaultdict(collections.Counter)
for line in map(json.loads, open(sys.argv[1])):
    if line["event"] in ("coll", "p2p", "coll_api", "p2p_api", "kernel_launch"):
        streams[line["pid"], line["event"]][line["stream"]] += 1
for (pid, event), counts in sorted(streams.items()):
    print(pid, event, dict(counts))
of = lambda pid, *events: set().union(*(streams[pid, e] for e in events))
bad = [pid for pid, _ in streams if
       not of(pid, "coll", "p2p") - {None} or
       not of(pid, "coll", "p2p") - {None} <= of(pid, "coll_api", "p2p_api") or
       streams[pid, "coll"][None] > 64]
sys.exit(bool(bad))
EOF
verdict "operations_have_the_streams_of_their_calls" "${PIPESTATUS[0]}"

# --- The critical path with and without a delay ----------------------------

# once NAME EXPRESSION: prints a time of the critical path `d`, in ms per
# operation; nan if it is not known.
once() {
	"$build/ncclstat" --critical-path=json --what-if=without:1 \
		"$KEEP/$1.0" "$KEEP/$1.1" >"$KEEP/$1.json"
	"$python" -c "
import json
d = json.load(open('$KEEP/$1.json'))
ns = $2
print('%.4f' % ((float('nan') if ns is None else ns) / d['operations'] / 1e6))"
}

run late --seconds 8 --late 15
run punctual --seconds 8
was=$(once late "d['elapsed_ns']")
said=$(once late "d['what_if'][0]['after_ns']")
is=$(once punctual "d['elapsed_ns']")
echo "| ms an operation: $was with rank 1 late, $said said of it without, $is without"
"$python" -c "
nan = float('nan')
exit(not ($was > 1.2 * $is and abs($said / $is - 1) < 0.1))"
verdict cost_of_a_delay_is_predicted_within_a_tenth $?

exit $((failures > 0))
