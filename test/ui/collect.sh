#!/bin/sh
# SPDX-License-Identifier: MIT
# Changing what the plugin collects while a job runs: from the command line, by
# keys, and by a lease that lasts as long as the view that asked for it.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

# set_to SETTING...: runs --set; keeps its output and its status.
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
	COLUMNS=999 "$ncclstat" --dump=text --view=ranks | grep -c -e "$1"
}

# all_have SETTINGS: succeeds if both ranks have them and there is no other
# rank.
all_have() {
	[ "$(in_force "$1")" -eq 2 ]
}

refused_with 1 sample=2 'no NCCL job of yours'
verdict 'without a job --set says so' $?
refused_with 64 sample=3 'sample= expects'
verdict '--set refuses nonsense and says what it expects' $?
refused_with 64 kernel=always 'start it with NCCLSTAT_KERNEL_TIMING'
verdict '--set refuses to switch kernel timing and says what to use' $?
refused_with 64 events=all-calls 'cannot be left out'
verdict '--set refuses to leave out calls and says why' $?

"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-mix \
	>"$tmp/replay.log" 2>&1 &
job=$!
background="$background $job"

open 110x30 "exec $ncclstat --interval 0.2"
started && sees '^   *0 .* alive' && sees '^   *1 .* alive'
verdict 'a job is seen' $?

# asks COUNT OPTIONS ANSWER: sets this; succeeds if so many processes are asked, and
# answer so. A busy process may answer after more than the 2 s that --set waits.
asks() {
	wanted=$1 answer=$3
	# shellcheck disable=SC2086 # a list of words
	set_to $2 && said "asked $wanted process" &&
		[ "$(grep -c "pid [0-9]* world: $answer" "$tmp/said")" -eq \
			"$wanted" ]
}
soon asks 2 events=all-control,sample=4 events=all-control,kernel=off,sample=4
verdict '--set asks all processes and prints their answers' $?
sees 'sample 1/4, no control'
verdict 'the view shows the settings in force' $?
all_have 'events=all-control,kernel=off,sample=4,timing=[a-z]*$'
verdict 'a dump shows the settings in force' $?

victim=$("$ncclstat" --list | awk '$2 == 0 { print $1 }')
soon asks 1 "sample=8 --pid $victim" events=all-control,kernel=off,sample=8 &&
	said "asked 1 process for sample=8" && said "pid $victim world: "
verdict '--pid asks one process only' $?
sees 'settings differ'
verdict 'the view shows that settings differ' $?
set_to timing=1/8 && said 'asked 2 processes for timing=1/8' &&
	soon all_have 'timing=1/8$'
verdict '--set changes how many launches are timed' $?
set_to default --comm 'wor*' && said 'asked 2 processes for default' &&
	soon all_have 'events=all,kernel=off,sample=1,timing=[a-z]*$'
verdict '--comm asks the processes of a communicator' $?
set_to default --comm 'nobody*'
[ "$status" -eq 1 ] && said "nobody"
verdict '--comm without a match is reported' $?

press s
sees '^Set: .*such as events='
verdict 'key s prompts for a setting' $?
press -l 'sample=on'
press Enter
sees 'sample= expects default or'
verdict 'the prompt reports nonsense' $?
press s
press -l 'events=all-stesp'
press Enter
sees 'did you mean steps?'
verdict 'the prompt names the nearest of a mistyped word' $?
press s
press -l 'sample=16'
press Enter
sees 'asked 2 processes for sample=16' && sees 'sample 1/16'
verdict 'the prompt asks for the setting' $?
press s
press -l 'sample=2'
press Escape
press F9
sees 'nothing here stops a job' && soon all_have 'sample=16,timing=[a-z]*$'
verdict 'Esc at the prompt asks for nothing' $?

press d
sees 'while this view runs' && sees 'lease [0-5]s' &&
	soon all_have 'events=all,kernel=off,sample=1,timing=[a-z]*,lease$'
verdict 'key d asks for more detail while the view runs' $?
press d
sees 'withdrew' && misses 'lease' && soon all_have 'kernel=off,sample=16,timing=[a-z]*$'
verdict 'key d again ends that' $?

press d
sees 'lease [0-5]s'
# Longer than a lease lasts without renewal.
sleep 6
sees 'lease [0-5]s' && ! shows 'has ended' &&
	soon all_have 'sample=1,timing=[a-z]*,lease$'
verdict 'the lease is renewed as long as the view runs' $?

"$ncclstat" --dump=json | grep -q "\"lease\":{\"pid\":$pid,"
verdict 'a dump names the holder of the lease' $?

kill -s KILL "$pid"
ended 137
soon all_have 'kernel=off,sample=16,timing=[a-z]*$'
verdict 'the lease of a killed view ends' $?

open 110x30 "exec $ncclstat --interval 0.2"
started && press d && sees 'lease [0-5]s' && press q && ended 0 &&
	soon all_have 'kernel=off,sample=16,timing=[a-z]*$'
verdict 'the lease of a view that quits ends' $?

# A stopped view cannot renew its lease; when it continues it must not renew an
# old one.
open 110x30 "exec $ncclstat --interval 0.2"
started && press d && sees 'lease [0-5]s'
kill -s STOP "$pid"
soon all_have 'kernel=off,sample=16,timing=[a-z]*$'
verdict 'the lease of a stopped view ends' $?
kill -s CONT "$pid"
sees 'has ended; d takes it again' && soon all_have 'kernel=off,sample=16,timing=[a-z]*$'
verdict 'a view that continues reports that its lease has ended' $?
press q
ended 0

# rest STATE PID...: waits until all processes are in a state.
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
verdict 'a process without calls has not answered' $?
# shellcheck disable=SC2086
kill -s CONT $ranks
soon all_have 'sample=32,timing=[a-z]*$'
verdict 'it answers with its next call' $?

# shellcheck disable=SC2046 # a list of words
kill -s TERM $(pgrep -P "$job") "$job" 2>/dev/null
wait "$job" 2>/dev/null
"$ncclstat" --clean >"$tmp/clean.log" 2>&1
[ -z "$(ls "$NCCLSTAT_DIR")" ]
verdict 'nothing is left when the job has ended' $?
finish
