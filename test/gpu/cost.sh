#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of the plugin: back-to-back AllReduces on one and on two communicators,
# and the step of a job with DistributedDataParallel; without a plugin, with its
# defaults, with every launch timed, and with a recorder and a view beside. Modes
# take turns; MODES="none empty off default" tells what NCCL does for any plugin, and
# what timing costs. Skipped without two GPUs.
#
#   MODES="none default all watched" ROUNDS=3 REPEAT=11 STEPS=150 \
#   KINDS="comms1 comms2 step 3d 3d-nodes" test/gpu/cost.sh
#
# 3d is a step with tensor, pipeline and data parallelism, 3d-nodes the same on two
# "nodes" with sockets between them; by default where there are four GPUs.
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
build_program bench || exit 1
make_folder
rounds=${ROUNDS:-3} steps=${STEPS:-150}
read -r -a modes <<<"${MODES:-none default all watched}"
order=("${modes[@]}")
kinds="comms1 comms2 step"
[ "$gpus" -lt 4 ] || kinds="$kinds 3d 3d-nodes"
kinds=${KINDS:-$kinds}

cost_of() { # kind, folder, mode
	local -a command
	case $1 in
	comms?)
		command=("$build/gpu/bench" --comms "${1#comms}" --warm-up 3000
			--repeat "${REPEAT:-11}" --at-end "$dump_here"
			1024:2000 1048576:2000 4194304:1000 67108864:200)
		;;
	step)
		command=("$python" test/gpu/jobs.py healthy --sync 10
			--steps "$steps" --at-end "$dump_here")
		;;
	3d*)
		command=("$python" test/gpu/jobs.py 3d --ranks "$gpus" --sync 10
			--steps "$steps" --at-end "$dump_here")
		[ "$1" = 3d ] || command+=(--link nodes)
		;;
	esac
	job "$2" "$3" "${command[@]}"
}

for round in $(seq "$rounds"); do
	for mode in "${order[@]}"; do
		for kind in $kinds; do
			cost_of "$kind" "$folder/$kind/$mode/$round" "$mode"
		done
	done
	# Each round begins with another mode, so that none is always the first.
	order=("${order[@]:1}" "${order[0]}")
done
"$python" test/gpu/tables.py cost "$folder" "$(describe_machine)" "${modes[*]}"
