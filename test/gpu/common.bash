# SPDX-License-Identifier: MIT
# What the tests on a GPU share. Sourced by them from the root of the
# repository; not a test.
#
#   $build     the folder with the plugin and ncclstat
#   $python    Python
#   $folder    a folder in memory that is removed at the end, after at_end, which
#              a test may define
#   $failures  how many verdicts were bad
# shellcheck shell=bash

build=$(cd "${BUILD:-build}" && pwd) || exit 1
python=${PYTHON:-python3}
failures=0

skip() { # why
	echo "skipped: $1"
	exit 77
}

need_gpu() {
	command -v nvidia-smi >/dev/null || skip "no GPU here"
	nvidia-smi >/dev/null 2>&1 || skip "no GPU answers"
}

need_pytorch() {
	need_gpu
	"$python" -c 'import torch; torch.cuda.init()' 2>/dev/null ||
		skip "no PyTorch with CUDA"
}

at_end() { :; }

make_folder() {
	folder=$(mktemp -d /dev/shm/ncclstat-test.XXXXXX)
	trap 'at_end; rm -rf "$folder"' EXIT
	trap 'exit 130' HUP INT TERM
}

# For jobs that publish into the folder.
use_plugin() {
	export NCCLSTAT_DIR=$folder
	export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so
}

verdict() { # name, 0 if good
	if [ "$2" = 0 ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		failures=$((failures + 1))
	fi
}
