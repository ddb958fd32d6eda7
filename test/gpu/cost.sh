#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of the plugin: back-to-back AllReduces on one and on two communicators,
# and the step of a job with DistributedDataParallel; without a plugin, with its
# defaults, with every launch timed, and with a recorder and a view beside. Modes
# take turns. Skipped without two GPUs.
#
#   MODES="none default all watched" ROUNDS=3 REPEAT=11 STEPS=150 test/gpu/cost.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
build_program bench || exit 1
make_folder
rounds=${ROUNDS:-3} steps=${STEPS:-150}
read -r -a modes <<<"${MODES:-none default all watched}"
order=("${modes[@]}")

for round in $(seq "$rounds"); do
	for mode in "${order[@]}"; do
		for comms in 1 2; do
			job "$folder/comms$comms/$mode/$round" "$mode" \
				"$build/bench" --comms $comms \
				--warm-up 3000 --repeat "${REPEAT:-11}" \
				--at-end "$dump_here" 1024:2000 1048576:2000 \
				4194304:1000 67108864:200
		done
		job "$folder/step/$mode/$round" "$mode" "$python" \
			test/gpu/jobs.py healthy --sync 10 --steps "$steps" \
			--at-end "$dump_here"
	done
	# Each round begins with another mode, so that none is always the first.
	order=("${order[@]:1}" "${order[0]}")
done
"$python" test/gpu/tables.py cost "$folder" "$(describe_machine)" "${modes[*]}"
