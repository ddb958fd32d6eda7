#!/bin/sh
# SPDX-License-Identifier: MIT
# Recording many nodes: the options of a recording hold for what is kept of each
# node, files are whole, and those of two runs are told apart.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter fleet-record
fleet_needs_names
fleet_needs jq
fleet_nodes n1 n2 n3
fleet_ssh
# It notes its arguments, too.
sed -i "2i echo \"\$@\" >>\"$tmp/ssh.log\"" "$tmp/bin/ssh"
fleet_hang n1 n2

# passes NAME COMMAND...: passes if the command succeeds.
passes() {
	name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/  /' "$tmp/log" | cut -c 1-300 | head -n 30
	fi
}

# list FILTER FILE...: whether jq finds this true of the list of recordings.
list() {
	filter=$1
	shift
	"$fleet_ncclstat" --list=json "$@" >"$tmp/list.json" || return
	jq -e "$filter" "$tmp/list.json" || {
		cat "$tmp/list.json"
		false
	}
}

# Meanwhile: a look that can be read by itself comes every 10 s.
"$fleet_ncclstat" --record="$tmp/rotated/" --rotate=1s,keep=1 \
	--hosts='n[1-2]' 2>"$tmp/rotated.err" </dev/null &
rotating=$!

# --- What is kept ----------------------------------------------------------------

run="$tmp/run"
fleet_wants 'nodes are recorded for a while' 0 'of 2 nodes; .*/run.NODE$' -- \
	--record="$run" --duration=3 --hosts='n[1-2]'
passes 'then each file is whole' list 'all(.files[]; .cut == false)' "$run".n?
passes 'and all have the id of the run' list \
	'(.files | length) == 2 and (.files[0].run | length) == 16 and
	.files[0].run == .files[1].run' "$run".n?
fleet_wants 'they show the job' 2 'rank_missing, certain' -- \
	--diagnose "$run".n1 "$run".n2
fleet_wants 'a node that is not seen at the end is named' 0 'of 2 nodes' \
	'^ncclstat: n3: no_job' -- --record="$tmp/three" --duration=3 \
	--hosts='n[1-2],n3' --exclude=n2
passes 'no process is chosen unasked' sh -c \
	'! grep -e --job -e --pid "$1"' - "$tmp/ssh.log"

# --- Options ---------------------------------------------------------------------

fleet_wants 'a job that is not there is none' 1 'without a rank' -- \
	--record="$tmp/none" --duration=2 --interval=0.5 --job="it's *" \
	--pid=7 --hosts='n[1-2]'
passes 'the nodes are told which job and how often' grep -qF -- \
	"--interval=0.500 --heartbeat=30 --pid=7 '--job=it'\\''s *'" \
	"$tmp/ssh.log"
fleet_wants 'the level of compression can be chosen' 0 'of 1 node' -- \
	--record="$tmp/packed" --duration=3 --compress=19 --hosts=n1
for option in --interval=1 --compress --job=x --pid=1; do
	fleet_wants "$option is for the command of --from" 64 \
		'put them into the commands' -- --record="$tmp/none" \
		"$option" --from=true
done
fleet_wants 'there is no one output for all nodes' 64 'FILE.NODE' -- \
	--record=- --hosts=n1

# --- Two runs --------------------------------------------------------------------

# The second run does not see n2, whose file is of the first.
fleet_wants 'the same files are written again' 0 'of 1 node;' -- \
	--record="$run" --duration=3 --hosts=n1
fleet_wants 'two runs are said' 2 'recordings are of 2 runs' \
	'rank 1 of world, not on this node' '1 of its 2 ranks' \
	-- --diagnose "$run".n1 "$run".n2
passes 'each of them has an id' list '.files[0].run != .files[1].run' "$run".n?
fleet_wants 'the earlier one is shown at its time' 0 '^ *1  world' -- \
	--dump --view ranks --at 0 "$run".n1 "$run".n2

# --- Rotation --------------------------------------------------------------------

# goes_on NODE: whether its recording goes on in another file.
goes_on() {
	set -- "$tmp/rotated/$1".*
	[ -e "$1" ]
}
passes 'a recording of n1 goes on in another file' await goes_on n1
passes 'so does that of n2' await goes_on n2
kill "$rotating"
wait "$rotating"
passes 'there are more files of each node' \
	grep -q 'of 2 nodes; .*/rotated/NODE and [0-9]* more files' "$tmp/rotated.err"
passes 'in the folder, one of each, and whole' list \
	'(.files | length) == 2 and
	all(.files[]; .cut == false and .number > 0 and
		"\(.number)" == (.path | sub(".*/n[12]\\."; "")))' "$tmp/rotated"
fleet_wants 'a folder of them shows all ranks' 0 '^ *0  world' '^ *1  world' \
	-- --dump --view ranks "$tmp/rotated"
fleet_none_left 'at the end'
