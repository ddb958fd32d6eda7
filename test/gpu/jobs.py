#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real training jobs in small, healthy and with a trouble, for the plugin to watch.

One process a GPU; with fewer GPUs than ranks they share one. All but `3d` train a
small transformer with DistributedDataParallel for BEFORE seconds, then the trouble
begins and lasts until the job is killed. Needs PyTorch; must not know ncclstat.

usage: jobs.py JOB [--link nvlink|socket|nodes] [--before S] [--told FILE] [--ranks N]
               [--steps N [--at-end COMMAND]] [--sync N] [--port P]
               [--trouble JOB --group NAME] [--apart]

With `nodes` the first half of the ranks takes itself for one host and the second half
for another; with --apart each half also publishes in a folder of its own below
$NCCLSTAT_DIR, and has a host name of its own: node0, node1. `3d` has the trouble of
another job where a step first calls in the group NAME: tensor, pipe, data or all.

FILE gets a line with the time (CLOCK_REALTIME) for `running`, when the job is past
its first steps, and for `trouble`. With --steps the job ends by itself, after it has
run COMMAND, and prints the median time of a step. The host waits for the GPU once in
--sync steps.
"""
import argparse
import os
import signal
import statistics
import sys
import time

JOBS = {
    "healthy": "trains",
    "idle": "calls nothing any more",
    "compute": "all ranks compute for seconds in each step",
    "host-late": "rank 1 sleeps 20 ms before each step",
    "gpu-late": "rank 1's GPU works 20 ms longer before the collectives of each step",
    "stopped": "rank 1 is stopped, as by a debugger",
    "killed": "rank 1 is killed",
    "host-busy": "rank 1 computes on its host for ever",
    "gpu-busy": "rank 1's GPU computes for ever",
    "order": "rank 0 uses one communicator, then another; rank 1 the other way",
    "calls": "rank 0 calls AllReduce, then Broadcast; rank 1 the other way",
    "size": "rank 1 calls an AllReduce with half as many elements",
    "sendrecv": "each sends to the other before it receives",
    "unmet": "rank 0 receives from rank 1, which sends nothing",
    "3d": "tensor, pipeline and data parallel, a communicator each",
}
# The troubles of 3d; slow-link is made outside of the job.
TROUBLES = ("host-late", "gpu-late", "stopped", "killed", "host-busy", "gpu-busy",
            "order", "size", "unmet", "slow-link")
GROUPS = ("tensor", "pipe", "data", "all")
# One rank is later than the other by this much.
LATE_S = 0.02
WARM_UP_STEPS = 10
BIG = 1 << 22
HUGE = 1 << 28


class Job:
    """A rank of any job. Each subclass has step()."""

    def __init__(self, rank, options):
        import torch
        import torch.distributed as dist

        self.torch, self.dist, self.rank = torch, dist, rank
        self.options = options
        self.steps = 0
        self.spin = 0
        torch.cuda.set_device(rank % torch.cuda.device_count())
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.manual_seed(1)
        dist.init_process_group("nccl", rank=rank, world_size=options.ranks,
                                init_method="tcp://127.0.0.1:%d" % options.port)
        self.big = torch.ones(BIG, device="cuda")
        self.agree = torch.zeros(1, device="cuda")

    def tell(self, word):
        if self.rank == 0 and self.options.told:
            with open(self.options.told, "a") as file:
                file.write("%s %.3f\n" % (word, time.time()))

    def spin_of(self, seconds):
        """The argument of _sleep() for a kernel that lasts so long."""
        cycles = 20_000_000
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in "ab")
        for _ in range(2):
            begin.record()
            self.torch.cuda._sleep(cycles)
            end.record()
            end.synchronize()
        return int(cycles * seconds * 1000 / begin.elapsed_time(end))

    def end_together(self, end):
        """Decides for all ranks together whether this step is the last."""
        self.agree.fill_(1.0 if end else 0.0)
        self.dist.all_reduce(self.agree)
        return self.agree.item() > 0

    def warm_up(self):
        for _ in range(WARM_UP_STEPS):
            self.step()
        self.end_together(False)

    def go_on(self, seconds):
        end = time.monotonic() + seconds
        while not self.end_together(time.monotonic() > end):
            for _ in range(10):
                self.step()

    def measure(self, steps):
        times_ms = []
        for _ in range(steps):
            begin = time.perf_counter()
            self.step()
            times_ms.append((time.perf_counter() - begin) * 1000)
        self.end_together(False)
        if self.rank == 0 and self.options.at_end:
            os.system(self.options.at_end)
        self.end_together(False)
        # With a step in N that waits, single steps say nothing.
        n = self.options.sync
        blocks = [sum(times_ms[i:i + n]) / n for i in range(0, steps - n + 1, n)]
        # Ranks share the output: the line is written at once.
        os.write(1, b"rank %d: step_ms %.3f\n" %
                 (self.rank, statistics.median(blocks)))

    def wait(self):
        time.sleep(3600)


class Training(Job):
    def __init__(self, rank, options):
        super().__init__(rank, options)
        torch = self.torch
        width, layers = (1024, 6) if options.link == "nvlink" else (512, 2)
        layer = torch.nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0,
                                                 batch_first=True)
        model = torch.nn.TransformerEncoder(layer, layers).cuda()
        self.model = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[torch.cuda.current_device()])
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
        self.data = torch.randn(16, 512, width, device="cuda")
        self.other = self.dist.new_group(backend="nccl")
        # Communicators are made at their first use.
        self.dist.all_reduce(self.agree, group=self.other)
        if rank == 0:
            self.dist.send(self.agree, 1)
        elif rank == 1:
            self.dist.recv(self.agree, 0)
        self.agree.zero_()

    def step(self):
        if self.spin:
            self.torch.cuda._sleep(self.spin)
        loss = self.model(self.data).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.dist.all_reduce(loss.detach())
        self.steps += 1
        if self.steps % self.options.sync == 0:
            loss.item()

    def healthy(self):
        self.go_on(3600)

    def idle(self):
        self.wait()

    def compute(self):
        self.spin = self.spin_of(4)
        self.go_on(3600)

    def host_late(self):
        while True:
            if self.rank == 1:
                time.sleep(LATE_S)
            self.step()

    def gpu_late(self):
        if self.rank == 1:
            self.spin = self.spin_of(LATE_S)
        while True:
            self.step()

    def stopped(self):
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        self.healthy()

    def killed(self):
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        self.healthy()

    def host_busy(self):
        while self.rank == 1:
            pass
        self.healthy()

    def gpu_busy(self):
        if self.rank == 1:
            self.torch.cuda._sleep(1 << 60)
        self.healthy()

    def order(self):
        groups = [None, self.other]
        for group in groups if self.rank == 0 else reversed(groups):
            self.dist.all_reduce(self.big, group=group)
            self.torch.cuda.synchronize()

    def calls_differ(self):
        if self.rank == 0:
            self.dist.all_reduce(self.big)
            self.dist.broadcast(self.big, 0)
        else:
            self.dist.broadcast(self.big, 0)
            self.dist.all_reduce(self.big)
        self.torch.cuda.synchronize()
        self.wait()

    def size(self):
        part = self.big if self.rank == 0 else self.big[:BIG // 2]
        self.dist.all_reduce(part)
        self.wait()

    def sendrecv(self):
        # NCCL's buffers take much before a sender has to wait.
        data = self.torch.ones(HUGE, device="cuda")
        self.dist.send(data, 1 - self.rank)
        self.dist.recv(data, 1 - self.rank)
        self.wait()

    def unmet(self):
        if self.rank == 0:
            self.dist.recv(self.big, 1)
        self.wait()


class Parallel(Job):
    """Each rank is in the group of all, a tensor parallel one, one of a pipeline and
    a data parallel one: of two ranks each where there are eight. With four ranks the
    data parallel one is of all, with two each is. The trouble is rank 1's."""

    MICROBATCHES = 4
    WIDTH = 4096
    PRODUCTS = 16
    CULPRIT = 1
    # Steps over sockets take longer; it is late by as much of them.
    LATE_S = {"nvlink": LATE_S, "socket": 10 * LATE_S, "nodes": 5 * LATE_S}

    def __init__(self, rank, options):
        super().__init__(rank, options)
        torch, dist, n = self.torch, self.dist, options.ranks
        ranks = list(range(n))
        width = 2 if n >= 4 else n
        half = n // 2 if n >= 8 else n
        sets = {
            "tensor": [ranks[i:i + width] for i in range(0, n, width)],
            "pipe": [ranks[i + j:i + half:width] for i in range(0, n, half)
                     for j in range(width)] if n >= 4 else [ranks],
            "data": [ranks[i::half] for i in range(half)] if n >= 8 else [ranks],
            # The replica of a model, whose norms are added up.
            "model": [ranks[i:i + half] for i in range(0, n, half)],
        }
        self.groups = {"all": None}
        self.ranks_of = {"all": ranks}
        for name, lists in sets.items():
            for members in lists:
                group = dist.new_group(members, backend="nccl", group_desc=name)
                if rank in members:
                    self.groups[name] = group
                    self.ranks_of[name] = members
        pipe = self.ranks_of["pipe"]
        place = pipe.index(rank)
        self.next = pipe[(place + 1) % len(pipe)]
        self.previous = pipe[place - 1]
        self.weight = torch.randn(self.WIDTH, self.WIDTH, device="cuda")
        self.activation = torch.randn(4096, self.WIDTH, device="cuda")
        self.received = torch.empty_like(self.activation)
        self.shard = torch.empty(BIG // len(self.ranks_of["data"]), device="cuda")
        self.trouble = None
        self.due = None

    def exchange(self, to, source):
        dist, group = self.dist, self.groups["pipe"]
        self.meet("pipe")
        for work in dist.batch_isend_irecv([
                dist.P2POp(dist.isend, self.activation, to, group),
                dist.P2POp(dist.irecv, self.received, source, group)]):
            work.wait()

    def compute(self):
        for _ in range(2):
            result = self.activation
            for _ in range(self.PRODUCTS):
                result = (result @ self.weight).clamp_(-1, 1)
            self.meet("tensor")
            self.dist.all_reduce(result, group=self.groups["tensor"])
        self.activation.copy_(result).clamp_(-1, 1)

    def step(self):
        dist = self.dist
        self.due = self.options.group if self.trouble else None
        for _ in range(self.MICROBATCHES):
            self.compute()
            self.exchange(self.next, self.previous)
        for _ in range(self.MICROBATCHES):
            self.compute()
            self.exchange(self.previous, self.next)
        self.meet("data")
        dist.reduce_scatter_tensor(self.shard, self.big, group=self.groups["data"])
        dist.all_gather_into_tensor(self.big, self.shard, group=self.groups["data"])
        self.big.fill_(1)
        norm = self.shard.square().sum()
        dist.all_reduce(norm, group=self.groups["model"])
        self.meet("all")
        dist.all_reduce(norm)
        self.steps += 1
        if self.steps % self.options.sync == 0:
            norm.item()

    def meet(self, name):
        """Has the trouble, once a step, before the first call in its group."""
        if self.due == name:
            self.due = None
            getattr(self, self.trouble.replace("-", "_"))(self.groups[name])

    def host_late(self, _):
        if self.rank == self.CULPRIT:
            time.sleep(self.LATE_S[self.options.link])

    def gpu_late(self, _):
        if self.rank == self.CULPRIT:
            self.spin = self.spin or self.spin_of(
                self.LATE_S[self.options.link])
            self.torch.cuda._sleep(self.spin)

    def stopped(self, _):
        if self.rank == self.CULPRIT:
            os.kill(os.getpid(), signal.SIGSTOP)

    def killed(self, _):
        if self.rank == self.CULPRIT:
            os.kill(os.getpid(), signal.SIGKILL)

    def host_busy(self, _):
        while self.rank == self.CULPRIT:
            pass

    def gpu_busy(self, _):
        if self.rank == self.CULPRIT:
            self.torch.cuda._sleep(1 << 60)

    def order(self, group):
        # The culprit uses the two communicators the other way round than the rest
        # of its group.
        if self.CULPRIT in self.ranks_of[self.options.group]:
            other = self.groups["all" if self.options.group != "all" else "model"]
            groups = [group, other]
            for one in reversed(groups) if self.rank == self.CULPRIT else groups:
                self.dist.all_reduce(self.big, group=one)
                self.torch.cuda.synchronize()

    def size(self, group):
        if self.CULPRIT in self.ranks_of[self.options.group]:
            part = self.big[:BIG // 2] if self.rank == self.CULPRIT else self.big
            self.dist.all_reduce(part, group=group)
            self.wait()

    def unmet(self, group):
        members = self.ranks_of[self.options.group]
        if self.rank != self.CULPRIT and self.CULPRIT in members:
            receive = self.dist.P2POp(self.dist.irecv, self.big, self.CULPRIT, group)
            self.dist.batch_isend_irecv([receive])
        if self.CULPRIT in members:
            self.wait()

    def slow_link(self, _):
        pass

    def run(self):
        self.trouble = self.options.trouble
        while True:
            self.step()


def set_link(rank, options):
    """Has NCCL use sockets where asked to, and where ranks share a GPU."""
    import torch
    if torch.cuda.device_count() < options.ranks:
        options.link = "socket"
    node = 2 * rank // options.ranks
    if options.link != "nvlink":
        # Each process, or each half of them, takes itself for a host of its own.
        host = rank if options.link == "socket" else node
        os.environ.update(NCCL_HOSTID="host%d" % host, NCCL_SOCKET_IFNAME="lo",
                          NCCL_NET="Socket", NCCL_IB_DISABLE="1")
    if options.apart:
        folder = "%s/node%d" % (os.environ["NCCLSTAT_DIR"], node)
        os.makedirs(folder, exist_ok=True)
        os.environ["NCCLSTAT_DIR"] = folder
        os.unshare(os.CLONE_NEWUTS)
        with open("/proc/sys/kernel/hostname", "w") as file:
            file.write("node%d" % node)
    # PyTorch's own watchdog would end the job.
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"
    # On some machines a program that uses NVLink's multicast can put the GPUs out
    # of service; these jobs do not need it.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")


def work(rank, options):
    set_link(rank, options)
    parallel = options.job == "3d"
    job = (Parallel if parallel else Training)(rank, options)
    job.warm_up()
    if options.steps:
        job.measure(options.steps)
        job.dist.destroy_process_group()
        return
    job.tell("running")
    job.go_on(options.before)
    job.tell("trouble")
    if parallel and options.trouble:
        job.run()
    elif parallel:
        job.go_on(3600)
    elif options.job == "calls":
        job.calls_differ()
    else:
        getattr(job, options.job.replace("-", "_"))()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--link", choices=["nvlink", "socket", "nodes"],
                        default="nvlink")
    parser.add_argument("--before", type=float, default=4)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--sync", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--trouble", choices=TROUBLES)
    parser.add_argument("--group", choices=GROUPS, default="all")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--told")
    parser.add_argument("--at-end")
    parser.add_argument("--port", type=int, default=29541)
    options = parser.parse_args()
    children = []
    for rank in range(options.ranks):
        child = os.fork()
        if child == 0:
            work(rank, options)
            sys.stdout.flush()
            os._exit(0)
        children.append(child)

    def end(*_):
        for child in children:
            os.kill(child, signal.SIGKILL)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if not options.steps:
        # A trouble lasts until the job is ended.
        time.sleep(3600)
    failed = 0
    for child in children:
        failed |= os.waitpid(child, 0)[1]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
