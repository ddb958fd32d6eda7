#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings of several hosts: what --list and --dump tell of their clocks is what
# is true of the simulated hosts that they were made of.
#
# Prints "ok ..." or "not ok ..." for each thing that it looks at.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# simulate OPTION...: writes recordings and what is true of them.
simulate() {
	rm -f "$tmp"/*.ncclstat
	"$build/ncclsimulate" "$@" "$tmp" >"$tmp/truth"
}

# clocks CONDITION: whether it holds for each host but the first: its number h,
# what is told (moved_s, drift_ppm, error_ns) and what is true (true_s,
# true_ppm), for a recording of `seconds`.
clocks() {
	"$build/ncclstat" --list "$tmp"/*.ncclstat >"$tmp/list" || return
	python3 - "$tmp/truth" "$tmp/list" "$1" <<'END'
import re, sys
truth, told = open(sys.argv[1]).read(), open(sys.argv[2]).read()
true = re.findall(r"moved by (\S+) s, drift (\S+) ppm", truth)
seconds = float(re.search(r"^([0-9.]+) s,", truth, re.M).group(1))
units = {"ns": 1, "us": 1e3, "ms": 1e6}
found = re.findall(r"^clock of host(\d+): (\S+) s moved, drift (\S+) ppm,"
                   r" error ([0-9.]+)(ns|us|ms) at most", told, re.M)
assert len(found) == len(true) - 1, told
for host, moved, drift, error, unit in found:
    h = int(host)
    names = {"moved_s": float(moved), "drift_ppm": float(drift),
             "error_ns": 1.01 * float(error) * units[unit] + 1,
             "true_s": float(true[h][0]), "true_ppm": float(true[h][1]),
             "seconds": seconds}
    assert eval("(" + sys.argv[3] + ")", names), (h, told, truth)
END
}

# json EXPRESSION: whether it holds for the sample d of a dump.
json() {
	"$build/ncclstat" --dump=json "$tmp"/*.ncclstat >"$tmp/json" || return
	python3 -c '
import json, sys
d = json.loads(open(sys.argv[1]).readline())
clocks = d["recording"]["clocks"]
lateness = {r["rank"]: r["lateness"]["recent"] for r in d["ranks"]}
assert eval("(" + sys.argv[2] + ")"), json.dumps(d["recording"])' "$tmp/json" "$1"
}

simulate -s 7 -n 150 -l 5:2000
check "--list tells offsets within the error that it tells" \
	clocks 'abs(moved_s - true_s) * 1e9 <= error_ns'
check "--list tells drifts that leave it within the error" \
	clocks 'abs(drift_ppm - true_ppm) * 1e3 * seconds <= 2 * error_ns'
check "errors are a few microseconds" clocks 'error_ns < 20000'
check "--dump=json tells of each clock" json '
	[c["host"] for c in clocks] == ["host%d" % i for i in range(4)] and
	[c["by"] for c in clocks] == ["reference"] + 3 * ["traffic"] and
	all(c["contradicted"] == 0 and not c["uneven"] for c in clocks)'
check "the rank that is late is found among those of all hosts" json '
	[r for r in lateness if lateness[r]["last"] > 60] == [5] and
	0 < lateness[5]["error_ns"] < 40000'

simulate -s 8 -h 2 -n 60 -w 0 -d 0
check "--diagnose looks at recordings of several hosts" \
	"$build/ncclstat" --diagnose "$tmp"/host0.ncclstat "$tmp"/host1.ncclstat
check "one file has no clock to be moved" sh -c \
	"! '$build/ncclstat' --list '$tmp/host0.ncclstat' | grep -q '^clock'"
