#!/bin/bash
# SPDX-License-Identifier: MIT
# What a real job takes without a late rank, where all hosts have work of their own in
# each step (what_if.py): as the same job without the fault took, or between the bounds
# that are told, or not known. --diagnose names the rank and what it costs, and finds
# nothing in the job without the fault. Hosts wait for each step, run one or two steps
# ahead, or never wait. A busy GPU only delays its own rank where each rank has one.
# Skipped without a GPU or PyTorch.
#
# Recordings are left in $KEEP if that is a folder.
. "$(dirname "$0")/common.bash"
need_pytorch
# shellcheck disable=SC2317 # the trap calls it
at_end() { end_recorder; }
make_folder
prepare_recordings
faults=host
[ "$gpus" -lt 2 ] || faults='host gpu'

# run AHEAD FAULT: runs a job and records it; sets $took, in seconds, and $recording.
run() {
	recording=$KEEP/what-if.$1.$2
	record_job "job_ahead_$1_fault_$2" "$recording" \
		"$python" test/gpu/what_if.py job --ahead="$1" --fault="$2"
}

for ahead in 0 1 2 any; do
	run "$ahead" none
	without=$took
	"$build/ncclstat" --diagnose "$recording" >"$folder/said"
	verdict "nothing_is_found_in_a_healthy_job_ahead_$ahead" $?
	head -n 3 "$folder/said"
	for fault in $faults; do
		run "$ahead" "$fault"
		"$build/ncclstat" --critical-path=json --what-if=without:1 \
			"$recording" >"$folder/json" 2>"$folder/log" &&
			"$python" test/gpu/what_if.py judge "$folder/json" \
				"$took" "$without"
		verdict "without_a_late_${fault}_ahead_${ahead}_is_right" $?
		"$build/ncclstat" --diagnose=json "$recording" \
			>"$folder/json" 2>"$folder/log"
		"$python" test/gpu/what_if.py judge-cost "$folder/json" \
			"$took" "$without"
		verdict "cost_of_a_late_${fault}_ahead_${ahead}_is_right" $?
	done
done
exit $((failures > 0))
