#!/bin/bash
# SPDX-License-Identifier: MIT
# Whether bandwidths are true: calls that bench.c times as nccl-tests does, by one
# process with two GPUs and by a process a GPU, with the plugin's defaults; a
# recording of them must say the same bandwidth of the data's moving part.
# Skipped without two GPUs.
#
#   CALLS=1000 test/gpu/truth.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
build_program bench || exit 1
make_folder
functions=${FUNCTIONS:-AllReduce AllGather ReduceScatter Broadcast AlltoAll SendRecv}
sizes=()
for exponent in $(seq 20 28); do
	sizes+=($((1 << exponent)):"${CALLS:-1000}")
done

for how in processes process; do
	more=()
	[ $how = processes ] || more+=(--one-process)
	for function in $functions; do
		place=$folder/$how/$function/1
		mkdir -p "$place/shm"
		NCCLSTAT_DIR=$place/shm "$build/ncclstat" --compress \
			--record="$place/recording" 2>"$place/recorder" &
		recorder=$!
		job "$place" default "$build/gpu/bench" --function "$function" \
			--warm-up 100 \
			--at-end "$dump_here" "${more[@]}" "${sizes[@]}"
		timeout 20 tail --pid=$recorder -f /dev/null ||
			kill -INT $recorder
		wait $recorder
		"$build/ncclstat" --export=ndjson "$place/recording" \
			>"$place/lines"
	done
done
"$python" test/gpu/tables.py truth "$folder" "$(describe_machine)" "$functions"
