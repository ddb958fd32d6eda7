#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A PyTorch job whose ranges compute and communicate, for NCCLSTAT_CUPTI.

Two ranks share one GPU, as in two_ranks.py. Each step has, as ranges of NVTX:

  overlapped   an all_reduce (async_op) with matrix products beside it
  exposed      an all_reduce with nothing beside it
  forward      a few layers
  backward     their backward pass, whose kernels autograd's thread launches

usage: cupti.py run --out FOLDER [--steps N] [--profiler none|first|later]
                    [--dump NCCLSTAT]
       cupti.py check JSON          checks a dump of such a job
       cupti.py cost FOLDER MODE... prints a table of the times by mode

`run` leaves FOLDER/RANK.json, with the times of the steps, and with --dump
FOLDER/dump.json, made while the job was still there. --profiler starts
torch.profiler before NCCL is there, or in mid-job.
"""
import argparse
import contextlib
import glob
import json
import os
import statistics
import subprocess
import sys
import time


# --- The job ---------------------------------------------------------------

def start_profiler():
    import torch
    profiler = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU,
                    torch.profiler.ProfilerActivity.CUDA])
    profiler.start()
    return profiler


def seen_by(profiler):
    """Returns the number of GPU events that a profiler has."""
    import torch
    profiler.stop()
    return sum(1 for event in profiler.events()
               if event.device_type == torch.autograd.DeviceType.CUDA)


def work(rank, options):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    side = torch.randn(1024, 1024, device="cuda")
    profiler = start_profiler() if options.profiler == "first" else None
    if profiler:
        torch.mm(side, side)
        torch.cuda.synchronize()
    dist.init_process_group("nccl", rank=rank, world_size=2,
                            init_method="tcp://127.0.0.1:%d" % options.port)
    buffer = torch.ones(1 << 20, device="cuda")
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512)
                                  for _ in range(8)]).cuda()
    batch = torch.randn(256, 512, device="cuda")

    @contextlib.contextmanager
    def within(name):
        torch.cuda.nvtx.range_push(name)
        yield
        torch.cuda.nvtx.range_pop()

    def step():
        with within("step"):
            with within("overlapped"):
                pending = dist.all_reduce(buffer, async_op=True)
                for _ in range(40):
                    torch.mm(side, side)
                pending.wait()
            torch.cuda.synchronize()
            with within("exposed"):
                dist.all_reduce(buffer)
                torch.cuda.synchronize()
            with within("forward"):
                loss = model(batch).sum()
            with within("backward"):
                loss.backward()
            torch.cuda.synchronize()
        buffer.fill_(1)

    times = []
    for number in range(options.steps):
        if number == options.steps // 2 and options.profiler == "later":
            profiler = start_profiler()
        began = time.monotonic()
        step()
        times.append(time.monotonic() - began)
    result = {
        "ms": [1000 * each for each in times],
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "gpu": torch.cuda.get_device_name(0),
        "profiler_saw": seen_by(profiler) if profiler else None,
    }
    with open("%s/%d.json" % (options.out, rank), "w") as file:
        json.dump(result, file)
    dist.barrier()
    if rank == 0 and options.dump:
        time.sleep(2)
        with open(options.out + "/dump.json", "w") as file:
            subprocess.run([options.dump, "--dump=json"], stdout=file,
                           check=True)
    dist.barrier()
    dist.destroy_process_group()


def run(options, work=work):
    """Runs work(rank, options) in two processes, one for each rank."""
    children = []
    for rank in range(2):
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
    return 1 if failed else 0


# --- Results ---------------------------------------------------------------

def by_process(dump):
    """Returns sums over the communicators of each process: in all, and by path."""
    processes = {}
    for rank in dump["ranks"]:
        process = processes.setdefault(rank["pid"], {
            "status": rank["cupti"]["status"], "unplaced": 0, "lost": 0,
            "paths": {}})
        paths = {}

        def add(path, gpu):
            sums = process["paths"].setdefault(path, {})
            for key, value in (gpu or {}).items():
                sums[key] = sums.get(key, 0) + (value or 0)

        add("", rank["cupti"]["gpu"])
        for key in ("unplaced", "lost"):
            process[key] += rank["cupti"][key] or 0
        for each in rank["ranges"]:
            parent = paths.get(each["parent"], "")
            paths[each["range"]] = parent + "/" + each["name"]
            add(paths[each["range"]], each["gpu"])
    return processes


def hidden_share(sums):
    return sums.get("hidden_ns", 0) / max(1, sums.get("communication_ns", 0))


def check(path):
    with open(path) as file:
        processes = by_process(json.load(file))
    good = len(processes) == 2
    for pid, process in processes.items():
        print("| process %d: %s, unplaced %d, lost %d" %
              (pid, process["status"], process["unplaced"], process["lost"]))
        for name, sums in sorted(process["paths"].items()):
            if sums:
                print("|   %-28s compute %6d kernels %9.3f ms (busy %9.3f),"
                      " NCCL %5d kernels %9.3f ms, hidden %5.1f %%" %
                      (name or "all", sums["compute_kernels"],
                       sums["compute_ns"] / 1e6, sums["compute_busy_ns"] / 1e6,
                       sums["communication_kernels"],
                       sums["communication_ns"] / 1e6,
                       100 * hidden_share(sums)))
        overlapped = process["paths"].get("/step/overlapped", {})
        exposed = process["paths"].get("/step/exposed", {})
        forward = process["paths"].get("/step/forward", {})
        backward = process["paths"].get("/step/backward", {})
        for holds, claim in (
                (process["status"] == "on", "it is on"),
                (process["lost"] == 0, "nothing is lost"),
                (process["unplaced"] == 0, "each launch is known"),
                (overlapped.get("compute_ns", 0) > 0, "products are seen"),
                (overlapped.get("hidden_ns", 0) > 0, "some of it is hidden"),
                (overlapped.get("hidden_ns", 0) <=
                 overlapped.get("communication_ns", 0), "no more than all"),
                (exposed.get("communication_ns", 0) > 0, "NCCL is seen"),
                (hidden_share(exposed) < 0.01, "nothing hides what is alone"),
                (backward.get("compute_kernels", 0) >
                 forward.get("compute_kernels", 0) > 0,
                 "the backward pass is where it was started")):
            if not holds:
                print("| process %d: not true: %s" % (pid, claim))
                good = False
    return 0 if good else 1


def cost(folder, modes):
    medians = {}
    for mode in modes:
        medians[mode] = []
        for path in sorted(glob.glob("%s/%s/*/0.json" % (folder, mode))):
            with open(path) as file:
                result = json.load(file)
            # The first quarter warms up.
            times = result["ms"][len(result["ms"]) // 4:]
            medians[mode].append(statistics.median(times))
    if not all(medians.values()):
        print("no times of", [each for each in modes if not medians[each]])
        return 1
    print("%s, NCCL %s, PyTorch %s" %
          (result["gpu"], result["nccl"], result["torch"]))
    print()
    print("| NCCLSTAT_CUPTI | median of the steps of each round, ms | ratio |")
    print("|---|---|---|")
    least = statistics.median(medians[modes[0]])
    for mode in modes:
        print("| %s | %s | %.3f |" %
              (mode, " ".join("%.3f" % each for each in medians[mode]),
               statistics.median(medians[mode]) / least))
    return 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--out", required=True)
    runs.add_argument("--steps", type=int, default=200)
    runs.add_argument("--profiler", default="none",
                      choices=("none", "first", "later"))
    runs.add_argument("--dump")
    runs.add_argument("--port", type=int, default=29517)
    checks = commands.add_parser("check")
    checks.add_argument("json")
    costs = commands.add_parser("cost")
    costs.add_argument("folder")
    costs.add_argument("modes", nargs="+")
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    if options.command == "check":
        return check(options.json)
    return cost(options.folder, options.modes)


if __name__ == "__main__":
    sys.exit(main())
