#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fake RAS service of NCCL for one question: prints its port, then answers
connections in one way until it is killed.

  ras_server.py well|slow|huge|garbage|old|mute COMMUNICATOR-ID PORT

With PORT 0 it takes any.
"""
import json
import socket
import sys
import time

way, comm, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def rank(number, count):
    return {"rank": number, "host": "10.0.0.%d" % number,
            "collective_counts": {"AllReduce": count, "Broadcast": 7}}


status = json.dumps({"communicators": [
    {"hash": "0x1", "ranks": [rank(9, 1)], "missing_ranks": []},
    {"hash": "0x" + comm, "ranks": [rank(0, 42), rank(1, 41)],
     "missing_ranks": [{"rank": 2, "host": "10.0.0.3", "status": {}}]}]})


def serve(client):
    if way == "mute":
        time.sleep(3)
        return
    for line in client.makefile("r"):
        if line.startswith("CLIENT PROTOCOL"):
            client.sendall(b"SERVER PROTOCOL 2\n")
        elif line.startswith("TIMEOUT"):
            client.sendall(b"OK\n")
        elif line.startswith("SET FORMAT"):
            client.sendall(b"ERROR: Unknown command\n" if way == "old"
                           else b"OK\n")
        elif line.startswith("VERBOSE STATUS"):
            if way == "slow":
                for byte in status.encode():
                    client.sendall(bytes([byte]))
                    time.sleep(0.05)
            elif way == "huge":
                for _ in range(100):
                    client.sendall(b"[" * (1 << 20))
            elif way == "garbage":
                client.sendall(b"\xff\x00{]\n")
            else:
                client.sendall(status.encode())
            return


listener = socket.create_server(("127.0.0.1", port))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    try:
        serve(connection)
    except OSError:
        pass
    connection.close()
