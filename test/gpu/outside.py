#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A PyTorch job that also communicates outside NCCL, as far as names tell.

Two ranks share one GPU, as in two_ranks.py. Between collectives of NCCL, the ranks
take turns, each alone on the GPU: ROUNDS times a kernel that spins for about 0.2 ms and
has a name like that of vLLM's all-reduce, and a matrix product. CUDA events tell the
spinning kernels' share of that time, which is nearly all that the process runs.

usage: outside.py run --out FOLDER [--kernel NAME] [--at-end COMMAND]
       outside.py check FOLDER      compares FOLDER/json with FOLDER/RANK.json

Without --kernel there are matrix products only. The COMMAND runs when all kernels are
done, and nearly all are reported. `run` leaves FOLDER/RANK.json.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

from cupti import run

ROUNDS = 1000
CYCLES = 400000
# CUPTI hands over its records by some 300 kernels, and each round has two.
REPORTED = ROUNDS - 150

# Its only work is to wait, so that it needs no compiler but the driver's.
PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry %s(.param .u64 cycles)
{
	.reg .u64 %%first, %%now, %%limit;
	.reg .pred %%again;
	ld.param.u64 %%limit, [cycles];
	mov.u64 %%first, %%clock64;
spin:
	mov.u64 %%now, %%clock64;
	sub.u64 %%now, %%now, %%first;
	setp.lt.u64 %%again, %%now, %%limit;
	@%%again bra spin;
	ret;
}
"""


class Kernel:
    """A kernel of this name, in the context that PyTorch uses."""

    def __init__(self, name):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        module = ctypes.c_void_p()
        self.function = ctypes.c_void_p()
        self.expect(self.cuda.cuModuleLoadData(
            ctypes.byref(module), ctypes.c_char_p((PTX % name).encode())))
        self.expect(self.cuda.cuModuleGetFunction(
            ctypes.byref(self.function), module, name.encode()))

    @staticmethod
    def expect(result):
        if result != 0:
            raise SystemExit("the driver returned %d" % result)

    def launch(self, stream):
        cycles = ctypes.c_uint64(CYCLES)
        arguments = (ctypes.c_void_p * 1)(
            ctypes.cast(ctypes.byref(cycles), ctypes.c_void_p))
        self.expect(self.cuda.cuLaunchKernel(
            self.function, 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(stream),
            arguments, None))


def take_turn(kernel, matrix):
    """Returns the kernels' time, and the time in all, in ms."""
    import torch
    events = []

    def mark():
        events.append(torch.cuda.Event(enable_timing=True))
        events[-1].record()

    mark()
    for _ in range(ROUNDS):
        if kernel:
            kernel.launch(torch.cuda.current_stream().cuda_stream)
        mark()
        torch.mm(matrix, matrix)
        mark()
    torch.cuda.synchronize()
    return (sum(events[i].elapsed_time(events[i + 1])
                for i in range(0, len(events) - 1, 2)) if kernel else 0,
            events[0].elapsed_time(events[-1]))


def work(rank, options):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    store = dist.TCPStore("127.0.0.1", options.port, 2, rank == 0)
    dist.init_process_group("nccl", rank=rank, world_size=2, store=store)
    buffer = torch.ones(1 << 18, device="cuda")
    matrix = torch.randn(2048, 2048, device="cuda")
    kernel = Kernel(options.kernel) if options.kernel else None
    # The first product loads a library.
    torch.mm(matrix, matrix)
    if kernel:
        kernel.launch(torch.cuda.current_stream().cuda_stream)

    def meet(name):
        """Waits for the other rank on the host: no kernel of NCCL waits."""
        torch.cuda.synchronize()
        store.set("%s%d" % (name, rank), "1")
        store.wait(["%s%d" % (name, 1 - rank)])

    def reduce():
        for _ in range(10):
            dist.all_reduce(buffer)
        torch.cuda.synchronize()

    meet("begin")
    reduce()
    meet("reduced")
    if rank == 1:
        store.wait(["turn"])
    outside, total = take_turn(kernel, matrix)
    if rank == 0:
        store.set("turn", "1")
    meet("turned")
    reduce()
    with open("%s/%d.json" % (options.out, rank), "w") as file:
        json.dump({"pid": os.getpid(), "outside_ms": outside,
                   "total_ms": total}, file)
    meet("end")
    if rank == 0 and options.at_end:
        # The plugin asks CUPTI for full buffers each second.
        time.sleep(2.5)
        subprocess.run(options.at_end, shell=True, check=False)
    meet("over")
    dist.destroy_process_group()


def check(folder):
    good = True
    with open(folder + "/json") as file:
        ranks = json.load(file)["ranks"]
    for number in range(2):
        with open("%s/%d.json" % (folder, number)) as file:
            told = json.load(file)
        own = [rank["cupti"] for rank in ranks if rank["pid"] == told["pid"]]
        kernels, outside_ns, busy_ns = (
            sum(cupti[key] or 0 for cupti in own)
            for key in ("outside_kernels", "outside_busy_ns", "busy_ns"))
        lost = sum(cupti["lost"] or 0 for cupti in own)
        share = outside_ns / max(1, busy_ns)
        by_events = told["outside_ms"] / told["total_ms"]
        print("| rank %d: %d kernels outside NCCL, %.3f ms of %.3f ms: %.2f %%;"
              " by events %.3f ms of %.3f ms: %.2f %%; %d lost" %
              (number, kernels, outside_ns / 1e6, busy_ns / 1e6, 100 * share,
               told["outside_ms"], told["total_ms"], 100 * by_events, lost))
        good &= lost == 0 and abs(share - by_events) <= 0.2 * by_events
        good &= busy_ns > 0
        good &= (REPORTED <= kernels <= ROUNDS + 1
                 if told["outside_ms"] > 0 else kernels == 0)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--out", required=True)
    runs.add_argument("--kernel")
    runs.add_argument("--at-end")
    runs.add_argument("--port", type=int, default=29519)
    checks = commands.add_parser("check")
    checks.add_argument("folder")
    options = parser.parse_args()
    if options.command == "run":
        return run(options, work)
    return check(options.folder)


if __name__ == "__main__":
    sys.exit(main())
