#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a recording according to the manual page ncclstat-record(5) alone.

Usage: record_oracle.py [--cut] FILE...

The FILEs are those of one recording, in their order. The script checks what
the manual promises and prints a line "what: number" for each thing that it
counted. If something is wrong, it prints that on standard error and exits with
status 1. With --cut the last file may end anywhere; its complete chunks are
counted.

The script is independent of ncclstat: it must share no code with the program.
Checksums and compression come from the libraries xxhash and zstd; if these are
missing, the exit status is 77.
"""

import ctypes
import struct
import sys

CHUNK = struct.Struct("<QIIQQQQQQ")
TYPES = {
    1: "file",
    2: "tables",
    3: "rank",
    4: "state",
    5: "records",
    6: "clock",
    7: "index",
    8: "end",
    9: "padding",
}
NO_RANK = 0xFFFFFFFF
KEY, LAST, GONE, STOPPED, REMOVED = 1, 2, 4, 8, 16

try:
    XXHASH = ctypes.CDLL("libxxhash.so.0")
    ZSTD = ctypes.CDLL("libzstd.so.1")
except OSError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_char_p,
    ctypes.c_size_t,
]


class Wrong(Exception):
    """A file that is not as the manual says."""


def expect(condition, what):
    """Raises Wrong(what) unless the condition holds."""
    if not condition:
        raise Wrong(what)


def checksum(data):
    """Returns the 64-bit XXH3 of the data."""
    return XXHASH.XXH3_64bits(data, len(data))


def unpack(data, size):
    """Decompresses one frame of Zstandard to `size` bytes."""
    room = ctypes.create_string_buffer(size)
    expect(ZSTD.ZSTD_decompress(room, size, data, len(data)) == size, "zstd")
    return room.raw


class Chunk:
    """A chunk, with its payload unpacked."""

    def __init__(self, data, offset):
        head = data[offset : offset + 64]
        expect(len(head) == 64, "a chunk is cut")
        (
            magic,
            self.type,
            self.rank,
            size,
            unpacked,
            self.begin,
            self.end,
            payload_sum,
            head_sum,
        ) = CHUNK.unpack(head)
        expect(magic == int.from_bytes(b"NCSchunk", "little"), "magic")
        expect(checksum(head[:56]) == head_sum, "a header's checksum")
        expect(size <= unpacked < 1 << 20, "lengths")
        self.offset = offset
        self.size = size
        self.next = offset + 64 + (size + 63) // 64 * 64
        payload = data[offset + 64 : offset + 64 + size]
        expect(len(data) >= self.next, "a chunk is cut")
        expect(checksum(payload) == payload_sum, "a payload's checksum")
        expect(not any(data[offset + 64 + size : self.next]), "the gap")
        self.packed = size != unpacked
        self.payload = unpack(payload, unpacked) if self.packed else payload


class Rank:
    """A segment: its header, its rings, its latest state."""

    def __init__(self, chunk):
        header_bytes, path_bytes = struct.unpack_from("<II", chunk.payload)
        header = chunk.payload[64 : 64 + header_bytes]
        self.path = chunk.payload[64 + header_bytes :].decode()
        expect(len(self.path) == path_bytes, "a path's length")
        expect(header[:8] == b"NCCLSTAT", "a segment's magic")
        (self.segment_bytes,) = struct.unpack_from("<Q", header, 24)
        self.lanes = struct.unpack_from("<QII", header, 32)
        self.rings = struct.unpack_from("<QII", header, 96)
        self.call_rings = (0, 0, 0)  # before minor version 10
        if header_bytes >= 1344:
            self.call_rings = struct.unpack_from("<QII", header, 1320)
        self.keys = {}
        self.state = b""
        self.flags = 0
        self.next = {}  # by lane: the position that comes next


class Recording:
    """A recording: all its files, read one after the other."""

    def __init__(self):
        self.counts = dict.fromkeys([*TYPES.values(), "unknown"], 0)
        self.counts.update({"lost": 0, "missed": 0, "packed": 0, "ranks": 0})
        self.counts.update({"states": 0, "keys": 0, "gone": 0, "removed": 0})
        self.records = 0
        self.places = {}  # by path: what its rings had in the file before
        self.ranks = []
        self.ident = None
        self.parts = None

    def begin_file(self, chunk, number):
        """Takes the first chunk of a file."""
        version, order = struct.unpack_from("<II", chunk.payload)
        expect(version >> 16 == 1, "the format's version")
        expect(order == 0x01020304, "the byte order")
        ident = chunk.payload[16:32]
        expect(self.ident in (None, ident), "two recordings")
        self.ident = ident
        expect(
            struct.unpack_from("<Q", chunk.payload, 32)[0] == number,
            "the file's number",
        )
        for rank in self.ranks:
            self.places[rank.path] = rank.next
        self.ranks = []

    def add_rank(self, chunk):
        """Adds a segment that is recorded from here on."""
        expect(chunk.rank == len(self.ranks), "a rank's number")
        rank = Rank(chunk)
        rank.next = self.places.get(rank.path, {})
        if rank.path not in self.places:
            self.counts["ranks"] += 1
        self.ranks.append(rank)

    def add_records(self, chunk):
        """Adds records; positions must continue, except for lost records."""
        lane, size, first, count, lost = struct.unpack_from(
            "<IIQQQ", chunk.payload
        )
        rank = self.ranks[chunk.rank]
        expect(size == 64, "a record's size")
        expect(len(chunk.payload) == 64 + count * 64, "a count of records")
        begin = rank.next.get(lane, first - lost)
        expect(begin + lost == first, "records are missing")
        if lane not in rank.next:
            self.counts["missed"] += begin
        for i in range(count):
            start, position = struct.unpack_from(
                "<QI", chunk.payload, 64 + i * 64
            )
            expect(position == (first + i) & 0xFFFFFFFF, "a position")
            expect(start != 0, "a record's start")
        rank.next[lane] = first + count
        self.records += count
        self.counts["lost"] += lost

    def add_state(self, chunk):
        """Adds a part of a state: lines that change the key state, or zeros."""
        taken, key_at, key_taken, total, part, flags, runs = struct.unpack_from(
            "<QQQQIII", chunk.payload
        )
        rank = self.ranks[chunk.rank]
        expect(taken == chunk.begin == chunk.end, "a state's time")
        expect(total == rank.segment_bytes, "a segment's length")
        if part == 0:
            self.counts["states"] += 1
            expect(self.parts is None, "a state without its last part")
            if flags & KEY:
                self.counts["keys"] += 1
                expect(key_at == chunk.offset, "a key's offset")
                rank.state = bytearray(total)
            else:
                expect(key_at in rank.keys, "a state without its key")
                rank.state = bytearray(rank.keys[key_at][1])
            self.parts = [chunk.rank, key_at, 0]
        expect(self.parts == [chunk.rank, key_at, part], "a part's number")
        at = 64 + (runs * 8 + 63) // 64 * 64
        for i in range(runs):
            line, lines = struct.unpack_from("<II", chunk.payload, 64 + i * 8)
            piece = chunk.payload[at : at + lines * 64]
            expect(len(piece) == lines * 64 and lines > 0, "a run")
            rank.state[line * 64 : (line + lines) * 64] = piece
            at += lines * 64
        expect(at == len(chunk.payload), "a state's length")
        del rank.state[total:]
        self.parts[2] += 1
        if flags & LAST:
            self.parts = None
            if flags & KEY:
                rank.keys[key_at] = (taken, bytes(rank.state))
            expect(rank.keys[key_at][0] == key_taken, "a key's time")
            expect(rank.state[:8] == b"NCCLSTAT", "a state's magic")
        rank.flags = flags

    def take(self, chunk, number):
        """Takes a chunk of any type."""
        name = TYPES.get(chunk.type, "unknown")
        self.counts[name] += 1
        self.counts["packed"] += chunk.packed
        if name == "file":
            self.begin_file(chunk, number)
        elif name == "rank":
            self.add_rank(chunk)
        elif name == "records":
            self.add_records(chunk)
        elif name == "state":
            self.add_state(chunk)
        elif name == "tables":
            text = chunk.payload.decode()
            expect("\nevent 4 proxy_step\n" in text, "the tables")
            expect("field 0 8 start\n" in text, "the tables")
        elif name == "padding":
            expect(not any(chunk.payload), "padding")
        elif name == "clock":
            before, realtime, after = struct.unpack_from("<QQQ", chunk.payload)
            expect(before <= after and realtime > before, "a clock's reading")

    def finish_file(self, chunks, size, before):
        """Checks the end, and the indexes before it, back to the first."""
        end = chunks[-1]
        expect(TYPES.get(end.type) == "end" and end.next == size, "the end")
        expect(end.offset == size - 128, "where the end is")
        index, count, records, lost, states = struct.unpack_from(
            "<QQQQQ", end.payload
        )
        expect(count == len(chunks) - 1, "how many chunks there are")
        expect(records == self.records - before[0], "how many records")
        expect(lost == self.counts["lost"] - before[1], "how many lost")
        expect(states == self.counts["states"] - before[2], "how many states")
        by_offset = {chunk.offset: chunk for chunk in chunks}
        seen = set()
        while index:
            chunk = by_offset[index]
            expect(TYPES.get(chunk.type) == "index", "an index")
            previous, count, length = struct.unpack_from("<QII", chunk.payload)
            for i in range(count):
                offset, stored, begin, last = struct.unpack_from(
                    "<QQQQ", chunk.payload, 64 + i * length
                )
                kind, rank = struct.unpack_from(
                    "<II", chunk.payload, 64 + i * length + length - 8
                )
                entry = by_offset[offset]
                expect(
                    (stored, begin, last, kind, rank)
                    == (
                        entry.size,
                        entry.begin,
                        entry.end,
                        entry.type,
                        entry.rank,
                    ),
                    "an index's entry",
                )
                seen.add(offset)
            index = previous
        for chunk in chunks:
            if TYPES.get(chunk.type) not in ("index", "padding", "end"):
                expect(chunk.offset in seen, "a chunk that no index has")

    def read(self, path, number, cut):
        """Reads one file."""
        with open(path, "rb") as file:
            data = file.read()
        before = self.records, self.counts["lost"], self.counts["states"]
        chunks, offset = [], 0
        while offset < len(data):
            try:
                chunk = Chunk(data, offset)
            except Wrong as wrong:
                if cut and "cut" in str(wrong):
                    self.parts = None
                    return
                raise
            self.take(chunk, number)
            chunks.append(chunk)
            offset = chunk.next
        expect(chunks or cut, "nothing in it")
        if not cut or (chunks and TYPES.get(chunks[-1].type) == "end"):
            self.finish_file(chunks, len(data), before)

    def published(self):
        """Returns the records published in all lanes, by the latest states."""
        total = 0
        for rank in self.ranks:
            lanes = rank.rings[1] - rank.call_rings[1]
            for (offset, _, stride), count in (
                (rank.rings, lanes),
                (rank.call_rings, rank.call_rings[1]),
            ):
                for lane in range(count if rank.state else 0):
                    (head,) = struct.unpack_from(
                        "<Q", rank.state, offset + lane * stride
                    )
                    total += head
            self.counts["gone"] += bool(rank.flags & GONE)
            self.counts["removed"] += bool(rank.flags & REMOVED)
        return total


def main():
    """Reads all files and prints the counts."""
    paths = sys.argv[1:]
    cut = "--cut" in paths
    if cut:
        paths.remove("--cut")
    recording = Recording()
    for number, path in enumerate(paths):
        try:
            recording.read(path, number, cut and path == paths[-1])
        except (Wrong, KeyError, IndexError, struct.error) as wrong:
            print(f"{path}: {wrong!r}", file=sys.stderr)
            sys.exit(1)
    recording.counts["published"] = recording.published()
    for name, count in recording.counts.items():
        print(f"{'chunks of ' if name == 'records' else ''}{name}: {count}")
    print(f"records: {recording.records}")


if __name__ == "__main__":
    main()
