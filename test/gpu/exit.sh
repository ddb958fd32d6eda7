#!/bin/bash
# SPDX-License-Identifier: MIT
# How long a process takes to end, from exit() until its parent knows: with the plugin
# at most 2 ms longer than without, whether communicators were destroyed or not. It
# also prints what tells where the time goes: of a job without a plugin what CUDA's
# stream costs there, and events, as many as the plugin makes for a communicator that
# launches once (98), some times (290), or so that hundreds of launches are in flight
# (930), also when these are destroyed after exit() has been called; of the plugin a
# job without events (off), one with a single call, and one whose events all have times
# and are made at once (all). Runs take turns. Skipped without a GPU.
#
#   ROUNDS=5 CALLS=2000 COMMS=1 test/gpu/exit.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 1
build_program comms || exit 1
make_folder
rounds=${ROUNDS:-5} calls=${CALLS:-2000} comms=${COMMS:-1}
most_us=2000

# NAME MODE ARGUMENT...
kinds=(
	"none none"
	"98_events none --events 98"
	"290_events none --events 290"
	"930_events none --events 930"
	"930_events_destroyed none --events 930 --drop"
	"stream none --streams 1"
	"off off"
	"one_call default --calls 1"
	"default default"
	"all all"
)

for _ in $(seq "$rounds"); do
	for kind in "${kinds[@]}"; do
		read -r -a words <<<"$kind"
		for end in destroyed kept; do
			more=("${words[@]:2}")
			[ $end = destroyed ] || more+=(--keep)
			mkdir -p "$folder/shm"
			(
				export NCCLSTAT_DIR=$folder/shm
				in_mode "${words[1]}" "$build/gpu/comms" \
					--comms "$comms" --calls "$calls" \
					"${more[@]}"
			) >"$folder/out" 2>&1 </dev/null || cat "$folder/out"
			awk '$3 == "exit_us" { print $4 }' "$folder/out" \
				>>"$folder/${words[0]}.$end"
			rm -rf "$folder/shm"
		done
	done
done

# median FILE: prints the median of its numbers, without a fraction.
median() {
	sort -n "$1" | awk '{ us[NR] = $1 } END { printf "%.0f\n", us[int((NR + 1) / 2)] }'
}

describe_machine
echo "| µs from exit() to the end, medians of $((2 * rounds)) | destroyed | kept |"
echo "|---|---:|---:|"
for kind in "${kinds[@]}"; do
	name=${kind%% *}
	echo "| $name | $(median "$folder/$name.destroyed") |" \
		"$(median "$folder/$name.kept") |"
done
for end in destroyed kept; do
	more_us=$(($(median "$folder/default.$end") - $(median "$folder/none.$end")))
	[ $more_us -le $most_us ]
	verdict "exit_of_a_job_whose_communicator_is_$end ($more_us us more)" $?
done
exit $((failures > 0))
