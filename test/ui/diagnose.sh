#!/bin/sh
# SPDX-License-Identifier: MIT
# --diagnose, end to end: faulty jobs are played to the plugin and diagnosed
# through shared memory. Checks verdict, root and exit status.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# play NAME FAULT RANKS [RANK...]: plays a job in the background, with segments
# of its own; without the ranks named, as if they had no plugin.
play() {
	mkdir "$tmp/$1"
	shm_folder "$tmp/$1/shm"
	python3 test/ui/faulty_job.py "$2" "$3" "$tmp/$1"
	for unseen in $(shift 3; echo "$@"); do
		rm "$tmp/$1/rank$unseen.calllog"
	done
	NCCLSTAT_DIR="$tmp/$1/shm" "$replay" --hold "$tmp/$1" \
		2>"$tmp/$1/replay" &
	job="$job $!"
}

# in_job NAME COMMAND...: runs a command on the segments of that job.
in_job() (
	export NCCLSTAT_DIR="$tmp/$1/shm"
	shift
	"$@"
)

# found NAME STATUS EXPRESSION: see diagnose.
found() {
	in_job "$1" run "$2" --diagnose=json -i 0.2 --wait 30 && python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
f = d["findings"][0]
assert eval("(" + sys.argv[2] + ")"), sys.argv[2]' "$tmp/out" "$3" && return
	cat "$tmp/$1/replay"
	return 1
}

# diagnose NAME STATUS EXPRESSION: waits for a problem; passes if the exit
# status is STATUS and the expression holds, in which d is the whole diagnosis
# and f the worst finding.
diagnose() {
	check "$1: verdict, root and status $2" found "$@"
}

# All jobs run at the same time, since it takes a while until a job is called
# stuck.
play none none 8
for n in 2 8; do
	for fault in missing order size gpu_late p2p_unmet deadlock launcher \
		proxy_asleep; do
		play "$fault$n" "$fault" "$n"
	done
done
for n in 2 8; do
	play "nvlink$n" nvlink "$n"
	play "hangs$n" hangs "$n"
	play "unseen$n" nvlink "$n" 1
done
for n in 2 8; do
	play "unlike$n" unlike "$n"
done
play unseen_two nvlink 8 1 5
play stopped missing 8

# pid_of NAME RANK: prints the process that plays a rank, once it exists.
pid_of() {
	for _ in $(seq 200); do
		NCCLSTAT_DIR="$tmp/$1/shm" "$ncclstat" --dump=json \
			2>"$tmp/err" | python3 -c '
import json, sys
for r in json.loads(sys.stdin.readline())["ranks"]:
    if r["rank"] == int(sys.argv[1]) and r["functions"]:
        print(r["pid"])' "$2" | grep . && return
		sleep 0.1
	done
}
# Killed before it has hung for long: then its death is the cause. Another one is
# played if a busy machine has taken longer.
for killed in killed1 killed2 killed3; do
	begun=$(date +%s)
	play $killed missing 8
	kill -s KILL "$(pid_of $killed 1)"
	[ $(($(date +%s) - begun)) -ge 4 ] || break
done
kill -s STOP "$(pid_of stopped 1)"

# play_late: plays a captured job that hangs for 160 s, with launches that are
# followed.
play_late() {
	mkdir "$tmp/late"
	shm_folder "$tmp/late/shm"
	NCCLSTAT_DIR="$tmp/late/shm" "$replay" --hold --speed 0.05 \
		test/captures/net-v5-hang 2>"$tmp/late/replay" &
	job="$job $!"
}

for n in 2 8; do
	others=$((n - 1))
	[ $n = 2 ] || play_late
	diagnose "missing$n" 2 "f['verdict'] == 'rank_missing' and
		f['confidence'] == 'certain' and f['root']['rank'] == 1 and
		f['root']['communicator']['name'] == 'faulty' and
		f['function'] == 'AllReduce' and f['sequence_number'] == 4 and
		f['ranks_waiting'] == $others and len(d['findings']) == 1"
	diagnose "order$n" 2 "f['verdict'] == 'order_mismatch' and
		f['root']['rank'] == 1 and f['function'] == 'AllGather' and
		f['other']['rank'] == 0"
	diagnose "size$n" 2 "f['verdict'] == 'size_mismatch' and
		f['root']['rank'] == 1 and f['sequence_number'] == 4"
	diagnose "gpu_late$n" 2 "f['verdict'] == 'gpu_late' and
		f['root']['rank'] == 1 and
		f['channel']['state'] == 'send_gpu_wait'"
	diagnose "p2p_unmet$n" 2 "f['verdict'] == 'p2p_unmet' and
		f['root']['rank'] == 1 and f['other']['rank'] == 2 % $n and
		f['function'] == 'Recv' and f['sequence_number'] is None"
	diagnose "deadlock$n" 2 "f['verdict'] == 'deadlock' and
		f['confidence'] == 'certain' and f['ranks_waiting'] == $n"
	diagnose "launcher$n" 2 "f['verdict'] == 'launcher_blocked' and
		f['root']['rank'] == 1"
	diagnose "nvlink$n" 2 "f['verdict'] == 'rank_missing' and
		f['confidence'] == 'certain' and f['root']['rank'] == 1 and
		f['ranks_waiting'] == $others and len(d['findings']) == 1"
	diagnose "hangs$n" 2 "f['verdict'] == 'not_ended' and
		f['confidence'] == 'likely' and f['function'] == 'AllReduce' and
		f['sequence_number'] == 4 and f['ranks_waiting'] == 0 and
		len(d['findings']) == 1"
	diagnose "unseen$n" 2 "f['verdict'] == 'peer_wait' and
		f['confidence'] == 'possible' and f['root']['rank'] == 1 and
		not f['root']['seen'] and f['function'] == 'AllReduce' and
		f['sequence_number'] == 4 and f['ranks_waiting'] == $others and
		len(d['findings']) == 1"
	diagnose "proxy_asleep$n" 2 "f['verdict'] == 'proxy_asleep' and
		f['root']['rank'] == 1"
