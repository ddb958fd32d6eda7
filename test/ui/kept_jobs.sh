#!/bin/sh
# SPDX-License-Identifier: MIT
# --watch --archive and --jobs, end to end: jobs come, hang and go, the watch is killed
# and started again; what is kept of each is read afterwards.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

BUILD=$(cd "${BUILD:-build}" && pwd)
. test/ui/checks

archive=$tmp/archive
mkdir "$tmp/job" "$tmp/well"
shm_folder "$tmp/shm"
export NCCLSTAT_DIR="$tmp/shm"
python3 test/ui/faulty_job.py missing 8 "$tmp/job"
python3 test/ui/faulty_job.py none 8 "$tmp/well"

start_watch() {
	"$ncclstat" watch -i 0.2 --compress=3 --archive="$archive" \
		--archive-size=64M \
		>>"$tmp/out" 2>>"$tmp/err" &
	watch=$!
	job="$job $watch"
}

# start_job ID FOLDER: starts to play a job.
start_job() {
	SLURM_JOB_ID=$1 "$build/ncclreplay" --hold "$2" 2>"$tmp/replay" &
	player=$!
	job="$job $player"
}

end_job() {
	kill "$player"
	wait "$player"
}

# lines EVENT ID: how many lines jobs.jsonl has.
lines() {
	grep -c "\"event\":\"$1\",\"job\":\"$2\"" "$archive/jobs.jsonl"
}

# has_lines EVENT ID COUNT
has_lines() {
	[ "$(lines "$1" "$2")" = "$3" ]
}

# member ID KEY: prints what the line of a job's end tells.
member() {
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    job = json.loads(line)
    if job["event"] == "ended" and job["job"] == sys.argv[2]:
        print(json.dumps(job[sys.argv[3]]))' "$archive/jobs.jsonl" "$1" "$2"
}

# diagnosed ID: what --diagnose says of what is kept of a job.
diagnosed() {
	"$ncclstat" diagnose --archive="$archive" --job="$1" 2>&1
}

# is_read ID SEVERITY: whether what is kept of a job is read, and so judged.
is_read() {
	diagnosed "$1" >"$tmp/read"
	grep -q " 8 ranks" "$tmp/read" && grep -q "^$2" "$tmp/read"
}

# has_hung ID: whether what is kept of a job tells of a hang of 7 s, as stuck: later if a
# rank came late before. A hang is found after 5 s: with two more seconds of states it is
# found again when the job ends.
has_hung() {
	"$ncclstat" --diagnose=json --archive="$archive" --job="$1" 2>&1 |
		jq -e '.findings[0] | .verdict == "rank_missing" and
			.severity == "stuck" and .lasts_ns >= 7e9' >/dev/null
}

# is_found ID: whether what is kept of a job has a finding.
is_found() {
	ls "$archive/jobs/$1"@*/finding >/dev/null 2>&1
}

"$ncclstat" jobs --archive="$archive" >"$tmp/said" 2>&1
check 'without an archive there is a status' test $? -eq 1
check 'and a reason' grep -q 'ncclstat watch --archive' "$tmp/said"
"$ncclstat" watch --compress 2>"$tmp/said"
check 'without an archive there is nothing to compress' \
	grep -q 'requires --archive' "$tmp/said"
"$ncclstat" diagnose --archive="$archive" 2>"$tmp/said"
check 'without a job --archive is refused' grep -q 'or --job=ID' "$tmp/said"

# --- A job that hangs --------------------------------------------------------

start_watch
# is_locked: whether the watch has its archive.
is_locked() {
	[ -e "$archive/lock" ] &&
		grep -q ":$(stat -c %i "$archive/lock") " /proc/locks
}
check 'a watch has its archive' await is_locked
"$ncclstat" watch --archive="$archive" --count 1 2>"$tmp/said" >/dev/null
check 'a second watch is refused' grep -q 'another watch writes there' "$tmp/said"
start_job 4711 "$tmp/job"
check 'a job that comes has a line' await has_lines begun 4711 1
check 'one that hangs is kept' await is_found 4711
check 'and told' await grep -q ' stuck: rank 1 of faulty has not' "$tmp/out"
is_stuck() {
	diagnosed "$1" | grep -q '^stuck: rank 1 of faulty'
}
check 'what is kept tells of it while it runs' await is_stuck 4711
check 'and goes on to' await has_hung 4711
"$ncclstat" jobs --archive="$archive" >"$tmp/said"
check 'it is listed as one that runs' grep -Eq ' runs .* 4711 ' "$tmp/said"
end_job
check 'its end has a line' await has_lines ended 4711 1
check 'with the worst that was found' test "$(member 4711 severity)" = '"stuck"'
check 'with its rank' sh -c "$(printf '%s' "echo '$(member 4711 findings)'") |
	grep -q '\"rank\": 1'"
