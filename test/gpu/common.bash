# SPDX-License-Identifier: MIT
# Shared by the tests on a GPU, which source it. Changes to the root of the
# repository. Not a test.
#
#   $build     the folder with the plugin and ncclstat
#   $python    Python
#   $gpus      number of GPUs that jobs may use
#   $folder    after make_folder: a folder in memory that is removed at the end,
#              after at_end, which a test may define
#   $failures  number of failed verdicts
# shellcheck shell=bash
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd) || exit 1
python=${PYTHON:-python3}
failures=0
gpus=0
# On some machines a program that uses NVLink's multicast can put the GPUs out
# of service; these jobs do not need it.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
export PYTHONDONTWRITEBYTECODE=1

skip() { # reason
	echo "skipped: $1"
	exit 77
}

need_gpus() { # number
	command -v nvidia-smi >/dev/null || skip "no GPU here"
	nvidia-smi >/dev/null 2>&1 || skip "no GPU answers"
	if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
		gpus=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l)
	else
		gpus=$(nvidia-smi -L | wc -l)
	fi
	[ "$gpus" -ge "$1" ] || skip "$1 GPUs needed"
}

need_pytorch() {
	need_gpus 1
	"$python" -c 'import torch; torch.cuda.init()' 2>/dev/null ||
		skip "no PyTorch with CUDA"
}

at_end() { :; }

# end_job: for at_end of a test that has its job in $job.
end_job() {
	[ -z "$job" ] || kill "$job" 2>/dev/null
	[ -z "$job" ] || wait "$job" 2>/dev/null
	"$build/ncclstat" --clean >/dev/null
}

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

# --- Recorded jobs ---------------------------------------------------------

# end_recorder: for at_end of a test that uses record_job.
end_recorder() {
	[ -z "${recorder:-}" ] || kill "$recorder" 2>/dev/null
}

# prepare_recordings: after make_folder; has jobs load the plugin. Recordings are left
# in $KEEP if that is a folder; else it becomes one that is removed at the end.
prepare_recordings() {
	use_plugin
	export NCCLSTAT_DIR=$folder/shm
	mkdir "$folder/shm" "$folder/kept"
	[ -d "${KEEP:-}" ] || KEEP=$folder/kept
}

# record_job NAME RECORDING COMMAND...: runs a job, which prints how long it took, and
# records it. Sets $took, in seconds.
record_job() {
	local name=$1 recording=$2 status
	shift 2
	"$build/ncclstat" --record="$recording" --compress 2>"$folder/said" &
	recorder=$!
	took=$("$@" 2>"$folder/log")
	status=$?
	verdict "${name}_ends_well" $status
	[ $status = 0 ] || tail -n 3 "$folder/log"
	# It ends with the job.
	timeout 10 tail --pid="$recorder" -f /dev/null ||
		kill -INT "$recorder" 2>/dev/null
	wait "$recorder"
	verdict "${name}_is_recorded" $?
	recorder=
	"$build/ncclstat" --clean >/dev/null
}

# --- Results of jobs -------------------------------------------------------

describe_machine() {
	local link
	link=$(nvidia-smi topo -m 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g' |
		awk '$1 == "GPU0" && $3 ~ /^(NV|P|S|N)/ {
			print ", link " $3; exit }')
	echo "$(date -u +%Y-%m-%d), $gpus × $(nvidia-smi \
		--query-gpu=name,driver_version --format=csv,noheader |
		head -n 1 | sed 's/, /, driver /')${link:-}"
}

