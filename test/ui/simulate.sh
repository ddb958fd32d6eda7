#!/bin/sh
# SPDX-License-Identifier: MIT
# The options of ncclsimulate: it prints its help, refuses what it cannot
# simulate, and writes streams that ncclstat follows.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# simulate STATUS ARGUMENT...: succeeds if ncclsimulate exits with this status.
simulate() {
	wanted=$1
	shift
	status=0
	"$build/ncclsimulate" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq "$wanted" ] && return
	echo "ncclsimulate $*: status $status"
	return 1
}

says_usage() {
	simulate "$1" "$2" "$tmp/job" && grep -q '^usage:' "$tmp/$3"
}

check "--help prints the usage" says_usage 0 --help out
check "an unknown long option is refused" says_usage 2 --nothing err
check "an unknown letter is refused" says_usage 2 -Z err
for option in -r0 -c0 -h0 -n-1 -bmany -tnan -l3 -l3: -lx:4 -r1e12; do
	check "$option is refused" says_usage 2 "$option" err
done
check "a rank that is late is simulated" simulate 0 -n3 -l3:4000 "$tmp"
for option in -S0 -Smany -g-1 -mx; do
	check "$option is refused" says_usage 2 "$option" err
done
check "streams of too many hosts are refused" simulate 2 -S1 -h20000 "$tmp"

# Each node has ranks of its own, of the large communicator and of a smaller one.
nodes_differ() {
	mkdir "$tmp/nodes"
	simulate 0 -S3 -h3 -r2 -g2 "$tmp/nodes" || return
	"$build/ncclstat" --follow "$tmp"/nodes/*.ncclstat --list \
		>"$tmp/list" 2>/dev/null
	cat "$tmp/list"
	[ "$(grep -c ' world ' "$tmp/list")" -eq 6 ] &&
		[ "$(grep -c ' group ' "$tmp/list")" -eq 6 ] &&
		grep -q '^ *4001 *5 *world .* node0002:' "$tmp/list" &&
		grep -q '^ *4001 *1 *group .* node0002:' "$tmp/list"
}

# A rank that makes no more calls is named, by its node.
missing_rank_is_named() {
	"$build/ncclsimulate" -S30 -h3 -r4 -m9 - 2>/dev/null |
		"$build/ncclstat" --follow - --diagnose --wait=25 >"$tmp/said" 2>&1
	cat "$tmp/said"
	grep -q '^stuck: rank 9 of world has not called .*; 11 ranks wait' \
		"$tmp/said" &&
		grep -q 'verdict: rank_missing, certain' "$tmp/said" &&
		grep -q 'where: rank 9 of world: pid 4001 on node0002' \
			"$tmp/said"
}
# Only times of kernels tell when operations began, by a GPU's clock that drifts. A jump
# into the job judges them as looks that followed it do: a rank costs 23 % of the time,
# 3 ms more than 8.8.
jump_tells_cost() {
	mkdir "$tmp/long"
	simulate 0 -h1 -r8 -n27000 -l3:3000 "$tmp/long" || return
	"$build/ncclstat" --dump=json --at=300 "$tmp"/long/* >"$tmp/json" || return
	rm -r "$tmp/long"
	python3 -c 'import json, sys
for rank in json.load(open(sys.argv[1]))["ranks"]:
    if rank["rank"] == 3:
        late = rank["lateness"]
        print(late)
        sys.exit(late["operations_compared"] < 500 or
                 late["cost_share"] is None or
                 not 0.2 < late["cost_share"] < 0.27)
sys.exit("rank 3 is missing")' "$tmp/json"
}

# Nothing tells how far the clocks of NVLink's hosts are apart: a rank that costs 23 %
# is not found, and not said to cost anything else. With the first seed, another reason is
# told for which a cost is not known.
far_clocks_tell_no_cost() {
	mkdir "$tmp/far"
	simulate 0 -s2 -n600 -u -l1:3000 "$tmp/far" || return
	"$build/ncclstat" --diagnose "$tmp"/far/* >"$tmp/said" || return
	cat "$tmp/said"
	grep -q '^not checked: .* of 8 of 8 ranks costs is not known: the clocks' \
		"$tmp/said" || return
	"$build/ncclstat" --dump=json "$tmp"/far/* >"$tmp/json" || return
	rm -r "$tmp/far"
	jq -e '[.ranks[].lateness | .cost_share == null and
		.cost_unknown == "clocks"] | all' "$tmp/json"
}

# Traffic over sockets puts the clocks within milliseconds only, in whose middle they
# nearly are: a rank costs 20 %.
traffic_tells_cost() {
	mkdir "$tmp/sockets"
	simulate 0 -n600 -k1000000 -l1:3000 "$tmp/sockets" || return
	"$build/ncclstat" --dump=json "$tmp"/sockets/* >"$tmp/json" || return
	rm -r "$tmp/sockets"
	jq -e '.ranks[1].lateness.cost_share | . > 0.16 and . < 0.24' "$tmp/json"
}
check "a jump into a job tells the cost of a rank" jump_tells_cost
check "no cost is told if clocks are far apart" far_clocks_tell_no_cost
check "traffic over sockets tells enough of clocks for a cost" traffic_tells_cost
check "streams show nodes that differ" nodes_differ
check "a rank that is missing in streams is named" missing_rank_is_named

exit "$failed"
