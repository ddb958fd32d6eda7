# SPDX-License-Identifier: MIT
"""Reads recordings and JSON of ncclstat. Needs Python 3.6 or later, nothing else,
but for recordings that were compressed: those need Python 3.14, or to be read as
JSON.

    import ncclstat

    for record in ncclstat.records("job.ncs"):
        print(record.start_ns, record.rank.number, record.event)

    for line in ncclstat.lines("job.ndjson"):  # of ncclstat --export=ndjson
        print(line["event"], line["duration_ns"])

    for sample in ncclstat.lines("dump.json"):  # of ncclstat --dump=json
        print(sample["verdict_line"])

The format of recordings is in ncclstat-record(5), that of a segment's header in
ncclstat-shm(5), that of JSON in ncclstat-json(5). A recording that is still
written, or was cut, is read as far as it goes.
"""
import json
import struct

CHUNK = struct.Struct("<QIIQQQQQQ")
MAGIC = int.from_bytes(b"NCSchunk", "little")
FILE, TABLES, RANK, STATE, RECORDS = 1, 2, 3, 4, 5
SCHEMA = 2

# Places in a segment's header.
PID, HOST, CLOCK, IDENTITY = 120, 192, 256, 360
KNOWN_COMM_ID, KNOWN_COMM_NAME, KNOWN_RANK = 1, 2, 4


class Damaged(Exception):
    """A file that is no recording, or JSON of another schema."""


class Rank:
    """A rank of a communicator; what is not known is None.

    host, pid; number: its rank; communicator, communicator_id: name and hash
    """

    def __init__(self, header):
        self._clock = struct.unpack_from("<QQQQQ", header, CLOCK)
        self.host = _text(header, HOST, 64)
        self.pid, = struct.unpack_from("<I", header, PID)
        self._identify(header)

    def _identify(self, header):
        _, known, ident, number = struct.unpack_from("<QQQi", header, IDENTITY)
        self.number = number if known & KNOWN_RANK else None
        self.communicator_id = "%016x" % ident if known & KNOWN_COMM_ID else None
        self.communicator = _text(header, IDENTITY + 40, 128) \
            if known & KNOWN_COMM_NAME else None

    def time_ns(self, ticks):
        _, base, base_ns, _, multiplier = self._clock
        if ticks < base:
            return base_ns - ((base - ticks) * multiplier >> 32)
        return base_ns + ((ticks - base) * multiplier >> 32)


class Record:
    """An event.

    rank, lane; event, function: names; start_ns: CLOCK_MONOTONIC of its host;
    duration_ns; channel, operation, peer, value, number, delta: as
    ncclstat-shm(5) has them for this event; flags: a set of names
    """
    __slots__ = ("rank", "lane", "event", "function", "start_ns",
                 "duration_ns", "channel", "operation", "peer", "value",
                 "number", "delta", "flags")

    def __repr__(self):
        return "Record(%s)" % ", ".join(
            "%s=%r" % (name, getattr(self, name)) for name in self.__slots__
            if name != "rank")


def _text(data, offset, size):
    raw = bytes(data[offset:offset + size]).split(b"\0", 1)[0]
    return raw.decode("utf-8", "replace")


def _unpacked(payload, size):
    if len(payload) == size:
        return payload
    try:
        from compression import zstd
    except ImportError:
        raise Damaged("it is compressed, which needs Python 3.14: use"
                      " ncclstat --export=ndjson") from None
    return zstd.decompress(payload)


def chunks(path):
    """Yields (kind, rank, payload) for each chunk of a file."""
    with open(path, "rb") as file:
        first = True
        while True:
            head = file.read(CHUNK.size)
            if len(head) < CHUNK.size:
                return
            magic, kind, rank, size, unpacked = CHUNK.unpack(head)[:5]
            if magic != MAGIC or unpacked >= 1 << 20 or size > unpacked:
                if first:
                    raise Damaged("%s: it is no recording" % path)
                return
            first = False
            payload = file.read((size + 63) // 64 * 64)
            if len(payload) < size:
                return
            yield kind, rank, _unpacked(payload[:size], unpacked)


class _Tables:
    """The names of events, functions and flags, and where a record's fields
    are."""

    def __init__(self, text):
        self.fields, self.names = {}, {}
        for line in text.decode("utf-8", "replace").splitlines():
            words = line.split(" ")
            if words[0] == "field":
                self.fields[words[3]] = int(words[1]), int(words[2])
            elif len(words) > 2 and words[1].isdigit():
                self.names.setdefault(words[0], {})[int(words[1])] = words[2]

    def name(self, table, number):
        return self.names.get(table, {}).get(number)

    def number(self, data, name):
        offset, size = self.fields[name]
        return int.from_bytes(data[offset:offset + size], "little",
                              signed=name == "peer")

    def record(self, data, rank, lane):
        record = Record()
        record.rank, record.lane = rank, lane
        record.event = self.name("event", self.number(data, "event"))
        record.function = self.name("function", self.number(data, "function"))
        start = self.number(data, "start")
        record.start_ns = rank.time_ns(start)
        record.duration_ns = rank.time_ns(
            start + self.number(data, "duration")) - record.start_ns
        for name in ("channel", "operation", "peer", "value", "number"):
            setattr(record, name, self.number(data, name))
        offset, size = self.fields["delta"]
        record.delta = data[offset:offset + size]
        flags = self.number(data, "flags")
        record.flags = {name for bit, name in self.names.get("flag", {}).items()
                        if flags & bit}
        return record


def records(path):
    """Yields the records of a file, lane by lane as they were read."""
    tables, ranks = None, {}
    for kind, number, payload in chunks(path):
        if kind == TABLES:
            tables = _Tables(payload)
        elif kind == RANK:
            size, = struct.unpack_from("<I", payload)
            ranks[number] = Rank(payload[64:64 + size])
        elif kind == RECORDS and tables and number in ranks:
            lane, size, _, count, _ = struct.unpack_from("<IIQQQ", payload)
            for i in range(count):
                data = payload[64 + i * size:64 + (i + 1) * size]
                if len(data) == size:
                    yield tables.record(data, ranks[number], lane)


def lines(path):
    """Yields the objects of a file of lines of JSON: of --export=ndjson, or of
    --dump=json and --diagnose=json, whose schema is checked."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = json.loads(line)
            if found.get("schema", SCHEMA) != SCHEMA:
                raise Damaged("%s: it has schema %s, not %d" %
                              (path, found["schema"], SCHEMA))
            yield found
