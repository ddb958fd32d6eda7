#!/bin/bash
# SPDX-License-Identifier: MIT
# Thousands of communicators, one after the other in each of JOBS processes, with a
# recorder beside: each is published and recorded, each call of those of two ranks is
# counted, nothing is lost or left, and neither the job nor the recorder grows. Of a job
# without the plugin it is measured how much NCCL itself grows. Skipped without a GPU.
#
#   COMMS=10000 JOBS=8 PAIRS=500 test/gpu/soak.sh
#
# NCCL takes half a second to destroy a communicator, in which it sleeps. Eight processes
# made eleven a second on an H200, and forty no more: the default takes 15 minutes.
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 1
build_program comms || exit 1
make_folder
comms=${COMMS:-10000} jobs=${JOBS:-8} pairs=${PAIRS:-500} calls=3
each=$((comms / jobs)) # made by each of the processes
comms=$((each * jobs))
# Limits of growth: of a job beyond what NCCL does, and of a recorder for each rank,
# of which it keeps what it knows.
growth_kib=4096 rank_kib=2
recorder=

# shellcheck disable=SC2317 # the trap calls it
at_end() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
}

# growth FILE: prints by how many KiB rank 0's memory grew after a quarter of the
# communicators: until then segments come that later ones replace.
growth() {
	awk '$1 == "rank" && $2 == 0 && $5 == "resident_kib" {
		kib[++n] = $6 } END { print kib[n] - kib[int(n / 4)] }' "$1"
}

# at_the_end, a command of each process: what is published, and how many segments the
# process has made: the upper half of the number at the end of its latest name.
# shellcheck disable=SC2016 # expanded by the shell of the process
at_the_end='ls "$NCCLSTAT_DIR" | grep "^ncclstat\.$PPID\." \
	>"$NCCLSTAT_DIR/../names.$PPID"
"'$build'/ncclstat" --dump=json --count 1 >"$NCCLSTAT_DIR/../json.$PPID"'

# soak NAME PROCESSES COUNT ARGUMENT...: processes that make so many communicators each,
# recorded.
soak() {
	local place=$folder/$1 begun=$SECONDS kib=() makers=() status=0 now i
	mkdir -p "$place/shm"
	NCCLSTAT_DIR=$place/shm "$build/ncclstat" --compress \
		--record="$place/recording" 2>"$place/recorder" &
	recorder=$!
	for ((i = 1; i <= $2; i++)); do
		NCCLSTAT_DIR=$place/shm in_mode default "$build/gpu/comms" \
			--comms "$3" --calls $calls --patience 3600 \
			--at-end "$at_the_end" "${@:4}" \
			>"$place/out.$i" 2>&1 </dev/null &
		makers+=($!)
	done
	while kill -0 "${makers[@]}" 2>/dev/null; do
		now=$(awk '$1 == "VmRSS:" { print $2 }' \
			"/proc/$recorder/status" 2>/dev/null)
		[ -z "$now" ] || kib+=("$now")
		sleep 1
	done
	for i in "${makers[@]}"; do
		wait "$i" || status=$?
	done
	verdict "$1_ends_well" $status
	timeout 20 tail --pid="$recorder" -f /dev/null || kill -INT "$recorder"
	wait $recorder
	verdict "$1_recorder_ends_well" $?
	recorder=
	tail -n 3 "$place/out.1"
	cat "$place/recorder"
	echo "| $1: $(($2 * $3)) communicators in $((SECONDS - begun)) s; the recorder has" \
		"${kib[0]} to ${kib[-1]} KiB"
	[ $((kib[-1] - kib[${#kib[@]} / 4])) -le \
		$((growth_kib + rank_kib * $2 * $3)) ]
	verdict "$1_recorder_is_flat" $?
	! grep -q ' lost' "$place/recorder"
	verdict "$1_nothing_is_lost" $?
	[ -z "$(ls -A "$place/shm")" ]
	verdict "$1_nothing_is_left" $?
}

# flat NAME COUNT: whether the job grew by no more than NCCL did, by so much a
# communicator, in a job without the plugin.
flat() {
	local with without
	with=$(growth "$folder/$1/out.1")
	without=$(growth "$folder/none")
	without=$((without * $2 / none_comms))
	echo "| $1: grew by $with KiB; NCCL alone, as measured, by $without KiB"
	[ "$with" -le $((without + growth_kib)) ]
	verdict "$1_is_flat" $?
}

describe_machine
none_comms=$((each < 80 ? each : 80))
in_mode none "$build/gpu/comms" --alone --comms $none_comms --calls $calls \
	>"$folder/none" 2>&1
soak alone "$jobs" "$each" --alone
flat alone "$each"
last=$(for names in "$folder"/alone/names.*; do
	sed 's/.*\.//' "$names" | sort -n | tail -n 1
done | awk '{ made += int($1 / 2 ^ 32) + 1 } END { print made }')
[ "$last" -ge "$comms" ]
verdict "alone_each_has_a_segment ($last)" $?
"$python" -c 'import json, sys
for name in sys.argv[1:]:
    ranks = json.loads(open(name).readline())["ranks"]
    if not ranks or any(rank["lost"].get("unpublished") for rank in ranks):
        sys.exit(1)' "$folder"/alone/json.*
verdict alone_each_is_published $?
grep -q " of $comms ranks" "$folder/alone/recorder"
verdict alone_each_is_recorded $?

in_mode none "$build/gpu/comms" --comms "$pairs" --calls $calls >"$folder/none" 2>&1
none_comms=$pairs
soak pairs 1 "$pairs"
flat pairs "$pairs"
# Both ranks, and the communicator that is split.
grep -q " of $((2 * pairs + 2)) ranks" "$folder/pairs/recorder"
verdict pairs_each_is_recorded $?
counted=$("$build/ncclstat" --export=ndjson "$folder/pairs/recording" |
	grep -c '"event":"coll",')
[ "$counted" = $((2 * pairs * calls)) ]
verdict "pairs_each_call_is_counted ($counted)" $?
exit $((failures > 0))
