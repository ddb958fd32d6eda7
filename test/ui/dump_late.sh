#!/bin/sh
# SPDX-License-Identifier: MIT
# A dump of a captured job whose rank 1 calls late: it is late, and its host is why.
# The replay must be in time, so that operations are compared: it runs alone.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments

# lateness EXPRESSION: whether it holds for `late`, the lateness of both ranks.
lateness() {
	run 0 --dump=json && python3 -c '
import json, sys
late = [r["lateness"] or {} for r in json.load(open(sys.argv[1]))["ranks"]]
assert eval("(" + sys.argv[2] + ")"), late' "$tmp/out" "$1"
}

# Rank 1 comes 6 s late to the last of four AllReduces; the replay is twice as
# fast. More than half of the delay must remain even if the replay lags.
"$replay" --speed 2 --hold test/captures/net-v5-hang 2>"$tmp/replay" &
job=$!
check 'all operations of both ranks are compared' await lateness \
	'[rank.get("operations_compared") for rank in late] == [4, 4]'
check 'rank 1 is late because the application called late' lateness \
	'late[1]["recent"]["p99_ns"] > 1.5e9 and
		late[1]["recent"]["causes_ns"]["host"] > 1.5e9 and
		late[0]["recent"]["p99_ns"] < 1.5e9'
exit "$failed"
