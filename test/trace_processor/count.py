# SPDX-License-Identifier: MIT
"""Computes from a recording's lines of JSON what its traces and its table must
hold, and asks the trace processor whether they do.

    count.py FOLDER RECORDING STATES LINES CSV TRACE...

FOLDER holds what fetch.sh fetched. STATES are dumps of RECORDING as json, at some
times and at its end, LINES and CSV are its exports as ndjson and csv (or - for
none), and each TRACE is its export as perfetto or chrome. Prints "ok ..." or
"not ok ..." for each check. Shares no code with the program; of the format of
recordings it knows only the header of a chunk.
"""
import collections
import csv
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
import json_lines
import moving
from json_lines import check, once, rank_of

CHILDREN = ("proxy_op", "proxy_step", "kernel_ch", "kernel_phase", "net_plugin")
MOMENTS = ("mark", "settings")
SEND_WAITS = ("send_gpu_wait_ns", "send_peer_wait_ns", "send_wait_ns")
RECV_WAITS = ("recv_wait_ns", "recv_flush_wait_ns", "recv_gpu_wait_ns")

ROUNDING_NS = 3
TAIL_NS = 500_000


def documents(text):
    """Yields the documents of JSON that follow each other in a text."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def states(path):
    """Counts the states of a recording by their first parts."""
    count, at = 0, 0
    with open(path, "rb") as file:
        data = file.read()
    while at + 64 <= len(data):
        magic, kind, _, size = struct.unpack_from("<QIIQ", data, at)
        assert magic == 0x6B6E756863534E43 or data[at:at + 8] == b"NCSchunk"
        if kind == 4:
            part, = struct.unpack_from("<I", data, at + 64 + 32)
            count += part == 0
        at += 64 + (size + 63) // 64 * 64
    return count


def ran(line, kernels):
    """Returns how long an operation was queued, how long it ran, and where its
    begin and its end come from; `kernels` are its kernel's channels so far."""
    start, duration = line["start_ns"], line["duration_ns"]
    first = line["first_child_ns"]
    by = "proxy" if first is not None and first <= duration else None
    begun = min(first or line["enqueued_ns"] or 0, duration)
    if line["on_stream"]:
        return first, duration - first, "stream", "stream"
    spans = [(of["gpu_start_ns"], of["gpu_start_ns"] + (of["gpu_duration_ns"] or 0))
             for of in kernels if of.get("gpu_start_ns") is not None]
    if not spans:
        return begun, duration - begun, by, by or "report"
    begin = min(span[0] for span in spans) - start
    end = max(span[1] for span in spans) - start
    until, end_by = duration, by or "report"
    if 0 < end <= duration and (not by or duration - end <= TAIL_NS):
        until, end_by = end, "kernel"
    if begin <= until:
        begun, by = max(begin, 0), "kernel"
    begun = min(begun, until)
    return begun, until - begun, by, end_by


def sources(lines):
    """Counts operations by where their begin and their end come from."""
    kernels = collections.defaultdict(list)
    found = collections.Counter()
    for line in lines:
        name = rank_of(line), line.get("operation")
        if line["event"] == "kernel_ch":
            kernels[name].append(line)
        elif line["event"] in ("coll", "p2p"):
            found[ran(line, kernels[name])[2:]] += 1
    return dict(found)


def slices(lines):
    """Counts slices, and sums their durations, by category."""
    found = collections.Counter(), collections.Counter()

    def add(category, duration):
        found[0][category] += 1
        found[1][category] += duration

    kernels = collections.defaultdict(list)
    last = collections.defaultdict(int)
    for line in lines:
        event = line["event"]
        name = rank_of(line), line.get("operation")
        if event == "kernel_ch":
            kernels[name].append(line)
        if event == "proxy_op":
            end = line["start_ns"] + line["duration_ns"]
            last[name] = max(last[name], end)
        if event in MOMENTS:
            add(event, 0)
            continue
        if line.get("gpu_start_ns") is not None:
            add(event, line["gpu_duration_ns"])
            continue
        if event in ("coll", "p2p"):
            queued, running, *_ = ran(line, kernels[name])
            add(event, max(queued + running, last[name] - line["start_ns"]))
            for part in (queued, running):
                if part:
                    add("part", part)
            continue
        add(event, line["duration_ns"])
        if event == "proxy_step":
            for wait in SEND_WAITS + RECV_WAITS:
                if line.get(wait):
                    add("wait", line[wait])
    return found


def launches(lines):
    """Returns the number of kernels that were timed on their streams, and the sum
    of their times. The operations of a launch have the same times, but for
    rounding."""
    spans = sorted((rank_of(line), line["stream"] or "",
                    line["start_ns"] + line["first_child_ns"],
                    line["duration_ns"] - line["first_child_ns"])
                   for line in lines
                   if line.get("on_stream"))
    found = [now for now, before in zip(spans, [None] + spans)
             if before is None or now[:2] != before[:2] or
             now[2] - before[2] > ROUNDING_NS]
    return len(found), sum(span[3] for span in found)


