#!/bin/bash
# SPDX-License-Identifier: MIT
# Computing in the ranges of a real PyTorch job (cupti.py), by CUPTI: it is
# seen, its cost is measured, and the plugin leaves CUPTI to torch.profiler.
# Skipped without a GPU, PyTorch or CUPTI.
#
#   ROUNDS=3 STEPS=200 test/gpu/cupti.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
job=test/gpu/cupti.py
steps=${STEPS:-200} rounds=${ROUNDS:-3}
need_pytorch

make_folder

# run NAME MODE ARGUMENT...: runs a job; MODE is `none` for no plugin, or the
# value of NCCLSTAT_CUPTI. The log is in $folder/NAME/log.
run() {
	local name=$1 mode=$2
	shift 2
	mkdir -p "$folder/$name/shm"
	(
		export NCCLSTAT_DIR=$folder/$name/shm NCCL_DEBUG=WARN
		unset NCCL_PROFILER_PLUGIN NVTX_INJECTION64_PATH NCCLSTAT_CUPTI
		if [ "$mode" != none ]; then
			plugin=$build/libnccl-profiler-ncclstat.so
			export NCCL_PROFILER_PLUGIN=$plugin
			export NVTX_INJECTION64_PATH=$plugin
			export NCCLSTAT_CUPTI=$mode
		fi
		timeout -k 10 300 "$python" $job run --out "$folder/$name" \
			--steps "$steps" "$@"
	) >"$folder/$name/log" 2>&1
	status=$?
	grep 'ncclstat' "$folder/$name/log" | sort -u | sed 's/^/| /' | head -n 4
	[ $status = 0 ] || tail -n 20 "$folder/$name/log" | sed 's/^/| /'
	! ls "$folder/$name/shm"/ncclstat.* >/dev/null 2>&1 || status=1
	return $status
}

# says NAME WORD: succeeds if WORD is the CUPTI status of all ranks in the dump
# of a job.
says() {
	"$python" -c "
import json, sys
ranks = json.load(open('$folder/$1/dump.json'))['ranks']
found = {rank['cupti']['status'] for rank in ranks}
print('| status:', *found)
sys.exit(found != {'$2'})"
}

# --- Ranges ----------------------------------------------------------------

run seen 1 --dump "$build/ncclstat"
verdict job_runs_with_cupti $?
if says seen missing; then
	skip "no CUPTI: set NCCLSTAT_CUPTI's search up with CUDA_HOME"
fi
"$python" $job check "$folder/seen/dump.json"
verdict computing_and_hidden_communication_are_seen $?

# --- Cost ------------------------------------------------------------------

for round in $(seq "$rounds"); do
	for mode in none 0 1; do
		run "cost/$mode/$round" "$mode" || failures=$((failures + 1))
	done
done
"$python" $job cost "$folder/cost" none 0 1
verdict cost_is_measured $?

# --- Another tool ----------------------------------------------------------

run first 1 --profiler first --dump "$build/ncclstat"
verdict job_with_a_profiler_runs $?
says first taken
verdict plugin_leaves_cupti_to_a_profiler $?
grep -q 'another tool has CUPTI' "$folder/first/log"
verdict plugin_says_that_cupti_is_taken $?
"$python" -c "
import json, sys
saw = json.load(open('$folder/first/0.json'))['profiler_saw']
print('| the profiler has', saw, 'events of the GPU')
sys.exit(not saw)"
verdict profiler_sees_the_gpu $?

# CUPTI decides what happens to a profiler that starts later; the job must go
# on.
run later 1 --profiler later --dump "$build/ncclstat"
verdict job_whose_profiler_starts_later_runs $?
says later on
verdict job_continues_with_the_later_profiler $?
"$python" -c "
import json
print('| the later profiler has',
      json.load(open('$folder/later/0.json'))['profiler_saw'],
      'events of the GPU')"

exit $((failures > 0))
