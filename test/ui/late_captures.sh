#!/bin/sh
# SPDX-License-Identifier: MIT
# Captured jobs in which a rank, or its GPU, slept for 240 ms in all: the diagnosis
# names the rank and its host or GPU, or says that the cost is not known, and
# --what-if=without gives what such a job took without the sleep, or says that it
# cannot know; with times on streams and without. It knows anchors in five of eight
# steps only: within 15 %.
# shellcheck source=test/ui/checks
. "$(dirname "$0")/checks"

if [ ! -x "$replay" ] || [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi
own_segments
: >"$tmp/judged"
: >"$tmp/known"
: >"$tmp/blamed"

# A call may come so many ms early or late. A rank sleeps 6 or 8 times: at 2 ms,
# its calls and those of the others may make 30 ms of 240 too much.
off_ms=1

# play CAPTURE ARGUMENT...: plays a job into $tmp/recording, and $tmp/lines.
play() {
	capture=$1
	shift
	rm -f "$tmp/said"
	"$ncclstat" --record "$tmp/recording" --duration 30 \
		>"$tmp/said" 2>&1 &
	recorder=$!
	await grep -qs 'waiting for a job' "$tmp/said"
	"$replay" "$@" "test/captures/$capture" >"$tmp/log" 2>&1 || return
	wait "$recorder" &&
		"$ncclstat" --export=ndjson "$tmp/recording" >"$tmp/lines"
}

# record CAPTURE COUNT NUMBER ARGUMENT...: plays a job until its calls come in time,
# from the NUMBERth with COUNT elements on, three times at most.
record() {
	capture=$1 count=$2 number=$3
	shift 3
	waits=
	# Without streams an operation ends with its proxies, after its kernel.
	case $capture$* in
	*-ring | *-tree) waits=--waits ;;
	esac
	for attempt in 1 2 3; do
		play "$capture" "$@" || return
		python3 test/ui/played_on_time.py "test/captures/$capture" \
			"$tmp/lines" "$count" "$number" "$off_ms" $waits &&
			return
		echo "attempt $attempt: the player was held up"
	done
	is_on_time=false
}

# told JQ: succeeds if it holds for the JSON in $tmp/out.
told() {
	jq -e "$1" "$tmp/out"
}

# since NUMBER: prints when the job's AllReduce with this number among those of 4 MB
# begins, in seconds since the recording does: the job has warmed up.
since() {
	begin_ns=$("$ncclstat" --dump=json "$tmp/recording" |
		jq '.monotonic_ns - .recording.at_ns')
	jq -s "[.[] | select(.event == \"coll\" and .rank == 0 and
			.bytes == 4194304) | .start_ns] | sort |
			(.[$1] - $begin_ns) / 1e9 - 0.001" "$tmp/lines"
}

# blame NAME RANK CAUSE: at the end of $tmp/recording the diagnosis names the rank and
# its cause, or says that its cost is not known.
blame() {
	"$ncclstat" --diagnose=json "$tmp/recording" >"$tmp/out"
	if told '.findings == []' >"$tmp/log"; then
		check "$1: the cost of rank $2 is said to be unknown" told \
			'.not_checked | any(test("cost is not known|what lateness of"))'
		return
	fi
	check "$1: it is that rank $2 is late, by its $3" told \
		".findings | length == 1 and .[0].verdict == \"late_rank\" and
		.[0].root.rank == $2 and .[0].cause == \"$3\""
	echo "$1" >>"$tmp/blamed"
}

# judge CAPTURE RANK CAUSE NUMBER GAIN ARGUMENT...: what is concluded of a job, with
# the times that these arguments of ncclreplay leave. GAIN is what the job took longer
# than others of its kind without the sleep, in ms (test/captures/README.md).
judge() {
	capture=$1 rank=$2 cause=$3 number=$4 gain_ms=$5
	shift 5
	name="$capture${1:+ }$*"
	is_on_time=true
	check "$name is recorded" record "$capture" 1048576 "$number" "$@"
	if ! $is_on_time; then
		echo "skipped: $name was not played in time"
		return
	fi
	blame "$name" "$rank" "$cause"
	check "$name: the rank is left out" run 0 --critical-path=json \
		"--since=$(since "$number")" "--what-if=without:$rank" \
		"$tmp/recording"
	check "$name: that gains $gain_ms ms, or is not known" told \
		".replayed_ns as \$before | .what_if[0].after_ns | . == null or
		((\$before - .) / 1e6 / $gain_ms - 1 | fabs < 0.15)"
	echo "$name" >>"$tmp/judged"
	jq '.what_if[0].after_ns // empty' "$tmp/out" >>"$tmp/known"
}

judge net-v5-late-ring 2 host 3 239
judge net-v5-late-ring 2 host 3 239 --no-gpu
judge net-v5-late-tree 7 host 3 223
judge net-v5-late-tree 7 host 3 223 --no-gpu
judge net-v5-late-ddp 1 host 0 259
judge net-v5-late-ddp 1 host 0 259 --no-gpu
# Without streams, times over NVLink are those of kernels alone, many of which the
# plugin refuses where the player is held up.
judge nvlink-v5-late-ring 1 host 3 244
judge nvlink-v5-late-ddp 1 host 0 264
judge net-v5-gpu-ddp 1 stream 0 229
judge nvlink-v5-gpu-ring 1 stream 3 241
judge nvlink-v5-gpu-ddp 1 stream 0 230

# run_together NUMBER: succeeds if the kernels of this AllReduce of $tmp/lines were
# together for longer than clocks may be off. As captured, they are for 1 us: the job is
# played slowly. Times of the GPU's clock are played as captured: most often the plugin
# refuses them then, but if it takes them they are wrong.
run_together() {
	jq -se "(map(select(.event == \"coll\" and .sequence_number == $1)) |
		(map(.start_ns + .duration_ns) | min) -
		(map(.start_ns + .first_child_ns) | max) > 15000) and
		all(.[]; .gpu_start_ns == null)" "$tmp/lines" >/dev/null
}

for attempt in 1 2 3; do
	check 'unlike calls are recorded' play nvlink-v5-sizes --speed=0.05
	run_together 6 && break
	echo "attempt $attempt: the kernels were not together"
done
if run_together 6; then
	check 'unlike calls that end are found' \
		run 1 --diagnose=json \
		"$tmp/recording"
	check 'they are of both ranks' told \
		'.findings[0] | .verdict == "size_mismatch" and
		([.root.rank, .other.rank] | sort) == [0, 1]'
else
	echo 'skipped: unlike calls did not run together'
fi

is_on_time=true
check 'a pipeline is recorded' record nvlink-v5-late-pipeline 262144 12
if $is_on_time; then
	blame 'a pipeline' 1 host
else
	echo 'skipped: the pipeline was not played in time'
fi
[ "$(wc -l <"$tmp/judged")" -lt 6 ] ||
	check 'several ranks are found' test "$(wc -l <"$tmp/blamed")" -ge 2
[ "$(wc -l <"$tmp/judged")" -lt 6 ] ||
	check 'several gains are known' test "$(wc -l <"$tmp/known")" -ge 2
exit "$failed"
