#!/bin/sh
# SPDX-License-Identifier: MIT
# Jobs whose processes are gone, without a driver that dates anything: a hang
# stays the first finding, with its root, whether the job is killed as a whole or
# rank after rank, and the deaths come after it, the first one named. Processes
# that end by _exit(2) with nothing to do have ended. Recordings and streams tell
# the same.
# shellcheck source=test/ui/checks disable=SC2016 # what is quoted is for jq
. "$(dirname "$0")/checks"

if [ ! -x "$replay" ] || [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

# use NAME: what follows is about this job.
use() {
	name=$1
	export NCCLSTAT_DIR="$tmp/$name/shm"
}

# play NAME ARGUMENT...: plays a job in the background.
play() {
	mkdir -p "$tmp/$1"
	[ -e "$tmp/$1/shm" ] || shm_folder "$tmp/$1/shm"
	use "$1"
	shift
	"$replay" --no-gpu "$@" >>"$tmp/$name/replay" 2>&1 &
	job="$job $!"
}

# faulty NAME FAULT RANKS ARGUMENT...: plays a job with a fault (faulty_job.py).
faulty() {
	mkdir -p "$tmp/$1"
	python3 test/ui/faulty_job.py "$2" "$3" "$tmp/$1"
	faulty_name=$1
	shift 3
	play "$faulty_name" "$@" "$tmp/$faulty_name"
}

# told JQ: whether it holds for the JSON in $tmp/out, where hang is the first
# finding and deaths the second one.
told() {
	jq -e ".findings[0] as \$hang | .findings[1] as \$deaths | $1" "$tmp/out"
}

# is_told STATUS JQ [ARGUMENT...]: diagnoses the job, or a FILE; see told.
is_told() {
	wanted=$1 filter=$2
	shift 2
	run "$wanted" --diagnose=json -i 0.1 "$@" && told "$filter"
}

# stream STATUS ARGUMENT...: runs ncclstat as the head of an agent, as run does.
stream() {
	wanted=$1
	shift
	"$ncclstat" --stream -i 0.2 </dev/null 2>"$tmp/said" | {
		status=0
		"$ncclstat" --follow "$@" -i 0.2 - >"$tmp/out" 2>"$tmp/err" ||
			status=$?
		[ "$status" -eq "$wanted" ]
	}
}

is_streamed() {
	stream "$1" --diagnose=json && told "$2"
}

# has_hung: whether the job has hung for 6 s.
has_hung() {
	is_told 2 '$hang.lasts_ns >= 6e9' >/dev/null 2>&1
}

# pid_of RANK: prints the process of a rank.
pid_of() {
	"$ncclstat" --dump=json | jq -r "first(.ranks[] | select(.rank == $1)).pid"
}

# end SIGNAL PID...: ends processes, and waits until they are seen to have ended.
end() {
	signal=$1
	shift
	kill -s "$signal" "$@"
	for pid; do
		await has_ended "$pid"
	done
}
has_ended() {
	"$ncclstat" --dump=json |
		jq -e "[.ranks[] | select(.pid == $1).state] == [\"dead\"]" \
			>/dev/null
}

play whole --hold --speed 0.2 test/captures/net-v5-hang
"$ncclstat" --record "$tmp/whole.ncs" >"$tmp/whole/recorder" 2>&1 &
recorder=$!
"$ncclstat" --stream=packed -i 0.2 </dev/null >"$tmp/whole.lines" 2>&1 &
agent=$!
job="$job $recorder $agent"
for order in '0 1 2' '1 0 2'; do
	faulty "order${order%% *}" nvlink 3 --hold
done
faulty rest none 2 --hold --exit

# --- A job that is killed ------------------------------------------------------

use whole
check 'a job hangs for 6 s' await has_hung
check 'it has no driver' sh -c '"$1" --dump=json |
	jq -e "[.ranks[].launches.status] == [\"no_driver\", \"no_driver\"]"' \
	sh "$ncclstat"
# shellcheck disable=SC2046 # two words
end KILL $(pid_of 0) $(pid_of 1)
hang='$hang.verdict == "rank_missing" and $hang.severity == "stuck" and
	$hang.root.rank == 1 and $hang.ranks_waiting == 1 and
	$hang.lasts_ns >= 5e9 and $hang.function == "AllReduce" and
	$hang.sequence_number == 3 and
	$deaths.verdict == "rank_died" and $deaths.severity == "slow" and
	$deaths.alike == 1'
check 'a job that hung and was killed is told as that hang' is_told 2 "$hang"
check 'the hang is certain' told '$hang.confidence == "certain"'
check 'an agent and its head tell that, too' is_streamed 2 "$hang"
wait "$recorder"
check 'so does a recording' is_told 2 "$hang" "$tmp/whole.ncs"
kill "$agent"
wait "$agent"
check 'and what an agent wrote all the time' is_told 2 "$hang" --follow \
	"$tmp/whole.lines"

# --- Ranks that end one after another -----------------------------------------

# Watchdogs end their ranks 1 s apart.
for order in '0 1 2' '1 0 2'; do
	first=${order%% *} alike=0
	use "order$first"
	check "a job hangs, of which rank $first will end first" await has_hung
	pids=$(for rank in $order; do pid_of "$rank"; done)
	for pid in $pids; do
		[ "$alike" -eq 0 ] || sleep 1
		end KILL "$pid"
		check "the hang is first, and the death of rank $first, when\
 $((alike + 1)) have ended" is_told 2 '$hang.verdict == "rank_missing" and
			$hang.severity == "stuck" and $hang.root.rank == 1 and
			$hang.ranks_waiting == 2 and $hang.lasts_ns >= 5e9 and
			$deaths.verdict == "rank_died" and
			$deaths.severity == "slow" and
			$deaths.root.rank == '"$first and \$deaths.alike == $alike"
		alike=$((alike + 1))
	done
done

# --- Processes that end --------------------------------------------------------

# has_rested: whether all ranks have made all calls, and nothing is in flight.
has_rested() {
	"$ncclstat" --dump=json | jq -e '[.ranks[].functions[0] |
		.operations == 4 and .operations_done == 4] == [true, true]' \
		>/dev/null
}

