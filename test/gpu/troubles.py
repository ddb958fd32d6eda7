#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real NCCL jobs that go wrong, each in its own way, for a diagnosis.

Two ranks that share one GPU, as in two_ranks.py: each process has its own
NCCL_HOSTID, so that every byte goes through the proxy and a socket. They run
collectives for SECONDS, then the trouble begins and lasts until the job is
killed. Needs PyTorch; must not know ncclstat.

usage: troubles.py TROUBLE [--seconds S]
"""
import argparse
import os
import signal
import sys
import time

TROUBLES = {
    "none": "goes on as it began",
    "idle": "calls nothing any more",
    "compute": "both ranks compute for a long time, then go on",
    "missing": "rank 1 does not come to the next AllReduce",
    "order": "rank 0 calls AllReduce, then Broadcast; rank 1 the other way",
    "size": "rank 1 calls the AllReduce with half as many elements",
    "killed": "rank 1 is killed",
    "stopped": "rank 1 is stopped, as by a debugger",
    "gpu": "rank 1's GPU has much to do before the AllReduce",
    "p2p": "rank 0 receives from rank 1, which sends nothing",
    "circle": "each sends to the other before it receives",
    "straggler": "rank 1 comes 20 ms late to every AllReduce",
}
SIZE = 1 << 22


class Job:
    def __init__(self, rank, port):
        import torch
        import torch.distributed as dist

        self.torch, self.dist, self.rank = torch, dist, rank
        torch.cuda.set_device(0)
        dist.init_process_group("nccl", rank=rank, world_size=2,
                                init_method="tcp://127.0.0.1:%d" % port)
        self.data = torch.ones(SIZE, device="cuda")
        self.small = torch.ones(64, device="cuda")
        # PyTorch makes a communicator for sends when the first one is made.
        if rank == 0:
            dist.send(self.small, 1)
        else:
            dist.recv(self.small, 0)

    def step(self):
        self.dist.all_reduce(self.data)
        self.dist.broadcast(self.small, 0)
        self.torch.cuda.synchronize()

    def go_on(self, seconds):
        """Decides for all ranks together whether this round is the last."""
        end = time.monotonic() + seconds
        agree = self.torch.zeros(1, device="cuda")
        while agree.item() == 0:
            self.step()
            agree.fill_(1.0 if time.monotonic() > end else 0.0)
            self.dist.all_reduce(agree)

    def wait(self):
        time.sleep(3600)

    def none(self):
        self.go_on(3600)

    def idle(self):
        self.wait()

    def compute(self):
        while True:
            self.torch.cuda._sleep(8_000_000_000)
            self.step()

    def missing(self):
        if self.rank == 1:
            self.wait()
        self.step()

    def order(self):
        if self.rank == 0:
            self.dist.all_reduce(self.data)
            self.dist.broadcast(self.data, 0)
        else:
            self.dist.broadcast(self.data, 0)
            self.dist.all_reduce(self.data)
        self.wait()

    def size(self):
        part = self.data if self.rank == 0 else self.data[:SIZE // 2]
        self.dist.all_reduce(part)
        self.wait()

    def killed(self):
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        self.none()

    def stopped(self):
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        self.none()

    def gpu(self):
        if self.rank == 1:
            self.torch.cuda._sleep(1 << 60)
        self.dist.all_reduce(self.data)
        self.wait()

    def p2p(self):
        if self.rank == 0:
            self.dist.recv(self.data, 1)
        self.wait()

    def circle(self):
        self.dist.send(self.data, 1 - self.rank)
        self.dist.recv(self.data, 1 - self.rank)
        self.wait()

    def straggler(self):
        while True:
            if self.rank == 1:
                time.sleep(0.02)
            self.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trouble", choices=TROUBLES)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--port", type=int, default=29541)
    options = parser.parse_args()
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            # PyTorch's own watchdog would end the job.
            os.environ.update(NCCL_HOSTID="host%d" % rank,
                              NCCL_SOCKET_IFNAME="lo", NCCL_NET="Socket",
                              NCCL_IB_DISABLE="1",
                              TORCH_NCCL_ASYNC_ERROR_HANDLING="0")
            job = Job(rank, options.port)
            job.go_on(options.seconds)
            getattr(job, options.trouble)()
            sys.exit(0)
        children.append(child)

    def end(*_):
        for child in children:
            os.kill(child, signal.SIGKILL)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    time.sleep(3600)


if __name__ == "__main__":
    main()