# in_mode MODE COMMAND...: runs it with MODE as NCCLSTAT_TIMING; `none` runs it
# without a plugin, `empty` with one that does nothing, which tells what NCCL itself
# does for a plugin; `default` leaves the variable unset, `watched` is `default` with
# a recorder and a view beside the job, which has to publish into $NCCLSTAT_DIR, and
# `always` is NCCLSTAT_KERNEL_TIMING=always.
in_mode() {
	local mode=$1 status
	local -a beside=()
	shift
	unset NCCL_PROFILER_PLUGIN NCCLSTAT_TIMING NCCLSTAT_KERNEL_TIMING
	if [ "$mode" != none ]; then
		export NCCL_PROFILER_PLUGIN=$build/libnccl-profiler-ncclstat.so
	fi
	case $mode in
	none | default) ;;
	empty) export NCCL_PROFILER_PLUGIN=$build/bench/libnccl-profiler-empty.so ;;
	always) export NCCLSTAT_KERNEL_TIMING=always ;;
	watched)
		"$build/ncclstat" --record="$NCCLSTAT_DIR/recording" \
			--compress 2>/dev/null &
		beside+=($!)
		"$build/ncclstat" --dump --interval 1 >/dev/null 2>&1 &
		beside+=($!)
		;;
	*) export NCCLSTAT_TIMING=$mode ;;
	esac
	"$@"
	status=$?
	if [ ${#beside[@]} -gt 0 ]; then
		kill "${beside[@]}" 2>/dev/null
		wait "${beside[@]}" 2>/dev/null
		rm -f "$NCCLSTAT_DIR/recording"
	fi
	return $status
}

# job FOLDER MODE COMMAND...: runs a program and leaves in the folder
#   arguments, out, status       its arguments, output and exit status
#   seen, left                   the segments at its end, and after it
#   json                         the dump at its end, or when it hung
# The command's own --at-end writes `seen` and `json`, by "$dump_here".
job() {
	local place=$1 mode=$2
	shift 2
	mkdir -p "$place/shm" || return 1
	echo "$mode: $*" >"$place/arguments"
	(
		export NCCLSTAT_DIR=$place/shm
		in_mode "$mode" "$@"
	) >"$place/out" 2>&1 </dev/null
	echo $? >"$place/status"
	ls -A "$place/shm" >"$place/left"
	rm -rf "$place/shm"
}

# A command for --at-end. The job's environment says where.
# shellcheck disable=SC2016,SC2034 # expanded by the job's shell
dump_here='cd "$NCCLSTAT_DIR/.." && ls -A shm >seen &&
	timeout 20 "'$build'/ncclstat" --dump=json >json 2>dump.err || :'

# --- Building the programs -------------------------------------------------

# first PATTERNS ROOT...: prints the first root that has a match for each
# pattern.
first() {
	local root pattern
	local -a patterns
	read -r -d '' -a patterns <<<"$1"
	shift
	for root in "$@"; do
		for pattern in "${patterns[@]}"; do
			compgen -G "$root/$pattern" >/dev/null || continue 2
		done
		echo "$root"
		return 0
	done
	return 1
}

# library ROOT NAME: prints its file, with or without a version.
library() {
	compgen -G "$1/lib*/$2.so*" || compgen -G "$1/lib/*/$2.so*"
}

# build_program NAME: builds $build/gpu/NAME of test/gpu/NAME.c. Prefers the NCCL of
# PyTorch's packages to that of the system, but the system's CUDA to theirs, as
# some of them lack headers.
build_program() {
	local nccl cuda libnccl libcudart
	local -a packages system
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
	mapfile -t packages < <("$python" -c 'import glob, sys
for folder in sys.path:
    for root in sorted(glob.glob(folder + "/nvidia/*")):
        print(root)')
	system=(/usr/local/cuda /usr)
	nccl=$(first 'include/nccl.h lib*/libnccl.so*' \
		${NCCL_HOME:+"$NCCL_HOME"} "${packages[@]}" "${system[@]}") ||
		nccl=$(first 'include/nccl.h lib/*/libnccl.so*' /usr) ||
		skip "no NCCL with its header; set NCCL_HOME"
	cuda=$(first 'include/cuda_runtime.h include/crt/host_config.h
		lib*/libcudart.so*' ${CUDA_HOME:+"$CUDA_HOME"} \
		"${system[@]}" "${packages[@]}") ||
		cuda=$(first 'include/crt/host_config.h lib/*/libcudart.so*' \
			/usr) ||
		skip "no CUDA run time with its headers; set CUDA_HOME"
	libnccl=$(library "$nccl" libnccl | head -n 1)
	libcudart=$(library "$cuda" libcudart | head -n 1)
	echo "$1 is built with $libnccl and $libcudart"
	mkdir -p "$build/gpu"
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I. -Iinclude \
		-isystem "$nccl/include" -isystem "$cuda/include" \
		"test/gpu/$1.c" test/gpu/check.c test/gpu/pair.c \
		-o "$build/gpu/$1" "$libnccl" "$libcudart" -pthread -ldl \
		-Wl,-rpath,"$(dirname "$libnccl"):$(dirname "$libcudart")"
}