def streams(lines):
    """Counts operations by stream and function; a stream is None if unknown."""
    return collections.Counter(
        (line["stream"], line["function"]) for line in lines
        if line["event"] in ("coll", "p2p"))


# The tracks of operations. In Chrome's JSON, a track's name contains the names
# above it.
STREAMS = {
    "perfetto": "select p.name as above, t.name as name, count(*) as count"
                " from slice s join track t on s.track_id = t.id"
                " join track p on t.parent_id = p.id"
                " where s.category in ('coll', 'p2p') group by above, t.name",
    "chrome": "select '' as above, h.name as name, count(*) as count"
              " from slice s join thread_track t on s.track_id = t.id"
              " join thread h using (utid)"
              " where s.category in ('coll', 'p2p') group by h.name",
}


SOURCES = (
    "select ifnull(b.string_value, '') as begin, e.string_value as end,"
    " count(*) as count from slice s"
    " left join args e on s.arg_set_id = e.arg_set_id"
    " and e.key in ('debug.end_source', 'args.end_source')"
    " left join args b on s.arg_set_id = b.arg_set_id"
    " and b.key in ('debug.begin_source', 'args.begin_source')"
    " where s.category in ('coll', 'p2p') group by 1, 2")


def streams_of_tracks(rows):
    found = collections.Counter()
    for row in rows:
        words = f"{row['above']} {row['name']}".replace(",", "").split()
        stream = words[-2] if words[-3:-2] == ["stream"] else None
        found[stream, words[-1]] += row["count"]
    return found


def flows(lines):
    """Counts the messages with both ends. Within a rank, operations match by
    number; between ranks, collectives match by sequence number and repeat count,
    others by the number of the transfer, or else by their ordinal on the
    connection."""
    operations, repeats, seen = {}, collections.Counter(), {}
    ranks = {rank_of(line)[2:] for line in lines}
    for line in lines:
        if line["event"] not in ("coll", "p2p"):
            continue
        key = rank_of(line), line["operation"]
        if key in operations:
            continue
        sequence = line.get("sequence_number")
        transfer = line.get("transfer_number")
        if transfer is not None:
            operations[key] = "transfer", transfer, 0
        elif sequence is not None:
            name = rank_of(line), line["function"], sequence
            operations[key] = line["function"], sequence, repeats[name]
            repeats[name] += 1
        else:
            operations[key] = None
    ends = collections.Counter()
    places = collections.defaultdict(dict)
    for line in lines:
        if line["event"] not in ("proxy_step", "proxy_op"):
            continue
        key = rank_of(line), line["operation"]
        if line["operation"] is None or key not in operations:
            continue
        name = operations[key]
        if name is None:
            connection = places[rank_of(line), line["channel"],
                                line["direction"], line["peer"]]
            place = connection.setdefault(key[1], len(connection) + 1)
            name = "p2p", place, 0
        if line["event"] == "proxy_op":
            continue
        comm, rank = rank_of(line)[2:]
        if (comm, line["peer"]) not in ranks:
            continue
        pair = (rank, line["peer"]) if line["direction"] == "send" else \
            (line["peer"], rank)
        ends[comm, name, line["channel"], pair, line["step"],
             line["direction"]] += 1
    return sum(1 for end in ends
               if end[-1] == "send" and end[:-1] + ("recv",) in ends)


