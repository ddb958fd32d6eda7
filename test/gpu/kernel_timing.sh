#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernel timing in real jobs: measures its cost and checks that no job hangs.
#
#   test/gpu/kernel_timing.sh [cost] [graphs]
#
#   cost     back-to-back AllReduces, alternately without and with the plugin;
#            needs two GPUs
#   graphs   jobs that mix replayed graphs with eager calls, in every mode; each
#            job is a pair of new processes; one GPU is enough
#
# Without an argument it runs a short form of graphs, for make check. Each
# prints a table in Markdown and a verdict for each claim. README.md in this
# folder explains how to run it on a machine without build tools, and these
# variables:
#
#   RUNS=50 ROUNDS=3 REPEAT=21 JOBS=4 PATIENCE=60 SEED=1 KEEP=
#   MODES="none off always" BENCH_MODES="default always"
#
# Must not leave processes or shared memory behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/gpu/common.bash
report=test/gpu/kernel_timing.py

# --- One job ---------------------------------------------------------------

# in_mode MODE COMMAND...: runs it with MODE as NCCLSTAT_KERNEL_TIMING; `none`
# runs it without a plugin, `default` leaves the variable unset.
in_mode() {
	local mode=$1
	shift
	unset NCCL_PROFILER_PLUGIN NCCLSTAT_KERNEL_TIMING
	if [ "$mode" != none ]; then
		export NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so
		LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		export LD_LIBRARY_PATH
		[ "$mode" = default ] || export NCCLSTAT_KERNEL_TIMING=$mode
	fi
	"$@"
}

# job FOLDER MODE ARGUMENT...: runs allreduce and leaves in the folder
#   arguments, out, status       its arguments, output and exit status
#   seen, left                   the segments at its end, and after it
#   json                         the dump at its end, or when it hung
job() {
	local folder=$1 mode=$2
	shift 2
	mkdir -p "$folder/shm" || return 1
	echo "$mode: $*" >"$folder/arguments"
	(
		export NCCLSTAT_DIR=$folder/shm
		in_mode "$mode" "$build/allreduce" "$@" --patience "$PATIENCE" \
			--at-end "ls -A '$folder/shm' >'$folder/seen'
			timeout 20 '$build/ncclstat' --dump=json \
			>'$folder/json' 2>'$folder/dump.err' || true"
	) >"$folder/out" 2>&1 </dev/null
	echo $? >"$folder/status"
	ls -A "$folder/shm" >"$folder/left"
	rm -rf "$folder/shm"
}

# --- Graphs ----------------------------------------------------------------

# A mode that hangs this often is given up.
HANGS_ENOUGH=3

