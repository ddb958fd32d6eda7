# SPDX-License-Identifier: MIT
"""Reads Parquet files as ncclstat writes them, by the definition of the format
and nothing else: no library but libzstd, no code of the program. Any deviation
from the format that it knows is an AssertionError.

    read(path) -> Table
"""
import collections
import ctypes
import ctypes.util
import struct

zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                 ctypes.c_char_p, ctypes.c_size_t]

BOOLEAN, INT32, INT64, DOUBLE, TEXT = 0, 1, 2, 5, 6
FORMATS = {INT32: "i", INT64: "q", DOUBLE: "d"}
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
ZSTD = 6
DATA_PAGE, DICTIONARY_PAGE = 0, 2

Table = collections.namedtuple("Table", "names columns notes row_groups rows")


def unpack(data, size):
    room = ctypes.create_string_buffer(size or 1)
    found = zstd.ZSTD_decompress(room, size, data, len(data))
    assert found == size, (found, size)
    return room.raw[:size]


class Thrift:
    """The compact protocol; a struct becomes a dict by field number."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (3, 4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            assert self.at <= len(self.data)
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            assert last not in fields
            fields[last] = self.value(head & 15)


def hybrid(data, at, end, bits, count):
    """Runs and packed groups of `bits` bits; returns `count` values."""
    values = []
    width = (bits + 7) // 8
    while len(values) < count:
        thrift = Thrift(data, at)
        head = thrift.varint()
        at = thrift.at
        if head & 1:
            size = (head >> 1) * bits
            number = int.from_bytes(data[at:at + size], "little")
            assert at + size <= end
            at += size
            mask = (1 << bits) - 1
            # Shifting a long number for each value takes quadratic time.
            text = data[at - size:at]
            for group in range(head >> 1):
                number = int.from_bytes(
                    text[group * bits:(group + 1) * bits], "little")
                values.extend(number >> i * bits & mask for i in range(8))
        else:
            value = int.from_bytes(data[at:at + width], "little")
            at += width
            values.extend([value] * (head >> 1))
    assert at <= end
    return values[:count]


def plain(kind, data, at, count):
    if kind in FORMATS:
        size = struct.calcsize(FORMATS[kind]) * count
        assert at + size == len(data)
        return list(struct.unpack_from(f"<{count}{FORMATS[kind]}", data, at))
    if kind == BOOLEAN:
        return [bool(data[at + i // 8] >> i % 8 & 1) for i in range(count)]
    values = []
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        assert at + 4 + size <= len(data)
        values.append(data[at + 4:at + 4 + size].decode("utf-8", "strict"))
        at += 4 + size
    assert at == len(data)
    return values


def page(data, at):
    thrift = Thrift(data, at)
    header = thrift.struct()
    packed = data[thrift.at:thrift.at + header[3]]
    assert len(packed) == header[3]
    return header, unpack(packed, header[2]), thrift.at + header[3]


def chunk(data, meta, rows):
    """The values of a column chunk, None for null."""
    kind, dictionary = meta[1], None
    begun = at = meta.get(11, meta[9])
    assert meta[4] == ZSTD and meta[5] == rows
    if 11 in meta:
        header, body, at = page(data, at)
        assert header[1] == DICTIONARY_PAGE and header[7][2] == PLAIN
        dictionary = plain(kind, body, 0, header[7][1])
    assert at == meta[9]
    header, body, at = page(data, at)
    assert at - begun == meta[7]
    assert header[1] == DATA_PAGE and header[5][1] == rows
    size, = struct.unpack_from("<I", body, 0)
    known = hybrid(body, 4, 4 + size, 1, rows)
    count, at = sum(known), 4 + size
    if dictionary is None:
        assert header[5][2] == PLAIN
        values = plain(kind, body, at, count)
    else:
        assert header[5][2] == RLE_DICTIONARY
        values = [dictionary[i] for i in
                  hybrid(body, at + 1, len(body), body[at], count)]
    statistics = meta[12]
    assert statistics[3] == rows - count
    if kind in (INT32, INT64) and count:
        for field, value in ((5, max(values)), (6, min(values))):
            assert struct.unpack("<" + FORMATS[kind],
                                 statistics[field])[0] == value
    values = iter(values)
    return [next(values) if is_known else None for is_known in known]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == data[-4:] == b"PAR1"
    size, = struct.unpack_from("<I", data, len(data) - 8)
    thrift = Thrift(data, len(data) - 8 - size)
    footer = thrift.struct()
    assert thrift.at == len(data) - 8
    schema = footer[2][1:]
    assert footer[2][0][5] == len(schema) == len(footer[7])
    assert all(column[3] == 1 for column in schema)
    assert all((column[1] == TEXT) == (column.get(6) == 0)
               for column in schema)
    # Only dates have a logical type: a TIMESTAMP in UTC, in NANOS.
    assert all((column.get(10) is not None) == column[4].endswith(b"_utc")
               for column in schema)
    assert all(column[1] == INT64 and column[10] == {8: {1: True, 2: {3: {}}}}
               for column in schema if 10 in column)
    names = [column[4].decode() for column in schema]
    columns = {name: [] for name in names}
    for group in footer[4]:
        assert len(group[1]) == len(names)
        for column, name in zip(group[1], names):
            meta = column[3]
            assert meta[3] == [name.encode()]
            columns[name] += chunk(data, meta, group[3])
        key = names[group[4][0][1]]
        times = columns[key][-group[3]:]
        assert times == sorted(times), f"{key} is not sorted"
    assert all(len(values) == footer[3] for values in columns.values())
    notes = {pair[1].decode(): pair[2].decode() for pair in footer[5]}
    return Table(names, columns, notes, len(footer[4]), footer[3])
