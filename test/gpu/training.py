# SPDX-License-Identifier: MIT
"""Training jobs as users write them, with PyTorch, two ranks on a GPU each, and what is
concluded of them. For training.sh.

  training.py job    one run: prints how long its steps took, in seconds
  training.py judge  compares what --diagnose says of a job with a fault with what the
                     same job took without it
"""

import argparse
import contextlib
import json
import random
import sys
import time

import two_ranks_job

WARM_UP = 12
# Work of hosts and GPUs beside the model's, and what the victim has more of it, in ms.
HOST_MS, GPU_MS = 3, 6
FAULT_MS = {"none": 0, "host": 8, "gpu": 6, "tenth": 80}
KINDS = ["buffers", "sharded", "tensor", "deep", "accumulate", "ahead", "evaluate"]
# Linear layers of tensor parallelism, and the work of GPUs in each, in ms.
LAYERS = {"tensor": (4, 0.5), "deep": (48, 0.25)}


class Job:
    """One rank of a job. Its step is that of the kind."""

    def __init__(self, rank, options):
        import torch
        import torch.distributed as dist

        self.torch, self.dist = torch, dist
        self.rank, self.options = rank, options
        self.is_late = False
        self.chance = random.Random(rank)
        torch.manual_seed(1)
        getattr(self, "make_" + options.kind)()
        self.per_ms = two_ranks_job.kernel_cycles()
        self.count = 0
        self.ends = []

    # --- Models ------------------------------------------------------------

    def replicate(self, model):
        from torch.nn.parallel import DistributedDataParallel

        self.model = DistributedDataParallel(model.cuda(), bucket_cap_mb=8)
        self.optimizer = self.torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def perceptron(self, depth=4, width=2048):
        nn, layers = self.torch.nn, []
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.ReLU()]
        self.data = self.torch.randn(256, width, device="cuda")
        return nn.Sequential(*layers)

    def make_buffers(self):
        """Rank 0 broadcasts the statistics of BatchNorm each step."""
        nn, layers = self.torch.nn, []
        for i in range(6):
            layers += [nn.Conv2d(64 if i else 3, 64, 3, padding=1),
                       nn.BatchNorm2d(64), nn.ReLU()]
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 4096),
                   nn.ReLU(), nn.Linear(4096, 2048)]
        self.data = self.torch.randn(64, 3, 64, 64, device="cuda")
        self.replicate(nn.Sequential(*layers))

    def make_accumulate(self):
        """Gradients are reduced in each fourth backward pass."""
        self.replicate(self.perceptron())

    make_ahead = make_accumulate
    make_evaluate = make_accumulate

    def make_sharded(self):
        from torch.distributed.fsdp import fully_shard

        self.model = self.perceptron().cuda()
        for layer in list(self.model)[::2]:
            fully_shard(layer)
        fully_shard(self.model)
        self.optimizer = self.torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def make_tensor(self):
        """Each layer's output is reduced, as of tensor parallelism."""
        self.model = self.perceptron(LAYERS["tensor"][0]).cuda()
        self.optimizer = self.torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def make_deep(self):
        """As with tensor parallelism, 2,000 launches a second, no backward pass."""
        self.model = self.perceptron(LAYERS["deep"][0], 512).cuda()

    # --- Steps -------------------------------------------------------------

    def work(self):
        """The work of host and GPU that each step has beside the model's."""
        options, late = self.options, self.is_late
        host_ms = HOST_MS * (1 + 0.1 * self.chance.random())
        gpu_ms = GPU_MS * (1 + 0.03 * self.chance.random())
        if late and options.fault == "host":
            host_ms += FAULT_MS["host"]
        if late and options.fault == "tenth" and self.count % 10 == 0:
            host_ms += FAULT_MS["tenth"]
        if late and options.fault == "gpu":
            gpu_ms += FAULT_MS["gpu"]
        time.sleep(host_ms / 1e3)
        self.torch.cuda._sleep(int(gpu_ms * self.per_ms))

    def forward(self):
        if self.options.kind not in LAYERS:
            return self.model(self.data)
        data = self.data
        for layer in self.model:
            data = layer(data)
            if isinstance(layer, self.torch.nn.Linear):
                self.torch.cuda._sleep(int(LAYERS[self.options.kind][1] *
                                           self.per_ms))
                data = data.detach()
                self.dist.all_reduce(data)
        return data.requires_grad_()

    def step(self):
        kind = self.options.kind
        self.count += 1
        passes = 4 if kind == "accumulate" else 1
        for i in range(passes):
            last = i == passes - 1
            if i == 0:
                self.work()
            with contextlib.nullcontext() if last else self.model.no_sync():
                loss = self.forward().square().mean()
                if kind != "deep":
                    loss.backward()
        if kind != "deep":
            self.optimizer.step()
            self.optimizer.zero_grad()
        if kind == "evaluate" and self.count % 20 == 0:
            with self.torch.no_grad():
                loss = self.model.module(self.data).mean()
                self.dist.all_reduce(loss)
        self.ends.append(self.torch.cuda.Event())
        self.ends[-1].record()
        ahead = 2 if kind == "ahead" else 0
        if len(self.ends) > ahead:
            self.ends[-1 - ahead].synchronize()

    def run(self):
        for _ in range(WARM_UP):
            self.step()
        self.torch.cuda.synchronize()
        self.dist.barrier()
        self.is_late = self.rank == self.options.victim
        begin = time.monotonic()
        for _ in range(self.options.steps):
            self.step()
        self.torch.cuda.synchronize()
        return time.monotonic() - begin


