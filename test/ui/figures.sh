#!/bin/sh
# SPDX-License-Identifier: MIT
# One state, told by several ways: the screen, the tables and sentences of a
# dump, its JSON, the diagnosis, the exported lines and the exported table have
# the same figures.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclsimulate" ] || [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclsimulate, ncclreplay or the plugin has not been built"
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


def same_time(shown, value):
    """A time within its error is shown by its bound, as <107us."""
    if shown.startswith("<"):
        assert value <= 1.01 * nanoseconds(shown[1:]), (shown, value)
    else:
        near(nanoseconds(shown), value)


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
    same_time(row["LATE"], recent["median_ns"])
    same_time(row["LATE99"], recent["p99_ns"])
    near(float(row["%LAST"]), 100 * recent["last"] / recent["operations"])
    near(float(row["%COST"].lstrip("<>~")), 100 * rank["lateness"]["cost_share"])
    if recent["exclusive_ns"] is not None:
        same_time(row["ALONE"], recent["exclusive_ns"])
    reduce = next(f for f in rank["functions"] if f["function"] == "AllReduce")
    assert sums[rank["rank"]] == reduce["operations"] == 300

finding = said["findings"][0]
late = next(r for r in dump["ranks"] if r["rank"] == finding["root"]["rank"])
recent = late["lateness"]["recent"]
assert finding["cost_share"] == late["lateness"]["cost_share"]
cause = max(recent["causes_ns"], key=recent["causes_ns"].get)
assert finding["cause"] == rows[2]["LATEBY"] == cause == "host"
assert said["verdict_line"] in text
sentence = next(line for line in lines if line.startswith("late: rank 2 "))
share = float(re.search(r"costs (?:at most |at least |about )?([0-9.]+) %",
                        sentence).group(1))
near(share, 100 * finding["cost_share"])
near(nanoseconds(re.search(r", (\S+) after", sentence).group(1)),
     recent["exclusive_ns"])
END

# --- A late rank -----------------------------------------------------------

all_agree() {
	"$build/ncclsimulate" -s 2 -h 1 -r 4 -l 2:3000 "$tmp" &&
		COLUMNS=999 "$ncclstat" --dump "$tmp/host0.ncclstat" >"$tmp/dump.txt" &&
		"$ncclstat" --dump=json "$tmp/host0.ncclstat" \
			>"$tmp/dump.json" &&
		"$ncclstat" --export=ndjson "$tmp/host0.ncclstat" \
			>"$tmp/lines" || return 1
	# It finds a late rank.
	"$ncclstat" --diagnose=json "$tmp/host0.ncclstat" \
		>"$tmp/diagnose.json"
	[ $? -eq 1 ] && python3 "$tmp/compare.py" "$tmp"
}

all_agree >"$tmp/log"
verdict 'figures of a late rank are the same everywhere' $?

# --- A job that hangs ------------------------------------------------------

# Its ranks have channels, classes and bandwidths, and wait in an operation that
# never ends; so slowly that the recorder sees them wait.
recording=$tmp/job.ncs
"$ncclstat" --record "$recording" --interval 0.1 2>"$tmp/recorder" &
recorder=$!
soon grep -qs 'waiting for a job' "$tmp/recorder"
"$build/ncclreplay" --speed 0.15 test/captures/nccl2.27.7-v4-mix-killed \
	>"$tmp/log" 2>&1
wait "$recorder"
verdict 'a job is recorded' $?

# Shortly before its end, when all its ranks are still there.
set -- --until=-0.1 "$recording"
COLUMNS=999 "$ncclstat" --dump "$@" >"$tmp/dump.txt" &&
	"$ncclstat" --dump=json "$@" >"$tmp/dump.json" &&
	"$ncclstat" --export=csv "$@" >"$tmp/table.csv"
verdict 'it is dumped and exported' $?

for view in ranks communicators channels collectives classes; do
	open 300x60 "exec $ncclstat --replay --at=-0.1 $*"
	sees ' PAUSED ' && sees ' ranks 2/2 ' && case $view in
	ranks) view ranks && sees 'RANK COMM .* OLDEST ' ;;
	communicators) view communicators && sees 'COMM .* SKEW ' ;;
	channels) view channels && sees 'RANK COMM .* PEER ' ;;
	collectives) view collectives && sees 'COMM .* MOVE .* BUSGB/s ' ;;
	classes) view collectives && press x && sees ' ALGO .* BUSGB/s ' ;;
	esac && screen >"$tmp/screen.$view"
	verdict "its $view are on the screen" $?
done

cat >"$tmp/compare.py" <<'END'
import csv
import json
import sys

folder = sys.argv[1]
dump = json.load(open(folder + "/dump.json"))
table = list(csv.DictReader(open(folder + "/table.csv")))
text = open(folder + "/dump.txt").read()


