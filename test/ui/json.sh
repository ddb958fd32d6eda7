#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON that is printed is what the installed JSON Schema says: of jobs that
# run, hang and are gone, of recordings of one host and of several, of nodes, of
# each view. The recipes of ncclstat-json(5) run on a job that hangs.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
ncclstat=$synthetic
own_segments
schema=$build/share/ncclstat.schema.json

python3 test/ui/json_schema.py "$schema" >"$tmp/out" 2>&1
status=$?
if [ $status -eq 77 ]; then
	cat "$tmp/out"
	exit 77
fi
check 'schema: is one' test $status -eq 0

# compare is|is-not DEFINITION: has $tmp/out compared with the schema's definition, at
# the end: Python starts once for all.
documents=0
compare() {
	documents=$((documents + 1))
	cp "$tmp/out" "$tmp/document$documents" &&
		echo "$1 $2 $tmp/document$documents schema: $what" >>"$tmp/list"
}

# prints STATUS DEFINITION ARGUMENT...: succeeds if ncclstat prints that and
# exits with this status.
prints() {
	wanted_status=$1 definition=$2
	shift 2
	run "$wanted_status" "$@" && compare is "$definition"
}

# listed CONDITION: whether a condition of jq holds for $tmp/out.
listed() {
	jq -e "$1" "$tmp/out" >/dev/null
}

# --- The schema tells right from wrong --------------------------------------

run 0 --synthetic 4x2 --dump=json
cp "$tmp/out" "$tmp/right"
for change in 'del(.ranks[0].pid)' '.ranks[0].more = 1' '.schema = 1' \
	'.ranks[1].rank = "1"' '.ranks[1].channels[0].states_ns.idle = "no"' \
	'.communicators[0].communicator.id = "x"' 'del(.verdict_line)'; do
	jq -c "$change" "$tmp/right" >"$tmp/out"
	what="refuses $change"
	compare is-not sample
done

# --- Jobs --------------------------------------------------------------------

check 'no job' prints 1 sample --dump=json
check 'no job: diagnosis' prints 3 diagnosis --diagnose=json
check 'no job: list' prints 1 list --list=json
check 'a synthetic job, thrice' prints 0 sample --synthetic 8x2 --dump=json \
	-n 3 -i 0.1
for view in ranks communicators channels proxy collectives timeline diagnose \
	ranges nodes functions sizes; do
	check "a synthetic job, --view=$view" prints 0 sample --synthetic 4x2 \
		--dump=json --view=$view
done
check 'a synthetic job: diagnosis' prints 1 diagnosis --synthetic 4x2 \
	--diagnose=json -n 40 -i 0.1

mkdir "$tmp/calls"
python3 test/ui/faulty_job.py missing 4 "$tmp/calls"
"$replay" --hold "$tmp/calls" >"$tmp/replay" 2>&1 &
job=$!
is_stuck() {
	run 2 --diagnose=json
}
check 'a job that hangs is stuck after a while' await is_stuck
check 'a job that hangs: diagnosis' compare is diagnosis
check 'a job that hangs' prints 0 sample --dump=json
echo garbage >"$NCCLSTAT_DIR/ncclstat.1.1.0"
check 'a segment that cannot be read' prints 0 sample --dump=json
check 'a segment that cannot be read: list' prints 0 list --list=json
check 'it is told with its reason' listed '
	(.segments | length) == 5 and ([.segments[] | .reason // empty] | length) == 1
	and ([.segments[] | select(.reason == null) | .rank] | sort) == [0, 1, 2, 3]
	and (.files + .ranks) == []'
check 'a segment that cannot be read: diagnosis' prints 2 diagnosis \
	--diagnose=json
rm "$NCCLSTAT_DIR/ncclstat.1.1.0"
# An answer does not wait for nodes that nobody named and that come late.
check 'nodes' await prints 0 sample --dump=json --from \
	"$ncclstat --dir=$NCCLSTAT_DIR --stream=lines"
check 'nodes: list' await prints 0 list --list=json --from \
	"$ncclstat --dir=$NCCLSTAT_DIR --stream=lines"
check 'nodes: diagnosis' await prints 2 diagnosis --diagnose=json --from \
	"$ncclstat --dir=$NCCLSTAT_DIR --stream=lines"

# --- Recipes -------------------------------------------------------------------

"$ncclstat" --record="$tmp/stuck.ncs" --duration=1 2>"$tmp/err"
record_capture job net-v5-ddp8
(cd "$build" && pwd) >"$tmp/path"
PATH=$(cat "$tmp/path"):$PATH
python3 test/ui/page_commands.py "$build/man/ncclstat-json.5" RECIPES \
	>"$tmp/recipes"
check 'there are five recipes' test "$(wc -l <"$tmp/recipes")" -eq 5
# recipe N PATTERN: the command prints something like this.
recipe() {
	sed -n "$1p" "$tmp/recipes" >"$tmp/recipe"
	(cd "$tmp" && sh ./recipe) >"$tmp/out" 2>"$tmp/err" &&
		[ ! -s "$tmp/err" ] && grep -q "$2" "$tmp/out" && return
	cat "$tmp/recipe" "$tmp/out" "$tmp/err"
	return 1
}
check 'recipe: ranks behind' recipe 1 '^\["faulty","AllReduce",1,1\]$'
check 'recipe: bandwidth' recipe 2 '	AllReduce	[0-9.]*$'
check 'recipe: waits' recipe 3 '^{"rank":0,"wait_s":{.*"recv_wait":[0-9.]*[,}]'
check 'recipe: blame' recipe 4 '^rank_missing	.*	rank 1 .* has not called'
check 'recipe: longest waits' recipe 5 \
	'^\[[0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*\]$'

# The ranks first: if their parent died first, they would exit in good order.
# shellcheck disable=SC2046 # a list of words
kill -s KILL $(pgrep -P "$job") "$job"
wait "$job" 2>/dev/null
job=
check 'a job that was killed' prints 0 sample --dump=json

# --- Recordings ----------------------------------------------------------------

check 'a recording: list' prints 0 list --list=json "$tmp/stuck.ncs"
check 'a list of a recording has its file and its ranks' listed '
	.segments == [] and (.files | length) == 1 and .files[0].cut == false
	and .files[0].records == ([.ranks[].records] | add)
	and ([.ranks[].rank] | sort) == [0, 1, 2, 3]
	and all(.ranks[]; .from_ns <= .until_ns)'
check 'a recording' prints 0 sample --dump=json "$tmp/stuck.ncs"
check 'a recording: diagnosis' prints 2 diagnosis --diagnose=json \
	"$tmp/stuck.ncs"
check 'a recording: lines of JSON' prints 0 record --export=ndjson \
	"$tmp/job.ncs"
mkdir "$tmp/hosts"
"$build/ncclsimulate" -l 3:400 "$tmp/hosts" >/dev/null
check 'recordings of several hosts' prints 0 sample --dump=json -i 0.5 \
	"$tmp"/hosts/*
check 'recordings of several hosts: diagnosis' prints 0 diagnosis \
	--diagnose=json "$tmp"/hosts/*
check 'recordings of several hosts: critical path' prints 0 critical_path \
	--critical-path=json --what-if=without:3 --what-if=net:x2 \
	"$tmp"/hosts/*
check 'two recordings' prints 0 comparison --compare=json \
	"$tmp/hosts/host0.ncclstat" "$tmp/hosts/host1.ncclstat"

# --- The documents -------------------------------------------------------------

python3 test/ui/json_schema.py "$schema" --each "$tmp/list" || failed=1
exit "$failed"