# is_over [ARGUMENT...]: whether nothing was wrong until all processes had ended.
is_over() {
	run 0 --diagnose -i 0.1 "$@" && over
}
over() {
	grep '^well: .*; its processes have ended' "$tmp/out"
}
is_over_in_a_stream() {
	stream 0 --diagnose && over
}

use rest
check 'a job comes to rest' await has_rested
"$ncclstat" --record "$tmp/rest.ncs" >"$tmp/rest/recorder" 2>&1 &
recorder=$!
job="$job $recorder"
pids="$(pid_of 0) $(pid_of 1)"
end TERM "${pids#* }"
check 'a process has ended while the other rests' \
	is_told 0 '.severity == "well" and .findings == []'
end TERM "${pids% *}"
check 'both have ended' is_over
check 'an agent and its head tell the same' is_over_in_a_stream
wait "$recorder"
check 'so does a recording' is_over "$tmp/rest.ncs"

# A job of which one rank is stopped, and that is then killed.
faulty stopped missing 4 --hold
is_hanging() {
	is_told 2 '$hang.verdict == "rank_missing"' >/dev/null 2>&1
}
"$ncclstat" --record "$tmp/stopped.ncs" >"$tmp/stopped/recorder" 2>&1 &
recorder=$!
job="$job $recorder"
check 'a rank is missing' await is_hanging
victims=$(for rank in 0 1 2 3; do pid_of $rank; done)
kill -STOP "$(pid_of 1)"
is_stopped() {
	is_told 2 '$hang.verdict == "rank_stopped" and $hang.root.rank == 1' "$@"
}
check 'it is stopped' await is_stopped
check 'a recording tells so while it runs' await is_stopped "$tmp/stopped.ncs"
# shellcheck disable=SC2086 # a list of words
kill -KILL $victims
wait "$recorder"
check 'that is told of the recording' is_stopped "$tmp/stopped.ncs"

# A rank of it is late where the machine is busy.
no_death_is_told() {
	"$ncclstat" --diagnose=json -i 0.1 >"$tmp/out" 2>"$tmp/err"
	told '[.findings[].verdict] | . == [] or . == ["late_rank"]'
}
play mix --exit test/captures/net-v5-mix
wait "$!"
check 'a captured job that ends by itself leaves its segments' \
	test "$("$ncclstat" --list | grep -c ' dead ')" -eq 2
check 'and has ended' no_death_is_told
exit "$failed"
