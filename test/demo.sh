#!/bin/sh
# SPDX-License-Identifier: MIT
# ncclstat at work, without a GPU: eight processes replay what NCCL called in a
# training job, and the program looks at them until one leaves it (q).
#
# Without a terminal it prints one dump. However it ends, nothing is left: the
# job's processes end with it, and all files are in a folder that is removed.

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

# ended PID: told to end, and waited for.
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
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# A folder of its own, so that only this job is seen and nothing can be missed
# when it is removed; in memory, if that can be had.
dir=$(mktemp -d /dev/shm/ncclstat-demo.XXXXXX 2>/dev/null) ||
	dir=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-demo.XXXXXX")
export NCCLSTAT_DIR="$dir"

"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-ddp8/* \
	>"$dir/log" 2>&1 </dev/null &
job=$!

# Ranks that have done something for a moment.
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

# The shell hears signals only while it waits, hence in the background; which
# has no input unless it is given.
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