check 'with its processes' test "$(member 4711 processes)" = 8
check 'there is a report' test -s "$archive"/jobs/4711@*/report.html
"$ncclstat" jobs --archive="$archive" >"$tmp/said"
check 'the list tells the verdict' grep -q ' stuck: rank 1 of faulty has not' \
	"$tmp/said"

# --- The watch is killed ------------------------------------------------------

start_job 4712 "$tmp/well"
check 'a job that is well is read' await is_read 4712 well
recorder_runs() {
	[ "$(pgrep -f "$archive" | wc -l)" -ge 2 ]
}
recorder_is_gone() {
	! pgrep -f "$archive" >/dev/null
}
check 'a recorder runs' await recorder_runs
kill -KILL "$watch"
wait "$watch" 2>/dev/null
check 'it ends with the watch' await recorder_is_gone
told=$(wc -l <"$tmp/out")
start_watch
has_looked() {
	[ "$(wc -l <"$tmp/out")" -gt "$told" ]
}
check 'another watch looks' await has_looked
check 'a job that goes on begins once' has_lines begun 4712 1
end_job
check 'its end is seen by the next watch' await has_lines ended 4712 1
check 'the end is seen' test "$(member 4712 end_is_unseen)" = false
"$ncclstat" export ndjson --archive="$archive" --job=4712 >"$tmp/events" 2>"$tmp/said"
check 'what two recorders have is read once' sh -c "grep -c '\"coll\"' \
	$tmp/events && [ -z \"\$(grep '\"coll\"' $tmp/events | sort | uniq -d)\" ]"
"$ncclstat" --dump=json --archive="$archive" --job=4712 >"$tmp/json" 2>&1
check 'also when it is played' python3 -c 'import json, sys
ranks = json.loads(open(sys.argv[1]).readline())["ranks"]
sys.exit(len(ranks) != 8)' "$tmp/json"
check 'it was well' test "$(member 4712 severity)" = '"well"'

start_job 4713 "$tmp/job"
await has_lines begun 4713 1
hangs_again() {
	[ "$(grep -c ' stuck: rank 1 of faulty has not' "$tmp/out")" -ge 2 ]
}
check 'a second job that hangs is told' await hangs_again
check 'and what is kept of it tells so' await has_hung 4713
kill -KILL "$watch"
wait "$watch" 2>/dev/null
end_job
check 'no recorder runs' await recorder_is_gone
start_watch
check 'a job that ended without a watch has a line' await has_lines ended 4713 1
check 'which says so' test "$(member 4713 end_is_unseen)" = true
check 'its hang is told' test "$(member 4713 severity)" = '"stuck"'

# A job of the same name that is well: what was before it is not its.
start_job 4713 "$tmp/well"
await has_lines begun 4713 2
check 'another job of that name is read' await is_read 4713 well
end_job
check 'another job of that name has a line' await has_lines ended 4713 2
check 'it is judged by itself' test "$(member 4713 severity | tail -n 1)" = '"well"'

# --- Segments of killed processes stay ------------------------------------------

start_job 4714 "$tmp/job"
check 'a third job that hangs is kept' await has_hung 4714
pkill -KILL -P "$player"
check 'a job that is killed has a line' await has_lines ended 4714 1
check 'it is told as stuck' test "$(member 4714 severity)" = '"stuck"'
files=$(ls "$archive/ring" | wc -l)
# If it did, it would within this time.
sleep 3
check 'the recorder does not begin again and again' test \
	"$(ls "$archive/ring" | wc -l)" -le $((files + 1))
kill "$player" 2>/dev/null
start_job 4714 "$tmp/well"
await has_lines begun 4714 2
check 'the next job of that name is read alone' await is_read 4714 well
end_job
check 'its end has a line, too' await has_lines ended 4714 2
check 'and judged by itself' test "$(member 4714 severity | tail -n 1)" = '"well"'
"$ncclstat" --clean >/dev/null

# --- Stacks -----------------------------------------------------------------------

kill "$watch"
wait "$watch"
"$ncclstat" watch -i 0.2 --archive="$archive" --archive-size=64M --stacks \
	>"$tmp/out" 2>>"$tmp/err" &
