#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares all tables of one state, column by column, by the table of columns.

figures_all.py titles VIEW          the titles of a view, for --columns
figures_all.py compare FOLDER       FOLDER/dump.txt and dump.json with each
                                    other, with FOLDER/screen.VIEW, table.csv
                                    and metrics; also the verdict in
                                    diagnose.json and diagnose.txt
"""
import csv
import json
import os
import re
import sys

import figures_json

VIEWS = {"ranks": "RANK", "communicators": "COMMUNICATOR",
         "channels": "CHANNEL", "proxy": "PROXY",
         "collectives": "COLLECTIVE", "ranges": "RANGE",
         "functions": "FUNCTION", "sizes": "CLASS"}
# Bars may have blanks in them, and neither a dump nor its JSON has any.
BARS = ("HISTORY", "HIST")


def titles_of(view):
    table = open("include/ncclstat/tables/columns.def").read()
    table = table[:table.index("#define NCS_COLUMNS_IN_BITS")]
    found = re.findall(r'X\((\w+), \w+, "([^"]+)", \d+, \w+, \d, \w+', table)
    return [title for of, title in found
            if of == VIEWS[view] and title not in BARS]


def cells(line, count):
    """The last cell of a row may have blanks in it."""
    return line.split(None, count - 1)


def without_error(cell):
    """A narrow column leaves out the error of a time, as the manual says."""
    return re.sub(r"\+-\S+$", "", cell)


def rows_below(lines, titles):
    first = next((i for i, line in enumerate(lines)
                  if line.split() == titles), None)
    assert first is not None, (titles, [line.split() for line in lines[4:9]])
    rows = []
    for line in lines[first + 1:]:
        row = cells(line, len(titles))
        if len(row) != len(titles):
            break
        rows.append([without_error(cell.strip()) for cell in row])
    return rows


def dumped(folder, view):
    lines = open(folder + "/dump.txt").read().splitlines()
    first = lines.index(view + ":") + 1
    return rows_below(lines[first:], titles_of(view))


def shown(folder, view):
    # Marks of a row, in three columns, are no cells.
    lines = [line.rstrip("\n")[3:]
             for line in open(f"{folder}/screen.{view}")]
    return rows_below(lines, titles_of(view))


def number(cell):
    """Returns the value of a cell in ns, bytes, or as it is, and how far it may
    be from the exact one: half of its last digit; times are rounded down."""
    minutes = re.fullmatch(r"(\d+)m(\d+)s", cell)
    if minutes:
        return (60 * int(minutes[1]) + int(minutes[2])) * 1e9, 1e9
    digits, unit = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", cell).groups()
    factor = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9,
              "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[unit]
    last = factor * 10 ** -len(digits.partition(".")[2])
    return float(digits) * factor, last * (1 if unit.endswith("s") else 0.501)


def same_settings(cell, settings, where):
    """A setting that is not told is the default, or lets the text be short."""
    words = cell.split(",")
    assert settings["lease"] == (words[-1] == "lease"), (cell, where)
    for word in words[:len(words) - settings["lease"]]:
        name, _, value = word.partition("=")
        assert word == "default" or settings[name] == value, (cell, settings)


def same(cell, value, where):
    # A lower bound is no figure of the JSON; but a limit of percentiles is.
    if cell.startswith(">"):
        bound, half = number(cell[1:])
        assert value is None or value >= bound - half, (cell, value)
    elif value is None or cell == "-":
        assert (value is None) == (cell == "-"), (cell, value, where)
    elif isinstance(value, dict):
        same_settings(cell, value, where)
    elif isinstance(value, tuple):
        printed, (value, part) = number(cell)[0], value
        assert abs(printed - value) <= part * value, (cell, value, where)
    elif isinstance(value, str):
        assert cell == value, (cell, value, where)
    elif cell.startswith("<"):
        bound, half = number(cell[1:])
        assert value <= bound + half, (cell, value, where)
    elif cell.startswith("~"):
        about, half = number(cell[1:])
        assert abs(about - value) <= half, (cell, value, where)
    else:
        printed, half = number(cell)
        assert abs(printed - value) <= half, (cell, value, where)


def compare_json(folder, dump, view):
    rows, titles = dumped(folder, view), titles_of(view)
    objects = list(figures_json.ROWS[view](dump))
    assert len(rows) == len(objects), (view, len(rows), len(objects))
    for row, one in zip(rows, objects):
        assert set(one) == set(titles), set(one) ^ set(titles)
        for title, value in one.items():
            same(row[titles.index(title)], value, (view, title, row))
    return sum(len(one) for one in objects)


def compare_screen(folder, view):
    """The screen has the worst first, a dump has rows in a stable order."""
    rows = sorted(dumped(folder, view))
    # A sentence takes the place of an empty table.
    on_screen = sorted(shown(folder, view)) if rows else []
    assert len(rows) == len(on_screen), (view, rows, on_screen)
    for off, on in zip(rows, on_screen):
        for title, printed, seen in zip(titles_of(view), off, on):
            assert printed == seen, (view, title, off, on)
    return len(rows) * len(titles_of(view))


def compare_verdict(folder, dump):
    said = json.load(open(folder + "/diagnose.json"))
    text = open(folder + "/dump.txt").read()
    diagnosed = open(folder + "/diagnose.txt").read()
    line = dump["verdict_line"]
    assert line == said["verdict_line"], (line, said["verdict_line"])
    assert line is None or line in text.splitlines(), line
    assert dump["severity"] == said["severity"], (dump, said)
    findings = said["findings"]
    for finding in findings[:1]:
        root = finding["root"]
        if root and root.get("rank") is not None:
            assert f"rank {root['rank']}" in line, (line, root)
            assert f"rank {root['rank']}" in diagnosed, root
    # Each finding's sentence, with what it costs, is in the text; its verdict and
    # rank are in the metrics.
    metrics = open(folder + "/metrics").read()
    for finding in findings:
        assert finding["sentence"] in diagnosed, finding
        costs = re.search(r"costs (at (?:most|least) )?([0-9.]+) %",
                          finding["sentence"])
        if costs:
            share = finding["cost_share"] if not costs[1] else \
                finding["cost_share_" + costs[1].split()[1]]
            # A bound is rounded away from the exact figure.
            assert abs(float(costs[2]) - 100 * share) <= 1, finding
        rank = (finding["root"] or {}).get("rank")
        labels = f'rank="{"" if rank is None else rank}",' \
            f'verdict="{finding["verdict"]}"'
        assert re.search(r"ncclstat_finding_seconds\{.*" + labels, metrics), \
            (labels, finding)


def rows_of(folder):
    with open(folder + "/table.csv", newline="") as file:
        return list(csv.DictReader(file))


def all_are_there(folder):
    """Whether the JSON lists all ranks of the table, which keeps ranks that ended
    before the moment of the JSON."""
    dump = json.load(open(folder + "/dump.json"))
    listed = {(rank["host"], str(rank["pid"])) for rank in dump["ranks"]}
    return {(row["host"], row["pid"]) for row in rows_of(folder)} <= listed


def equal(told, value, where):
    """Compares figures of which one has six digits at least."""
    if told in ("", None) or value is None:
        assert told in ("", None) and value is None, (told, value, where)
    elif isinstance(value, str):
        assert told == value, (told, value, where)
    else:
        # Times in us have three digits behind the point.
        least = 5.1e-4 if where[0].endswith("_us") else 0
        assert abs(float(told) - value) <= max(1e-5 * abs(value), least), \
            (told, value, where)


def compare_csv(folder, dump):
    """Each row of the table is a class of operations in the JSON."""
    rows = rows_of(folder)
    classes = {(rank["host"], rank["pid"], rank["communicator"]["id"] or "",
                one["function"], one["size_bytes"], one["algorithm"],
                one["protocol"]): one
               for rank in dump["ranks"] for one in rank["classes"]}
    assert len(rows) == len(classes), (len(rows), len(classes))
    for row in rows:
        size = row["size_bytes"]
        key = (row["host"], int(row["pid"]), row["communicator_id"],
               row["function"], int(size) if size.isdigit() else None,
               row["algorithm"] or None, row["protocol"] or None)
        one = classes[key]
        timed, times = one["timed"], one["time_ns"]
        for column, value in {
                "operations": one["operations"], "timed": timed,
                "timing": one["timing"] if timed else None, "algbw_gbs": one["algbw_gbs"],
                "busbw_gbs": one["busbw_gbs"],
                "time_avg_us": times["sum"] / timed / 1e3 if timed else None,
                **{f"time_{name}_us": times[name] and times[name] / 1e3
                   for name in ("p50", "p99", "max")}}.items():
            equal(row[column], value, (column, row))
    return 9 * len(rows)


def metrics_of(dump):
    """Yields names, labels and values of what metrics tell of ranks; of those
    that have ended, they tell nothing."""
    for rank in dump["ranks"]:
        if rank["state"] == "finished" or not rank["communicator"]["id"]:
            continue
        of_rank = {"comm": rank["communicator"]["id"],
                   "comm_name": rank["communicator"]["name"] or "",
                   "job_id": (rank["job"] or {}).get("job_id", ""),
                   "node": rank["host"], "rank": str(rank["rank"])}
        for one in rank["functions"]:
            labels = {**of_rank, "func": one["function"]}
            yield "operations_total", labels, one["operations"]
            yield "operations_done_total", labels, one["operations_done"]
            yield "message_bytes_total", labels, one["bytes"]
            yield "calls_total", labels, one["calls"]
            yield "sequence_number", labels, one["last_sequence_number"]
            if one["timed"]:
                labels = {**labels, "timing": one["timing"]}
                yield "operation_seconds_count", labels, one["timed"]
                yield ("operation_seconds_sum", labels,
                       one["time_ns"]["sum"] / 1e9)
        cost = (rank["lateness"] or {}).get("cost_share")
        if cost is not None:
            yield "late_ratio", of_rank, cost
            for bound in "least", "most":
                yield (f"late_{bound}_ratio", of_rank,
                       rank["lateness"]["cost_share_" + bound])


def compare_metrics(folder, dump):
    told = {}
    for line in open(folder + "/metrics"):
        found = re.fullmatch(r"ncclstat_(\w+)\{(.*)\} (\S+)\n", line)
        if found:
            labels = re.findall(r'(\w+)="([^"]*)"', found[2])
            told[found[1], frozenset(labels)] = float(found[3])
    compared = 0
    for name, labels, value in metrics_of(dump):
        if value is None:
            continue
        key = name, frozenset(labels.items())
        assert key in told, (name, labels, value)
        assert abs(told[key] - value) <= 1e-5 * abs(value) + 1e-9, \
            (name, labels, told[key], value)
        compared += 1
    return compared


def main():
    if sys.argv[1] == "titles":
        print(",".join(f"{sys.argv[2]}:{title}"
                       for title in titles_of(sys.argv[2])))
        return
    folder = sys.argv[2]
    if sys.argv[1] == "present":
        sys.exit(not all_are_there(folder))
    dump = json.load(open(folder + "/dump.json"))
    compared = sum(compare_json(folder, dump, view) for view in figures_json.ROWS)
    compared += sum(compare_screen(folder, view) for view in VIEWS
                    if os.path.exists(f"{folder}/screen.{view}"))
    compared += compare_csv(folder, dump) + compare_metrics(folder, dump)
    compare_verdict(folder, dump)
    assert compared > 100, compared
    print(compared, "cells are the same")


main()
