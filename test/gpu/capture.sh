#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the captures of jobs with a late rank: what NCCL calls in delays.py, written
# down by capture_plugin.c, with the delay and without. Skipped without a GPU or
# PyTorch; those over NVLink need two GPUs.
#
#   KEEP=FOLDER test/gpu/capture.sh [NAME]...
#
# Without a NAME, all jobs. Each job is a folder of KEEP, with rank<N>.calllog.xz and
# said.txt. It proves only that the jobs run; test/ui/late_captures.sh tests what is
# concluded from them.
. "$(dirname "$0")/common.bash"
need_pytorch
make_folder
wanted=$*
keep=${KEEP:-$folder/kept}
"${CC:-cc}" -std=gnu11 -O2 -I. -Iinclude -shared -fPIC \
	-o "$folder/libnccl-profiler-capture.so" test/gpu/capture_plugin.c \
	-lpthread || exit 1
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export NCCL_PROFILER_PLUGIN=libnccl-profiler-capture.so

# capture NAME VARIABLE=VALUE... ARGUMENT...: a job with its variables, into
# $keep/NAME.
capture() {
	local name=$1
	shift
	[ -z "$wanted" ] || [[ " $wanted " == *" ${name%-even} "* ]] || return
	mkdir -p "$keep/$name"
	CAPTURE_DIR=$keep/$name timeout 120 env "${variables[@]}" "$python" \
		test/gpu/delays.py "$@" >"$keep/$name/said.txt" 2>&1
	verdict "$name" $?
	grep ' ms' "$keep/$name/said.txt"
	xz -f "$keep/$name"/*.calllog
}

# with_and_without NAME ARGUMENT...: NAME is late, NAME-even is not.
with_and_without() {
	local name=$1 ms=$2
	shift 2
	capture "$name" "$@" --ms "$ms"
	capture "$name-even" "$@"
}

variables=(NCCL_ALGO=Ring)
with_and_without net-v5-late-ring 40 calls --ranks 4 --late 2
variables=(NCCL_ALGO=Tree)
with_and_without net-v5-late-tree 40 calls --ranks 8 --late 7
variables=(NCCL_ALGO=Ring)
with_and_without net-v5-late-ddp 30 training --ranks 4 --late 1
with_and_without net-v5-late-pipeline 30 pipeline --ranks 4 --late 1
if [ "$gpus" -ge 2 ]; then
	with_and_without net-v5-gpu-ddp 30 training --where gpu
	with_and_without nvlink-v5-late-ring 40 calls --link nvlink
	with_and_without nvlink-v5-late-ddp 30 training --link nvlink
	with_and_without nvlink-v5-late-pipeline 30 pipeline --link nvlink
	with_and_without nvlink-v5-gpu-ring 40 calls --link nvlink --where gpu
	with_and_without nvlink-v5-gpu-ddp 30 training --link nvlink --where gpu
	capture nvlink-v5-sizes sizes --link nvlink
fi
exit $((failures > 0))
