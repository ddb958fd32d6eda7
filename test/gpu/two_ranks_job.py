# SPDX-License-Identifier: MIT
"""Functions of jobs of two ranks that run with a fault and without: what_if.py and
training.py."""

import os
import subprocess
import sys


def kernel_cycles():
    """Returns the argument of _sleep() for a kernel of 1 ms."""
    import torch

    cycles = 1_000_000
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(cycles)
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    torch.cuda.synchronize()
    return cycles / begin.elapsed_time(end)


def join(rank, port):
    """Makes this process a rank of the job, on a GPU of its own if there are two."""
    import torch
    import torch.distributed as dist

    gpu = rank % torch.cuda.device_count()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE="2")
    if torch.cuda.device_count() < 2:
        # Two "nodes" that share a GPU.
        os.environ.update(NCCL_HOSTID=f"node{rank}", NCCL_SOCKET_IFNAME="lo",
                          NCCL_NET="Socket", NCCL_IB_DISABLE="1")
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", device_id=torch.device("cuda", gpu))


def run_ranks():
    """Runs this program again for each rank, and ends with 1 if one of them fails."""
    ranks = [subprocess.Popen([sys.executable, *sys.argv, f"--rank={rank}"])
             for rank in range(2)]
    sys.exit(any([rank.wait() for rank in ranks]))
