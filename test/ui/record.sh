#!/bin/sh
# SPDX-License-Identifier: MIT
# --record, on jobs that are replayed against the plugin: recordings are
# complete, however they are written and however they end. test/record_oracle.py
# reads the files.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
recorder=
own_segments

at_end() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
}

python3 test/record_oracle.py >/dev/null 2>&1
if [ $? -eq 77 ]; then
	echo "there is no libxxhash or no libzstd to check recordings with"
	exit 77
fi

# --- Jobs and recorders ----------------------------------------------------

# The job is slow: a recorder that is delayed for some seconds, as on busy
# machines and disks, must miss nothing.

# start_job ARGUMENT...: starts a job of two ranks that runs until end_job.
start_job() {
	"$replay" --loop 0 --speed 0.2 "$@" test/captures/net-v5-mix >/dev/null 2>&1 &
	job=$!
	await there_are 2
}

# run STATUS ARGUMENT...: succeeds if ncclstat exits with this status.
run() {
	wanted=$1
	shift
	status=0
	"$ncclstat" "$@" </dev/null 2>"$tmp/err" || status=$?
	[ "$status" -eq "$wanted" ] && return
	echo "ncclstat $*: status $status"
	return 1
}

# begin ARGUMENT...: starts a recorder in the background; waits until it has
# written something.
begin() {
	# A shell has background processes ignore SIGINT.
	env --default-signal=INT "$ncclstat" "$@" </dev/null 2>"$tmp/err" &
	recorder=$!
}

# ended STATUS: succeeds if the recorder ends with this status.
ended() {
	status=0
	wait "$recorder" || status=$?
	recorder=
	[ "$status" -eq "$1" ] && return
	echo "status $status"
	return 1
}

# has_records FILE: succeeds if the file has records already.
has_records() {
	python3 test/record_oracle.py --cut "$1" 2>/dev/null |
		grep -q '^records: [1-9][0-9][0-9]'
}

# read_by_oracle FILE...: reads recordings; the output is in $tmp/said.
read_by_oracle() {
	python3 test/record_oracle.py "$@" >"$tmp/said"
}

# says NAME: prints a number that the oracle found.
says() {
	sed -n "s/^$1: //p" "$tmp/said"
}

# is_complete FILE...: succeeds if all records up to the last state are there.
is_complete() {
	read_by_oracle "$@" && [ "$(says lost)" -eq 0 ] &&
		[ "$(says records)" -gt 100 ] &&
		[ $(($(says records) + $(says missed))) -ge \
			"$(says published)" ]
}

# --- From start to end -----------------------------------------------------

begin --record "$tmp/one"
check 'without a job a recorder says that it waits' await \
	grep -q 'waiting for a job' "$tmp/err"
"$replay" --speed 0.5 test/captures/net-v5-mix >/dev/null 2>&1
check 'a recorder that waits for a job ends with it' ended 0
check 'it says what was recorded' \
	grep -q 'recorded [1-9][0-9]* records and .* of 2 ranks; wrote' \
	"$tmp/err"
check 'the recording is complete' is_complete "$tmp/one"
check 'the recording begins with the first record' [ "$(says missed)" -eq 0 ]
check 'other users cannot read the recording' \
	[ "$(stat -c %a "$tmp/one")" = 600 ]

"$replay" --hold --verbose test/captures/net-v5-mix >/dev/null \
	2>"$tmp/left.played" &
job=$!
check 'a job has made its calls' await have_played left net-v5-mix
# shellcheck disable=SC2046 # a list of words
kill -s KILL $(pgrep -P "$job") "$job"
wait "$job" 2>/dev/null
job=
check 'the segments of a killed job are recorded and the recorder ends' \
	run 0 --record "$tmp/left"
check 'the recording of a killed job is complete' is_complete "$tmp/left"
check 'the recording has the end of both processes' [ "$(says gone)" -eq 2 ]
"$ncclstat" --clean >/dev/null 2>&1

# --- Ways to end -----------------------------------------------------------

start_job
begin --record "$tmp/stopped"
await has_records "$tmp/stopped"
kill -s INT "$recorder"
check 'SIGINT ends the recorder in good order' ended 0
check '… with a complete file' is_complete "$tmp/stopped"
check '… while the job goes on' kill -0 "$job"

