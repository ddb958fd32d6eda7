#!/bin/sh
# SPDX-License-Identifier: MIT
# Digests of ranks that are level, in the place of their states: a job on two
# nodes that is well, and then hangs.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-digest.XXXXXX")
. test/shm.sh
. test/fleet.sh
trap fleet_leave EXIT
trap 'exit 130' HUP INT TERM
fleet_needs_names
export LC_ALL=C.UTF-8

fleet_nodes n1 n2

fleet_ssh

# play FAULT CALLS OPTION...: plays a job of two ranks a node.
play() {
	mkdir "$tmp/$1"
	python3 test/ui/faulty_job.py "$1" 4 "$tmp/$1" "$2"
	job=$tmp/$1
	shift 2
	first=0
	for node in n1 n2; do
		"$tmp/agent" "$node" "$fleet_build/ncclreplay" "$@" \
			"$job/rank$first.calllog" \
			"$job/rank$((first + 1)).calllog" \
			>/dev/null 2>"$tmp/replay-$node" &
		fleet_jobs="$fleet_jobs $!"
		first=$((first + 2))
	done
}

# shows NAME PATTERN OPTION...: passes once a dump that goes on has a line of
# the pattern.
shows() {
	name=$1
	pattern=$2
	shift 2
	# Not what the one before printed.
	: >"$tmp/out"
	"$fleet_ncclstat" "$@" -i 0.5 -n 60 </dev/null >"$tmp/out" 2>&1 &
	viewer=$!
	tries=0
	until grep -q -- "$pattern" "$tmp/out" || [ "$tries" -ge 300 ] ||
		! kill -0 "$viewer" 2>/dev/null; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill "$viewer" 2>/dev/null
	wait "$viewer" 2>/dev/null
	if grep -q -- "$pattern" "$tmp/out"; then
		echo "ok $name"
	else
		echo "not ok $name"
		tail -n 20 "$tmp/out" | cut -c 1-200 | sed 's/^/  /'
	fi
}

# --- A job that is well -------------------------------------------------------

play none 1000 --loop 0
shows 'ranks that get on are level' '^ *[0-3]  *.* level ' \
	--dump --view ranks --hosts='n[1-2]' --digest=always
shows 'in JSON, too' '"level":true' \
	--dump=json --hosts='n[1-2]' --digest=always
shows 'a digest has no states of channels' '"peer":[0-3],"state":null' \
	--dump=json --view channels --from \
	"$tmp/agent n1 ncclstat --stream=digest -i 0.5 &
	$tmp/agent n2 ncclstat --stream=digest -i 0.5 & wait"
"$fleet_ncclstat" --dump=json --hosts='n[1-2]' -i 0.3 -n 6 </dev/null \
	>"$tmp/out" 2>&1
if grep -q '"level":false' "$tmp/out" && ! grep -q '"level":true' "$tmp/out"
then
	echo 'ok of few nodes all states come'
else
	echo 'not ok of few nodes all states come'
fi
for job in $fleet_jobs; do
	kill "$job"
	wait "$job" 2>/dev/null
done
fleet_jobs=

# --- A job that hangs after a while -------------------------------------------

play missing 300 --hold
fleet_wants 'a hang is certain from digests' 2 'rank_missing, certain' \
	'rank 1 .* on n1' -- --diagnose --wait 50 --hosts='n[1-2]' \
	--digest=always
fleet_none_left 'after all'
