#!/bin/bash
# SPDX-License-Identifier: MIT
# Which launches of CUDA graphs report their replays by default (graph_choice.py): the
# first one of a first graph, all of a graph that is captured once others have been
# replayed that take long, and the first one again after short ones. Prints what that
# costs a replay; with two GPUs it may be 0.5 %. Two ranks share one GPU if there is only
# one. Takes some 40 s. Skipped without a GPU or PyTorch.
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
make_folder
export NCCLSTAT_DIR=$folder/shm
mkdir "$NCCLSTAT_DIR"
unset NCCL_PROFILER_PLUGIN NCCLSTAT_GRAPHS NCCLSTAT_TIMING

# run NAME ARGUMENT...: runs the job, which may take 80 s.
run() {
	local name=$1
	shift
	timeout -k 5 80 "$python" test/gpu/graph_choice.py job "$@" \
		>"$folder/$name" 2>"$folder/log"
	local status=$?
	verdict "job_${name}_the_plugin_ends_well" $status
	[ $status = 0 ] || tail -n 3 "$folder/log"
}

describe_machine
run without
export NCCL_PROFILER_PLUGIN=$build/libnccl-profiler-ncclstat.so
# shellcheck disable=SC2016 # the job's shell expands it
run with --look '"'"$build"'/ncclstat" --dump=json >"'"$folder"'/look.$number"'
"$build/ncclstat" --clean >/dev/null
"$python" test/gpu/graph_choice.py judge --folder "$folder" --gpus "$gpus"
verdict launches_report_as_far_as_they_are_cheap $?
exit $((failures > 0))
