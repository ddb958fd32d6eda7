#!/bin/sh
# SPDX-License-Identifier: MIT
# One state, told by several ways: the table and the sentences of a dump, its
# JSON, the diagnosis and the exported lines have the same figures.
# shellcheck source=test/ui/checks
. "$(dirname "$0")/checks"

if [ ! -x "$build/ncclsimulate" ]; then
	echo "ncclsimulate has not been built"
	exit 77
fi

cat >"$tmp/compare.py" <<'END'
import json
import re
import sys

folder = sys.argv[1]
dump = json.load(open(folder + "/dump.json"))
said = json.load(open(folder + "/diagnose.json"))
text = open(folder + "/dump.txt").read()
sums = {}
for line in open(folder + "/lines"):
    record = json.loads(line)
    if record.get("event") == "coll":
        sums[record["rank"]] = sums.get(record["rank"], 0) + 1


def near(shown, value):
    """A figure is shown with three digits."""
    assert abs(shown - value) <= 0.01 * abs(value) + 0.05, (shown, value)


def nanoseconds(shown):
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)\S*", shown).groups()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


lines = text.splitlines()
first = next(i for i, line in enumerate(lines) if line.startswith("RANK "))
names = lines[first].split()
rows = {}
for line in lines[first + 1:]:
    if not line.strip():
        break
    rows[int(line.split()[0])] = dict(zip(names, line.split()))
assert len(rows) == len(dump["ranks"]) == 4
for rank in dump["ranks"]:
    row, recent = rows[rank["rank"]], rank["lateness"]["recent"]
    near(nanoseconds(row["LATE"]), recent["median_ns"])
    near(nanoseconds(row["LATE99"]), recent["p99_ns"])
    near(float(row["%LAST"]), 100 * recent["last"] / recent["ops"])
    near(float(row["%COST"]), 100 * rank["lateness"]["cost"])
    if recent["exclusive_ns"] is not None:
        near(nanoseconds(row["ALONE"]), recent["exclusive_ns"])
    reduce = next(f for f in rank["functions"] if f["func"] == "AllReduce")
    assert sums[rank["rank"]] == reduce["ops"] == 300

finding = said["findings"][0]
late = next(r for r in dump["ranks"] if r["rank"] == finding["root"]["rank"])
recent = late["lateness"]["recent"]
assert finding["share"] == late["lateness"]["cost"]
cause = max(recent["cause_ns"], key=recent["cause_ns"].get)
assert finding["cause"] == rows[2]["LATEBY"] == cause == "host"
assert said["verdict"] in text
sentence = next(line for line in lines if line.startswith("late: rank 2 "))
share = float(re.search(r"costs ([0-9.]+) %", sentence).group(1))
near(share, 100 * finding["share"])
near(nanoseconds(re.search(r", (\S+) after", sentence).group(1)),
     recent["exclusive_ns"])
END

all_agree() {
	"$build/ncclsimulate" -h 1 -r 4 -l 2:3000 "$tmp" &&
		"$ncclstat" --dump "$tmp/host0.ncclstat" >"$tmp/dump.txt" &&
		"$ncclstat" --dump=json "$tmp/host0.ncclstat" \
			>"$tmp/dump.json" &&
		"$ncclstat" --export=ndjson "$tmp/host0.ncclstat" \
			>"$tmp/lines" || return 1
	# It finds a late rank.
	run 1 --diagnose=json "$tmp/host0.ncclstat" &&
		cp "$tmp/out" "$tmp/diagnose.json" &&
		python3 "$tmp/compare.py" "$tmp"
}

check 'figures of a late rank are the same everywhere' all_agree
exit "$failed"
