# SPDX-License-Identifier: MIT
"""Computes the bandwidth of each class of operations from a recording's lines of
JSON: bytes over the time from the last rank's begin to the last rank's end.

Shares no code with the program. Only launches that were timed on their streams
on all ranks count.
"""
import collections

FACTORS = {
    "AllReduce": lambda n: 2 * (n - 1) / n,
    "AllGather": lambda n: (n - 1) / n,
    "ReduceScatter": lambda n: (n - 1) / n,
    "Broadcast": lambda n: 1,
    "Reduce": lambda n: 1,
}

# The program keeps at most so many launches; of more than LEAST it may leave out
# older ones.
KEPT = 256
LEAST = 32

# It reads at least so many of a recording's latest records, and so much time.
RECORDS = 8192
READ_NS = 9_000_000_000

# Medians of exact times agree within this fraction.
ROUNDING = 1e-3

# A launch has an end if no part that waits ended before the last arrival by more than
# the errors of the times. It is `sure` if none ended before the last arrival at all,
# nor before the last rank had data to send: on a busy machine a proxy thread is
# played late, and the program may take other times then.
Launch = collections.namedtuple("Launch",
                                "end moved algbw busbw has_end sure")


def size_class(size):
    return max(1, size).bit_length()


def begin_of(line):
    return line["start_ns"] + line["first_child_ns"]


def end_of(line):
    return line["start_ns"] + line["duration_ns"]


def joined(lines, rank_of):
    """Returns the lines of each collective that all ranks of the recording have
    and that was timed on its stream on each."""
    found = collections.defaultdict(dict)
    ranks = collections.defaultdict(set)
    repeats = collections.Counter()
    for line in lines:
        ranks[line["communicator_id"]].add(line["rank"])
        if line["event"] != "coll" or line.get("sequence_number") is None:
            continue
        name = rank_of(line), line["function"], line["sequence_number"]
        found[(line["communicator_id"],) + name[1:] +
              (repeats[name],)][line["rank"]] = line
        repeats[name] += 1
    return {key: list(of.values()) for key, of in found.items()
            if of.keys() == ranks[key[0]] and
            all(line["on_stream"] for line in of.values())}


def is_root(line):
    return line.get("root") == line["rank"]


def slack(lines):
    """Returns how long after the last arrival that it waits for the first part
    that waits ended. If that is negative, the ends are none."""
    function = lines[0]["function"]
    awaited = [line for line in lines
               if function != "Broadcast" or is_root(line)]
    last = max(awaited, key=begin_of, default=None)
    ends = [end_of(line) for line in lines if last and line is not last and
            (function != "Broadcast" or not is_root(line)) and
            (function != "Reduce" or is_root(line))]
    return min(ends) - begin_of(last) if ends else 0


def first_data(lines):
    """Returns when each operation of a rank first had data to send."""
    found = {}
    for line in lines:
        if line["event"] == "proxy_step" and line["direction"] == "send" and \
                line["send_gpu_wait_ns"] is not None:
            of = line["communicator_id"], line["rank"], line["operation"]
            at = line["start_ns"] + line["send_gpu_wait_ns"]
            found[of] = min(found.get(of, at), at)
    return found


def data_slack(parts, data):
    """Returns how long after the last rank had data to send the first part ended,
    if all wait for all; infinity if that is not known of each rank, as of those
    that send nothing over the network."""
    if parts[0]["function"] in ("Broadcast", "Reduce"):
        return float("inf")
    last = max(data.get((line["communicator_id"], line["rank"],
                         line["operation"]), float("inf")) for line in parts)
    if last == float("inf"):
        return last
    return min(end_of(line) for line in parts) - last


