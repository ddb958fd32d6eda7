#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads some thousand damaged files with the module for Python, the same ones in
every run.

  test/fuzz/python_module.py FOLDER RECORDING LINES

FOLDER has the module. RECORDING, of any job, is made small first, and is damaged
both as it is and compressed; LINES is the same job as lines of JSON. Each file must
be read, or end in Damaged, within DEADLINE_S and without much memory.

Before Python 3.14 there is no compression.zstd: then a stand-in for the part that
the module uses calls libzstd. Without that, nothing is compressed.
"""
import collections
import ctypes
import enum
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import types

ROUNDS = 3000
DEADLINE_S = 20
MEMORY_BYTES = 256 << 20
RECORDS_KEPT = 8
RECORD_BYTES = 64
FRAME = b"\x28\xb5\x2f\xfd\x00"  # the beginning of a frame of Zstandard


class Buffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer."""
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t),
                ("place", ctypes.c_size_t)]


def load_zstd():
    """Returns libzstd, or None; makes compression.zstd of it where Python has
    none."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    library.ZSTD_decompressStream.restype = ctypes.c_size_t
    library.ZSTD_compress.restype = ctypes.c_size_t
    try:
        from compression import zstd as _
        return library
    except ImportError:
        pass

    class ZstdError(Exception):
        pass

    class DecompressionParameter(enum.IntEnum):
        window_log_max = 100

    class ZstdDecompressor:
        def __init__(self, options):
            self.context = ctypes.c_void_p(library.ZSTD_createDCtx())
            for option, value in options.items():
                library.ZSTD_DCtx_setParameter(self.context, int(option), value)

        def __del__(self):
            library.ZSTD_freeDCtx(self.context)

        def decompress(self, data, max_length):
            room = ctypes.create_string_buffer(max_length)
            source = Buffer(data, len(data), 0)
            target = Buffer(ctypes.addressof(room), max_length, 0)
            left = 1
            while left and source.place < source.size and \
                    target.place < target.size:
                left = library.ZSTD_decompressStream(
                    self.context, ctypes.byref(target), ctypes.byref(source))
                if library.ZSTD_isError(ctypes.c_size_t(left)):
                    raise ZstdError("the frame is damaged")
            return room.raw[:target.place]

    zstd = types.ModuleType("compression.zstd")
    zstd.ZstdError = ZstdError
    zstd.DecompressionParameter = DecompressionParameter
    zstd.ZstdDecompressor = ZstdDecompressor
    sys.modules["compression"] = types.ModuleType("compression")
    sys.modules["compression"].zstd = zstd
    sys.modules["compression.zstd"] = zstd
    return library


ZSTD = load_zstd()
sys.path.insert(0, sys.argv[1])
import ncclstat  # noqa: E402  after its compression.zstd


# --- Files -------------------------------------------------------------------

def packed(payload):
    room = ctypes.create_string_buffer(len(payload) + 1024)
    size = ZSTD.ZSTD_compress(room, ctypes.c_size_t(len(room)), payload,
                              ctypes.c_size_t(len(payload)), 1)
    return room.raw[:size]


def chunk(kind, rank, payload, size):
    head = ncclstat.CHUNK.pack(ncclstat.MAGIC, kind, rank, len(payload), size,
                               0, 0, 0, 0)
    return head + payload + bytes(-len(payload) % 64)


def written(chunks, pack):
    file = b""
    for kind, rank, payload in chunks:
        stored = packed(payload) if pack else payload
        if len(stored) >= len(payload):
            stored = payload
        file += chunk(kind, rank, stored, len(payload))
    return file


def small(path):
    """Returns the first chunk of each kind that the module reads, of each rank,
    with few records."""
    kept = collections.OrderedDict()
    for kind, rank, payload in ncclstat.chunks(path):
        if kind == ncclstat.RECORDS:
            if len(payload) < 64 + RECORDS_KEPT * RECORD_BYTES:
                continue
            payload = bytearray(payload[:64 + RECORDS_KEPT * RECORD_BYTES])
            struct.pack_into("<Q", payload, 16, RECORDS_KEPT)
        elif kind not in (ncclstat.FILE, ncclstat.TABLES, ncclstat.RANK):
            continue
        kept.setdefault((kind, rank), (kind, rank, bytes(payload)))
    return list(kept.values())


# --- Damage ------------------------------------------------------------------

def a_number():
    return random.choice((
        random.randrange(32), (1 << 64) - 1 - random.randrange(32),
        1 << random.randrange(64), random.getrandbits(64)))


def damaged(data):
    data = bytearray(data)
    for _ in range(random.randrange(4)):
        place = random.randrange(len(data))
        way = random.randrange(5)
        if way == 0:
            data[place] ^= 1 << random.randrange(8)
        elif way == 1:
            del data[place:place + random.randrange(200)]
        elif way == 2:
            data[place:place] = data[:random.randrange(200)]
        else:
            place &= ~7
            number = a_number().to_bytes(8, "little")
            data[place:place + 8] = number[:random.choice((1, 4, 8))] + \
                data[place:place + 8][random.choice((1, 4, 8)):]
        if not data:
            break
    if random.randrange(8) == 0:
        del data[random.randrange(len(data) + 1):]
    return bytes(data)


def damaged_recording(chunks):
    pack = ZSTD is not None and random.randrange(2) == 0
    chunks = [(kind, rank, damaged(payload)) if random.randrange(4) == 0
              else (kind, rank, payload) for kind, rank, payload in chunks]
    file = written(chunks, pack)
    return damaged(file) if random.randrange(2) else file


def hostile_recordings(chunks):
    """Yields files that damage by chance hardly makes."""
    for size, count in ((RECORD_BYTES, 1 << 62), (0, 1 << 62), (1, 1 << 62)):
        yield written([
            (kind, rank, payload[:4] + struct.pack("<IQQ", size, 0, count) +
             payload[24:]) if kind == ncclstat.RECORDS else
            (kind, rank, payload) for kind, rank, payload in chunks], False)
    if ZSTD:
        # It unpacks to 1 GiB of zeros, by blocks of 128 KiB; it asks for a
        # window of 64 MiB.
        for frame in FRAME + b"\x50" + b"\x02\x00\x10\x00" * 8192, \
                FRAME + b"\x80\x01\x00\x00":
            yield chunk(ncclstat.TABLES, 0, frame, max(len(frame) + 1, 1000000))
    yield written([(ncclstat.TABLES, 0, b"".join(
        b"flag %d x\n" % i for i in range(60000)) + chunks[1][2])] +
        [(kind, rank, payload[:16] + struct.pack("<Q", 16000) + payload[24:64] +
          payload[64:128] * 16000) if kind == ncclstat.RECORDS else
         (kind, rank, payload) for kind, rank, payload in chunks
         if kind != ncclstat.TABLES], False)


def hostile_lines():
    yield b"[" * 1000000
    yield b"1" * 100000
    yield b"[]\n"
    yield b'{"schema":\xff}\n'
    yield b"\x00\xff\xfe\n"


# --- Reading -----------------------------------------------------------------

def late(_number, _frame):
    raise TimeoutError("it is read for %d s" % DEADLINE_S)


def outcome(read, path, data):
    """Reads a file; returns how many things it has, or "damaged"."""
    with open(path, "wb") as file:
        file.write(data)
    signal.alarm(DEADLINE_S)
    try:
        return sum(1 for _ in read(path))
    except ncclstat.Damaged:
        return "damaged"
    finally:
        signal.alarm(0)


def main():
    chunks = small(sys.argv[2])
    with open(sys.argv[3], "rb") as file:
        lines = b"".join(file.readline() for _ in range(20))
    random.seed(1)
    signal.signal(signal.SIGALRM, late)
    whole = RECORDS_KEPT * sum(kind == ncclstat.RECORDS for kind, _, _ in chunks)
    jobs = [(ncclstat.records, data) for data in hostile_recordings(chunks)]
    jobs += [(ncclstat.lines, data) for data in hostile_lines()]
    used = int(open("/proc/self/statm").read().split()[0]) * \
        resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES,) * 2)
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for pack in (False, True)[:1 + (ZSTD is not None)]:
            found = outcome(ncclstat.records, path, written(chunks, pack))
            assert found == whole > 0, (found, whole)
        for read, data in jobs:
            outcomes[outcome(read, path, data)] += 1
        for _ in range(ROUNDS):
            outcomes[outcome(ncclstat.records, path,
                             damaged_recording(chunks))] += 1
            if random.randrange(8) == 0:
                outcomes[outcome(ncclstat.lines, path, damaged(lines))] += 1
    print(outcomes.most_common(6))
    assert outcomes["damaged"] > ROUNDS / 4 and outcomes[whole] > ROUNDS / 50


if __name__ == "__main__":
    main()