def run_rank(rank, options):
    import torch.distributed as dist

    two_ranks_job.join(rank, options.port)
    took = Job(rank, options).run()
    dist.destroy_process_group()
    if rank == 0:
        print(took)


# A cost may be off by a tenth of it, and by what two runs of a job differ: hosts launch
# twelve kernels a step with fully_shard, at a pace of their own in each run.
ERROR, RUNS_DIFFER, RUNS_DIFFER_SHARDED = 0.1, 0.02, 0.08
# A rank that costs less is no finding.
FOUND = 0.05


def judge(options):
    with open(options.path, encoding="utf-8") as file:
        told = json.load(file)
    true = 1 - options.without / options.with_fault
    error = ERROR * true + (RUNS_DIFFER_SHARDED if options.kind == "sharded" else
                            RUNS_DIFFER)
    late = [finding for finding in told["findings"]
            if finding["verdict"] == "late_rank"]
    if not late:
        verdict = told["severity"]
        is_right = true < FOUND and verdict == "well"
    else:
        share, least, most = (late[0].get("cost_share" + part)
                              for part in ("", "_least", "_most"))
        verdict = f"rank {late[0]['root']['rank']}"
        is_right = len(late) == 1 and late[0]["root"]["rank"] == options.victim
        if share is None:
            verdict += ", cost not known"
        else:
            # A least cost below nothing is null.
            verdict += (f" {100 * share:.1f} [{100 * (least or 0):.1f} .. "
                        f"{100 * most:.1f}]")
            is_right &= (least or 0) - error <= true <= max(share, most) + error
    print(f"{verdict}, truly {100 * true:.1f}")
    sys.exit(not is_right)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    job = commands.add_parser("job")
    job.add_argument("kind", choices=KINDS)
    job.add_argument("--fault", choices=list(FAULT_MS), default="none")
    job.add_argument("--victim", type=int, default=1)
    job.add_argument("--steps", type=int, default=250)
    job.add_argument("--rank", type=int)
    job.add_argument("--port", type=int, default=29552)
    judges = commands.add_parser("judge")
    judges.add_argument("path")
    judges.add_argument("kind", choices=KINDS)
    judges.add_argument("victim", type=int)
    judges.add_argument("with_fault", type=float)
    judges.add_argument("without", type=float)
    options = parser.parse_args()
    if options.command == "judge":
        judge(options)
    elif options.rank is None:
        two_ranks_job.run_ranks()
    else:
        run_rank(options.rank, options)


main()