def launches(lines, rank_of, kind_of, error_ns):
    """Returns the launches of each communicator, function and kind, by their
    ends. Times may be wrong by error_ns; kind_of(communicator, function, size)
    tells the algorithm and the protocol."""
    found = collections.defaultdict(list)
    data = first_data(lines)
    for key, parts in joined(lines, rank_of).items():
        begin = max(begin_of(line) for line in parts)
        end = max(end_of(line) for line in parts)
        if end > begin:
            found[key[0], begin, end].append((key[1], parts))
    by_kind = collections.defaultdict(list)
    for (comm, begin, end), operations in found.items():
        ranks = len(operations[0][1])
        sizes = [(name, parts[0]["bytes"]) for name, parts in operations]
        classes = {(name, (size_class(size),
                           kind_of(comm, name, size_class(size))))
                   for name, size in sizes}
        least = min(slack(parts) for _, parts in operations)
        least_data = min(data_slack(parts, data) for _, parts in operations)
        # If the stream's end is in doubt, each operation may have an end of
        # its own.
        if len({kind for _, kind in classes}) > 1 and least_data >= 0:
            continue
        moved = end - begin
        launch = Launch(
            end, moved, sum(size for _, size in sizes) / moved,
            sum(size * FACTORS[name](ranks) for name, size in sizes) / moved,
            least >= -error_ns, min(least, least_data) >= 0)
        for name, kind in classes:
            by_kind[comm, name, kind].append(launch)
    for of in by_kind.values():
        of.sort()
    return by_kind


def is_median(text, launches, bandwidth, error_ns, in_doubt):
    """Returns whether a cell can have the median bandwidth of launches whose times
    may be wrong by error_ns, if so many more may be among them; of an even number,
    the middle is between two."""
    def median(place, error_ns):
        return sorted(bandwidth(of) * of.moved / max(1, of.moved + error_ns)
                      for of in launches)[place]

    found, away = float(text), (in_doubt + 1) // 2
    first = max(0, (len(launches) - 1) // 2 - away)
    last = min(len(launches) - 1, len(launches) // 2 + away)
    return any(median(place, error_ns) * (1 - ROUNDING) <= found <=
               median(place, -error_ns) * (1 + ROUNDING)
               for place in range(first, last + 1))


def is_right(row, of, since, error_ns):
    """Returns whether a row of the table has the median of the launches that
    ended since then."""
    seen = [launch for launch in of if launch.end >= since][-KEPT:]
    of = [launch for launch in seen if launch.has_end]
    if seen and not of:
        return True  # their ends may be known by other times
    if not of or not all(launch.sure for launch in of):
        return bool(of) or not row["algbw_gbs"]
    if not row["algbw_gbs"]:
        return sorted(launch.moved
                      for launch in of)[len(of) // 2] <= 2 * error_ns
    # Whether launches have an end is told by the errors of the look that read them.
    in_doubt = len(seen) - len(of)
    return any(
        is_median(row["algbw_gbs"], latest, lambda of: of.algbw, error_ns,
                  in_doubt) and
        is_median(row["busbw_gbs"], latest, lambda of: of.busbw, error_ns,
                  in_doubt)
        for latest in (of[-count:]
                       for count in range(min(LEAST, len(of)), len(of) + 1)))


def wrong_rows(rows, lines, rank_of, error_ns):
    """Returns the rows of the table whose bandwidths are not those of the latest
    launches: all that ended since some time, the same for all rows; and the
    number of rows that have one. Times may be wrong by error_ns."""
    kinds = collections.defaultdict(set)
    for row in rows:
        if row["size_bytes"]:
            kinds[row["communicator_id"], row["function"],
                  size_class(int(row["size_bytes"]))].add(
                      (row["algorithm"], row["protocol"]))

    def kind_of(*of):
        return kinds[of].copy().pop() if len(kinds[of]) == 1 else None

    found = launches(lines, rank_of, kind_of, error_ns)
    timed = []
    for row in rows:
        if row["timing"] != "stream" or not row["size_bytes"] or \
                row["function"] not in FACTORS:
            continue
        of = row["communicator_id"], row["function"], \
            size_class(int(row["size_bytes"]))
        timed.append((row, found.get(of[:2] + ((of[2], kind_of(*of)),), [])))
    ends = sorted(end_of(line) for line in lines)
    read = max(ends[-RECORDS:][0], ends[-1] - READ_NS)
    times = {read} | {launch.end for of in found.values() for launch in of
                      if launch.end <= read}
    wrong = min(([row for row, of in timed
                  if not is_right(row, of, since, error_ns)]
                 for since in sorted(times)), key=len)
    return wrong, sum(1 for row, _ in timed if row["algbw_gbs"])
