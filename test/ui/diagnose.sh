#!/bin/sh
# SPDX-License-Identifier: MIT
# --diagnose, end to end: faulty jobs are played to the plugin and diagnosed
# through shared memory. Checks verdict, root and exit status.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

build=${BUILD:-build}
ncclstat=$build/ncclstat
replay=$build/ncclreplay
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-diagnose.XXXXXX")
jobs=
export LC_ALL=C.UTF-8
. test/shm.sh
. test/await.sh

# A job ends with its ncclreplay.
leave() {
	for p in $jobs; do
		kill "$p" 2>/dev/null
	done
	wait
	shm_remove
	rm -rf "$tmp"
}
trap leave EXIT
trap 'exit 130' HUP INT TERM

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
	jobs="$jobs $!"
}

# diagnose NAME STATUS EXPRESSION: waits for a problem; passes if the exit
# status is STATUS and the expression holds, in which d is the whole diagnosis
# and f the worst finding.
diagnose() {
	status=0
	NCCLSTAT_DIR="$tmp/$1/shm" "$ncclstat" --diagnose=json -i 0.2 \
		--wait 30 >"$tmp/out" 2>"$tmp/err" || status=$?
	if [ "$status" -eq "$2" ] && python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
f = d["findings"][0]
assert eval("(" + sys.argv[2] + ")"), d' "$tmp/out" "$3" >"$tmp/log" 2>&1; then
		echo "ok $1: verdict, root and status $2"
		return
	fi
	echo "not ok $1: verdict, root and status $2: $status, $3" |
		tr '\n\t' '  '
	echo
	sed 's/^/  /' "$tmp/log" "$tmp/out" "$tmp/err" "$tmp/$1/replay" |
		cut -c 1-1000
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
	play "unseen$n" nvlink "$n" 1
done
for n in 2 8; do
	play "unlike$n" unlike "$n"
done
play unseen_two nvlink 8 1 5
play stopped missing 8
# Killed before it has hung for long: then its death is the cause.
play killed missing 8

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
kill -s KILL "$(pid_of killed 1)"
kill -s STOP "$(pid_of stopped 1)"

# play_late: plays a captured job that hangs for 160 s, with launches that are
# followed.
play_late() {
	mkdir "$tmp/late"
	shm_folder "$tmp/late/shm"
	NCCLSTAT_DIR="$tmp/late/shm" "$replay" --hold --speed 0.05 \
		test/captures/net-v5-hang 2>"$tmp/late/replay" &
	jobs="$jobs $!"
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
diagnose killed 2 "f['verdict'] == 'rank_died' and f['root']['rank'] == 1 and
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
status=0
NCCLSTAT_DIR="$tmp/none/shm" "$ncclstat" --diagnose -i 0.2 \
	>"$tmp/out" 2>"$tmp/err" || status=$?
if [ "$status" -eq 0 ] && grep -q '^well: ' "$tmp/out"; then
	echo "ok none: well, status 0"
else
	echo "not ok none: well, status 0 (status $status)"
	sed 's/^/  /' "$tmp/out" "$tmp/err"
fi
status=0
NCCLSTAT_DIR="$tmp/missing8/shm" "$ncclstat" --diagnose -i 0.2 \
	>"$tmp/out" 2>"$tmp/err" || status=$?
if [ "$status" -eq 2 ] &&
	grep -q '^stuck: rank 1 of faulty has not called AllReduce #4; 7 ranks' \
		"$tmp/out" && grep -q '^  next: ' "$tmp/out"; then
	echo "ok text: a sentence, what was seen, and what to do"
else
	echo "not ok text: a sentence, what was seen, and what to do"
	sed 's/^/  /' "$tmp/out" "$tmp/err"
fi
mkdir "$tmp/empty"
status=0
NCCLSTAT_DIR="$tmp/empty" "$ncclstat" --diagnose=json -i 0.1 \
	>"$tmp/out" 2>"$tmp/err" || status=$?
if [ "$status" -eq 3 ] && grep -q '"severity":null' "$tmp/out"; then
	echo "ok no job: status 3"
else
	echo "not ok no job: status 3 (status $status)"
fi

# Segments that cannot be read are not healthy, and no job is.
mkdir "$tmp/damaged"
echo damaged >"$tmp/damaged/ncclstat.1.1.0"
for mode in --diagnose --diagnose=json --dump --dump=json --dump=openmetrics \
	--dump=prometheus --list --list=json --set=sample=4 \
	"--record=$tmp/none.rec --duration=1"; do
	status=0
	# shellcheck disable=SC2086 # options
	NCCLSTAT_DIR="$tmp/damaged" "$ncclstat" $mode >"$tmp/out" \
		2>"$tmp/err" || status=$?
	if [ "$status" -eq 4 ] && { case $mode in
	--diagnose | --dump)
		grep -q '^no verdict: 1 segment cannot be read' "$tmp/out"
		;;
	esac }; then
		echo "ok $mode of a damaged segment: no verdict, status 4"
	else
		echo "not ok $mode of a damaged segment: no verdict, status 4" \
			"(status $status)"
		sed 's/^/  /' "$tmp/out" "$tmp/err"
	fi
done
pid=$(pid_of missing2 1)
NCCLSTAT_DIR="$tmp/missing2/shm" "$ncclstat" --diagnose -i 0.2 >"$tmp/out" 2>&1
if grep -q "^  where: rank 1 of faulty: pid $pid on " "$tmp/out" &&
	grep -qx "  try: py-spy dump --pid $pid" "$tmp/out"; then
	echo "ok a finding says where its root runs, and what to try"
else
	echo "not ok a finding says where its root runs, and what to try"
	sed 's/^/  /' "$tmp/out"
fi