def ask(folder, trace, *questions):
    script = os.path.join(os.path.dirname(__file__), "query.mjs")
    run = subprocess.run(["node", script, folder, trace, *questions],
                         stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def check_trace(folder, trace, lines, state_count):
    name = trace.rsplit(".", 1)[-1]
    counts, sums = slices(lines)
    kernels, kernel_ns = launches(lines)
    if kernels:
        counts["launch"], sums["launch"] = kernels, kernel_ns
    (by, arrows, joined, counters, errors, ranges, overlaps, tracks, calls,
     ran_by) = ask(
        folder, trace,
        "select category, count(*) as count, sum(dur) as sum from slice"
        " group by category",
        "select count(*) as count from flow",
        "select count(*) as count from flow"
        " join slice a on a.id = slice_out join slice b on b.id = slice_in"
        " where a.name like 'send%' = (b.name like 'send%')"
        " or a.category != 'wait' or b.category != 'wait'",
        "select t.name as name, count(*) as count from counter c"
        " join track t on c.track_id = t.id group by t.name",
        "select name, value from stats where value != 0"
        " and severity in ('error', 'data_loss')",
        "select distinct a.string_value as path from slice s"
        " join args a using (arg_set_id)"
        " where a.key in ('debug.range', 'args.range')",
        "select count(*) as count from slice where parent_id is not null"
        " and category not in ('wait', 'part')",
        STREAMS[name],
        "select a.string_value as stream, count(*) as count from slice s"
        " join args a using (arg_set_id)"
        " where a.key in ('debug.stream', 'args.stream')"
        " group by a.string_value",
        SOURCES)
    check(f"{name}: slices of each kind",
          {row["category"]: row["count"] for row in by}, dict(counts))
    check(f"{name}: the sum of their durations",
          {row["category"]: row["sum"] for row in by}, dict(sums))
    check(f"{name}: where begins and ends of operations come from",
          {(row["begin"] or None, row["end"]): row["count"]
           for row in ran_by}, sources(lines))
    check(f"{name}: arrows", arrows[0]["count"], flows(lines))
    check(f"{name}: arrows go from a sender's wait to a receiver's",
          joined[0]["count"], 0)
    in_flight = sum(row["count"] for row in counters
                    if row["name"].startswith("operations in flight"))
    check(f"{name}: a count of operations for each state", in_flight,
          state_count)
    check(f"{name}: the trace processor finds nothing wrong", errors, [])
    check(f"{name}: ranges", {row["path"] for row in ranges},
          {line["range"] for line in lines if line.get("range")})
    check(f"{name}: nothing is inside of what it is no part of",
          overlaps[0]["count"], 0)
    check(f"{name}: operations are on the tracks of their streams",
          streams_of_tracks(tracks), streams(lines))
    check(f"{name}: calls and launches tell theirs",
          {row["stream"]: row["count"] for row in calls},
          dict(collections.Counter(
              line["stream"] for line in lines if line.get("stream")
              and line["event"] not in ("coll", "p2p"))))
    return counters


def losers(ranks, cause):
    """Returns the pids of processes that lost something for that reason."""
    return {rank["pid"] for rank in ranks if rank["lost"][cause]}


def check_streams(lines, lossy):
    """Checks that operations are on the streams of their calls. Processes that
    lost records are left out, as their streams may be unknown."""
    streams = {event: {(rank_of(line), line["function"], line["stream"])
                       for line in lines if line["event"] in events and
                       line["pid"] not in lossy}
               for event, events in (("operations", ("coll", "p2p")),
                                     ("calls", ("coll_api", "p2p_api")))}
    check("ndjson: operations are on the streams of their calls",
          streams["operations"], streams["calls"])


def check_table(path, lines, untimed, lossy, error_ns):
    """Checks the table. It counts all operations with a time, except that
    processes `untimed` may have fewer, and processes `lossy` more, than there
    are lines, and that of operations of one kind those on the stream may be the
    only ones that count."""
    with open(path, newline="", encoding="utf-8") as file:
        text = file.read()
    rows = list(csv.DictReader(text.splitlines()))
    check("csv: lines end as RFC 4180 has it",
          text.count("\n"), text.count("\r\n"))
    operations, streamed = collections.Counter(), collections.Counter()
    for line in lines:
        if line["event"] in ("coll", "p2p") and not line["again"]:
            operations[line["pid"], line["function"]] += 1
            streamed[line["pid"], line["function"]] += line["on_stream"]
    timed = collections.Counter()
    for row in rows:
        timed[int(row["pid"]), row["function"]] += int(row["timed"])
    for of in operations.keys() | timed.keys():
        if 0 < streamed[of] <= timed[of] <= operations[of] or \
                of[0] in untimed and timed[of] <= operations[of] or \
                of[0] in lossy and timed[of] >= operations[of]:
            operations[of] = timed[of]
    check("csv: operations with a time, of each rank and function", +timed,
          +operations)
    # A launch of several operations counts with the bytes of all.
    check("csv: average sizes are of their class",
          [row for row in rows if row["average_bytes"] and row["size_bytes"] and
           not 0 <= float(row["average_bytes"]) - int(row["size_bytes"]) < (
               float("inf") if row["timing"] == "stream" else
               max(1, int(row["size_bytes"])))], [])
    wrong, known = moving.wrong_rows(rows, once(lines), rank_of, error_ns)
    check("csv: bandwidths follow from sizes and times", wrong, [])
    # The lines do not say which sends and receives belong together.
    check("csv: all that are known of collectives were compared",
          sum(1 for row in rows if row["busbw_gbs"] and
              row["function"] not in ("Send", "Recv")), known)


def main():
    folder, recording, states_path, lines_path, table, *traces = sys.argv[1:]
    with open(lines_path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    check("ndjson: there are lines", len(lines) > 0, True)
    with open(states_path, encoding="utf-8") as file:
        dumps = list(documents(file.read()))
    ranks = dumps[-1]["ranks"]
    lossy = losers(ranks, "overwritten")
    if table != "-":
        # The table has the times of an operation by the readings of the GPU's
        # clock until it ended; those of a job's first look can be few.
        check_table(table, lines, losers(ranks, "bad_ptimer"), lossy,
                    2 * max(rank["launches"]["error_ns"] or 0
                            for dump in dumps for rank in dump["ranks"]))
    check_streams(lines, lossy)
    counters = [check_trace(folder, trace, once(lines), states(recording))
                for trace in traces]
    check("both traces have the same counters",
          [[row["count"] for row in of] for of in counters[1:]],
          [[row["count"] for row in counters[0]]] * (len(counters) - 1))
    return json_lines.failed


if __name__ == "__main__":
    sys.exit(main())
