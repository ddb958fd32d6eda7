#!/bin/sh
# SPDX-License-Identifier: MIT
# A job in a container, looked at from outside: mount, PID and UTS namespaces of
# its own, with a /dev/shm of its own. Hostile containers are left alone.
set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
. test/await.sh
background=
unset NCCLSTAT_DIR

unshare --mount --pid --uts --fork --mount-proc mount -t tmpfs tmpfs /dev/shm \
	2>/dev/null || {
	echo "namespaces are not permitted here"
	exit 77
}

at_end() {
	# The first process of a PID namespace takes the others along.
	for p in $background; do
		pkill -KILL -P "$p" 2>/dev/null
	done
}

# The processes in this test's containers have this in their environment.
export CONTAINERS_MARK="$tmp"

# contain NAME SCRIPT: runs a script in namespaces of its own; its output is in
# $tmp/NAME, for each container another, so that none is read for the one before.
contain() {
	unshare --mount --pid --uts --fork --mount-proc sh -c "$2" \
		>"$tmp/$1" 2>&1 &
	background="$background $!"
}

# paths: prints pid, rank, state and path of the segments in this test's
# containers; other tests have some, too.
paths() {
	"$build/ncclstat" --list 2>/dev/null |
		awk 'NR > 1 && $6 ~ "^/proc/" { print $1, $2, $4, $6 }' |
		while read -r pid rank state path; do
			first=${path#/proc/}
			! grep -qzxF "CONTAINERS_MARK=$tmp" \
				"/proc/${first%%/*}/environ" 2>/dev/null ||
				echo "$pid $rank $state $path"
		done
}

ranks() {
	[ "$(paths | grep -c "$1")" -eq "$2" ]
}

id=$$
contain loop "mount -t tmpfs tmpfs /dev/shm && hostname inside &&
	SLURM_JOB_ID=$id exec '$replay' --loop 0 test/captures/net-v5-mix"
job=$!
check 'ranks in a container are found, alive' await ranks alive 2
victim=$(paths | awk '$2 == 0 { print $1 }')
check 'they have the numbers of the processes here' \
	grep -q ncclreplay "/proc/$victim/comm"
check '--pid takes that number' sh -c \
	'"$1" --dump=json --pid "$2" | grep -q "\"host_pid\": *$2"' \
	sh "$build/ncclstat" "$victim"
check '--job chooses a job in a container' sh -c \
	'[ "$("$1" --list --job="$2" | grep -c /proc/)" -eq 2 ]' \
	sh "$build/ncclstat" "$id"
check 'a chosen directory is the only one' sh -c \
	'! "$1" --list --dir /dev/shm | grep -q /proc/' sh "$build/ncclstat"
check 'what is there can be recorded' sh -c \
	'"$1" --record="$2" --duration=0.5 --job="$4" 2>/dev/null &&
	 "$1" --dump=json "$2" | tee "$2.json" | grep -q "\"host_pid\": *$3"' \
	sh "$build/ncclstat" "$tmp/recorded" "$victim" "$id"

check '--set reaches a process in a container' await sh -c \
	'"$1" --set sample=4 --pid "$2" | tee "$3" | grep -q "^pid $2 .*sample=4"' \
	sh "$build/ncclstat" "$victim" "$tmp/out"
check '--set asks each process in a container' await sh -c \
	'"$1" --set sample=default --job="$2" | grep -q "^asked 2 processes"' \
	sh "$build/ncclstat" "$id"
pkill -KILL -P "$job"
check 'nothing is left when the container is gone' await ranks . 0

# A job that hangs for half a minute, so that a busy machine looks in time: rank 0
# waits for rank 1, which is stopped. The players of a job that goes on do not wait
# for each other.
contain hang "mount -t tmpfs tmpfs /dev/shm && hostname inside &&
	SLURM_JOB_ID=$id exec '$replay' --hold --speed 0.2 test/captures/net-v5-hang"
job=$!
await ranks alive 2
victim=$(paths | awk '$2 == 1 { print $1 }')
kill -STOP "$victim"
check 'JSON names a process by its number here, and by that in there' sh -c \
	'"$1" --diagnose=json --wait 60 --job="$4" >"$3"
	 grep -q "\"pid\":$2,\"container_pid\":[1-9]" "$3" &&
	 grep -q "\"commands\":\[[^]]*$2" "$3"' \
	sh "$build/ncclstat" "$victim" "$tmp/out" "$id"

kill -KILL "$victim"
check 'a process that was killed is dead' await ranks dead 1
"$build/ncclstat" --clean >"$tmp/out" 2>&1
check '--clean leaves the container alone' ranks dead 1
pkill -KILL -P "$job"
await ranks . 0

# A link to a directory outside, where a job of the host publishes.
shm_folder "$tmp/outside"
NCCLSTAT_DIR="$tmp/outside" "$replay" --hold test/captures/net-v5-hang \
	>/dev/null 2>&1 &
job=$!
outside() {
	[ "$("$ncclstat" --list --dir "$tmp/outside" | grep -c alive)" -eq 2 ]
}
check 'a job outside is seen there' await outside
contain link "mount -t tmpfs tmpfs /dev && ln -s '$tmp/outside' /dev/shm &&
	echo ready && exec sleep 60"
await grep -qs ready "$tmp/link"
check 'a link in the place of /dev/shm is not followed' ranks . 0
# A file of the directory that is a mount of another file system.
contain bound "mount -t tmpfs tmpfs /dev/shm && touch /dev/shm/ncclstat.1.1.0 &&
	mount --bind /etc/passwd /dev/shm/ncclstat.1.1.0 && echo ready &&
	exec sleep 60"
await grep -qs ready "$tmp/bound"
check 'a directory with a mount in it is not looked at' ranks . 0
contain linked "mount -t tmpfs tmpfs /dev/shm &&
	ln -s /etc/passwd /dev/shm/ncclstat.1.1.0 && echo ready &&
	exec sleep 60"
await grep -qs ready "$tmp/linked"
"$build/ncclstat" --list >"$tmp/out" 2>&1
check 'a link in the place of a segment is not followed' \
	grep -q 'ncclstat.1.1.0: not readable' "$tmp/out"

exit "$failed"