watch=$!
job="$job $watch"
# A job beside it goes on calling.
SLURM_JOB_ID=4716 "$build/ncclreplay" --loop 0 test/captures/net-v5-ddp8/* \
	2>"$tmp/busy" &
busy=$!
job="$job $busy"
start_job 4715 "$tmp/job"
stacks() {
	"$ncclstat" diagnose --archive="$archive" --job=4715 --stacks=all 2>&1
}
have_stacks() {
	stacks | grep -q '^stacks of main threads, read '
}
check 'stacks of a job that hangs are kept' await have_stacks
check 'it is told as stuck' await grep -q ' stuck:' "$tmp/out"
check 'it is never well meanwhile' sh -c "! sed -n '/ stuck:/,\$p' '$tmp/out' | grep -q ' well:'"
# are_measured: whether one communicator of 8 ranks was followed; else prints it.
are_measured() {
	python3 -c 'import json, sys
communicators = json.load(sys.stdin)
one, = communicators
fast = [each["function"] for each in one["functions"] if each["busbw_gbs"]]
if (one["communicator"]["nranks"] != 8 or one["lost"] != 0 or
        "AllReduce" not in fast or one["skew"]["operations"] == 0):
    sys.exit(json.dumps(one))'
}
runs_measured() {
	"$ncclstat" --dump=json --archive="$archive" --job=4716 2>/dev/null |
		python3 -c 'import json, sys
print(json.dumps(json.load(sys.stdin)["communicators"]))' | are_measured
}
ended_measured() {
	member 4716 communicators | are_measured
}
check 'the other one has bandwidths and lateness while it runs' \
	await runs_measured
kill "$busy"
wait "$busy"
check 'the other one ends' await has_lines ended 4716 1
check 'its line has bandwidths and lateness' ended_measured
end_job
check 'the job whose stacks are kept ends' await has_lines ended 4715 1
check 'they are there afterwards' have_stacks
check 'also in the report' grep -q 'stacks of main threads, read' \
	"$archive"/jobs/4715@*/report.html

# --- Arrays, and jobs that are queued again ------------------------------------

export SLURM_ARRAY_JOB_ID=4721 SLURM_ARRAY_TASK_ID=3
start_job 4724 "$tmp/job"
check 'a job in an array has its name as of sacct' await has_lines begun 4721_3 1
is_stuck_as() {
	diagnosed "$1" | grep -q '^stuck: rank 1 of faulty'
}
check 'by which what is kept is found' await is_stuck_as 4721_3
check 'by its own id as well' is_stuck_as 4724
check 'and by that of the array' is_stuck_as 4721
check 'it goes on to hang' await has_hung 4721_3
# It is queued again, and starts at once. Some looks may fall between the ends of ranks.
end_job
export SLURM_RESTART_COUNT=1
start_job 4724 "$tmp/well"
check 'a job that is queued again is another one' await has_lines begun 4721_3 2
check 'the one before has ended' await has_lines ended 4721_3 1
check 'and was stuck' test "$(member 4721_3 severity)" = '"stuck"'
is_read_alone() {
	diagnosed 4721_3 | grep -q '^well'
}
check 'the latest one is read' await is_read_alone
diagnosed 4721_3 >"$tmp/said"
check 'it is told which one that is' grep -q 'this is job 4721_3, begun .*, the latest of 2 that --job=4721_3 names; the one before: --job=4721_3=4724@[0-9]*,[0-9]*$' "$tmp/said"
before=$(sed -n 's/.*the one before: --job=//p' "$tmp/said")
diagnosed "$before" >"$tmp/said"
check 'and the one before can be read, alone' sh -c "grep -q '^stuck from .* rank 1 of faulty' $tmp/said &&
	grep -q ' 8 ranks' $tmp/said && ! grep -q 'this is job' $tmp/said"
end_job
check 'the second run ends' await has_lines ended 4721_3 2
check 'the second run was well' test "$(member 4721_3 severity | tail -n 1)" = '"well"'
"$ncclstat" jobs --archive="$archive" --job=4724 >"$tmp/said"
check 'both are listed' test "$(grep -c ' 4721_3 ' "$tmp/said")" = 2
unset SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID SLURM_RESTART_COUNT

# Ids of LSF, PBS and Flux as their jobs have them.
FLUX_JOB_ID=ƒ2oLkTLb "$build/ncclreplay" --hold "$tmp/well" 2>"$tmp/replay" &
flux=$!
LSB_JOBID=77 LSB_JOBINDEX=2 "$build/ncclreplay" --hold "$tmp/well" 2>"$tmp/replay" &
lsf=$!
PBS_JOBID='88[1].server' "$build/ncclreplay" --hold "$tmp/well" 2>"$tmp/replay" &
pbs=$!
job="$job $flux $lsf $pbs"
for id in 'ƒ2oLkTLb' '77[2]' '88[1].server' '88[1]'; do
	is_found_as() {
		diagnosed "$id" | grep -q ' 8 ranks'
	}
	check "$id is found" await is_found_as
done
kill "$flux" "$lsf" "$pbs"
wait "$flux" "$lsf" "$pbs"
are_concluded() {
	for id in 'ƒ2oLkTLb' '77[2]' '88[1].server'; do
		[ "$(member "$id" severity)" = '"well"' ] || return
	done
}
check 'each is concluded' await are_concluded

# --- Processes without a label ------------------------------------------------

