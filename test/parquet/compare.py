# SPDX-License-Identifier: MIT
"""Compares the tables of --export=parquet with what else ncclstat says of the
same recordings.

    compare.py FOLDER LINES [STATE]

FOLDER has the tables, LINES is the export as ndjson, and STATE the dump as json.
Every row is compared. Prints "ok ..." or "not ok ..." for each check. Shares no
code with the program.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
import json_lines
import reader
from json_lines import check, once, rank_of

TABLES = ("operations", "steps", "launches", "states")
COLUMNS = re.compile(
    r'X\((\w+), \w+, "(\w+)", (\w+), *"(\w+)", *"(\w+)", *"((?:[^"]|\\")*)')


def wanted_columns():
    """The table of columns, as the preprocessor gives it."""
    text = "".join(f"@ NCS_PARQUET_{name.upper()}_COLUMNS(X)\n"
                   for name in TABLES)
    text = subprocess.run(
        ["cc", "-E", "-P", "-xc", "-Iinclude", "-"], check=True, text=True,
        input='#include "ncclstat/tables/parquet.def"\n' + text,
        capture_output=True).stdout
    text = re.sub(r'"\s+"', "", text)
    columns = {name: [] for name in TABLES}
    for table, name, _, unit, source, help_ in COLUMNS.findall(text):
        columns[table.lower()].append(
            (name, f"{unit}; {source}; {help_}"))
    return columns


def rows(table, names):
    return collections.Counter(zip(*(table.columns[name] for name in names)))


def difference(found, wanted):
    """What only one of two collections of rows has."""
    return list((found - wanted).items())[:3], list((wanted - found).items())[:3]


def check_records(what, table, lines):
    """Compares all columns that lines of JSON have, too."""
    keys = set().union(*lines) if lines else set(table.names)
    names = [name for name in table.names if name in keys]
    wanted = collections.Counter(
        tuple(line.get(name) for name in names) for line in lines)
    check(f"{what} are those of the lines of JSON, in {len(names)} columns",
          difference(rows(table, names), wanted), ([], []))


def check_launches(table, operations, kernels):
    """Computes from lines of JSON what was launched."""
    wanted = collections.Counter()
    spans = collections.defaultdict(list)
    for line in kernels:
        spans[rank_of(line), line["operation"]].append(line)
    groups = collections.defaultdict(list)
    for line in operations:
        kernel = spans.get((rank_of(line), line["operation"]))
        if line["on_stream"]:
            begin = line["start_ns"] + (line["first_child_ns"] or 0)
            groups[rank_of(line), begin,
                   line["start_ns"] + line["duration_ns"]].append(line)
        elif kernel and line["operation"] is not None:
            by_gpu = all(one["gpu_clock_ns"] and one["gpu_duration_ns"]
                         for one in kernel)
            start = min(one["gpu_start_ns"] or one["start_ns"]
                        for one in kernel)
            if by_gpu:
                duration = (max(one["gpu_clock_ns"] + one["gpu_duration_ns"]
                                for one in kernel) -
                            min(one["gpu_clock_ns"] for one in kernel))
            else:
                duration = max(one["start_ns"] + one["duration_ns"]
                               for one in kernel) - start
            wanted[rank_of(line) + (start, duration, "kernel", 1,
                                    line["bytes"])] += 1
    for (rank, begin, end), group in groups.items():
        sizes = [line["bytes"] for line in group]
        wanted[rank + (begin, end - begin, "stream", len(group),
                       None if None in sizes else sum(sizes))] += 1
    names = ("host", "pid", "communicator_id", "rank", "start_ns",
             "duration_ns", "timing", "operations", "bytes")
    check("launches are what lines of JSON tell of",
          difference(rows(table, names), wanted), ([], []))


def check_states(table, state):
    """Compares the last state of each rank with the dump."""
    names = ("function", "operations", "operations_done", "bytes",
             "last_sequence_number", "timing", "timed")
    last = {}
    for place, taken in enumerate(table.columns["taken_ns"]):
        rank = (table.columns["pid"][place],
                table.columns["communicator_id"][place])
        at, found = last.get(rank, (0, []))
        if taken > at:
            found = []
        row = tuple(table.columns[name][place] for name in names)
        if row[0] is not None:
            found.append(row)
        last[rank] = max(at, taken), found
    found = {rank: sorted(functions) for rank, (_, functions) in last.items()}
    wanted = {}
    for rank in state["ranks"]:
        wanted[rank["pid"], rank["communicator"]["id"]] = sorted(
            (one["function"], one["operations"], one["operations_done"],
             one["bytes"], one["last_sequence_number"], one["timing"],
             one["timed"])
            for one in rank["functions"])
    check("the last states are those of the dump", found, wanted)


def main():
    folder, lines_path, *state_path = sys.argv[1:]
    columns = wanted_columns()
    hosts = {os.path.basename(path).rsplit(".", 2)[0]
             for path in glob.glob(glob.escape(folder) + "/*.parquet")}
    files = sorted(os.path.basename(path)
                   for path in glob.glob(glob.escape(folder) + "/*"))
    check("there is a file for each host and table, and nothing else", files,
          sorted(f"{host}.{table}.parquet"
                 for host in hosts for table in TABLES))
    tables = {}
    for name in TABLES:
        parts = [reader.read(f"{folder}/{host}.{name}.parquet")
                 for host in sorted(hosts)]
        check(f"{name} have the columns of the table, with their notes",
              [(part.names, list(part.notes.items())) for part in parts],
              [([column for column, _ in columns[name]], columns[name])] *
              len(parts))
        check(f"{name} of a file are of one node",
              all(len(set(part.columns["node"])) <= 1 for part in parts), True)
        for part in parts:
            times = [time for time in ("start", "taken")
                     if f"{time}_ns" in part.names]
            shifts = {utc - ns for time in times for utc, ns in
                      zip(part.columns[f"{time}_utc"],
                          part.columns[f"{time}_ns"])}
            check(f"{name} have dates by one clock", len(shifts) <= 1, True)
            now = [time for one in times for time in part.columns[f"{one}_utc"]]
            check(f"{name} have dates after 2020, not times since a boot",
                  all(time > 1.6e18 for time in now), True)
        tables[name] = reader.Table(
            parts[0].names,
            {column: sum((part.columns[column] for part in parts), [])
             for column in parts[0].names}, {}, 0, 0)
    with open(lines_path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    operations = once([line for line in lines
                       if line["event"] in ("coll", "p2p")])
    check_records("operations", tables["operations"], operations)
    check_records("steps", tables["steps"],
                  [line for line in lines if line["event"] == "proxy_step"])
    check_launches(tables["launches"], operations,
                   [line for line in lines if line["event"] == "kernel_ch"])
    if state_path:
        with open(state_path[0], encoding="utf-8") as file:
            check_states(tables["states"], json.load(file))
    sys.exit(json_lines.failed)


main()
