#!/bin/sh
# SPDX-License-Identifier: MIT
# Clocks in recordings of several hosts: --list and --dump report those of the
# simulated hosts.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# simulate OPTION...: writes recordings and the true clocks.
simulate() {
	rm -f "$tmp"/*.ncclstat
	"$build/ncclsimulate" "$@" "$tmp" >"$tmp/truth"
}

# clocks CONDITION: succeeds if the condition holds for each host but the first.
# It can use the host's number h, the reported moved_s, drift_ppm and error_ns,
# the true true_s and true_ppm, and the `seconds` of the recording.
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

# json EXPRESSION: succeeds if the expression holds for the sample d of a dump.
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
check "--list reports offsets within the error that it reports" \
	clocks 'abs(moved_s - true_s) * 1e9 <= error_ns'
check "--list reports drifts that keep offsets within the error" \
	clocks 'abs(drift_ppm - true_ppm) * 1e3 * seconds <= 2 * error_ns'
check "errors are a few microseconds" clocks 'error_ns < 20000'
check "--dump=json has each clock" json '
	[c["host"] for c in clocks] == ["host%d" % i for i in range(4)] and
	[c["by"] for c in clocks] == ["reference"] + 3 * ["traffic"] and
	all(c["contradicted"] == 0 and not c["uneven"] for c in clocks)'
# The clock of each GPU is read once, up to 1.7 s away, and drifts until then.
check "the late rank is found among the ranks of all hosts" json '
	[r for r in lateness if lateness[r]["last"] > 60] == [5] and
	0 < lateness[5]["error_ns"] < 400000'

simulate -s 8 -h 2 -n 60 -w 0 -d 0
check "--diagnose reads recordings of several hosts" \
	"$build/ncclstat" --diagnose "$tmp"/host0.ncclstat "$tmp"/host1.ncclstat
check "the clock of a single file is not moved" sh -c \
	"! '$build/ncclstat' --list '$tmp/host0.ncclstat' | grep -q '^clock'"
