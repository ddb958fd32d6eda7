#!/bin/sh
# SPDX-License-Identifier: MIT
# A demonstration without a GPU: eight processes replay NCCL's calls of a
# training job, and the live view shows them until the user quits (q).
#
#   test/demo.sh [OPTION...]     options are ncclstat's
#   test/demo.sh hang            the job of ncclstat-tutorial(7) that hangs, in
#                                $TUTORIAL or /dev/shm/ncclstat-tutorial, until
#                                Ctrl-C: rank 1 of four stays away
#
# Without a terminal it prints one dump. However it ends, it leaves nothing: it
# ends the job's processes and removes the folder with all files.

set -eu
cd "$(dirname "$0")/.."

build=${BUILD:-build}
replay=$build/ncclreplay
ncclstat=$build/ncclstat
plugin=$build/libnccl-profiler-ncclstat.so
for f in "$replay" "$ncclstat" "$plugin"; do
	[ -e "$f" ] || {
		echo "$f has not been built: run make" >&2
		exit 1
	}
done

job=
view=
dir=
calls=

# end PID: ends a process and waits for it.
end() {
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
}

cleanup() {
	trap '' HUP INT TERM
	end "$view"
	end "$job"
	[ -z "$dir" ] || rm -rf "$dir"
	[ -z "$calls" ] || rm -rf "$calls"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# run_hang: plays the job that hangs until a signal comes.
run_hang() {
	dir=${TUTORIAL:-/dev/shm/ncclstat-tutorial}
	mkdir -m 700 "$dir"
	calls=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-calls.XXXXXX")
	python3 test/ui/faulty_job.py missing 4 "$calls"
	NCCLSTAT_DIR="$dir" "$replay" --plugin "$plugin" --hold "$calls" \
		>"$calls/log" 2>&1 </dev/null &
	job=$!
	echo "The job runs. In another terminal: export NCCLSTAT_DIR=$dir"
	wait "$job"
}

if [ "${1:-}" = hang ]; then
	run_hang
	exit
fi

# A folder of its own, so that the view shows only this job and all files can be
# removed.
dir=$(mktemp -d /dev/shm/ncclstat-demo.XXXXXX)
export NCCLSTAT_DIR="$dir"

"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-ddp8/* \
	>"$dir/log" 2>&1 </dev/null &
job=$!

# is_at_work: succeeds if all ranks have published something.
is_at_work() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -ge 8 ]
}

tries=0
until is_at_work; do
	tries=$((tries + 1))
	if [ "$tries" -gt 100 ] || ! kill -0 "$job" 2>/dev/null; then
		cat "$dir/log" >&2
		echo "the job did not start" >&2
		exit 1
	fi
	sleep 0.1
done

# The view runs in the background because the shell handles signals only while
# it waits; background processes need their input redirected.
if [ -t 0 ] && [ -t 1 ]; then
	exec 3<&0
	"$ncclstat" "$@" <&3 3<&- &
else
	sleep 2
	"$ncclstat" --dump "$@" &
fi
view=$!
status=0
wait "$view" || status=$?
view=
exit "$status"
