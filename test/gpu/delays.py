#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A short job with one rank late by a known time, for capture.sh.

`calls`: 12 AllReduces of 4 MB, each waited for; the late rank sleeps before every
second one, 6 times. `training`: 8 steps of a small transformer with
DistributedDataParallel, each waited for; the late rank sleeps before each step.
`pipeline`: 8 steps of GPipe, a rank a stage, 4 micro-batches of 1 MB forward and back,
each step waited for; the late rank sleeps before each step. All warm up first. With
--where gpu its GPU is kept busy for that time instead, while its host goes on. Rank 0
prints how long the calls or steps took and how much of that was sleep. With fewer GPUs
than ranks they share one. Needs PyTorch; must not know ncclstat.

`sizes`: two AllReduces of 4 MB, then one for which the late rank gives half the
elements, then one of 4 MB again.

usage: delays.py calls|training|pipeline|sizes [--ranks N] [--late RANK] [--ms MS]
                 [--where host|gpu] [--link nvlink|socket] [--port P]
"""
import argparse
import os
import time

COUNT = 1 << 20
CALLS = 12
STEPS = 8
WARM_UP = 3
MICRO_BATCHES = 4


def pipeline_step(rank, ranks):
    """Returns a function that makes one step of GPipe as this stage."""
    import torch
    import torch.distributed as dist

    dist.barrier()  # a communicator of all comes first: captures are named by it
    weights = torch.randn(512, 512, device="cuda") / 23
    batches = [torch.ones(512, 512, device="cuda") for _ in range(MICRO_BATCHES)]

    def pass_on(batch, source, target):
        if 0 <= source < ranks:
            dist.recv(batch, source)
        torch.mm(batch.clone(), weights, out=batch)
        if 0 <= target < ranks:
            dist.send(batch, target)

    def step():
        for batch in batches:
            pass_on(batch, rank - 1, rank + 1)
        for batch in batches:
            pass_on(batch, rank + 1, rank - 1)
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()

    return step


def gpu_sleeper(ms):
    """Returns a function that keeps the current stream busy for so many ms."""
    import torch

    cycles = 10**8
    torch.cuda._sleep(cycles)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    torch.cuda.synchronize()
    cycles = int(cycles * ms / begin.elapsed_time(end))
    return lambda: torch.cuda._sleep(cycles)


def work(rank, options):
    if options.link == "socket":
        os.environ.update(NCCL_HOSTID="host%d" % rank, NCCL_SOCKET_IFNAME="lo",
                          NCCL_NET="Socket", NCCL_IB_DISABLE="1")
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank % torch.cuda.device_count())
    torch.manual_seed(1)
    dist.init_process_group("nccl", rank=rank, world_size=options.ranks,
                            init_method="tcp://127.0.0.1:%d" % options.port)
    buffer = torch.ones(COUNT, device="cuda")

    def call():
        dist.all_reduce(buffer)
        torch.cuda.synchronize()

    if options.job == "training":
        layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0,
                                                 batch_first=True)
        model = torch.nn.parallel.DistributedDataParallel(
            torch.nn.TransformerEncoder(layer, 2).cuda(), bucket_cap_mb=8)
        data = torch.randn(8, 256, 512, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

        def step():
            model(data).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            torch.cuda.synchronize()
    elif options.job == "pipeline":
        step = pipeline_step(rank, options.ranks)
    else:
        step = call

    def be_late():
        time.sleep(options.ms / 1000)

    if options.where == "gpu" and rank == options.late and options.ms > 0:
        be_late = gpu_sleeper(options.ms)
    for _ in range(WARM_UP):
        step()
    call()
    if options.job == "sizes":
        for late_count in (COUNT, COUNT, COUNT // 2, COUNT):
            dist.all_reduce(buffer[:late_count] if rank == options.late else buffer)
            torch.cuda.synchronize()
        if rank == 0:
            print("sizes: 4 calls, 0 ms", flush=True)
        dist.destroy_process_group()
        return
    rounds, every = (CALLS, 2) if options.job == "calls" else (STEPS, 1)
    begin = time.perf_counter()
    for i in range(rounds):
        if rank == options.late and i % every == every - 1:
            be_late()
        step()
    elapsed_ms = (time.perf_counter() - begin) * 1000
    if rank == 0:
        print("%s: %.1f ms, %g ms of them sleep" %
              (options.job, elapsed_ms, options.ms * (rounds // every)), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("job", choices=["calls", "training", "pipeline", "sizes"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--late", type=int, default=1)
    parser.add_argument("--ms", type=float, default=0)
    parser.add_argument("--where", choices=["host", "gpu"], default="host")
    parser.add_argument("--link", choices=["nvlink", "socket"], default="socket")
    parser.add_argument("--port", type=int, default=29533)
    options = parser.parse_args()
    import torch.multiprocessing
    torch.multiprocessing.spawn(work, (options,), options.ranks)


if __name__ == "__main__":
    main()
