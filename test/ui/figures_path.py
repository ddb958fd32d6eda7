#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares all figures of the critical path as text with those as JSON.

figures_path.py TEXT JSON   the two outputs of --critical-path for the same
                            recordings and changes
Each line of the text above its legend is read, and no figure of the JSON that the
text tells is left out."""
import json
import re
import sys

DOUBTS = (
    ("endless", "operations: when they ended"),
    ("incomplete", "operations: not of all ranks"),
    ("unrecorded", "operations: of ranks of which there is no recording"),
    ("unseen", "operations: without a record, between others"),
    ("to_itself", "operations: of a rank with itself, not modelled"),
    ("again", "parts: of operations that the rank was in already"),
    ("unidentified", "parts: of no known rank"),
    ("records_lost", "records: lost"))
RANKS_MOST, CHANNELS_MOST, STEPS_MOST = 16, 10, 16


class Text:
    """The lines that are left to read."""

    def __init__(self, path):
        lines = open(path).read().split("\nLEGEND\n")
        assert len(lines) == 2, path
        self.lines = [line for line in lines[0].splitlines() if line.strip()]
        self.read = 0

    def next(self, pattern):
        """Reads a line that is like the pattern and returns its groups."""
        found = re.fullmatch(pattern, self.lines[0])
        assert found, (pattern, self.lines[0])
        self.lines.pop(0)
        self.read += len(found.groups())
        return found.groups()


def nanoseconds(text):
    """A time, and how far above it the exact one may be; text is rounded down."""
    minutes = re.fullmatch(r"(?:(\d+)h)?(\d+)m(?:(\d+)s)?", text)
    if minutes:
        hours, minutes, seconds = (int(one or 0) for one in minutes.groups())
        return ((60 * hours + minutes) * 60 + seconds) * 1e9, \
            1e9 if not hours else 60e9
    digits, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    factor = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    return float(digits) * factor, \
        factor * 10 ** -len(digits.partition(".")[2])


def same_time(text, value, where):
    """Fractions of a ns are rounded in the JSON."""
    told, above = nanoseconds(text)
    assert told - 1 <= value <= told + above + 1, (text, value, where)


def same_share(text, part, whole, where):
    value = 100 * part / whole if whole > 0 else 0
    # The JSON has whole ns, of which a short time has few.
    bound = 0.0501 + (100 / whole if whole > 0 else 0)
    assert abs(float(text) - value) <= bound, (text, value, where)


def most_of(path, cause):
    """The ranks on which most of a cause's time was; several if they have as
    much, to the ns."""
    times = {one["rank"]: one["causes_ns"][cause] for one in path["ranks"]}
    return [rank for rank, ns in times.items()
            if ns >= max(times.values()) - 1], max(times.values(), default=0)


def compare_trust(text, path):
    trust = path["trust"]
    arrivals, unknown = text.next(
        r"arrivals by(.*); not known: ([0-9.]+) % of the path")
    told = {name: int(count)
            for name, count in re.findall(r" (\w+) (\d+)", arrivals)}
    assert told == {name: count for name, count in trust["told_by"].items()
                    if count}, (told, trust)
    same_share(unknown, trust["unknown_ns"], path["replayed_ns"], "trust")
    doubts = [(trust["told_by"]["operation"], "operations: only the host's"
               " launch, not when the GPU could begin")]
    doubts += [(trust[name], words) for name, words in DOUBTS]
    if path["what_if"]:
        doubts.append((trust["queued_parts"], "parts: when they were ready,"
                       " as they were queued"))
    for count, words in doubts:
        if count:
            assert text.next(rf"  (\d+) {re.escape(words)}") == (str(count),)
    if path["forgotten"] or path["breaks"]:
        assert text.next(r"not exact: (\d+) parts had too many before them,"
                         r" and the path was cut (\d+) times") == (
            str(path["forgotten"]), str(path["breaks"]))


def compare_head(text, path):
    assert text.lines.pop(0) == path["conclusion"]
    operations, = text.next(r"critical path of (\d+) operations")
    assert int(operations) == path["operations"]
    elapsed, error = text.next(
        r"elapsed (\w[0-9.a-z]+)(?:; replayed without any change (.*) %)?")
    same_time(elapsed, path["elapsed_ns"], "elapsed")
    wrong = 100 * (path["replayed_ns"] / path["elapsed_ns"] - 1)
    assert abs(float(error or 0) - wrong) <= 0.00501, (error, wrong)
    if text.lines[0].startswith("how far apart the clocks"):
        text.lines.pop(0)
        assert path["clock_error_ns"] is None, path
    elif text.lines[0].startswith("clocks of the hosts"):
        within, = text.next(r"clocks of the hosts are within (\S+) of each"
                            r" other")
        same_time(within, path["clock_error_ns"], "clocks")


def compare_causes(text, path):
    whole = path["replayed_ns"]
    text.next(r"SPENT IN +TIME +% +MOST OF IT")
    for cause, ns in path["causes_ns"].items():
        if not ns:
            continue
        name, time, share, rank, of_it = text.next(
            r"(\w+) +(\S+) +([0-9.]+)(?:   rank (\d+)(?: of .+)?: ([0-9.]+) %)?")
        assert name == cause, (name, cause)
        same_time(time, ns, cause)
        same_share(share, ns, whole, cause)
        assert (rank is None) == (cause == "start"), cause
        if rank is not None:
            ranks, most = most_of(path, cause)
            assert int(rank) in ranks, (cause, rank, ranks)
            same_share(of_it, most, ns, cause)
    if path["elsewhere_ns"] > 0:
        time, share = text.next(r"elsewhere +(\S+) +([0-9.]+)")
        same_time(time, path["elsewhere_ns"], "elsewhere")
        same_share(share, path["elsewhere_ns"], whole, "elsewhere")


def compare_ranks(text, path):
    titles, = text.next(r" RANK +TIME +%(.*)")
    causes = [cause for cause, ns in path["causes_ns"].items()
              if ns and cause != "start"]
    assert titles.split() == causes, (titles, causes)
    ranks = sorted(path["ranks"], key=lambda one: -one["time_ns"])
    for one in ranks[:RANKS_MOST]:
        rank, time, share, times = text.next(
            r" *(\d+) +(\S+) +([0-9.]+)((?: +\S+)*)")
        same_rank = [other for other in ranks if other["rank"] == int(rank)]
        assert len(same_rank) == 1 and \
            abs(same_rank[0]["time_ns"] - one["time_ns"]) <= 1, (rank, one)
        one = same_rank[0]
        same_time(time, one["time_ns"], rank)
        same_share(share, one["time_ns"], path["replayed_ns"], rank)
        assert len(times.split()) == len(causes), times
        for cause, ns in zip(causes, times.split()):
            same_time(ns, one["causes_ns"][cause], (rank, cause))
            text.read += 1
    compare_more(text, len(ranks), RANKS_MOST)


def compare_more(text, count, most):
    if count > most:
        assert text.next(r"  and (\d+) more") == (str(count - most),)


def compare_channels(text, path):
    channels = path["channels"]
    if channels:
        text.next(r" +TIME +% CHANNEL THAT ENDED LAST")
    for one in channels[:CHANNELS_MOST]:
        time, share, channel, direction, peer = text.next(
            r" *(\S+) +([0-9.]+) rank \d+(?: of .+)?, channel (\d+)"
            r" (send to|recv from) (-?\d+)")
        same_time(time, one["time_ns"], one)
        same_share(share, one["time_ns"], path["replayed_ns"], one)
        assert (int(channel), direction[:4], int(peer)) == (
            one["channel"], one["direction"], one["peer"]), one
    compare_more(text, len(channels), CHANNELS_MOST)


def compare_steps(text, path):
    steps = path["steps"]
    if len(steps) < 2:
        return
    count, last = text.next(r"(\d+) steps(, of which the last)?")
    assert int(count) == len(steps), count
    first = max(1, len(steps) - STEPS_MOST)
    assert (last is not None) == (first > 1), last
    text.next(r" STEP +TIME +MOST OF IT")
    for before, one in zip(steps[first - 1:], steps[first:]):
        step, time, cause, share, rank, of_rank = text.next(
            r" *(\d+) +(\S+)   (\w+) ([0-9.]+) %, rank (\d+)(?: of .+)?"
            r" ([0-9.]+) %")
        assert int(step) == one["step"] and int(rank) == one["rank"], one
        ends = before["ends_ns"][0], one["ends_ns"][0]
        assert (time == "-") == (None in ends), (time, one)
        if None not in ends:
            same_time(time, max(0, ends[1] - ends[0]), one)
        causes = one["causes_ns"]
        whole = sum(causes.values())
        assert causes[cause] >= max(causes.values()) - 1, (cause, one)
        same_share(share, causes[cause], whole, one)
        same_share(of_rank, one["rank_ns"], whole, one)


def compare_cost(text, one):
    """Between which times a job without ranks takes, or why it is not known."""
    if one["cost_unknown"]:
        text.next(r" +not known: .+")
    if one["after_at_least_ns"] is None:
        return
    least, most = one["after_at_least_ns"], one["after_at_most_ns"]
    before = one["before_ns"]
    low, high, small, large = text.next(
        r" +between (\S+) and (\S+): gains between (\S+) and (\S+)")
    same_time(low, least, one)
    same_time(high, most, one)
    same_time(small, max(0, before - most), one)
    same_time(large, max(0, before - least), one)


def compare_change(text, path, one):
    before, after, speedup, unknown, words = text.next(
        r" *(\S+) +(\S+) +(\S+) +([0-9.]+)% (.+)")
    assert words == one["what_if"], (words, one)
    assert one["before_ns"] == path["replayed_ns"], one
    same_time(before, one["before_ns"], words)
    # An unknown time has shares all the same.
    whole = sum(one["causes_ns"].values()) + one["elsewhere_ns"]
    assert (after == "-") == (speedup == "-") == (one["after_ns"] is None)
    if after != "-":
        same_time(after, one["after_ns"], words)
        faster = one["before_ns"] / one["after_ns"]
        assert abs(float(speedup) - faster) <= 0.000501, (speedup, faster)
        assert abs(whole - one["after_ns"]) <= len(one["causes_ns"]), one
    same_share(unknown, one["unknown_ns"], whole, words)
    compare_cost(text, one)
    shares, = text.next(r" +(.*)")
    told = dict(re.findall(r"(\w+) ([0-9.]+) %", shares))
    for cause, ns in one["causes_ns"].items():
        same_share(told.pop(cause, "0"), ns, whole, (words, cause))
        text.read += 1
    assert not told, told


def main():
    text, path = Text(sys.argv[1]), json.load(open(sys.argv[2]))
    compare_head(text, path)
    compare_trust(text, path)
    compare_causes(text, path)
    compare_ranks(text, path)
    compare_channels(text, path)
    compare_steps(text, path)
    if path["what_if"]:
        text.next(r" +BEFORE +AFTER +SPEEDUP NOT KNOWN WHAT IF")
    for one in path["what_if"]:
        compare_change(text, path, one)
    assert not text.lines, text.lines
    assert text.read > 20, text.read
    print(text.read, "figures are the same")


main()
