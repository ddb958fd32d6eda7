#!/bin/sh
# SPDX-License-Identifier: MIT
# Captured jobs that were healthy: ncclstat --diagnose finds nothing whenever it
# looks at them, nor in any part of their recordings, with times on streams and
# without. HEALTHY=all plays all of
# them, as make check-long does.
# shellcheck source=test/ui/checks
. "$(dirname "$0")/checks"

replay=$build/ncclreplay
if [ ! -x "$replay" ] || [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi
shm_folder "$tmp/shm"
export NCCLSTAT_DIR="$tmp/shm"

captures='net-v5-ddp8 nvlink-v5-ddp8'
if [ "${HEALTHY:-}" = all ]; then
	captures=$(cd test/captures && echo ./*/)
fi

# watch ARGUMENT...: plays a job, and fails if a look at it, or at its recording,
# finds something.
watch() {
	rm -f "$tmp/recorder"
	"$ncclstat" --record "$tmp/job.ncs" --interval 0.5 2>"$tmp/recorder" &
	recorder=$!
	await grep -qs 'waiting for a job' "$tmp/recorder"
	"$replay" "$@" >"$tmp/replay" 2>&1 &
	job=$!
	found=0
	while kill -0 "$job" 2>/dev/null; do
		status=0
		"$ncclstat" --diagnose >"$tmp/out" 2>"$tmp/err" || status=$?
		# No job is there before the first call and after the last.
		case $status in
		0) echo >>"$tmp/looks" ;;
		3) ;;
		4) grep -q 'no rank has called anything yet' "$tmp/out" ||
			{ cat "$tmp/out"; found=1; } ;;
		*) cat "$tmp/out" "$tmp/err"; found=1 ;;
		esac
		sleep 0.5
	done
	wait "$job" "$recorder"
	run 0 --diagnose "$tmp/job.ncs" || { cat "$tmp/out"; found=1; }
	rm -f "$tmp/job.ncs"
	[ "$found" -eq 0 ]
}

for capture in $captures; do
	# In these a rank or its GPU comes late, or is killed, or they tell of no
	# operation.
	case $capture in
	*hang* | *killed* | *ctrl* | *late* | *gpu*) continue ;;
	esac
	check "$capture is healthy" watch "test/captures/$capture"
	check "$capture is healthy without times on streams" \
		watch --no-gpu "test/captures/$capture"
done

# has_called NUMBER: whether the ranks have begun so many operations.
has_called() {
	"$ncclstat" --dump=json >"$tmp/out" 2>"$tmp/err" &&
		jq -e "[.ranks[].functions[].operations] | add > $1" \
			"$tmp/out" >/dev/null
}

# lost_nothing: whether the latest dump tells of no loss, other than of records that
# nobody read in time.
lost_nothing() {
	jq -ce '[.ranks[].lost | del(.overwritten) | add] | add == 0' "$tmp/out"
}

# plays_fast: succeeds if a job that is played ten times as fast loses nothing. A
# machine that is too slow for it plays it more slowly; where that comes and goes, the
# GPU's clock contradicts itself and times of kernels are lost: it is played again, if
# it lost nothing else.
plays_fast() {
	for attempt in 1 2 3; do
		"$replay" --speed 10 --loop 0 test/captures/net-v5-ddp8 \
			>"$tmp/replay" 2>&1 &
		job=$!
		await has_called 8000 || return
		end_job
		lost_nothing && return
		echo "attempt $attempt:"
		jq -c '[.ranks[].lost]' "$tmp/out"
		jq -e '[.ranks[].lost | del(.overwritten, .bad_ptimer) | add] |
			add == 0' "$tmp/out" || return
	done
	return 1
}
check 'nothing of a job that is played ten times as fast counts as lost' plays_fast
check 'jobs were there' test "$(wc -l <"$tmp/looks")" -ge 2
exit "$failed"
