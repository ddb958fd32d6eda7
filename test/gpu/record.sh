#!/bin/bash
# A real NCCL job recorded and read again: two ranks that share one GPU
# (two_ranks.py), each recorded by itself, rank 1 with a clock that is ahead, as
# on another host. Skipped without a GPU or PyTorch.
#
# The recordings are left in $KEEP if that is a folder. It must not leave
# processes or shared memory behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/gpu/common.bash
need_pytorch
ahead=1000
job=
recorders=

# shellcheck disable=SC2317 # the trap calls it
at_end() {
	# shellcheck disable=SC2086 # a list of processes
	[ -z "$job$recorders" ] || kill $job $recorders 2>/dev/null
}
make_folder
use_plugin
kept=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-test.XXXXXX")
[ -d "${KEEP:-}" ] || KEEP=$kept
trap 'at_end; rm -rf "$folder" "$kept"' EXIT

# in_json EXPRESSION FILE: whether it holds of the JSON `d`.
in_json() {
	"$python" -c "
import json, sys
d = json.load(open('$2'))
sys.exit(0 if ($1) else 1)" && return 0
	head -c 4000 "$2" | sed 's/^/| /'
	return 1
}

unshare --time true 2>/dev/null || ahead=0
[ $ahead -gt 0 ] || echo "skipped: no right to another clock"
"$python" test/gpu/two_ranks.py --seconds 12 --p2p --clock-ahead $ahead \
	>"$folder/log" 2>&1 &
job=$!
for _ in $(seq 120); do
	[ "$("$build/ncclstat" --list 2>/dev/null | grep -c ncclstat.)" -ge 2 ] &&
		break
	sleep 0.5
done
mapfile -t pids < <(pgrep -P $job)
for rank in 0 1; do
	pid=${pids[rank]}
	nsenter -t "$pid" -T "$build/ncclstat" --pid "$pid" \
		--record "$KEEP/$rank.ncclstat" 2>"$KEEP/$rank.said" &
	recorders="$recorders $!"
done
wait "$job"
verdict the_job_ends_well $?
job=
sed 's/^/| /' "$folder/log"
for pid in $recorders; do
	timeout 10 tail --pid="$pid" -f /dev/null
	wait "$pid"
	verdict a_recorder_ends_with_its_rank $?
done
recorders=
sed 's/^/| /' "$KEEP"/?.said
! grep -qi 'lost [1-9]' "$KEEP"/?.said
verdict nothing_was_lost $?
