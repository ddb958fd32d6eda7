#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's ways to capture NCCL's calls, with eager calls in between.

A process a GPU, or two that share one. Prints a line for each way; the exit status
is 1 if a sum was wrong or a way failed. Must not know ncclstat.
"""
import os
import sys
import traceback

CAPTURE_MODES = ["global", "thread_local", "relaxed"]
ROUNDS = 20
STEPS = 12


class Ways:
    def __init__(self, rank, port):
        import torch
        import torch.distributed as dist

        self.torch, self.dist, self.rank = torch, dist, rank
        gpus = torch.cuda.device_count()
        if gpus < 2:
            os.environ.update(NCCL_HOSTID="host%d" % rank, NCCL_SOCKET_IFNAME="lo",
                              NCCL_NET="Socket", NCCL_IB_DISABLE="1")
        torch.cuda.set_device(rank % gpus)
        dist.init_process_group("nccl", rank=rank, world_size=2,
                                init_method="tcp://127.0.0.1:%d" % port)

    def expect(self, tensor, value):
        if not self.torch.all(tensor == value).item():
            raise AssertionError("a wrong sum: %s, not %g" % (tensor[:4], value))

    def cuda_graph(self, mode):
        torch, dist = self.torch, self.dist
        inputs = [torch.full((1 << size,), float(self.rank + 1), device="cuda")
                  for size in (10, 18, 20)]
        outputs = [torch.empty_like(tensor) for tensor in inputs]
        eager = torch.ones(1 << 18, device="cuda")
        dist.all_reduce(eager)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode=mode):
            for source, target in zip(inputs, outputs):
                target.copy_(source)
                dist.all_reduce(target)
        for _ in range(ROUNDS):
            for target in outputs:
                target.zero_()
            graph.replay()
            eager.fill_(self.rank + 1)
            dist.all_reduce(eager)
            self.expect(eager, 3)
            for target in outputs:
                self.expect(target, 3)
        torch.cuda.synchronize()
        # NCCL waits in ncclCommDestroy while a graph exists.
        graph.reset()

    def train(self, compiled):
        torch = self.torch
        torch.manual_seed(1)
        model = torch.nn.Sequential(
            torch.nn.Linear(512, 2048), torch.nn.ReLU(),
            torch.nn.Linear(2048, 512)).cuda()
        model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=2)
        step = torch.compile(model, mode="reduce-overhead") if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        losses = []
        for number in range(STEPS):
            torch.manual_seed(100 * number + self.rank)
            data = torch.randn(256, 512, device="cuda")
            loss = step(data).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            total = loss.detach().clone()
            self.dist.all_reduce(total)
            losses.append(total.item())
        return losses

    def compile(self):
        eager, compiled = self.train(False), self.train(True)
        worst = max(abs(a / b - 1) for a, b in zip(eager, compiled))
        if worst > 0.01:
            raise AssertionError("losses differ by %g: %s, %s" %
                                 (worst, eager, compiled))


def work(rank, port):
    ways = Ways(rank, port)
    failed = 0
    todo = [("torch.cuda.graph, " + mode, lambda mode=mode: ways.cuda_graph(mode))
            for mode in CAPTURE_MODES]
    todo.append(("torch.compile(mode=reduce-overhead) of a DDP model", ways.compile))
    for name, way in todo:
        try:
            way()
            good = True
        except Exception:
            traceback.print_exc()
            good = False
        failed += not good
        print("rank %d: %s: %s" % (rank, name, "right" if good else "failed"),
              flush=True)
        if not good:
            # The other rank may wait for this one.
            os._exit(1)
    ways.dist.destroy_process_group()
    return failed


def main():
    port = 29700 + os.getpid() % 200
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            os._exit(work(rank, port))
        children.append(child)
    failed = 0
    for _ in children:
        _, status = os.wait()
        failed |= status
        if failed:
            for child in children:
                try:
                    os.kill(child, 9)
                except ProcessLookupError:
                    pass
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
