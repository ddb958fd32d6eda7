#!/bin/bash
# SPDX-License-Identifier: MIT
# Training jobs as users write them (training.py), two ranks on a GPU each: --diagnose
# names the rank that is late with what the job gains without the fault, or bounds around
# it, and finds nothing without a fault. Skipped without two GPUs or PyTorch.
#
#   KINDS="buffers sharded" FAULTS="host.0 gpu.1" STEPS=250 test/gpu/training.sh
#
# A fault is followed by its victim. Recordings are left in $KEEP if that is a folder. Two
# kinds launch more than is timed by default, so that they take more steps: costs are then
# those of a stretch.
. "$(dirname "$0")/common.bash"
need_gpus 2
need_pytorch
# shellcheck disable=SC2317 # the trap calls it
at_end() { end_recorder; }
make_folder
prepare_recordings
describe_machine

# run KIND FAULT VICTIM: runs a job and records it; sets $took, in seconds, and
# $recording.
run() {
	recording=$KEEP/$1.$2.$3
	record_job "$1_with_$2_of_rank_$3" "$recording" \
		"$python" test/gpu/training.py job "$1" --fault="$2" --victim="$3" \
		--steps="$steps"
}

for kind in ${KINDS:-buffers sharded tensor deep accumulate ahead evaluate}; do
	steps=${STEPS:-250}
	case $kind in sharded | deep) steps=$((3 * steps)) ;; esac
	run "$kind" none 1
	without=$took
	"$build/ncclstat" --diagnose "$recording" >"$folder/said"
	status=$?
	verdict "nothing_is_found_in_healthy_$kind" $status
	[ $status = 0 ] || head -n 3 "$folder/said"
	for fault in ${FAULTS:-host.0 host.1 gpu.1 tenth.1}; do
		run "$kind" "${fault%.*}" "${fault#*.}"
		"$build/ncclstat" --diagnose=json "$recording" >"$folder/json" \
			2>"$folder/log"
		"$python" test/gpu/training.py judge "$folder/json" \
			"$kind" "${fault#*.}" "$took" "$without" |
			sed "s/^/| $kind, $fault: /"
		verdict "${kind}_with_${fault}_is_told" "${PIPESTATUS[0]}"
	done
done
exit $((failures > 0))