done
diagnose unseen_two 2 "f['verdict'] == 'peer_wait' and
	f['confidence'] == 'possible' and f['root']['rank'] is None and
	f['root']['communicator']['name'] == 'faulty' and not f['root']['seen'] and
	f['ranks_waiting'] == 6 and len(d['findings']) == 1"
diagnose $killed 2 "f['verdict'] == 'rank_died' and f['root']['rank'] == 1 and
	f['confidence'] == 'certain' and f['ranks_waiting'] == 7"
diagnose stopped 2 "f['verdict'] == 'rank_stopped' and
	f['root']['rank'] == 1"
kill -s CONT "$(pid_of stopped 1)"

# A viewer that comes after all of a hung job was killed says what one would
# have said before, and that its processes are gone.
diagnose late 2 "f['verdict'] == 'rank_missing' and f['root']['rank'] == 1 and
	len(d['findings']) == 1"
# has_lasted NAME SECONDS: whether the worst finding has lasted for so long.
has_lasted() {
	NCCLSTAT_DIR="$tmp/$1/shm" "$ncclstat" --diagnose=json -i 0.2 \
		--wait 30 2>"$tmp/err" | python3 -c '
import json, sys
sys.exit(json.load(sys.stdin)["findings"][0]["lasts_ns"] < float(sys.argv[1]))' \
		"$2e9"
}
# The latest heartbeat before the kill comes when it has lasted for 5 s.
await has_lasted late 8
kill -s KILL "$(pid_of late 0)" "$(pid_of late 1)"
diagnose late 2 "f['verdict'] == 'rank_missing' and f['root']['rank'] == 1 and
	f['confidence'] == 'certain' and f['ranks_waiting'] == 1 and
	f['lasts_ns'] >= 5e9 and f['root']['pid'] > 0 and
	d['findings'][1]['verdict'] == 'rank_died' and
	d['findings'][1]['alike'] == 1"
# A job that is slow is waited for, while the others above would end.
for n in 2 8; do
	diagnose "unlike$n" 1 "f['verdict'] == 'size_mismatch' and
		f['severity'] == 'slow' and len(d['findings']) == 1 and
		f['root']['rank'] == 1 and f['sequence_number'] == 2 and
		any('results are wrong' in e for e in f['evidence'])"
done

# A job that has finished its calls and sleeps is healthy.
check 'none: status 0' in_job none run 0 --diagnose -i 0.2
check 'none: well' grep -q '^well: ' "$tmp/out"
check 'text: status 2' in_job missing8 run 2 --diagnose -i 0.2
check 'text: a sentence' grep -q \
	'^stuck: rank 1 of faulty has not called AllReduce #4; 7 ranks' \
	"$tmp/out"
check 'text: what to do' grep -q '^  next: ' "$tmp/out"
mkdir -p "$tmp/empty/shm"
check 'no job: status 3' in_job empty run 3 --diagnose=json -i 0.1
check 'no job: no severity' grep -q '"severity":null' "$tmp/out"

# Segments that cannot be read are not healthy, and no job is.
mkdir -p "$tmp/damaged/shm"
echo damaged >"$tmp/damaged/shm/ncclstat.1.1.0"
for mode in --diagnose --diagnose=json --dump --dump=json --dump=openmetrics \
	--dump=prometheus --list --list=json --set=sample=4 \
	"--record=$tmp/none.rec --duration=1"; do
	# shellcheck disable=SC2086 # options
	check "$mode of a damaged segment: status 4" \
		in_job damaged run 4 $mode
	case $mode in
	--diagnose | --dump)
		check "$mode of a damaged segment: no verdict" grep -q \
			'^no verdict: 1 segment cannot be read' "$tmp/out"
		;;
	esac
done
pid=$(pid_of missing2 1)
in_job missing2 run 2 --diagnose -i 0.2
check 'a finding says where its root runs' grep -q \
	"^  where: rank 1 of faulty: pid $pid on " "$tmp/out"
check 'and what to try' grep -qx "  try: py-spy dump --pid $pid" "$tmp/out"
