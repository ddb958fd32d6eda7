#!/bin/bash
# SPDX-License-Identifier: MIT
# Communication outside NCCL (outside.py): a PyTorch job without it is well, with
# NCCLSTAT_CUPTI and without; with a kernel of such a name beside NCCL it has no
# verdict, and the kernel's share of the GPU's time is that of CUDA events within 20 %.
# Skipped without a GPU, PyTorch or CUPTI. Takes 45 s.
#
#   test/gpu/outside.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
job=test/gpu/outside.py
need_pytorch
make_folder

# run NAME CUPTI ARGUMENT...: runs a job, and looks at it at its end.
run() {
	local place=$folder/$1
	mkdir -p "$place/shm"
	(
		export NCCLSTAT_DIR=$place/shm NCCLSTAT_CUPTI=$2
		export NCCL_PROFILER_PLUGIN=$build/libnccl-profiler-ncclstat.so
		shift 2
		timeout -k 5 60 "$python" $job run --out "$place" "$@" --at-end "
			cd '$place' && '$build/ncclstat' --dump=json >json
			'$build/ncclstat' --diagnose >look
			echo \$? >told"
	) >"$place/log" 2>&1
	verdict "$1_ends_well" $?
	if [ -e "$place/told" ]; then
		sed -n '3s/^/| /p' "$place/look"
	else
		tail -n 20 "$place/log" | sed 's/^/| /'
	fi
}

# says NAME STATUS PATTERN: succeeds if the look at a job has these.
says() {
	[ "$(cat "$folder/$1/told")" = "$2" ] && grep -q "$3" "$folder/$1/look"
}

# code NAME: succeeds if no code outside NCCL is seen in a job.
code() {
	"$python" -c "
import json, sys
ranks = json.load(open('$folder/$1/json'))['ranks']
found = {name for rank in ranks for name in rank['outside_code']}
print('| code:', *found)
sys.exit(not ranks or found != set())"
}

run plain 0
says plain 0 '^well: '
verdict job_of_pytorch_is_well $?
code plain
verdict pytorch_itself_is_not_taken_for_code_outside_nccl $?

run nccl 1
if grep -q '"status": *"missing"' "$folder/nccl/json"; then
	skip "no CUPTI: set NCCLSTAT_CUPTI's search up with CUDA_HOME"
fi
says nccl 0 '^well: '
verdict job_of_nccl_alone_is_well $?
"$python" $job check "$folder/nccl"
verdict no_kernel_is_taken_for_one_outside_nccl $?

run outside 1 --kernel _ZN4vllm26cross_device_reduce_1stageIfLi2EEEvPv
says outside 4 '^no verdict: communication outside NCCL ('
verdict job_that_communicates_outside_nccl_has_no_verdict $?
"$python" $job check "$folder/outside"
verdict share_is_that_of_events $?

exit $((failures > 0))