"$build/ncclreplay" --hold "$tmp/well" 2>"$tmp/replay" &
player=$!
job="$job $player"
await has_lines begun unnamed 1
check 'processes without a label are a job, which can be read' await \
	is_read unnamed well
end_job
check 'its end has a line' await has_lines ended unnamed 1

# --- Jobs of two users ---------------------------------------------------------

# Without a label, and of one label. One user's jobs hang, the other's are well.
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
users=
# play_two COMMAND...: plays a job without a label, and one of id 4790.
play_two() {
	for id in '' 4790; do
		env ${id:+SLURM_JOB_ID=$id} "$@" 2>>"$tmp/replay" &
		users="$users $!"
	done
}
# are_told EVENT: whether each has a line of that with its user, as its folder has.
are_told() {
	for id in unnamed 4790; do
		for uid in 0 65534; do
			grep "\"event\":\"$1\",\"job\":\"$id\"" \
				"$archive/jobs.jsonl" |
				grep -q "\"uid\":$uid,.*\"folder\":\"$id@[0-9]*,$uid\"" ||
				return
		done
	done
}
if [ "$(id -u)" -ne 0 ] || ! chmod 711 "$tmp" || ! chmod 1777 "$tmp/shm/" ||
	! $nobody test -x "$build/ncclreplay" ||
	! $nobody test -r "$tmp/job/"; then
	echo "ok jobs of two users # SKIP no other user may run ncclreplay here"
else
	play_two "$build/ncclreplay" --speed 0.2 --loop 0 test/captures/net-v5-ddp8
	# shellcheck disable=SC2086 # a list of words
	play_two $nobody "$build/ncclreplay" --hold "$tmp/job"
	job="$job $users"
	check 'jobs of two users are two' await are_told begun
	for id in unnamed 4790; do
		check "$id: that of the other user hangs" await \
			is_stuck "$id@*,65534"
		check "$id: it has its own processes only" \
			is_read "$id@*,65534" stuck
		diagnosed "$id@*,0" >"$tmp/read"
		check "$id: root's has nothing of it" sh -c "
			grep -q ' 8 ranks' '$tmp/read' &&
			! grep -q faulty '$tmp/read'"
	done
	"$ncclstat" jobs --archive="$archive" >"$tmp/said"
	# root's 4790 calls on.
	stacks_of_nobody() {
		"$ncclstat" diagnose --archive="$archive" --job='4790@*,65534' \
			--stacks=all 2>&1 |
			grep -q '^stacks of main threads, read '
	}
	check 'stacks of the one that hangs are kept' await stacks_of_nobody
	check 'the list names both users' \
		test "$(grep -cE ' runs .* (root|nobody) +4790 ' "$tmp/said")" = 2
	# shellcheck disable=SC2086 # a list of words
	kill $users
	# shellcheck disable=SC2086 # a list of words
	wait $users
	check 'each has a line of its end' await are_told ended
fi

"$ncclstat" jobs --archive="$archive" --jobs=json >"$tmp/json"
check 'the list is JSON' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" kept_jobs "$tmp/json"
check 'so are the lines' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" kept_job "$archive/jobs.jsonl"
mkdir "$tmp/shared"
ln -s "$archive" "$tmp/shared/n1"
"$ncclstat" jobs --archive="$tmp/shared" --job=4711 >"$tmp/said"
check 'archives of machines are listed together' test "$(wc -l <"$tmp/said")" = 2

# --- Cleaning --------------------------------------------------------------------

start_job 4717 "$tmp/job"
check 'a job that runs has a finding' await is_found 4717
"$ncclstat" --clean --archive="$archive" --retain=1h >"$tmp/said"
check 'cleaning keeps what is recent' sh -c "
	grep -q '^kept $archive/jobs/4711@.*, with a finding\$' $tmp/said &&
	grep -q '^removed 0, 0B; kept ' $tmp/said"
is_removed() {
	"$ncclstat" --clean --archive="$archive" --retain=1s >"$tmp/said" &&
		[ "$(ls "$archive/jobs" | sed 's/@.*//')" = 4717 ]
}
check 'and removes what is old, but not what runs' await is_removed
check 'and says so' grep -q '^kept .*/4717@.*, with a finding, runs$' "$tmp/said"
check 'what runs can be read on' await is_stuck 4717
"$ncclstat" --clean --archive="$tmp/shared" --retain=1h >"$tmp/said"
check 'archives of machines are cleaned together' \
	grep -q '^kept .*/shared/n1/jobs/4717@' "$tmp/said"
end_job
check 'the end of what ran has a line' await has_lines ended 4717 1

kill "$watch"
wait "$watch"
check 'a signal ends the watch with status 0' test $? -eq 0
check 'nothing is left running' await recorder_is_gone
check 'there was no message' test ! -s "$tmp/err"
