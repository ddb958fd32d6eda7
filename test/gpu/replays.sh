#!/bin/bash
# SPDX-License-Identifier: MIT
# Replays of CUDA graphs over NVLink: a decode loop (replays.py) with and without the
# plugin, and by NCCLSTAT_GRAPHS; its replays are counted exactly; a rank that stops
# replaying, one that is stopped, one whose GPU computes and one that is killed are told
# as stuck within PATIENCE seconds with the right rank; a healthy one is not, in LOOKS
# looks. Skipped without two GPUs.
#
#   MODES="auto all" ROUNDS=3 LOOKS=40 PATIENCE=10 test/gpu/replays.sh
#
# Without ROUNDS (0) the cost is not measured.
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
need_pytorch
make_folder
job=
# shellcheck disable=SC2317 # the trap calls it
at_end() { end_job; }
export NCCLSTAT_DIR=$folder/shm
mkdir -p "$NCCLSTAT_DIR"
loops=0 modes_seen=${MODES:-auto all}
looks=${LOOKS:-40} patience=${PATIENCE:-10}

# loop GRAPHS ARGUMENT...: becomes the loop; GRAPHS is "none" for no plugin. For a
# subshell.
loop() {
	local graphs=$1
	shift
	unset NCCL_PROFILER_PLUGIN NCCLSTAT_GRAPHS
	if [ "$graphs" != none ]; then
		export NCCL_PROFILER_PLUGIN=$build/libnccl-profiler-ncclstat.so
		export NCCLSTAT_GRAPHS=$graphs
	fi
	exec "$python" test/gpu/replays.py "$@" 2>/dev/null
}

# --- Cost ------------------------------------------------------------------

describe_machine
modes=(none off auto 1/8 all)
for _ in $(seq "${ROUNDS:-3}"); do
	for mode in "${modes[@]}"; do
		(loop "$mode") | tee -a "$folder/sums" |
			awk '$2 == 0 { print $4, $6 }' >>"$folder/cost.${mode/\//_}"
	done
done
# best MODE COLUMN: prints the smallest of its numbers.
best() {
	awk -v column="$2" 'NR == 1 || $column < least { least = $column }
		END { print least }' "$folder/cost.${1/\//_}"
}
if [ "${ROUNDS:-3}" -gt 0 ]; then
	echo "| graphs | µs a replay | of none | µs a launch on the host |"
	echo "|---|---:|---:|---:|"
	for mode in "${modes[@]}"; do
		awk -v mode="$mode" -v us="$(best "$mode" 1)" -v none="$(best none 1)" \
			-v host="$(best "$mode" 2)" 'BEGIN {
			printf "| %s | %.1f | %.4f | %.1f |\n", mode, us, us / none, host }'
	done
	awk -v us="$(best auto 1)" -v none="$(best none 1)" \
		'BEGIN { exit !(us / none <= 1.005) }'
	verdict replays_reported_by_default_cost_at_most_half_a_percent $?
	! grep -q wrong "$folder/sums"
	verdict sums_are_right $?
fi

# --- Looks -----------------------------------------------------------------

# start GRAPHS ARGUMENT...: starts the loop and waits for its first replays.
start() {
	# A job that was killed may not be reaped yet.
	loops=$((loops + 1))
	NCCLSTAT_DIR=$folder/shm/$loops
	mkdir -p "$NCCLSTAT_DIR"
	(loop "$@") >"$folder/out" &
	job=$!
	for _ in $(seq 120); do
		sleep 0.5
		"$build/ncclstat" --dump 2>/dev/null | grep -q graphs && return 0
		kill -0 $job 2>/dev/null || break
	done
	echo "no replays were seen"
	return 1
}

# finish: ends the loop and its ranks.
finish() {
	local ranks
	ranks=$(pgrep -P $job)
	# shellcheck disable=SC2086 # several numbers
	kill -KILL $ranks $job 2>/dev/null
	wait $job 2>/dev/null
	job=
	"$build/ncclstat" --clean >/dev/null
}

# Rank 1 is the second process that the loop has started.
rank_1() {
	pgrep -P $job -f spawn_main | tail -n 1
}

for mode in $modes_seen; do
	start $mode --rounds 1000000
	bad=0 unread=0 since=$SECONDS
	for look in $(seq "$looks"); do
		"$build/ncclstat" --diagnose >"$folder/look" 2>&1
		case $? in
		2) bad=$((bad + 1)) && cat "$folder/look" ;;
		0 | 1) ;;
		*) unread=$((unread + 1)) && cp "$folder/look" "$folder/unread" ;;
		esac
		# A test that is cut tells how far it came.
		[ $((look % 25)) -gt 0 ] ||
			echo "$mode: $look looks, $bad stuck, $unread not read"
	done
	echo "$mode: $looks looks at a healthy loop in $((SECONDS - since)) s:" \
		"$bad stuck, $unread not read"
	kill -0 $job
	verdict "the_loop_replays_during_all_looks_with_$mode" $?
	[ $bad = 0 ]
	verdict "healthy_replays_are_not_stuck_with_$mode" $?
	[ $unread = 0 ] || cat "$folder/unread"
	finish
done

# --- Hangs -----------------------------------------------------------------

# expect_stuck NAME TEXT: the diagnosis says that within the patience.
expect_stuck() {
	local since=$SECONDS told=1
	while [ $((SECONDS - since)) -le "$patience" ]; do
		"$build/ncclstat" --diagnose >"$folder/look" 2>&1
		if [ $? = 2 ] && grep '^stuck' "$folder/look" | grep -q "$2"; then
			told=0
			break
		fi
		sleep 0.2
	done
	echo "told after $((SECONDS - since)) s: $(sed -n 3p "$folder/look")"
	[ $told = 0 ] || cat "$folder/look"
	verdict "$1" $told
}

for mode in $modes_seen; do
	start $mode --rounds 100 --hold 1:4000:20
	sleep 4
	expect_stuck "host_that_stops_replaying_is_told_with_$mode" 'rank 1 '
	finish
	start $mode --rounds 400
	sleep 2
	kill -STOP "$(rank_1)"
	expect_stuck "stopped_process_is_told_with_$mode" 'rank 1 '
	finish
	start $mode --rounds 100 --busy 1:4000:20
	sleep 4
	expect_stuck "busy_gpu_is_told_with_$mode" 'rank 1 '
	finish
	start $mode --rounds 400
	sleep 2
	# The parent would end the others, too.
	kill -STOP $job
	kill -KILL "$(rank_1)"
	expect_stuck "killed_process_is_told_with_$mode" 'rank 1 '
	finish
done
exit $((failures > 0))
