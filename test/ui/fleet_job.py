#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a job whose ranks are slow, as call logs for ncclreplay.

usage: fleet_job.py FAULT RANKS FOLDER [COMMUNICATOR]

A ring of ranks makes ten AllReduces a second over the network, each launched on
a CUDA stream. All ranks' kernels of a call end together. FAULT:

  level      nothing is wrong
  straggler  rank 1 comes 12 ms late to each call
  link       what rank 0 sends is eight times as long on the way
  slows      after 30 s, all calls take five times as long

A log of level, straggler and link has one second, to be played in a loop; one of
slows has two minutes. COMMUNICATOR is its id.
"""
import sys

from faulty_job import Rank, MS, NSTEPS, STEP_BYTES, PROXY_STEP, \
    SEND_GPU_WAIT, SEND_PEER_WAIT, SEND_WAIT, VICTIM

COLL, GROUP_API, COLL_API, KERNEL_LAUNCH = 2, 256, 512, 2048
GROUP_STARTS, GROUP_ENDS = 23, 24
PERIOD = 100 * MS
LATE = 12 * MS
ON_WIRE = MS // 4
NAMES = {"level": "a11", "straggler": "1a7e", "link": "114c", "slows": "510e5"}


class FleetRank(Rank):
    def launch(self, number):
        """Calls and launches an AllReduce; returns its handle."""
        group = self.start(GROUP_API, 0, " graph=0 depth=1")
        self.add("R", f"h={group} state={GROUP_STARTS}")
        api = self.start(
            COLL_API, group, " func=AllReduce count=1048576 dt=ncclFloat32"
            " root=0 stream=5000 graph=0")
        self.stop(api, 0)
        self.add("R", f"h={group} state={GROUP_ENDS}")
        self.stop(self.start(KERNEL_LAUNCH, group, " stream=5000"), 0)
        call = self.start(
            COLL, api, f" seq={number} func=AllReduce sb=1000 rb=2000"
            " count=1048576 root=0 dt=ncclFloat32 nch=1 nwarps=9 algo=RING"
            " proto=SIMPLE pgroup=0")
        self.stop(call, 0)
        self.stop(group, 0)
        return call

    def slow_send(self, operation, number, wire):
        step = self.start(PROXY_STEP, operation, f" step={number}", 1)
        self.state(step, SEND_GPU_WAIT)
        self.state(step, SEND_PEER_WAIT, STEP_BYTES)
        self.state(step, SEND_WAIT, STEP_BYTES)
        self.now += wire
        self.stop(step)

    def timed_call(self, number, begin, end, wire):
        self.now = begin
        call = self.launch(number)
        self.wake()
        sends = self.operation(call, True)
        receives = self.operation(call, False)
        for step in range(NSTEPS):
            self.slow_send(sends, step, wire)
            self.receive(receives, step)
        self.stop(sends)
        self.now = max(self.now, end)
        self.stop(receives)
        self.sleep()


def main():
    fault, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    comm = sys.argv[4] if len(sys.argv) > 4 else NAMES[fault]
    calls = 1200 if fault == "slows" else 10
    for number in range(count):
        rank = FleetRank(number, count, comm=comm, name=fault)
        for call in range(calls):
            begin = call * PERIOD + 2 * MS
            slower = 5 if fault == "slows" and call >= 300 else 1
            wire = ON_WIRE * slower
            if fault == "link" and number == 0:
                wire *= 8
            end = begin + 10 * MS * slower
            if fault == "straggler":
                end += LATE
                begin += LATE if number == VICTIM else 0
            rank.timed_call(call, begin, end, wire)
        # The loop lasts to the end of its last period.
        rank.now = calls * PERIOD
        rank.wake()
        rank.sleep()
        with open(f"{folder}/rank{number}.calllog", "w") as log:
            log.write("\n".join(rank.lines) + "\n")


if __name__ == "__main__":
    main()
