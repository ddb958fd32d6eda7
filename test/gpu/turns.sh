#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints what the plugin adds to a small AllReduce, in one process whose calls it follows
# by turns: processes differ by more than it costs. A row for each plugin has the medians
# of its turns, and of their differences from the turn without a plugin. Fails if a turn
# has no times. Skipped without two GPUs.
#
#   PLUGINS="A.so VARIABLE=VALUE@B.so" ROUNDS=3 REPEAT=250 SIZE=1024:1000 test/gpu/turns.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
build_program bench || exit 1
make_folder
export NCCLSTAT_DIR=$folder
export NCCL_PROFILER_PLUGIN=$build/bench/libnccl-profiler-turns.so
read -r -a plugins <<<"${PLUGINS:-$build/bench/libnccl-profiler-empty.so \
	$build/bench/libnccl-profiler-floor.so $build/libnccl-profiler-ncclstat.so}"
TURNS_PLUGINS=$(IFS=: && echo "${plugins[*]}")
export TURNS_PLUGINS

for round in $(seq "${ROUNDS:-3}"); do
	"$build/gpu/bench" --turns "$NCCL_PROFILER_PLUGIN" --warm-up 3000 \
		--repeat "${REPEAT:-250}" "${SIZE:-1024:1000}" >"$folder/turns"
	verdict "round_${round}_ends_well" $?
	"$python" test/gpu/tables.py turns "$folder/turns" "$(describe_machine)" \
		"${plugins[*]}"
	verdict "round_${round}_has_times" $?
done
exit $((failures > 0))
