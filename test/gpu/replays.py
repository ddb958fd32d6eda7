#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A decode loop in a CUDA graph, as servers run it: layers with two multiplications
and two AllReduces each, tensor parallel, in bf16.

A process a GPU. Prints for each rank the time of a replay on the GPU, that of a graph
launch on the host, and whether the sums are right: "rank 0 replay_us 812.3 launch_us
9.1 right". With --hold R:N:S rank R waits S seconds before replay N, with --busy its
GPU computes for about so long. Must not know ncclstat.
"""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing


CYCLES_A_SECOND = 1.9e9  # of an H200's clock, about


def layers_of(options, rank, world):
    torch.manual_seed(rank)
    width = options.hidden // world
    scale = options.hidden ** -0.5
    return [(torch.randn(options.hidden, width, device="cuda",
                         dtype=torch.bfloat16) * scale,
             torch.randn(width, options.hidden, device="cuda",
                         dtype=torch.bfloat16) * scale)
            for _ in range(options.layers)]


def step(x, layers):
    for first, second in layers:
        for _ in range(2):
            y = (x @ first) @ second
            dist.all_reduce(y)
            x = torch.nn.functional.rms_norm(y, y.shape[-1:])
    return x


def median(values):
    return sorted(values)[len(values) // 2]


def run(rank, options):
    torch.cuda.set_device(rank % torch.cuda.device_count())
    dist.init_process_group("nccl", rank=rank, world_size=options.ranks,
                            init_method="tcp://127.0.0.1:%d" % options.port)
    layers = layers_of(options, rank, options.ranks)
    torch.manual_seed(99)
    x = torch.randn(options.batch, options.hidden, device="cuda",
                    dtype=torch.bfloat16)
    for _ in range(3):
        expected = step(x, layers)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = step(x, layers)
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    replays, launches = [], []
    hold, busy = ([float(part) for part in option.split(":")]
                  for option in (options.hold, options.busy))
    number = 0
    for _ in range(options.rounds):
        dist.barrier()
        torch.cuda.synchronize()
        begin.record()
        for _ in range(options.replays):
            if hold[:2] == [rank, number]:
                time.sleep(hold[2])
            if busy[:2] == [rank, number]:
                torch.cuda._sleep(int(busy[2] * CYCLES_A_SECOND))
            since = time.perf_counter()
            graph.replay()
            launches.append(time.perf_counter() - since)
            number += 1
        end.record()
        end.synchronize()
        replays.append(begin.elapsed_time(end) * 1e3 / options.replays)
    right = torch.allclose(result, expected, rtol=0.1, atol=0.1)
    print("rank %d replay_us %.2f launch_us %.2f %s" % (
        rank, median(replays), median(launches) * 1e6,
        "right" if right else "wrong"), flush=True)
    dist.barrier()
    graph.reset()
    dist.destroy_process_group()
    sys.exit(not right)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--port", type=int, default=29533)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--hold", default="-1:0:0")
    parser.add_argument("--busy", default="-1:0:0")
    options = parser.parse_args()
    torch.multiprocessing.spawn(run, (options,), nprocs=options.ranks)
