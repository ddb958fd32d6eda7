#!/bin/bash
# SPDX-License-Identifier: MIT
# What ranges of a real PyTorch job compute, by CUPTI: that it is seen, what it
# costs, and that it keeps off where torch.profiler has CUPTI (cupti.py).
# Skipped without a GPU, PyTorch or CUPTI.
#
#   ROUNDS=3 STEPS=200 test/gpu/cupti.sh
#
# It must not leave processes or shared memory behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/gpu/common.bash
job=test/gpu/cupti.py
steps=${STEPS:-200} rounds=${ROUNDS:-3}
need_pytorch

make_folder

# run NAME MODE ARGUMENT...: a job; the mode is `none`, without the plugin, or
# what NCCLSTAT_CUPTI is set to. Leaves its log in FOLDER/NAME/log.
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

# says NAME WORD: what the dump of this job has for a status, in all ranks.
says() {
	"$python" -c "
import json, sys
ranks = json.load(open('$folder/$1/dump.json'))['ranks']
found = {rank['cupti']['status'] for rank in ranks}
print('| status:', *found)
sys.exit(found != {'$2'})"
}

# --- It is seen ----------------------------------------------------------------

run seen 1 --dump "$build/ncclstat"
verdict a_job_runs_with_cupti $?
if says seen missing; then
	skip "no CUPTI: set NCCLSTAT_CUPTI's search up with CUDA_HOME"
fi
"$python" $job check "$folder/seen/dump.json"
verdict computing_and_what_it_hides_are_seen $?

# --- What it costs ----------------------------------------------------------------

for round in $(seq "$rounds"); do
	for mode in none 0 1; do
		run "cost/$mode/$round" "$mode" || failures=$((failures + 1))
	done
done
"$python" $job cost "$folder/cost" none 0 1
verdict the_cost_is_measured $?

# --- Another tool ----------------------------------------------------------------

run first 1 --profiler first --dump "$build/ncclstat"
verdict a_job_with_a_profiler_runs $?
says first taken
verdict it_keeps_off_where_a_profiler_has_cupti $?
grep -q 'another tool has CUPTI' "$folder/first/log"
verdict and_says_so $?
"$python" -c "
import json, sys
saw = json.load(open('$folder/first/0.json'))['profiler_saw']
print('| the profiler has', saw, 'events of the GPU')
sys.exit(not saw)"
verdict the_profiler_sees_the_gpu $?

# What becomes of a profiler that comes later is CUPTI's to say; the job goes on.
run later 1 --profiler later --dump "$build/ncclstat"
verdict a_job_whose_profiler_comes_later_runs $?
says later on
verdict it_goes_on $?
"$python" -c "
import json
print('| the later profiler has',
      json.load(open('$folder/later/0.json'))['profiler_saw'],
      'events of the GPU')"

exit $((failures > 0))
