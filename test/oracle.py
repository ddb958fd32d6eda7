#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes from a call log alone the numbers that ncclstat must arrive at.

Usage: oracle.py FILE

FILE is a call log, plain or xz (test/captures/README.md has the format). The
script prints one JSON object with sorted keys; "contexts" has one entry for
each init, in the order of the log.

The script is independent of ncclstat: it must share no code, no table and no
idea with the plugin or the reader, and needs nothing but Python. It reads the
log once, call by call, and ignores times. null means that the log does not
contain the fact.

Rules of counting:

events      startEvent calls, by type.
channels    by "channel direction peer" of the proxy operations. A start of a
            step whose number is open on its operation restarts the same step.
            A step that takes the slot (number modulo 8) of an open step ends
            that step, and the end of the operation ends all its open steps:
            NCCL 2.24 to 2.26 do not report the stop of some receive steps.
            bytes: from API 4 on the sum of the sizes at SendWait and
            RecvFlushWait; before, the growth of the operations' cumulative
            sizes since the first size that each operation reports. null if
            a newer NCCL only emulates an old API: it reports no sizes.
functions   by NCCL's name. calls: CollApi and P2pApi (from API 5 on). ops:
            Coll and P2p. ops_done: operations that have children (ProxyOp,
            KernelCh), all of which are stopped; null if no operation of the
            function has a child. childless: operations without a child, of
            which only a GPU can tell that they are done. bytes: message sizes as nccl-tests counts
            them; null if they depend on a number of ranks that the API does
            not report, or if there are calls but no operations. last_seq:
            the largest sequence number; null for P2p.
classes     operations of a function by "size algorithm protocol". size is the
            largest power of two that is not above the message size; "-"
            stands for a fact that the log does not contain.
