#!/bin/sh
# SPDX-License-Identifier: MIT
# The options of ncclsimulate: it prints its help, and refuses what it cannot
# simulate.
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

exit "$failed"
