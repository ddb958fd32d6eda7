#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a faulty job as call logs for ncclreplay.

usage: faulty_job.py FAULT RANKS FOLDER [CALLS]

A ring of ranks makes some AllReduces (4, or CALLS, one each 20 ms) over the network on a communicator of all
ranks, as NCCL 2.28 reports them (profiler API 5). Then the fault happens, and
no more calls follow. FAULT:

  none          nothing is wrong: all calls end
  late          rank 1 comes 12 ms late to each of 300 calls, one each 40 ms
  missing       rank 1 makes no further call
  nvlink        the same over NVLink: the kernels of the others have begun
  hangs         over NVLink, the kernels of all ranks begin and none ends
  order         rank 1 calls AllGather, where the others call AllReduce
  size          rank 1 passes another count
  unlike        rank 1 passes another count once, over NVLink: all calls end
  gpu_late      rank 1 has called, but its kernel does not start
  p2p_unmet     rank 0 receives from rank 1, which never sends
  deadlock      each rank receives from the rank before it, and none sends
  launcher      rank 1 blocks while it enqueues, and its proxy thread sleeps
  proxy_asleep  rank 1 has enqueued, but its proxy thread sleeps
"""
import sys

MS = 1000000
CALLS = 4
LATE_CALLS = 300
VICTIM = 1
UNLIKE_CALL = 2
NSTEPS = 4
STEP_BYTES = 524288

# Event types and states of NCCL's interface.
COLL, P2P, PROXY_OP, PROXY_STEP, PROXY_CTRL, KERNEL_CH = 2, 4, 8, 16, 32, 64
GROUP_API, COLL_API, KERNEL_LAUNCH = 256, 512, 2048
KERNEL_STOP = 22
SEND_GPU_WAIT, SEND_PEER_WAIT, SEND_WAIT = 8, 20, 9
RECV_WAIT, RECV_FLUSH_WAIT, RECV_GPU_WAIT = 10, 11, 12
ASLEEP, AWAKE, IN_PROGRESS = 15, 16, 19


class Rank:
    """The calls of one rank, in order."""

    def __init__(self, number, count, comm="fa171", name="faulty"):
        self.number = number
        self.count = count
        self.before = (number - 1) % count
        self.after = (number + 1) % count
        self.pid = 1000 + number
        self.now = MS
        self.handle = 0
        self.asleep = None
        self.lines = [f"# calllog 1 api=5 pid={self.pid}"
                      " realtime_ns=1000000000 monotonic_ns=1000"]
        self.add("I", f"ctx=1 comm={comm} name={name} nnodes={count}"
                 f" nranks={count} rank={number} mask=4095")
        self.sleep()

    def add(self, verb, rest, thread=0):
        self.now += 1000
        self.lines.append(f"{self.now} {self.pid + thread} {verb} {rest}")

    def start(self, kind, parent, rest, thread=0):
        self.handle += 1
        self.add("S", f"h={self.handle} ctx=1 type={kind} parent={parent}"
                 f" rank={self.number}{rest}", thread)
        return self.handle

    def state(self, handle, state, size=0):
        self.add("R", f"h={handle} state={state} size={size}", 1)

    def stop(self, handle, thread=1):
        self.add("E", f"h={handle}", thread)

    def sleep(self):
        self.asleep = self.start(PROXY_CTRL, 0, "", 1)
        self.add("R", f"h={self.asleep} state={ASLEEP} appended=0", 1)

    def wake(self):
        self.add("R", f"h={self.asleep} state={AWAKE} appended=0", 1)
        self.stop(self.asleep)

    def call(self, function, number, count=1048576):
        """Begins to enqueue a collective; enqueued() ends that."""
        return self.start(
            COLL, 0, f" seq={number} func={function} sb=1000 rb=2000"
            f" count={count} root=0 dt=ncclFloat32 nch=1 nwarps=9 algo=RING"
            " proto=SIMPLE pgroup=0")

    def enqueued(self, call):
        self.stop(call, 0)

    def operation(self, call, send):
        peer = self.after if send else self.before
        handle = self.start(
            PROXY_OP, call, f" pid={self.pid} ch=0 peer={peer}"
            f" nsteps={NSTEPS} chunk=4194304 send={int(send)}", 1)
        self.state(handle, IN_PROGRESS)
        return handle

    def step(self, operation, number, send):
        handle = self.start(PROXY_STEP, operation, f" step={number}", 1)
        self.state(handle, SEND_GPU_WAIT if send else RECV_WAIT)
        return handle

    def send(self, operation, number):
        """Makes one step from begin to end."""
        step = self.step(operation, number, True)
        self.state(step, SEND_PEER_WAIT, STEP_BYTES)
        self.state(step, SEND_WAIT, STEP_BYTES)
        self.stop(step)

    def receive(self, operation, number):
        step = self.step(operation, number, False)
        self.state(step, RECV_FLUSH_WAIT, STEP_BYTES)
        self.state(step, RECV_GPU_WAIT, STEP_BYTES)
        self.stop(step)

    def whole_call(self, number):
        call = self.call("AllReduce", number)
        self.enqueued(call)
        self.wake()
        sends = self.operation(call, True)
        receives = self.operation(call, False)
        for step in range(NSTEPS):
            self.send(sends, step)
            self.receive(receives, step)
        self.stop(sends)
        self.stop(receives)
        self.sleep()

    def kernel_call(self, number, ends, count=1048576, lasts=MS):
        """A call without a proxy; its kernel begins at once."""
        group = self.start(GROUP_API, 0, " graph=0 depth=1")
        self.stop(self.start(
            COLL_API, group, f" func=AllReduce count={count} dt=ncclFloat32"
            " root=0 stream=1 graph=0"), 0)
        self.stop(self.start(KERNEL_LAUNCH, group, " stream=1"), 0)
        call = self.call("AllReduce", number, count)
        self.enqueued(call)
        self.stop(group, 0)
        kernel = self.start(KERNEL_CH, call, f" ch=0 ptimer={self.now}", 1)
        if ends:
            self.now += lasts
            self.add("R", f"h={kernel} state={KERNEL_STOP}"
                     f" ptimer={self.now}", 1)
            self.stop(kernel)

    def late_call(self, number, begin, late):
        """A call that ends everywhere once the victim has come."""
        self.now = begin + (late if self.number == VICTIM else 0)
        call = self.call("AllReduce", number)
        self.enqueued(call)
        self.wake()
        sends = self.operation(call, True)
        receives = self.operation(call, False)
        steps = [self.step(receives, 0, False)]
        self.now = begin + late + MS // 2
        for step in range(NSTEPS):
            self.send(sends, step)
        for step in range(NSTEPS):
            if step > 0:
                steps.append(self.step(receives, step, False))
            self.state(steps[step], RECV_FLUSH_WAIT, STEP_BYTES)
            self.state(steps[step], RECV_GPU_WAIT, STEP_BYTES)
            self.stop(steps[step])
        self.stop(sends)
        self.stop(receives)
        self.sleep()

    def hang(self, call, sent, received):
        """Leaves the channels as they are after that many steps."""
        self.wake()
        sends = self.operation(call, True)
        receives = self.operation(call, False)
        for step in range(sent):
            self.send(sends, step)
        for step in range(received):
            self.receive(receives, step)
        self.step(sends, sent, True)
        self.step(receives, received, False)

    def receive_only(self):
        call = self.start(
            P2P, 0, " func=Recv buf=1000 dt=ncclFloat32 count=262144"
            f" peer={self.before} nch=1 pgroup=0")
        self.enqueued(call)
        self.wake()
        self.step(self.operation(call, False), 0, False)


def wait_for_victim(rank, call):
    """Each rank has sent its own data; the victim's does not arrive."""
    distance = (rank.number - VICTIM) % rank.count
    rank.hang(call, min(distance, NSTEPS - 1), min(distance - 1, NSTEPS - 1))