proxy       records of each state of the proxy thread.
"""

import json
import lzma
import sys

EVENT_NAMES = [
    "group", "coll", "p2p", "proxy_op", "proxy_step", "proxy_ctrl",
    "kernel_ch", "net_plugin", "group_api", "coll_api", "p2p_api",
    "kernel_launch", "ce_coll", "ce_sync", "ce_batch", "kernel_phase",
]
PROXY_STATES = {13: "idle", 14: "active", 15: "sleep", 16: "wakeup",
                17: "append", 18: "append_end"}
APPEND_END = 18
SEND_WAIT = 9
RECV_FLUSH_WAIT = 11
SLOTS = 8

# API 1 has numbers for functions and data types.
FUNC_NUMBERS = ["Broadcast", "Reduce", "AllGather", "ReduceScatter",
                "AllReduce", "SendRecv", "Send", "Recv"]
DATATYPE_NUMBERS = ["ncclInt8", "ncclUint8", "ncclInt32", "ncclUint32",
                    "ncclInt64", "ncclUint64", "ncclFloat16", "ncclFloat32",
                    "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3",
                    "ncclFloat8e5m2"]
ALGORITHM_NUMBERS = ["TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN",
                     "NVLS", "NVLS_TREE", "PAT"]
PROTOCOL_NUMBERS = ["LL", "LL128", "SIMPLE"]
DATATYPE_BYTES = {
    "ncclInt8": 1, "ncclUint8": 1, "Unknown": 1, "ncclFloat8e4m3": 1,
    "ncclFloat8e5m2": 1, "ncclFloat16": 2, "ncclBfloat16": 2, "ncclInt32": 4,
    "ncclUint32": 4, "ncclFloat32": 4, "ncclInt64": 8, "ncclUint64": 8,
    "ncclFloat64": 8,
}
ONE_COUNT = {"AllReduce", "Reduce", "Broadcast", "Send", "Recv", "SendRecv"}
COUNT_PER_RANK = {"AllGather", "ReduceScatter"}


class Function:
    def __init__(self):
        self.calls = 0
        self.ops = []
        self.sizes = []
        self.classes = {}
        self.last_seq = None

    def count(self, size, algorithm, protocol):
        least = "-" if size is None else str(floor_power(size))
        key = "%s %s %s" % (least, algorithm, protocol)
        self.classes[key] = self.classes.get(key, 0) + 1

    def result(self, api):
        with_children = [op for op in self.ops if op.children]
        done = sum(all(child.stopped for child in op.children)
                   for op in with_children)
        return {
            "calls": self.calls if api >= 5 else None,
            "ops": len(self.ops),
            "ops_done": done if with_children else None,
            "childless": len(self.ops) - len(with_children),
            "bytes": (None if None in self.sizes or not self.sizes
                      else sum(self.sizes)),
            "last_seq": self.last_seq,
            "classes": self.classes,
        }


class Channel:
    def __init__(self):
        self.ops_started = 0
        self.ops_done = 0
        self.steps_started = 0
        self.steps_done = 0
        self.bytes = 0

    def result(self, has_sizes):
        return {
            "ops_started": self.ops_started,
            "ops_done": self.ops_done,
            "steps_started": self.steps_started,
            "steps_done": self.steps_done,
            "bytes": self.bytes if has_sizes else None,
        }


class Context:
    def __init__(self, api, keys):
        self.api = api
        comm = keys["comm"]
        self.id = comm if api >= 4 else None
        self.name = none_if_dash(keys["name"]) if api >= 4 else None
        self.rank = int(keys["rank"]) if api >= 4 else None
        self.nranks = int(keys["nranks"]) if api >= 4 else None
        self.nnodes = int(keys["nnodes"]) if api >= 4 else None
        self.finished = False
        self.events = dict.fromkeys(EVENT_NAMES, 0)
        self.channels = {}
        self.functions = {}
        self.proxy = dict.fromkeys(PROXY_STATES.values(), 0)
        self.appended_ops = 0

    def learn(self, keys):
        """Takes over a communicator's facts: API 1 to 3 report them with each
        operation."""
        if self.api >= 4 or self.rank is not None:
            return
        self.rank = int(keys["rank"])
        self.name = none_if_dash(keys["name"])
        if int(keys["comm"], 16) != 0:
            self.id = keys["comm"]

    def function(self, name):
        return self.functions.setdefault(name, Function())

    def result(self, has_sizes):
        return {
            "id": self.id,
            "name": self.name,
            "rank": self.rank,
            "nranks": self.nranks,
            "nnodes": self.nnodes,
            "api_version": self.api,
            "finished": self.finished,
            "events": self.events,
            "channels": {key: channel.result(has_sizes)
                         for key, channel in self.channels.items()},
            "functions": {name: function.result(self.api)
                          for name, function in self.functions.items()},
            "proxy": self.proxy,
            "appended_ops": self.appended_ops,
        }


class Event:
    """An event of any type, for which a handle stands."""

    def __init__(self, context, name):
        self.context = context
        self.name = name
        self.stopped = False
        self.children = []


class ProxyOp(Event):
    def __init__(self, context, channel, is_send):
        super().__init__(context, "proxy_op")
        self.channel = channel
        self.is_send = is_send
        self.open_steps = {}
        self.last_size = None


class Step:
    """One step; several handles can stand for it."""

    def __init__(self, op, number):
        self.op = op
        self.number = number

    def end(self):
        if self.op.open_steps.get(self.number) is self:
            del self.op.open_steps[self.number]
            self.op.channel.steps_done += 1


class StepEvent(Event):
    def __init__(self, context, step):
        super().__init__(context, "proxy_step")
        self.step = step


def floor_power(size):
    return 0 if size == 0 else 1 << (size.bit_length() - 1)


def none_if_dash(text):
    return None if text == "-" else text


class Log:
    def __init__(self):
        self.api = None
        self.contexts = []
        self.by_number = {}
        self.handles = {}
        self.has_op_states = False

    # One life of the library; in the next life the log's numbers begin again.
    def begin_life(self, words):
        self.api = int(dict(word.split("=", 1) for word in words)["api"])
        self.by_number = {}
        self.handles = {}

    def init(self, keys):
        context = Context(self.api, keys)
        self.contexts.append(context)
        self.by_number[keys["ctx"]] = context

    def finalize(self, keys):
        self.by_number[keys["ctx"]].finished = True

    def start(self, keys):
        context = self.by_number[keys["ctx"]]
        name = EVENT_NAMES[int(keys["type"]).bit_length() - 1]
        context.events[name] += 1
        parent = self.handles.get(keys["parent"])
        if name in ("coll", "p2p"):
            event = self.start_operation(context, name, keys)
        elif name in ("coll_api", "p2p_api"):
            event = Event(context, name)
            context.function(keys["func"]).calls += 1
        elif name == "proxy_op":
            event = self.start_proxy_op(context, keys)
        elif name == "proxy_step":
            event = self.start_step(context, parent, keys)
        else:
            event = Event(context, name)
        if (name in ("proxy_op", "kernel_ch") and parent is not None
                and parent.name in ("coll", "p2p")):
            parent.children.append(event)
        self.handles[keys["h"]] = event

    def start_operation(self, context, name, keys):
        context.learn(keys)
        func, datatype = keys["func"], keys["dt"]
        if self.api == 1:
            func = FUNC_NUMBERS[int(func)]
            datatype = DATATYPE_NUMBERS[int(datatype)]
        event = Event(context, name)
        function = context.function(func)
        function.ops.append(event)
        size = int(keys["count"]) * DATATYPE_BYTES[datatype]
        if func in COUNT_PER_RANK:
            size = size * context.nranks if context.nranks else None
        elif func not in ONE_COUNT:
            size = None
        function.sizes.append(size)
        function.count(size, self.word(keys, "algo", ALGORITHM_NUMBERS),
                       self.word(keys, "proto", PROTOCOL_NUMBERS))
        if name == "coll":
            seq = int(keys["seq"])
            function.last_seq = max(seq, function.last_seq or 0)
        return event

    def word(self, keys, key, words):
        if key not in keys:
            return "-"
        return words[int(keys[key])] if self.api == 1 else keys[key]

    def start_proxy_op(self, context, keys):
        is_send = keys["send"] != "0"
        key = "%s %s %s" % (keys["ch"], "send" if is_send else "recv",
                            keys["peer"])
        channel = context.channels.setdefault(key, Channel())
        channel.ops_started += 1
        return ProxyOp(context, channel, is_send)

    def start_step(self, context, op, keys):
        number = int(keys["step"])
        if not isinstance(op, ProxyOp):
            return Event(context, "proxy_step")
        step = op.open_steps.get(number)
        if step is not None:
            return StepEvent(context, step)
        for other in list(op.open_steps.values()):
            if other.number % SLOTS == number % SLOTS:
                other.end()
        step = Step(op, number)
        op.open_steps[number] = step
        op.channel.steps_started += 1
        return StepEvent(context, step)

    def record(self, keys):
        event = self.handles[keys["h"]]
        state = int(keys["state"])
        size = int(keys.get("size", 0))
        if state in PROXY_STATES:
            event.context.proxy[PROXY_STATES[state]] += 1
            if state == APPEND_END:
                event.context.appended_ops += int(keys.get("appended", 0))
        elif isinstance(event, ProxyOp) and self.api <= 3:
            self.has_op_states = True
            if event.last_size is not None:
                event.channel.bytes += size - event.last_size
            event.last_size = size
        elif isinstance(event, StepEvent) and self.api >= 4:
            op = event.step.op
            if state == (SEND_WAIT if op.is_send else RECV_FLUSH_WAIT):
                op.channel.bytes += size

    def stop(self, keys):
        event = self.handles[keys["h"]]
        if event.stopped:
            return
        event.stopped = True
        if isinstance(event, StepEvent):
            event.step.end()
        elif isinstance(event, ProxyOp):
            event.channel.ops_done += 1
            for step in list(event.open_steps.values()):
                step.end()

    def read(self, lines):
        verbs = {"I": self.init, "S": self.start, "R": self.record,
                 "E": self.stop, "F": self.finalize}
        for line in lines:
            words = line.split(" ")
            if line.startswith("# calllog 1 "):
                self.begin_life(words[3:])
            else:
                verbs[words[2]](dict(w.split("=", 1) for w in words[3:]))

    def result(self):
        has_sizes = self.api >= 4 or self.has_op_states
        return {"contexts": [context.result(has_sizes)
                             for context in self.contexts]}


def read_lines(path):
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(b"\xfd7zXZ\0"):
        content = lzma.decompress(content)
    return content.decode().splitlines()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: oracle.py FILE")
    log = Log()
    log.read(read_lines(sys.argv[1]))
    json.dump(log.result(), sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