def rows_of(lines, first):
    """The rows below a line of titles, by title."""
    titles, rows = lines[first].split(), []
    for line in lines[first + 1:]:
        if len(line.split()) != len(titles):
            break
        rows.append(dict(zip(titles, line.split())))
    return rows


def tables(text):
    """The tables of a dump, by their titles."""
    lines = text.splitlines()
    return [rows_of(lines, i) for i, line in enumerate(lines)
            if line.startswith(("RANK ", "COMM ")) and i + 1 < len(lines)]


def on_screen(view):
    # Marks of a row, in three columns, are no cells.
    lines = [line[3:] for line in open(f"{folder}/screen.{view}")]
    first = next(i for i, line in enumerate(lines)
                 if line.startswith(("RANK ", "COMM ")))
    # A dump has no bars, and bars may have blanks in them.
    bars = lines[first].find("HISTORY")
    if bars >= 0:
        lines = lines[:first + 1] + [
            line[:bars] + "-".ljust(9) + line[bars + 9:]
            for line in lines[first + 1:]]
    rows = rows_of(lines, first)
    # The screen has the worst first, a dump has the ranks in their order.
    if view == "ranks":
        rows.sort(key=lambda row: int(row["RANK"]))
    return rows


compared = 0
dumped = tables(text)
for view, keys in (("ranks", ["NCCL", "OLDEST"]),
                   ("communicators", ["SKEW", "OLDEST"]),
                   ("channels", ["CH", "SINCE"]),
                   ("collectives", ["RANKS", "BUSGB/s"]),
                   ("classes", ["ALGO", "BUSGB/s"])):
    printed = next(rows for rows in dumped
                   if rows and all(key in rows[0] for key in keys))
    shown = on_screen(view)
    assert len(shown) == len(printed) > 0, (view, shown, printed)
    assert any(row[keys[1]] != "-" for row in shown), view
    for on, off in zip(shown, printed):
        for title in on:
            # A narrow column leaves out the error of a time, as the manual
            # says.
            assert on[title] == off[title].split("+-")[0] or \
                on[title] == off[title], (view, title, on, off)
            compared += 1
assert compared > 400, compared


def near(shown, value, digits):
    assert abs(shown - value) <= abs(value) * 10 ** -digits, (shown, value)


def nanoseconds(shown):
    for unit, factor in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if shown.endswith(unit):
            return float(shown[:-len(unit)]) * factor
    raise ValueError(shown)


# Both of a communicator's ranks, and it itself, wait in one operation.
ranks = on_screen("ranks")
assert on_screen("communicators")[0]["OLDEST"] == \
    max((row["OLDEST"] for row in ranks), key=nanoseconds)
# JSON and the table of CSV have no order of ranks.
dump["ranks"].sort(key=lambda rank: rank["rank"])
for row, rank in zip(ranks, dump["ranks"]):
    near(nanoseconds(row["OLDEST"]), rank["oldest_wait_ns"], 2)
world = dump["communicators"][0]
assert world["oldest_wait_ns"] == max(rank["oldest_wait_ns"] for rank in dump["ranks"])
assert world["oldest_wait_since_ns"] in [
    c["since_ns"] for r in dump["ranks"] for c in r["channels"]]

# The table has what JSON has.
classes = [(rank, one) for rank in dump["ranks"] for one in rank["classes"]]
table.sort(key=lambda row: int(row["rank"]))
assert len(classes) == len(table) > 20
known = 0
for (rank, one), row in zip(classes, table):
    assert (row["rank"], row["pid"]) == (str(rank["rank"]), str(rank["pid"]))
    assert row["function"] == one["function"]
    assert int(row["size_bytes"]) == one["size_bytes"]
    assert int(row["operations"]) == one["operations"]
    assert int(row["timed"]) == one["timed"]
    assert (row["timing"] or "none") == one["timing"]
    for key in "p50", "p99", "max":
        if row[f"time_{key}_us"]:
            near(float(row[f"time_{key}_us"]), one["time_ns"][key] / 1e3, 3)
    if row["time_avg_us"]:
        near(float(row["time_avg_us"]),
             one["time_ns"]["sum"] / one["timed"] / 1e3, 3)
        near(float(row["average_bytes"]), one["bytes"] / one["timed"], 6)
    for key in "algbw_gbs", "busbw_gbs":
        assert (row[key] == "") == (one[key] is None), (row, one)
        if row[key]:
            near(float(row[key]), one[key], 5)
            known += 1
assert known >= 16, known
END

python3 "$tmp/compare.py" "$tmp" >"$tmp/log" 2>&1
status=$?
cat "$tmp/log"
verdict 'screen, text, JSON and table have the same figures' $status
finish
