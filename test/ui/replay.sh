#!/bin/sh
# SPDX-License-Identifier: MIT
# Replaying the recording of a job that was killed: it shows what the job
# showed, at every time and by every key.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi

has_job() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -ge 2 ]
}

# replaying OPTION...: opens the recording in a live view.
replaying() {
	open 110x30 "exec $ncclstat $* --replay $tmp/job.ncs"
	soon test -s "$tmp/pid" && read -r pid <"$tmp/pid" &&
		sees ' REPLAY \| PAUSED '
}

# --- A recording -----------------------------------------------------------

"$replay" --plugin "$plugin" --loop 0 test/captures/net-v5-mix \
	>"$tmp/replay.log" 2>&1 &
job=$!
background="$background $job"
soon has_job
verdict 'a job runs' $?

died() {
	"$ncclstat" --diagnose=json | grep -q '"verdict":"rank_died"'
}

"$ncclstat" --record="$tmp/job.ncs" -i 0.1 2>"$tmp/recorder" &
recorder=$!
background="$background $recorder"
# has_recorded: whether both ranks are alive 3 s after its begin.
has_recorded() {
	[ "$("$ncclstat" --dump --at 3 "$tmp/job.ncs" 2>/dev/null |
		grep -c ' world .* alive')" -eq 2 ]
}
soon has_recorded
verdict 'three seconds are recorded' $?
# Rank 0 dies, which is a problem to be found; then all do. If their parent died
# first, they would exit in good order.
victims=$(pgrep -P "$job" | tr '\n' ' ')
kill -s KILL "${victims%% *}"
soon died
verdict 'a rank that dies is a problem' $?
# Processes that end within two seconds may have ended together, which is none.
sleep 2.5
# shellcheck disable=SC2086 # a list of words
kill -s KILL ${victims#* } "$job"
wait "$job" 2>/dev/null
soon gone "$recorder"
verdict 'the recording ends with the job' $?

# --- Without a terminal ----------------------------------------------------

# The segments of the dead job, and the end of the recording.
"$ncclstat" --dump=json >"$tmp/live.json"
"$ncclstat" --dump=json "$tmp/job.ncs" >"$tmp/recorded.json"
python3 - "$tmp/live.json" "$tmp/recorded.json" <<'END'
import json, sys

live, recorded = (json.load(open(name)) for name in sys.argv[1:])


# Times are converted from ticks by a clock that is measured for each sample, so
# they differ a little. Shares and rates depend on earlier samples.
def timeless(value):
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items()
                if not key.endswith(('_ns', '_share', '_per_s'))}
    if isinstance(value, list):
        return [timeless(inner) for inner in value]
    return value


same = ('host', 'gpu_pci_id', 'pid', 'communicator', 'rank', 'state', 'proxy',
        'in_flight', 'events', 'lost', 'torn')
of_channel = ('channel', 'peer', 'direction', 'state', 'bytes', 'steps_done')
assert live['recording'] is None and recorded['recording']['files'] == 1
assert len(live['ranks']) == len(recorded['ranks']) > 0
compared = 0
for a, b in zip(timeless(live['ranks']), timeless(recorded['ranks'])):
    for key in same:
        if key in a:
            assert a[key] == b[key], (key, a[key], b[key])
            compared += 1
    assert len(a['channels']) == len(b['channels']) > 0
    for c, d in zip(a['channels'], b['channels']):
        for key in of_channel:
            assert c.get(key) == d.get(key), (key, c, d)
assert compared >= 8 * len(live['ranks']), compared
END
verdict 'the end of the recording equals the segments of the dead job' $?

"$ncclstat" --list "$tmp/job.ncs" >"$tmp/list"
grep -q 'job.ncs: host .* whole$' "$tmp/list" &&
	[ "$(grep -c "$NCCLSTAT_DIR/ncclstat[.]" "$tmp/list")" -ge 2 ]
verdict '--list names what was recorded' $?

"$ncclstat" --diagnose --at 1 "$tmp/job.ncs" >"$tmp/healthy"
[ $? -le 1 ] && "$ncclstat" --dump -i 1 "$tmp/job.ncs" >"$tmp/dumps" &&
	[ "$(grep -c 'recorded, at ' "$tmp/dumps")" -ge 3 ]
verdict 'it can be diagnosed and dumped at intervals' $?

"$ncclstat" --replay "$tmp/list" >"$tmp/out" 2>&1
[ $? -eq 1 ] && grep -q "$tmp/list: it is no recording" "$tmp/out"
verdict 'a file that is no recording is refused' $?

# --- Keys ------------------------------------------------------------------

replaying -i 1
verdict 'the live view opens' $?
press p
sees ' PAUSED ' && press C-a && sees 'at 0:00.000 of 0:0'
verdict 'Ctrl-A goes to the start' $?
press ')'
sees 'at 0:01.000 of ' && press '(' && sees 'at 0:00.000 of '
verdict '( and ) step by an interval' $?
press : 2.5 Enter
sees 'at 0:02.500 of ' && sees ' 0 .* alive'
verdict ': goes to a time' $?
press : 999 Enter
sees 'that is after the recording' && sees 'at 0:02.500 of '
verdict ': refuses a time outside the recording' $?
press : x Enter
sees 'write a time as 12.5'
verdict ': refuses text that is no time' $?
press f
sees '  2x  ' && press r && press r && sees '  0.5x  ' && press f
verdict 'f and r change the speed' $?
press p
sees ' REPLAY ' && misses 'at 0:02.500 of '
verdict 'p plays' $?
press C-e
sees 'JOB ENDED\| PAUSED ' && sees 'ranks 0/2' && sees 'rank 0 of world is gone'
verdict 'Ctrl-E goes to the end, where the job is dead' $?
press p
sees 'this is the end'
verdict 'playing stops at the end' $?
press C-a
sees 'at 0:00.000 of ' && misses '% searched' &&
	sees ' [1-9][0-9]* abnormal ' && press E &&
	sees 'rank_died\|slow\|stuck' && misses 'at 0:00.000 of '
verdict 'E goes to the next problem' $?
press C-e
sees 'ranks 0/2' && press B && misses 'ranks 0/2' && sees 'of 0:0' &&
	alive "$pid"
verdict 'B goes back to the problem' $?
press d
sees 'this is a recording' && press Escape s && sees 'this is a recording'
verdict 'a recording cannot be asked to collect more' $?

press : 2 Enter
sees 'at 0:02.000 of '
failing=
for view in 1 2 3 4 5 6 7 8; do
	press "$view"
	sees "\[$view:" && alive "$pid" || failing="$failing $view"
done
[ -z "$failing" ]
verdict "every view works${failing:+, but not$failing}" $?
view timeline
sees 'AllReduce' && view ranks
verdict 'the timeline has records' $?

# The place is marked by !, if something was slow there.
resize 60 14
sees 'at 0:02.000' && resize 24 5 && soon alive "$pid" && resize 140 40 &&
	sees 'at 0:02.000 of .*[|!]-'
verdict 'it survives every size' $?
press q
ended 0
verdict 'q leaves' $?

# --- A script --------------------------------------------------------------

cat >"$tmp/keys" <<END
p
C-a
await at 0:01.000 of
save $tmp/first
)
await at 0:02.000 of
save $tmp/second
q
END
open 110x30 "exec $ncclstat -i 1 --keys $tmp/keys --since 1 --until 3 \
	--replay $tmp/job.ncs"
ended 0 && grep -q 'at 0:01.000 of ' "$tmp/first" &&
	grep -q 'at 0:02.000 of ' "$tmp/second"
verdict 'a key script plays a part' $?

finish
