#!/bin/sh
# SPDX-License-Identifier: MIT
# What the plugin collects is changed while a job runs: from the command line,
# by keys, and for as long as a view lives that has asked for more.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

# set_to SETTING...: asks; its words and its status are kept.
set_to() {
	setting=$1
	shift
	"$ncclstat" --set="$setting" "$@" >"$tmp/set.out" 2>"$tmp/set.err"
	status=$?
	cat "$tmp/set.out" "$tmp/set.err" >"$tmp/said"
	return "$status"
}

said() {
	grep -q -e "$1" "$tmp/said" && return 0
	sed 's/^/#   /' "$tmp/said"
	return 1
}

refused_with() {
	set_to "$2"
	[ "$status" -eq "$1" ] && said "$3"
}

in_force() {
	"$ncclstat" --dump=text --view=ranks | grep -c -e "$1"
}

# all_have SETTINGS: both ranks do, and nobody else is there.
all_have() {
	[ "$(in_force "$1")" -eq 2 ]
}

refused_with 1 kernel=off 'no NCCL job of yours'
verdict 'without a job there is nobody to ask' $?
refused_with 2 kernel=on 'kernel= expects'
verdict 'nonsense is refused with what is expected' $?
refused_with 2 events=all-calls 'cannot be left out'
verdict 'what cannot be left out is refused with the reason' $?

NCCLSTAT_KERNEL_TIMING=off \
	"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-mix \
	>"$tmp/replay.log" 2>&1 &
job=$!
background="$background $job"

open 110x30 "exec $ncclstat --interval 0.2"
started && sees '^ A  *0 world' && sees '^ A  *1 world'
verdict 'a job is seen' $?

set_to events=all-control,sample=4 && said 'asked 2 processes' &&
	[ "$(grep -c 'pid [0-9]* world: events=all-control,kernel=off,sample=4' \
		"$tmp/said")" -eq 2 ]
verdict '--set asks all, and tells what each does then' $?
sees 'sample 1/4, no control'
verdict 'the view shows what is in force' $?
all_have 'events=all-control,kernel=off,sample=4$'
verdict 'so does a dump' $?

victim=$("$ncclstat" --list | awk '$2 == 0 { print $1 }')
set_to sample=8 --pid "$victim" && said "asked 1 process for sample=8" &&
	said "pid $victim world: events=all-control,kernel=off,sample=8"
verdict '--pid asks one alone' $?
sees 'settings differ'
verdict 'the view shows that they differ' $?
set_to default --comm 'wor*' && said 'asked 2 processes for default' &&
	all_have 'events=all,kernel=off,sample=1$'
verdict '--comm asks those of a communicator' $?
set_to default --comm 'nobody*'
[ "$status" -eq 1 ] && said "nobody"
verdict '--comm that nobody has is told' $?

press s
sees '^Set: .*such as events='
verdict 's asks what to ask for' $?
press -l 'kernel=on'
press Enter
sees 'kernel= expects default, off'
verdict 'nonsense is told' $?
press s
press -l 'sample=16'
press Enter
sees 'asked 2 processes for sample=16' && sees 'sample 1/16'
verdict 'a setting that is typed is asked for' $?
press s
press -l 'sample=2'
press Escape
press F9
sees 'nothing here stops a job' && all_have 'sample=16$'
verdict 'Esc asks for nothing' $?

press d
# The job has sent from point to point, so what is asked for is not done.
sees 'while this view runs' && sees 'lease [0-5]s' && sees 'kernel p2p' &&
	all_have 'events=all,kernel=sampled:16,sample=1,lease$'
verdict 'd asks for more while the view runs' $?
press d
sees 'gave back' && misses 'lease' && all_have 'kernel=off,sample=16$'
verdict 'd again gives it back' $?

press d
sees 'lease [0-5]s'
# Longer than a lease lasts that is not renewed.
sleep 6
shows 'lease [0-5]s' && all_have 'sample=1,lease$'
verdict 'it is renewed as long as the view lives' $?

"$ncclstat" --dump=json | grep -q "\"lease\":{\"pid\":$pid,"
verdict 'a dump tells whose lease it is' $?

kill -s KILL "$pid"
ended 137
soon all_have 'kernel=off,sample=16$'
verdict 'a view that is killed leaves nothing behind' $?

open 110x30 "exec $ncclstat --interval 0.2"
started && press d && sees 'lease [0-5]s' && press q && ended 0 &&
	soon all_have 'kernel=off,sample=16$'
verdict 'nor does one that is left' $?

# Stopped, it cannot renew; when it goes on it must not bring it back.
open 110x30 "exec $ncclstat --interval 0.2"
started && press d && sees 'lease [0-5]s'
kill -s STOP "$pid"
soon all_have 'kernel=off,sample=16$'
verdict 'one that is stopped holds nothing for long' $?
kill -s CONT "$pid"
sees 'has ended; d takes it again' && all_have 'kernel=off,sample=16$'
verdict 'and is told when it goes on' $?
press q
ended 0

# rest STATE PID...: soon all are in it.
rest() {
	state=$1
	shift
	for p in "$@"; do
		soon has_state "$p" "$state" || return 1
	done
}

has_state() {
	sed 's/.*) //' "/proc/$1/stat" | grep -q "^$2"
}

ranks=$(pgrep -P "$job" | tr '\n' ' ')
# shellcheck disable=SC2086 # a list of words
kill -s STOP $ranks && rest T $ranks && refused_with 1 sample=32 \
	'asked; it has made no NCCL call since; until then events='
verdict 'who makes no call has not taken it' $?
# shellcheck disable=SC2086
kill -s CONT $ranks
soon all_have 'sample=32$'
verdict 'and takes it with the next call' $?

# shellcheck disable=SC2046 # a list of words
kill -s TERM $(pgrep -P "$job") "$job" 2>/dev/null
wait "$job" 2>/dev/null
"$ncclstat" --clean >"$tmp/clean.log" 2>&1
[ -z "$(ls "$NCCLSTAT_DIR")" ]
verdict 'nothing is left when it has ended' $?
finish
