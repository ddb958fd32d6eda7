#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real NCCL job for the plugin to watch: two ranks that share one GPU.

Each process gets its own NCCL_HOSTID, so that NCCL takes them for two nodes
and every byte goes through the proxy and a socket. Runs collectives of all
kinds for SECONDS, then, if asked, has rank 1 stay away for STALL seconds, like a
stuck rank. Needs PyTorch; must not know ncclstat.

usage: two_ranks.py [--seconds S] [--stall S] [--graph] [--p2p]
                    [--clock-ahead S] [--late MS]

With --late rank 1 sleeps MS milliseconds before each round. With --clock-ahead the
CLOCK_MONOTONIC of rank 1 is S seconds ahead of that of rank 0, by a time
namespace, like the clock of another host. That needs root.
"""
import argparse
import ctypes
import os
import sys
import time

CLONE_NEWTIME = 0x80


def work(rank, options):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=rank, world_size=2,
                            init_method="tcp://127.0.0.1:%d" % options.port)
    sizes = [256, 1 << 18, 1 << 22]
    buffers = [torch.ones(size, device="cuda") for size in sizes]
    halves = torch.empty(1 << 19, device="cuda")
    whole = torch.empty(1 << 20, device="cuda")
    calls = 0

    def step():
        nonlocal calls
        if rank == 1:
            time.sleep(options.late / 1000)
        for buffer in buffers:
            dist.all_reduce(buffer)
        dist.broadcast(buffers[1], 0)
        dist.all_gather_into_tensor(whole, halves)
        dist.reduce_scatter_tensor(halves, whole)
        calls += 6
        if options.p2p:
            # Blocking sends and receives, one after the other.
            if rank == 0:
                dist.send(buffers[1], 1)
                dist.recv(buffers[1], 1)
            else:
                dist.recv(buffers[1], 0)
                dist.send(buffers[1], 0)
            calls += 2

    end = time.monotonic() + options.seconds
    agree = torch.zeros(1, device="cuda")
    while True:
        step()
        # All ranks must end in the same round.
        agree.fill_(1.0 if time.monotonic() > end else 0.0)
        dist.all_reduce(agree)
        calls += 1
        torch.cuda.synchronize()
        if agree.item() > 0:
            break
    if options.graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(4):
                dist.all_reduce(buffers[1])
        for _ in range(5):
            graph.replay()
            dist.all_reduce(buffers[0])
        torch.cuda.synchronize()
        # NCCL waits in ncclCommDestroy while a graph exists.
        graph.reset()
        del graph
    if options.stall > 0:
        if rank == 1:
            time.sleep(options.stall)
        dist.all_reduce(buffers[2])
        calls += 1
        torch.cuda.synchronize()
    print("rank %d: %d calls, NCCL %s" %
          (rank, calls, ".".join(map(str, torch.cuda.nccl.version()))),
          flush=True)
    dist.destroy_process_group()


def set_clock_ahead(seconds):
    """Sets the clock of processes that this one starts from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWTIME) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with open("/proc/self/timens_offsets", "w") as offsets:
        offsets.write("monotonic %d 0\n" % seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--stall", type=float, default=0)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--p2p", action="store_true")
    parser.add_argument("--late", type=float, default=0)
    parser.add_argument("--clock-ahead", type=int, default=0)
    parser.add_argument("--port", type=int, default=29511)
    options = parser.parse_args()
    children = []
    for rank in range(2):
        if rank == 1 and options.clock_ahead:
            set_clock_ahead(options.clock_ahead)
        child = os.fork()
        if child == 0:
            os.environ.update(NCCL_HOSTID="host%d" % rank,
                              NCCL_SOCKET_IFNAME="lo", NCCL_NET="Socket",
                              NCCL_IB_DISABLE="1")
            work(rank, options)
            sys.stdout.flush()
            sys.exit(0)
        children.append(child)
    failed = 0
    for child in children:
        failed |= os.waitpid(child, 0)[1]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
