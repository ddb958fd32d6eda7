#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says whether a captured job was played at its own pace: each call from the
NUMBERth with COUNT elements on came within MOST ms of the time at which it came in
the capture, where the calls about it came so, all within 10 ms, and, with --waits,
each operation with COUNT floats ended before the rank's next call. On a busy machine
the player is held up: the whole job takes longer then, or is another one.

usage: played_on_time.py CAPTURE LINES COUNT NUMBER MOST [--waits]
       LINES is a recording as lines of JSON.
"""
import collections
import glob
import json
import lzma
import re
import statistics
import sys


# Most of so many calls before and after one come as late as the whole job.
ABOUT = 8
# A job whose calls are further apart takes longer than the captured one, by much of
# the 240 ms that its ranks slept.
ALL_MS = 10
# Ends of kernels are known to such a time only.
SHORT_NS = 200000


def check_waits(played, ends):
    """Ends the program if a rank called again before its operation had ended."""
    for rank, calls in played.items():
        calls = sorted(calls)
        for start, end in ends[rank]:
            if any(start < call < end - SHORT_NS for call in calls):
                sys.exit("rank %d called before an operation had ended" % rank)


def main():
    captured, played = {}, collections.defaultdict(list)
    ends = collections.defaultdict(list)
    for path in glob.glob(sys.argv[1] + "/rank*.calllog.xz"):
        rank = int(re.search(r"rank(\d+)", path)[1])
        with lzma.open(path, "rt") as file:
            captured[rank] = [line for line in file
                              if re.search(r" type=(512|1024) ", line)]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["event"] in ("coll_api", "p2p_api"):
                played[line["rank"]].append(line["start_ns"])
            elif line["event"] == "coll" and \
                    line["bytes"] == 4 * int(sys.argv[3]):
                ends[line["rank"]].append(
                    (line["start_ns"], line["start_ns"] + line["duration_ns"]))
    if {rank: len(of) for rank, of in captured.items()} != \
            {rank: len(of) for rank, of in played.items()}:
        sys.exit("other calls than in the capture")
    apart = []
    for rank, calls in captured.items():
        count = [i for i, call in enumerate(calls)
                 if " count=%s " % sys.argv[3] in call]
        first = count[int(sys.argv[4])]
        times = [int(call.split(maxsplit=1)[0]) for call in calls]
        apart += [(then, at - then) for at, then in
                  zip(sorted(played[rank])[first:], times[first:])]
    apart = [late for _, late in sorted(apart)]
    most_ms = max(abs(late - statistics.median(
        apart[max(i - ABOUT, 0):i + ABOUT + 1]))
        for i, late in enumerate(apart)) / 1e6
    if most_ms > float(sys.argv[5]):
        sys.exit("a call came %.1f ms off" % most_ms)
    all_ms = (max(apart) - min(apart)) / 1e6
    if all_ms > ALL_MS:
        sys.exit("calls came up to %.1f ms later than others" % all_ms)
    if sys.argv[6:] == ["--waits"]:
        check_waits(played, ends)


main()