def break_down(rank, fault, calls):
    is_victim = rank.number == VICTIM
    if fault == "none" or (fault == "missing" and is_victim):
        return
    if fault == "deadlock":
        rank.receive_only()
        return
    if fault == "p2p_unmet":
        if rank.number == (VICTIM + 1) % rank.count:
            rank.receive_only()
        return
    if not is_victim:
        call = rank.call("AllReduce", calls)
        rank.enqueued(call)
        wait_for_victim(rank, call)
    elif fault == "order":
        call = rank.call("AllGather", 0)
        rank.enqueued(call)
        rank.hang(call, 1, 0)
    elif fault == "size":
        call = rank.call("AllReduce", calls, 4096)
        rank.enqueued(call)
        rank.hang(call, 1, 0)
    elif fault == "gpu_late":
        call = rank.call("AllReduce", calls)
        rank.enqueued(call)
        rank.wake()
        rank.step(rank.operation(call, True), 0, True)
        step = rank.step(rank.operation(call, False), 0, False)
        rank.state(step, RECV_FLUSH_WAIT, STEP_BYTES)
        rank.state(step, RECV_GPU_WAIT, STEP_BYTES)
    elif fault == "launcher":
        rank.call("AllReduce", calls)
    elif fault == "proxy_asleep":
        rank.enqueued(rank.call("AllReduce", calls))
    else:
        sys.exit(f"{fault} is no fault; see the beginning of this file")


def main():
    fault, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    calls = int(sys.argv[4]) if len(sys.argv) > 4 else CALLS
    for number in range(count):
        rank = Rank(number, count)
        for call in range(LATE_CALLS if fault == "late" else 0):
            rank.late_call(call, (20 + 40 * call) * MS, 12 * MS)
        for call in range(0 if fault == "late" else calls):
            rank.now = (20 + 20 * call) * MS
            if fault in ("nvlink", "hangs"):
                rank.kernel_call(call, True)
            elif fault == "unlike":
                # Players that are held up still have their kernels at one
                # time.
                is_unlike = number == VICTIM and call == UNLIKE_CALL
                rank.now = (20 + 400 * call) * MS
                rank.kernel_call(call, True,
                                 524288 if is_unlike else 1048576, 300 * MS)
            else:
                rank.whole_call(call)
        if fault == "hangs" or (fault == "nvlink" and number != VICTIM):
            rank.kernel_call(calls, False)
        elif fault not in ("late", "nvlink", "unlike"):
            rank.now = max(200, 40 + 20 * calls) * MS
            break_down(rank, fault, calls)
        with open(f"{folder}/rank{number}.calllog", "w") as log:
            log.write("\n".join(rank.lines) + "\n")


if __name__ == "__main__":
    main()
