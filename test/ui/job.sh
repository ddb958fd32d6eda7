#!/bin/sh
# SPDX-License-Identifier: MIT
# A job that starts, is killed and starts again while a view runs.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

start_job() {
	"$replay" --plugin "$plugin" --loop 0 "test/captures/$1" \
		>"$tmp/replay.log" 2>&1 &
	job=$!
	background="$background $job"
}

open 100x30 "exec $ncclstat --interval 0.2"
started && sees 'ncclstat run -- COMMAND' && sees "LD_LIBRARY_PATH=$build"
verdict 'without a job it says what to do' $?

start_job net-v5-mix
sees ' LIVE \| SLOW ' && sees '^[!>*]* *0 .* alive' && sees '^[!>*]* *1 .* alive'
verdict 'a job that starts is shown' $?

view communicators
sees '^.. world  *2  *2 '
verdict 'its communicators are shown' $?
view channels
sees '0 world  *0 send  *1'
verdict 'its channels are shown' $?
view collectives
sees 'AllReduce'
verdict 'its collectives are shown' $?
view proxy
sees 'proxy thread of rank 0 of world'
verdict 'its proxy threads are shown' $?
view ranks

# Kill all processes at the same time, as when a node fails: the ranks first. If
# their parent died first, they would exit in good order.
victims=$(pgrep -P "$job" | tr '\n' ' ')
# shellcheck disable=SC2086 # a list of words
kill -s KILL $victims "$job"
sees 'JOB ENDED' && sees '^[!>]  *0 .* dead' &&
	sees 'processes have ended\|is gone' &&
	alive "$pid"
verdict 'a job that is killed is shown as dead' $?
wait "$job" 2>/dev/null

view channels && press T
sees '\[.:Chan' && press Enter && alive "$pid"
verdict 'the last state of dead ranks can be viewed' $?
view ranks

start_job net-v5-mix
sees ' LIVE \| SLOW '
verdict 'a new job is shown beside the dead one' $?
kill -s TERM "$job"
wait "$job" 2>/dev/null
sees 'JOB ENDED'
verdict 'a job that ends disappears' $?
"$ncclstat" --clean >"$tmp/clean.log" 2>&1

sees 'The job has ended' && alive "$pid"
verdict 'after --clean the view waits for the next job' $?

# A file with the name of a segment that is no segment is reported.
head -c 4096 /dev/zero | tr '\0' 'x' >"$NCCLSTAT_DIR/ncclstat.$$.1.0"
sees '^\*  *ncclstat\.'
verdict 'a segment that cannot be read is listed with its reason' $?
rm -f "$NCCLSTAT_DIR/ncclstat.$$.1.0"
misses '^\*  *ncclstat\.'
press q
ended 0
verdict 'it quits' $?
finish
