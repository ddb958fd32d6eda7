# SPDX-License-Identifier: MIT
# Shared by the tests on a GPU, which source it from the root of the repository.
# Not a test.
#
#   $build     the folder with the plugin and ncclstat
#   $python    Python
#   $folder    after make_folder: a folder in memory that is removed at the end,
#              after at_end, which a test may define
#   $failures  number of failed verdicts
# shellcheck shell=bash

build=$(cd "${BUILD:-build}" && pwd) || exit 1
python=${PYTHON:-python3}
failures=0

skip() { # reason
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

# use_plugin: has jobs load the plugin and publish into the folder.
use_plugin() {
	export NCCLSTAT_DIR=$folder
	export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so
}

verdict() { # name, 0 if it passed
	if [ "$2" = 0 ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		failures=$((failures + 1))
	fi
}
