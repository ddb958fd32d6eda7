#!/bin/sh
# SPDX-License-Identifier: MIT
# --compare: what is known to differ between two jobs is told, with its size, and
# what does not differ is not.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# simulate NAME ARGUMENT...: computes a job of 8 ranks and 800 operations.
simulate() {
	mkdir "$tmp/$1"
	name=$1
	shift
	"$build/ncclsimulate" -h 1 -r 8 -n 800 "$@" "$tmp/$name" >/dev/null
	mv "$tmp/$name/host0.ncclstat" "$tmp/$name.ncs"
}
simulate even
simulate other -s 2
simulate late -s 3 -l 3:3000

# holds EXPRESSION: whether it holds of the JSON, d; f(NAME) are the differences of
# a figure.
holds() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
def f(name):
    return [one for one in d["differences"] if one["figure"] == name]
assert eval("(" + sys.argv[2] + ")"), d' "$tmp/out" "$1"
}

check 'two jobs that are alike' run 0 --compare=json "$tmp/even.ncs" \
	"$tmp/other.ncs"
check 'do not differ' holds 'not any(one["differs"] for one in d["differences"])'
check 'nothing was slow in them' \
	holds 'd["before"]["episodes"] == d["after"]["episodes"] == []'
# 8 ms of computing and the operation take 8.8 ms, with 3 ms more 11.8 ms or less,
# as the rank is not the last one each time.
check 'a job with a late rank' run 0 compare "$tmp/even.ncs" "$tmp/late.ncs"
check 'is slower, in words' \
	grep -q '^  operations of a rank, a second .* -> .* -[12][0-9]\.[0-9] % +- ' \
	"$tmp/out"
check 'its episode is told' \
	grep -q '^  slow for .*: rank 3 .*costs .*[0-9] % of the time' "$tmp/out"
run 0 --compare=json "$tmp/even.ncs" "$tmp/late.ncs"
check 'by as much as the late rank costs' holds \
	'abs(1 - f("operations_per_s")[0]["after"] / f("operations_per_s")[0]["before"]
	- d["after"]["episodes"][0]["cost_share"]) < 0.03'
check 'the rate is that of its length' holds \
	'abs(f("operations_per_s")[0]["before"] / (800e9 / d["before"]["length_ns"])
	- 1) < 0.02'

own_segments
rm -f "$tmp/said"
"$ncclstat" --record "$tmp/mix.ncs" --interval 0.5 2>"$tmp/said" &
recorder=$!
await grep -qs 'waiting for a job' "$tmp/said"
"$replay" test/captures/nvlink-v5-mix >"$tmp/played" 2>&1
wait "$recorder"
check 'a captured job with itself' run 0 --compare=json "$tmp/mix.ncs" \
	"$tmp/mix.ncs"
check 'is the same' holds \
	'not any(one["differs"] for one in d["differences"]) and
	all(one["before"] == one["after"] for one in d["differences"])'
check 'and has times of its operations' holds 'len(f("time_ns")) > 5'
run 0 --compare=json "$tmp/even.ncs" "$tmp/mix.ncs"
check 'operations that one of two has not' holds \
	'all((one["before"] == 0) != (one["after"] == 0) and one["differs"]
	for one in f("operations")) and len(f("operations")) > 5'

check 'one recording is not enough' run 64 --compare "$tmp/even.ncs"
check 'and three are too many' run 64 compare "$tmp/even.ncs" "$tmp/even.ncs" \
	"$tmp/even.ncs"
check 'a file that is none' run 1 --compare "$tmp/even.ncs" README.md
exit "$failed"
