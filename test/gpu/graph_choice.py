# SPDX-License-Identifier: MIT
"""A real NCCL job of two ranks that captures graphs one after the other and replays each
before the next: some whose replays take long, then some with short ones. For
graph_choice.sh.

  graph_choice.py job    one run: rank 0 prints of each graph the time of a replay, in us,
                         and runs the command --look once the graph has been replayed
  graph_choice.py judge  tells how many launches of each graph report, by what --look has
                         left, and what that costs
"""

import argparse
import json
import subprocess
import sys

import two_ranks_job

LAUNCHES = 8
# Work of the GPU before each AllReduce of a long graph.
WORK_MS = 3
LONG, SHORT = 3, 2
# Replays before the next graph is captured.
REPLAYS = 20
# Rounds of the measurement; ranks that share a GPU take milliseconds an AllReduce.
ROUNDS, ROUNDS_SHARED = 15, 1
# Stamps may cost this share of a replay.
SHARE = 0.005


def capture(tensor, cycles):
    import torch
    import torch.distributed as dist

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(LAUNCHES):
            if cycles:
                torch.cuda._sleep(cycles)
            dist.all_reduce(tensor)
    return graph


def replay_us(graph, count):
    """Returns what a replay takes while several are queued."""
    import torch
    import torch.distributed as dist

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    dist.barrier()
    torch.cuda.synchronize()
    begin.record()
    for _ in range(count):
        graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / count


def run_rank(rank, options):
    import torch
    import torch.distributed as dist

    two_ranks_job.join(rank, options.port)
    tensor = torch.zeros(1 << 18, device="cuda")
    cycles = int(WORK_MS * two_ranks_job.kernel_cycles())
    for _ in range(10):
        dist.all_reduce(tensor)
    torch.cuda.synchronize()
    graphs = []
    for number in range(LONG + SHORT):
        graphs.append(capture(tensor, cycles if number < LONG else 0))
        replay_us(graphs[-1], REPLAYS)
        dist.barrier()
        torch.cuda.synchronize()
        if rank == 0 and options.look:
            # Stamps that the GPU has written are read every 50 ms.
            subprocess.run(f"sleep 0.3; number={number}; {options.look}", shell=True,
                           check=True)
        dist.barrier()
        torch.cuda.synchronize()
    times = [[] for _ in graphs]
    for _ in range(ROUNDS if torch.cuda.device_count() > 1 else ROUNDS_SHARED):
        for number, graph in enumerate(graphs):
            count = 4 if number < LONG else 50
            times[number].append(replay_us(graph, count))
    if rank == 0:
        print(json.dumps([sorted(graph)[len(graph) // 2] for graph in times]))
    for graph in graphs:
        graph.reset()
    dist.destroy_process_group()


def reporting_of(folder, number):
    """Returns how many captured launches report so far, of each rank."""
    with open(f"{folder}/look.{number}", encoding="utf-8") as file:
        dump = json.load(file)
    return [rank["graphs"]["reporting"] for rank in dump["ranks"]
            if rank["graphs"] and rank["graphs"]["captured"]]


def judge(options):
    with open(f"{options.folder}/without", encoding="utf-8") as file:
        without = json.load(file)
    with open(f"{options.folder}/with", encoding="utf-8") as file:
        taken = json.load(file)
    before, chosen = [0, 0], []
    for number in range(LONG + SHORT):
        now = reporting_of(options.folder, number)
        chosen.append([now[i] - before[i] for i in range(2)])
        before = now
    print(f"| graph of {LAUNCHES} launches | reporting | µs without plugin | µs with |"
          " ratio |")
    print("|---|---|---:|---:|---:|")
    for number, counts in enumerate(chosen):
        print(f"| {number + 1}, {'long' if number < LONG else 'short'} |"
              f" {' and '.join(map(str, counts))} | {without[number]:.1f} |"
              f" {taken[number]:.1f} | {taken[number] / without[number]:.4f} |")
    # The clock of a GPU may differ from one run to the next.
    ratio = taken[LONG - 1] / taken[0]
    print(f"all launches of a long graph, to the first one only, in one run: {ratio:.4f}")
    wrong = []
    if chosen[0] != [1, 1]:
        wrong.append("nothing is known of the first graph")
    if chosen[LONG - 1] != [LAUNCHES, LAUNCHES]:
        wrong.append("not all launches of the third long graph report")
    # Ranks that share a GPU take turns, so that none of their replays is short.
    if options.gpus > 1 and chosen[-1] != [1, 1]:
        wrong.append("more than the first launch of the second short graph reports")
    if options.gpus > 1 and ratio > 1 + SHARE:
        wrong.append("that costs too much")
    for text in wrong:
        print(text)
    sys.exit(bool(wrong))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["job", "judge"])
    parser.add_argument("--folder")
    parser.add_argument("--gpus", type=int)
    parser.add_argument("--look")
    parser.add_argument("--port", type=int, default=29541)
    parser.add_argument("--rank", type=int)
    options = parser.parse_args()
    if options.what == "judge":
        judge(options)
    elif options.rank is None:
        two_ranks_job.run_ranks()
    else:
        run_rank(options.rank, options)


if __name__ == "__main__":
    main()