# one_of_graphs MODE INDEX: runs a job that depends on the index only, so all
# modes get the same jobs.
one_of_graphs() {
	local mode=$1 index=$2 folder=$FOLDER/graphs/$1/$2
	local threads=$((1 + index % 2)) comms=$((1 + index / 2 % 2)) before
	local -a more=()
	mkdir -p "$folder"
	if [ "$(cat "$FOLDER/graphs/$mode"/*/status 2>/dev/null |
		grep -cx 124)" -ge $HANGS_ENOUGH ]; then
		echo not run >"$folder/status"
		return 0
	fi
	RANDOM=$((SEED * 1000 + index))
	before=$((RANDOM % 300))
	[ $((threads + comms)) != 4 ] || [ $((index / 8 % 2)) = 0 ] ||
		more+=(--free)
	[ ${#gpus[@]} -ge 2 ] || more+=(--shared)
	pair_of_gpus "${SLOT:-0}"
	job "$folder" "$mode" graph --threads $threads --comms $comms \
		--eager-before $before --captured $((1 + RANDOM % 8)) \
		--graphs $((1 + RANDOM % 3)) --replays $((20 + RANDOM % 30)) \
		--seed $((SEED * 1000 + index)) "${more[@]}"
}

# pair_of_gpus SLOT: spreads jobs that run at the same time over pairs of GPUs.
pair_of_gpus() {
	local pairs=$((${#gpus[@]} / 2)) first
	[ $pairs -gt 1 ] || return 0
	first=$(($1 % pairs * 2))
	export CUDA_VISIBLE_DEVICES=${gpus[first]},${gpus[first + 1]}
}

graphs() {
	local index mode
	for index in $(seq 0 $((RUNS - 1))); do
		for mode in $MODES; do
			echo "$mode $index"
		done
	done | xargs -P "$JOBS" -n 2 --process-slot-var=SLOT \
		bash "$0" one_of_graphs
	"$python" "$report" graphs "$FOLDER/graphs" "$machine" "$MODES"
}

# --- Cost ------------------------------------------------------------------

# Each round begins with another mode, so that no mode is always the first.
cost() {
	local round mode
	local -a order
	if [ ${#gpus[@]} -lt 2 ]; then
		echo "skipped: the cost needs two GPUs"
		return 0
	fi
	read -r -a order <<<"none $BENCH_MODES"
	for round in $(seq "$ROUNDS"); do
		for mode in "${order[@]}"; do
			job "$FOLDER/cost/$mode/$round" "$mode" bench \
				--repeat "$REPEAT" --bytes 1024 --calls 2000 \
				--bytes 1048576 --calls 2000 \
				--bytes 4194304 --calls 1000 \
				--bytes 67108864 --calls 200
		done
		order=("${order[@]:1}" "${order[0]}")
	done
	"$python" "$report" cost "$FOLDER/cost" "$machine" "none $BENCH_MODES"
}

# --- Building allreduce ----------------------------------------------------

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

# Prefers the NCCL of PyTorch's packages to that of the system, but the system's
# CUDA to theirs, as some of them lack headers.
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
	echo "built with $libnccl and $libcudart"
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I. \
		-isystem "$nccl/include" -isystem "$cuda/include" \
		test/gpu/allreduce.c test/gpu/pair.c -o "$build/allreduce" \
		"$libnccl" "$libcudart" -pthread \
		-Wl,-rpath,"$(dirname "$libnccl"):$(dirname "$libcudart")"
}

# --- Main ------------------------------------------------------------------

list_gpus() {
	if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
		echo "${CUDA_VISIBLE_DEVICES//,/ }"
	else
		nvidia-smi --query-gpu=index --format=csv,noheader | xargs
	fi
}

describe_machine() {
	local link
	link=$(nvidia-smi topo -m 2>/dev/null |
		awk '$1 == "GPU0" && $3 != "" { print ", link " $3; exit }')
	echo "$(date -u +%Y-%m-%d), ${#gpus[@]} × $(nvidia-smi \
		--query-gpu=name,driver_version --format=csv,noheader |
		head -n 1 | sed 's/, /, driver /')${link:-}"
}

# The script calls itself for each job, to run several at a time.
if [ "${1:-}" = one_of_graphs ]; then
	read -r -a gpus <<<"$GPUS"
	one_of_graphs "$2" "$3"
	exit 0
fi

for word in "$@"; do
	case $word in
	cost | graphs) ;;
	*)
		echo "usage: $0 [cost] [graphs]" >&2
		exit 2
		;;
	esac
done
if [ $# = 0 ]; then
	set -- graphs
	RUNS=${RUNS:-2}
	MODES=${MODES:-off always}
fi
need_gpu
build_program || exit 1

GPUS=$(list_gpus)
read -r -a gpus <<<"$GPUS"
machine=$(describe_machine)
# Two processes that share a GPU are slow, and more processes slower still.
[ ${#gpus[@]} -ge 2 ] || JOBS=${JOBS:-1}
RUNS=${RUNS:-50} ROUNDS=${ROUNDS:-3} REPEAT=${REPEAT:-21} JOBS=${JOBS:-4}
PATIENCE=${PATIENCE:-60} SEED=${SEED:-1} KEEP=${KEEP:-}
MODES=${MODES:-none off always}
BENCH_MODES=${BENCH_MODES:-default always}
# shellcheck disable=SC2317 # the trap calls it
at_end() {
	[ -z "$KEEP" ] || tar -C "$FOLDER" -czf "$KEEP" .
}
make_folder
FOLDER=$folder
export BUILD=$build GPUS FOLDER PATIENCE SEED build
# On some machines a program that uses NVLink's multicast can put the GPUs out
# of service; two ranks do not need it.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

status=0
for word in "$@"; do
	case $word in
	cost) cost ;;
	graphs) graphs ;;
	esac || status=1
done
exit $status