# A later segment of one of the job's processes: four came and went before it.
begin --record "$tmp/gaps"
await has_records "$tmp/gaps"
for segment in "$NCCLSTAT_DIR"/ncclstat.*; do :; done
later=${segment%.*}.$((${segment##*.} + (5 << 32)))
cp "$segment" "$later"
await grep -qF "${later##*/}" "/proc/$recorder/maps"
kill -s INT "$recorder"
check 'a recorder that missed ranks ends in good order' ended 0
check '… and says how many it knows of' \
	grep -q 'at least 4 more ranks missed' "$tmp/err"
rm -f "$later"

# signalled_twice PAUSE STATUS: records into a small pipe, which nobody reads until
# two signals have come; succeeds if the recorder ends with this status. Tries again if
# a busy machine delivered them at another pace.
signalled_twice() {
	python3 - "$ncclstat" "$tmp/twice" "$@" <<'END'
import fcntl, os, select, signal, subprocess, sys, time
ncclstat, path, pause, status = sys.argv[1:]
for _ in range(5 if int(status) == 0 else 2):
    ends = os.pipe()
    fcntl.fcntl(ends[1], 1031, 4096)  # F_SETPIPE_SZ
    recorder = subprocess.Popen([ncclstat, "--record=-"], stdout=ends[1])
    os.close(ends[1])
    select.select([ends[0]], [], [])
    begun = time.monotonic()
    recorder.send_signal(signal.SIGTERM)
    time.sleep(float(pause))
    recorder.send_signal(signal.SIGTERM)
    if int(status) < 0:
        try:
            recorder.wait(60)
        except subprocess.TimeoutExpired:
            print("the second signal did not end it")
            recorder.kill()
    with open(ends[0], "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    ended = recorder.wait()
    took = time.monotonic() - begun
    print("status", ended, "after", took, "s")
    if ended == int(status) or (int(status) == 0 and took < 1):
        break
sys.exit(ended != int(status))
END
}
check 'a second signal at once, as of timeout(1), is the same one' \
	signalled_twice 0.1 0
check '… with a complete file' python3 test/record_oracle.py "$tmp/twice"
check 'one that comes later ends the recorder at once' signalled_twice 1.2 -15

check '--duration ends the recorder' \
	run 0 --record "$tmp/short" --duration 4 --interval 0.1
check '… with a complete file' is_complete "$tmp/short"
check 'states are taken at the interval' \
	sh -c '[ "$1" -gt 16 ] && [ "$1" -le 84 ]' sh "$(says states)"

begin --record "$tmp/killed" --duration 20
await has_records "$tmp/killed"
kill -s KILL "$recorder"
ended 137 2>/dev/null
check 'what a killed recorder had written can be read' \
	has_records "$tmp/killed"

check 'no such process: status 1' \
	run 1 --record "$tmp/none" --pid 4194303
check 'no such process: a message' \
	grep -q 'there is no process 4194303' "$tmp/err"
check '--pid records' \
	run 0 --record "$tmp/pid" --duration 0.4 \
	--pid "$(pgrep -P "$job" | head -n 1)"
check '--pid records one process only' \
	sh -c 'python3 test/record_oracle.py "$1/pid" | grep -qx "ranks: 1"' \
	sh "$tmp"

# --- Ways to write ---------------------------------------------------------

check 'several files' \
	run 0 --record "$tmp/many" --duration 2.8 --rotate-time 1
check 'several files: at most three, however long they took' \
	sh -c '[ -e "$1.1" ] && [ ! -e "$1.3" ]' sh "$tmp/many"
check 'several files: nothing is missing between them' \
	is_complete "$tmp"/many*
begin --record "$tmp/sized" --rotate=64k,keep=2 --interval 0.1
check 'files by size' await [ -e "$tmp/sized.2" ]
kill -s INT "$recorder"
check '… end in good order' ended 0
check '… there are two, without the first' \
	sh -c '[ "$(ls "$1"/sized* | wc -l)" -eq 2 ] && [ ! -e "$1/sized" ]' \
	sh "$tmp"

check 'compressed' \
	run 0 --record "$tmp/packed" --duration 2 --compress
check 'compressed: nothing is missing' is_complete "$tmp/packed"
check 'compressed: chunks are packed' [ "$(says packed)" -gt 3 ]

check 'a pipe' sh -c '
	"$1/ncclstat" --record=- --duration 2 2>"$2/err" | cat >"$2/piped"' \
	sh "$build" "$tmp"
check 'a pipe: nothing is missing' is_complete "$tmp/piped"
# It is opened once it has a reader.
mkfifo "$tmp/named"
{ sleep 1.5; cat "$tmp/named" >"$tmp/read"; } &
reader=$!
check 'a named pipe is recorded to for as long as told, once it is read' \
	run 0 --record "$tmp/named" --duration 1
wait "$reader"
check 'a named pipe: nothing is missing' is_complete "$tmp/read"
check 'a closed pipe: status 1' sh -c '
	"$1/ncclstat" --record=- --duration 5 2>"$2/err" | :
	grep -q "standard output: Broken pipe" "$2/err"' sh "$build" "$tmp"

status=0
python3 test/without_io_uring.py "$ncclstat" --record "$tmp/slow" \
	--duration 2 2>"$tmp/err" || status=$?
if [ "$status" -ne 77 ]; then
	check 'without io_uring' [ "$status" -eq 0 ]
	check 'without io_uring: a message' \
		grep -q 'io_uring cannot be had (Operation not permitted)' \
		"$tmp/err"
	check 'without io_uring: nothing is missing' is_complete "$tmp/slow"
fi

# --- Errors of writing -----------------------------------------------------

check 'no room: status 1' run 1 --record /dev/full
check 'no room: a message' \
	grep -q '/dev/full: No space left on device' "$tmp/err"
check 'file size limit: status 1' sh -c '
	ulimit -f 512
	"$1/ncclstat" --record "$2/limited" --interval 0.1 2>"$2/err"
	[ $? -eq 1 ]' sh "$build" "$tmp"
check 'file size limit: a message' \
	grep -q 'limited: File too large' "$tmp/err"
check 'file size limit: the file can be read up to there' \
	has_records "$tmp/limited"
check 'no such folder: status 1' \
	run 1 --record "$tmp/nowhere/file"
check 'no such folder: a message' \
	grep -q 'nowhere/file: No such file' "$tmp/err"
check 'the job still runs' kill -0 "$job"
end_job
exit "$failed"
