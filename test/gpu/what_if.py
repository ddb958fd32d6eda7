# SPDX-License-Identifier: MIT
"""A real NCCL job of two ranks whose hosts have work of their own in each step, as
those that load data do, and what is concluded of it. For what_if.sh.

  what_if.py job    one run: prints how long its steps took, in seconds
  what_if.py judge  compares what --what-if=without:1 says of a job with a fault with
                    what the same job took without it
"""

import argparse
import json
import random
import sys
import time

import two_ranks_job

STEPS = 120
HOST_MS = 20
GPU_MS = 2
FAULT_MS = 15
# The largest error of a time that is told, as a share of it.
ERROR = 0.05


def run_rank(rank, options):
    import torch
    import torch.distributed as dist

    two_ranks_job.join(rank, options.port)
    tensors = [torch.ones(1 << 18, device="cuda") for _ in range(2)]
    per_ms = two_ranks_job.kernel_cycles()
    for _ in range(5):
        for tensor in tensors:
            dist.all_reduce(tensor)
    torch.cuda.synchronize()
    chance = random.Random(rank)
    ends = []
    begin = time.monotonic()
    for step in range(STEPS):
        late = options.fault if rank == 1 else "none"
        host_ms = HOST_MS * (1 + 0.1 * chance.random())
        gpu_ms = GPU_MS * (1 + 0.05 * chance.random())
        time.sleep((host_ms + FAULT_MS * (late == "host")) / 1e3)
        gpu_ms += FAULT_MS * (late == "gpu")
        for tensor in tensors:
            torch.cuda._sleep(int(gpu_ms / len(tensors) * per_ms))
            dist.all_reduce(tensor)
        ends.append(torch.cuda.Event())
        ends[-1].record()
        if options.ahead != "any" and int(options.ahead) <= step:
            ends[step - int(options.ahead)].synchronize()
    torch.cuda.synchronize()
    took = time.monotonic() - begin
    dist.destroy_process_group()
    if rank == 0:
        print(took)


def judge(options):
    with open(options.path, encoding="utf-8") as file:
        told = json.load(file)["what_if"][0]
    before = told["before_ns"] / 1e9
    true = before - (options.with_fault - options.without)
    after = told["after_ns"]
    least, most = told["after_at_least_ns"], told["after_at_most_ns"]
    if after is not None:
        verdict = f"{after / 1e9:.2f} s"
        is_right = abs(after / 1e9 - true) <= ERROR * true
    elif least is not None:
        most = most / 1e9 if most is not None else before
        verdict = f"{least / 1e9:.2f} to {most:.2f} s"
        is_right = least / 1e9 <= true <= most
    else:
        verdict, is_right = "not known", True
    print(f"of {before:.2f} s: {verdict}, truly {true:.2f} s")
    sys.exit(not is_right)


# A cost may be off by a tenth of it, and by what two runs of a job differ.
COST_ERROR, RUNS_DIFFER = 0.1, 0.03
# A rank that costs less is no finding.
COST_FOUND = 0.05


def judge_cost(options):
    """Judges what --diagnose tells of a job with a late rank 1."""
    with open(options.path, encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    true = 1 - options.without / options.with_fault
    error = COST_ERROR * true + RUNS_DIFFER
    if not findings:
        print(f"nothing, truly {true:.3f}")
        sys.exit(true >= COST_FOUND)
    told = findings[0]
    share, least = told.get("cost_share"), told.get("cost_share_least")
    most = told.get("cost_share_most")
    # A least cost below nothing is null.
    is_right = (told["verdict"] == "late_rank" and told["root"]["rank"] == 1 and
                share is not None and
                (least or 0) - error <= true <= max(share, most) + error)
    print(f"{told['verdict']} {share}: {least} to {most}, truly {true:.3f}")
    sys.exit(not is_right)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    job = commands.add_parser("job")
    # How many steps hosts may be ahead of their GPUs.
    job.add_argument("--ahead", choices=["0", "1", "2", "any"], default="0")
    job.add_argument("--fault", choices=["none", "host", "gpu"], default="none")
    job.add_argument("--rank", type=int)
    job.add_argument("--port", type=int, default=29551)
    for name in ("judge", "judge-cost"):
        judges = commands.add_parser(name)
        judges.add_argument("path")
        judges.add_argument("with_fault", type=float)
        judges.add_argument("without", type=float)
    options = parser.parse_args()
    if options.command == "judge":
        judge(options)
    elif options.command == "judge-cost":
        judge_cost(options)
    elif options.rank is None:
        two_ranks_job.run_ranks()
    else:
        run_rank(options.rank, options)


main()
