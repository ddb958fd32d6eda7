#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs that capture NCCL's calls into graphs run to their end with right sums:
# RUNS jobs a mode that mix replays with eager calls (graphs.c), and PyTorch's
# graphs and torch.compile(mode="reduce-overhead") (graphs.py). Skipped without a
# GPU.
#
#   RUNS=50 MODES="default all always" JOBS=8 SEED=1 PATIENCE=60 test/gpu/graphs.sh
#
# Each job is a pair of fresh processes, and job i is the same in each mode, so
# MODES=none tells a fault of NCCL or of the test. KEEP names an archive (.tar.gz)
# that is made of all that jobs left. Must not leave processes or shared memory
# behind.
. "$(dirname "$0")/common.bash"

# A mode that hangs this often is given up.
HANGS_ENOUGH=3

# one_of_graphs MODE INDEX: runs a job that depends on the index only, so all
# modes get the same jobs.
one_of_graphs() {
	local mode=$1 index=$2 place=$FOLDER/graphs/$1/$2
	local threads=$((1 + index % 2)) comms=$((1 + index / 2 % 2)) before
	local -a more=() captures=(global thread-local relaxed)
	local capture=${captures[index / 4 % 3]}
	mkdir -p "$place"
	if [ "$(cat "$FOLDER/graphs/$mode"/*/status 2>/dev/null |
		grep -cx 124)" -ge $HANGS_ENOUGH ]; then
		echo not run >"$place/status"
		return 0
	fi
	RANDOM=$((SEED * 1000 + index))
	# A third captures early, the others when much has been timed.
	before=$((RANDOM % 300))
	[ $(((index + index / 4) % 3)) = 0 ] ||
		before=$(((1001 + RANDOM % 400) * comms))
	if [ $((threads + comms)) = 4 ] && [ $((index / 4 % 4)) != 3 ]; then
		more+=(--free)
		# In global mode these fail without a plugin, too.
		[ $capture != global ] || capture=thread-local
	elif [ $threads = 2 ]; then
		capture=relaxed
	fi
	[ "$gpus" -ge 2 ] || more+=(--shared)
	job "$place" "$mode" "$build/gpu/graphs" --mode $capture \
		--threads $threads --comms $comms --eager-before $before \
		--captured $((1 + RANDOM % 8)) --graphs $((1 + RANDOM % 3)) \
		--replays $((20 + RANDOM % 30)) \
		--seed $((SEED * 1000 + index)) --patience "$PATIENCE" \
		--at-end "$dump_here" "${more[@]}"
}

# The script calls itself for each job, to run several at a time.
if [ "${1:-}" = one_of_graphs ]; then
	gpus=$GPUS
	one_of_graphs "$2" "$3"
	exit 0
fi

need_gpus 1
build_program graphs || exit 1
# shellcheck disable=SC2317 # the trap calls it
at_end() {
	[ -z "${KEEP:-}" ] || tar -C "$folder" -czf "$KEEP" .
}
make_folder
# Two processes that share a GPU are slow, and more processes slower still.
[ "$gpus" -ge 2 ] || JOBS=${JOBS:-1}
modes=${MODES:-default all always}
export BUILD=$build GPUS=$gpus FOLDER=$folder PATIENCE=${PATIENCE:-60} SEED=${SEED:-1}
for index in $(seq 0 $((${RUNS:-50} - 1))); do
	for mode in $modes; do
		echo "$mode $index"
	done
done | xargs -P "${JOBS:-8}" -n 2 test/gpu/graphs.sh one_of_graphs
"$python" test/gpu/tables.py graphs "$folder/graphs" "$(describe_machine)" \
	"$modes"
verdict graphs_of_nccl $?

if "$python" -c 'import torch' 2>/dev/null; then
	for mode in $modes; do
		job "$folder/torch/$mode" "$mode" "$python" test/gpu/graphs.py
		sed 's/^/| /' "$folder/torch/$mode/out"
		[ "$(cat "$folder/torch/$mode/status")" = 0 ]
		verdict "graphs_of_pytorch_with_$mode" $?
	done
else
	echo "skipped: no PyTorch"
fi
exit $((failures > 0))
