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
written, or was cut, is read as far as it goes. One that is damaged ends with
Damaged, whatever it is that is wrong; checksums are not compared.
"""
import json
import re
import struct

CHUNK = struct.Struct("<QIIQQQQQQ")
MAGIC = int.from_bytes(b"NCSchunk", "little")
CHUNK_BYTES_MAX_LOG = 20
FILE, TABLES, RANK, STATE, RECORDS = 1, 2, 3, 4, 5
SCHEMA = 3

# Places in a segment's header.
PID, HOST, CLOCK, IDENTITY = 120, 192, 256, 360
KNOWN_COMM_ID, KNOWN_COMM_NAME, KNOWN_RANK = 1, 2, 4


# Lines of the chunk "tables": field OFFSET SIZE NAME, and TABLE NUMBER NAME.
FIELD = re.compile("field ([0-9]{1,9}) ([0-9]{1,9}) ([^ ]+)$")
NAME = re.compile("([^ ]+) ([0-9]{1,9}) ([^ ]+)")
NUMBERS = ("event", "function", "flags", "start", "duration", "channel",
           "operation", "peer", "value", "number")


class Damaged(Exception):
    """A file that is damaged, or is no recording, or JSON of another schema."""


class Rank:
    """A rank of a communicator; what is not known is None.

    host, pid; number: its rank; communicator, communicator_id: name and hash
    """

    def __init__(self, header):
        self._clock = _unpack("<QQQQQ", header, CLOCK)
        self.host = _text(header, HOST, 64)
        self.pid, = _unpack("<I", header, PID)
        self._identify(header)

    def _identify(self, header):
        _, known, ident, number = _unpack("<QQQi", header, IDENTITY)
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


def _unpack(layout, data, offset=0):
    try:
        return struct.unpack_from(layout, data, offset)
    except struct.error:
        raise Damaged("a chunk is too short") from None


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
    # A frame may unpack to more than it declares, and may ask for a window of
    # any size.
    unpacker = zstd.ZstdDecompressor(options={
        zstd.DecompressionParameter.window_log_max: CHUNK_BYTES_MAX_LOG})
    try:
        unpacked = unpacker.decompress(payload, max_length=size + 1)
    except zstd.ZstdError as error:
        raise Damaged(str(error)) from None
    if len(unpacked) != size:
        raise Damaged("a chunk does not unpack to its length")
    return unpacked


def chunks(path):
    """Yields (kind, rank, payload) for each chunk of a file."""
    with open(path, "rb") as file:
        first = True
        while True:
            head = file.read(CHUNK.size)
            if len(head) < CHUNK.size:
                return
            magic, kind, rank, size, unpacked = CHUNK.unpack(head)[:5]
            if not any(head) and not first:  # reserved, not written yet
                return
            if magic != MAGIC or size > unpacked or \
                    unpacked >= 1 << CHUNK_BYTES_MAX_LOG:
                raise Damaged("%s: it is %s" % (
                    path, "no recording" if first else "damaged"))
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
            field, name = FIELD.match(line), NAME.match(line)
            if field:
                self.fields[field[3]] = int(field[1]), int(field[2])
            elif name:
                self.names.setdefault(name[1], {})[int(name[2])] = name[3]
        for name in NUMBERS + ("delta",):
            if name not in self.fields:
                raise Damaged("there is no field %s" % name)
        if any(self.fields[name][1] > 8 for name in NUMBERS):
            raise Damaged("a field is too long")
        self.record_bytes = max(map(sum, self.fields.values()))
        self.flags = [(bit, name) for bit, name
                      in self.names.get("flag", {}).items()
                      if bit & (bit - 1) == 0]

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
        record.flags = {name for bit, name in self.flags if flags & bit}
        return record


def records(path):
    """Yields the records of a file, lane by lane as they were read."""
    tables, ranks = None, {}
    for kind, number, payload in chunks(path):
        if kind == TABLES:
            tables = _Tables(payload)
        elif kind == RANK:
            size, = _unpack("<I", payload)
            ranks[number] = Rank(payload[64:64 + size])
        elif kind == RECORDS and tables and number in ranks:
            lane, size, _, count, _ = _unpack("<IIQQQ", payload)
            if size < tables.record_bytes or size * count > len(payload) - 64:
                raise Damaged("%s: records have no place in their chunk" % path)
            for i in range(count):
                data = payload[64 + i * size:64 + (i + 1) * size]
                yield tables.record(data, ranks[number], lane)


def lines(path):
    """Yields the objects of a file of lines of JSON: of --export=ndjson, or of
    --dump=json and --diagnose=json, whose schema is checked."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                found = json.loads(line)
                schema = found.get("schema", SCHEMA)
            except (ValueError, RecursionError, AttributeError) as error:
                raise Damaged("%s: %s" % (path, error)) from None
            if schema != SCHEMA:
                raise Damaged("%s: it has schema %s, not %d" %
                              (path, schema, SCHEMA))
            yield found
