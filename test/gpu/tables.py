#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables and verdicts from what the jobs of cost.sh, truth.sh, symmetric.sh,
graphs.sh, parallel.sh and turns.sh left.

Each job left a folder, .../NUMBER, with the files that job() of common.bash lists;
that of turns.sh its output.
Prints tables in Markdown, then "ok" or "not ok" for each claim; the exit status is
1 if a claim fails. Must not run anything itself.

usage: tables.py cost|truth|copies|graphs|parallel|turns PATH MACHINE WORDS
"""
import collections
import json
import os
import pathlib
import re
import statistics
import sys

HUNG = "124"
# How many logs of failed jobs are shown for each mode.
LOGS_SHOWN = 3
MB = 1 << 20
# Factors that the default may cost: from 1 MB on, and below.
COST_LONG, COST_SHORT = 1.01, 1.03
# How far bandwidths may be off, from this many bytes on; the largest first.
TRUTH = ((16 * MB, 0.03), (0, 0.10))
# The host limits smaller copies.
COPIES_LEAST = MB
TIMED_LEAST = 0.99
# Factors of busbw for two ranks; AlltoAll and SendRecv are told as Send and Recv.
FACTORS = {"AllGather": 0.5, "ReduceScatter": 0.5}


class Job:
    """The files that one job left."""

    def __init__(self, folder):
        self.name = "%s/%s" % (folder.parent.name, folder.name)
        self.folder = folder
        self.status = self.text("status").strip()
        self.out = self.text("out")
        # At least an object for each communicator of each rank.
        self.published = len(self.text("seen").split())
        self.left = self.text("left").split()
        try:
            self.ranks = json.loads(self.text("json"))["ranks"]
        except (ValueError, KeyError):
            self.ranks = None

    def text(self, name):
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""

    def show(self):
        for name in ("arguments", "out", "dump.err"):
            for line in self.text(name).splitlines()[-12:]:
                print("| %s: %s" % (self.name, line))


class Verdicts:
    failures = 0

    def say(self, name, good, why=""):
        self.failures += not good
        print("%s %s%s" % ("ok" if good else "not ok", name,
                           "" if good or not why else ": " + why))

    def jobs_ended_well(self, jobs):
        for job in jobs:
            if job.status != "0":
                job.show()
                self.say("%s_ends_well" % job.name, False)
        return self.failures == 0

    def plugin_was_there(self, mode, jobs):
        """Both ranks publish if and only if our plugin is there."""
        wrong = [job.name for job in jobs
                 if (job.published < 2) != (mode in ("none", "empty"))]
        self.say("%s_%s" % (mode, "does_not_publish" if mode in ("none", "empty")
                            else "publishes"), not wrong, " ".join(wrong))


def jobs_of(*path):
    found = pathlib.Path(*path)
    if not found.is_dir():
        return []
    return [Job(place) for place in
            sorted(found.iterdir(), key=lambda place: int(place.name))]


def nccl_version(jobs):
    for job in jobs:
        match = re.search(r"^nccl (\S+) on", job.out, re.MULTILINE)
        if match:
            return match.group(1)
    return "?"


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def name_of(size):
    for unit, name in ((MB, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return "%g %s" % (size / unit, name)
    return "%d bytes" % size


def timed_of(ranks):
    """How many launches, and how many of them are timed."""
    return (sum(rank["launches"]["launched"] for rank in ranks),
            sum(rank["launches"]["timed"] for rank in ranks))


# --- Cost ------------------------------------------------------------------

def measured(job):
    """{name: [µs of each repetition]} of a call or of a step."""
    times = collections.defaultdict(list)
    for size, us in re.findall(r"^bytes (\d+) .* us (\S+)", job.out, re.MULTILINE):
        times[name_of(int(size))].append(float(us))
    for ms in re.findall(r"^rank 0: step_ms (\S+)", job.out, re.MULTILINE):
        times["step"].append(float(ms) * 1000)
    return times


def cost_of(verdicts, title, jobs, modes, limits):
    """Prints the table of one kind of job and judges the default."""
    rounds = {mode: collections.defaultdict(list) for mode in modes}
    for mode in modes:
        for job in jobs[mode]:
            for name, values in measured(job).items():
                rounds[mode][name].append(statistics.median(values))
    rows = []
    for name in rounds["none"]:
        # Where threads run decides much, and only ever adds to the least time.
        best = {mode: min(rounds[mode][name]) for mode in modes}
        none = best["none"]
        rows.append([name] +
                    [" ".join("%.2f" % us for us in rounds[mode][name])
                     for mode in modes] +
                    ["%.3f" % (best[mode] / none) for mode in modes[1:]])
        limit = limits(name)
        verdicts.say("default costs at most %g of %s, %s" % (limit, name, title),
                     best["default"] <= limit * none,
                     "%.3f" % (best["default"] / none))
    print()
    table([title] + modes + ["%s / none" % mode for mode in modes[1:]], rows)


def cost(folder, machine, modes):
    verdicts = Verdicts()
    kinds = [("comms1", "AllReduce, one communicator"),
             ("comms2", "AllReduce, two communicators in turn"),
             ("step", "step of DistributedDataParallel"),
             ("3d", "step with tensor, pipeline and data parallelism"),
             ("3d-nodes", "the same on two nodes")]
    kinds = [kind for kind in kinds if os.path.isdir(os.path.join(folder, kind[0]))]
    jobs = {kind: {mode: jobs_of(folder, kind, mode) for mode in modes}
            for kind, _ in kinds}
    every = [job for some in jobs.values() for more in some.values() for job in more]
    if not verdicts.jobs_ended_well(every):
        return verdicts.failures
    print("\nµs a call or step, the median of a run for each round; %s, NCCL %s\n" %
          (machine, nccl_version(every)))
    for kind, title in kinds:
        cost_of(verdicts, title, jobs[kind], modes,
                lambda name: COST_SHORT if name == "1 KB" else COST_LONG)
    for mode in modes:
        verdicts.plugin_was_there(mode, [job for job in every
                                         if job.folder.parent.name == mode])
    for kind, title in kinds:
        for job in [] if kind.startswith("comms") else jobs[kind]["default"]:
            launched, timed = timed_of(job.ranks)
            verdicts.say("default times %.2f %% of the launches, %s" %
                         (100 * timed / launched, title),
                         timed >= TIMED_LEAST * launched)
    return verdicts.failures


# --- Truth -----------------------------------------------------------------

def allowed_from(size):
    """How far what is told of calls of so many bytes may be off."""
    return next(part for least, part in TRUTH if size >= least)


def moving_parts(job):
    """{(function, bytes): [ns]} of the recorded operations that both ranks have
    timed: from the begin of the rank that began last to the last end."""
    found = collections.defaultdict(dict)
    for line in job.text("lines").splitlines():
        event = json.loads(line)
        if event["event"] not in ("coll", "p2p") or not event["on_stream"]:
            continue
        # Operations have the numbers that the plugin gives them; these may differ
        # between ranks.
        number = (event["transfer_number"], event["peer"] == event["rank"]) if \
            event["event"] == "p2p" else event["sequence_number"]
        key = (event["communicator_id"], event["function"], number)
        found[key][event["rank"]] = (event["start_ns"] + event["first_child_ns"],
                                     event["start_ns"] + event["duration_ns"],
                                     event["bytes"])
    parts = collections.defaultdict(list)
    for (_, function, _), ranks in found.items():
        if len(ranks) == 2:
            begins, ends, sizes = zip(*ranks.values())
            parts[function, sizes[0]].append(max(ends) - max(begins))
    return parts


def sizes_view(job, function, size):
    """busbw by the median of all ranks' own times, which the view Sizes shows."""
    times_us = [shown["time_ns"]["p50"] / 1e3 for rank in job.ranks or []
                for shown in rank["classes"]
                if shown["function"] == function and
                shown["size_bytes"] == size and shown["timed"]]
    if not times_us:
        return "-"
    return "%.2f" % (size / statistics.mean(times_us) / 1e3 *
                     FACTORS.get(function, 1))


def truth_of(verdicts, how, function, job, rows):
    parts = moving_parts(job)
    told_as = function if function in ("AllReduce", "AllGather", "ReduceScatter",
                                       "Broadcast") else "Recv"
    for size, by_host, by_gpu in re.findall(
            r"^bytes (\d+) .* busbw (\S+) .* gpu_busbw (\S+)", job.out, re.MULTILINE):
        size, by_host, by_gpu = int(size), float(by_host), float(by_gpu)
        told_size = size // 2 if function == "AlltoAll" else size
        times = parts.get((told_as, told_size), [])
        told = (told_size / statistics.median(times) * FACTORS.get(function, 1)
                if times else 0)
        # Either way of measuring has gaps between calls; the larger has fewer.
        true = max(by_host, by_gpu)
        good = abs(told / true - 1) <= allowed_from(size)
        rows.append([how, function, name_of(size), "%.2f" % by_host,
                     "%.2f" % by_gpu, sizes_view(job, told_as, told_size),
                     "%.2f" % told if times else "-",
                     "%+.1f %%" % (100 * (told / true - 1)) if times else "-",
                     str(len(times)), "" if good else "no"])
        if not good:
            verdicts.say("busbw of %s, %s, %s" % (function, name_of(size), how),
                         False, "%.2f, not %.2f" % (told, true))


def truth(folder, machine, functions):
    verdicts = Verdicts()
    hows = ("processes", "process")
    jobs = {(how, function): jobs_of(folder, how, function)
            for how in hows for function in functions}
    every = [job for some in jobs.values() for job in some]
    if not verdicts.jobs_ended_well(every):
        return verdicts.failures
    rows = []
    for (how, function), some in jobs.items():
        for job in some:
            truth_of(verdicts, how, function, job, rows)
    print("\nbusbw in GB/s, measured by calls and told by ncclstat; %s, NCCL %s\n" %
          (machine, nccl_version(every)))
    table(["by", "function", "size", "by the host", "by the GPU", "Sizes", "told",
           "off", "timed", "good"], rows)
    verdicts.say("%d of %d bandwidths are true" %
                 (sum(not row[-1] for row in rows), len(rows)), not verdicts.failures)
    return verdicts.failures


# --- Copy engines ----------------------------------------------------------

def copies(folder, machine, _):
    """The job of a folder: its collectives by copy engines."""
    verdicts = Verdicts()
    job = Job(pathlib.Path(folder))
    parts = moving_parts(job)
    rows = []
    for function, size, us in re.findall(
            r"^rank 0 function (AllGather|AlltoAll) bytes (\d+) us (\S+)", job.out,
            re.MULTILINE):
        size, us = int(size), float(us)
        times = parts.get((function, 2 * size), [])
        told = statistics.median(times) / 1e3 if times else 0
        rows.append([function, name_of(size), "%.2f" % us, "%.2f" % told,
                     str(len(times))])
        if size >= COPIES_LEAST:
            verdicts.say("%s of %s takes as long as is told" % (function, name_of(size)),
                         abs(told / us - 1) <= allowed_from(size),
                         "%.2f, not %.2f" % (told, us))
    print("\nus a call by copy engines; %s\n" % machine)
    table(["function", "size of a rank's part", "measured", "told", "timed"], rows)
    verdicts.say("copies_are_timed", bool(rows))
    return verdicts.failures


# --- Graphs ----------------------------------------------------------------

def graphs(folder, machine, modes):
    verdicts = Verdicts()
    rows = []
    jobs = {mode: jobs_of(folder, mode) for mode in modes}
    for mode in modes:
        states = collections.Counter(
            {"0": "well", HUNG: "hung", "not run": "not run"}
            .get(job.status, "failed") for job in jobs[mode])
        launches = [timed_of(job.ranks) for job in jobs[mode] if job.ranks]
        captured = sum(rank["launches"]["captured"] for job in jobs[mode]
                       for rank in job.ranks or [])
        rows.append([mode, str(len(jobs[mode]))] +
                    [str(states[state])
                     for state in ("well", "hung", "failed", "not run")] +
                    ["%d of %d" % (sum(timed for _, timed in launches),
                                   sum(launched for launched, _ in launches)),
                     str(captured)])
    print("\nJobs that mix replays with eager calls; %s, NCCL %s\n" %
          (machine, nccl_version(job for some in jobs.values() for job in some)))
    table(["mode", "jobs", "ended well", "hung", "failed", "not run",
           "launches timed", "captured"], rows)
    for mode in modes:
        ran = [job for job in jobs[mode] if job.status != "not run"]
        bad = [job for job in ran if job.status != "0"]
        for job in bad[:LOGS_SHOWN]:
            job.show()
        verdicts.say("%d_graphs_run_to_their_end_with_%s" % (len(jobs[mode]), mode),
                     bool(ran) and not bad and len(ran) == len(jobs[mode]),
                     " ".join(job.name for job in bad))
        verdicts.plugin_was_there(mode, ran)
        left = [job.name for job in ran if job.left and job.status == "0"]
        verdicts.say("nothing_is_left_with_%s" % mode, not left, " ".join(left))
    return verdicts.failures


# --- Parallel --------------------------------------------------------------

def parallel(path, machine, words):
    """The dump of a job whose ranks have so many communicators."""
    verdicts = Verdicts()
    with open(path) as file:
        ranks = json.load(file)["ranks"]
    rows = []
    for rank in sorted(ranks, key=lambda rank: (rank["communicator"]["id"], rank["rank"])):
        functions = {function["function"]: function["timing"]
                     for function in rank["functions"] if function["operations"]}
        launches = rank["launches"]
        rows.append([str(rank["rank"]), rank["communicator"]["id"],
                     ", ".join("%s %s" % pair for pair in functions.items()),
                     "%d of %d" % (launches["timed"], launches["launched"]),
                     launches["status"]])
    print("\n%s, NCCL %s\n" % (machine, ranks[0]["nccl_version"] if ranks else "?"))
    table(["rank", "communicator", "functions and their times", "launches timed",
           "status"], rows)
    communicators = collections.Counter(rank["rank"] for rank in ranks)
    verdicts.say("each_process_has_%s_communicators" % words[0],
                 len(ranks) > 0 and
                 len({rank["pid"] for rank in ranks}) * int(words[0]) == len(ranks),
                 str(dict(communicators)))
    launched, timed = timed_of(ranks)
    verdicts.say("%.2f_%%_of_launches_are_timed" % (100 * timed / max(1, launched)),
                 timed >= TIMED_LEAST * launched)
    lost = {name: sum(rank["lost"][name] for rank in ranks)
            for name in (ranks[0]["lost"] if ranks else ())
            if name != "overwritten"}
    verdicts.say("nothing_is_lost", not any(lost.values()), str(lost))
    return verdicts.failures


def turns(path, machine, plugins):
    """What each plugin adds to the turn without one, which comes in the same round."""
    times = collections.defaultdict(list)
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        found = re.match(r"turn (\d+) bytes \d+ us ([\d.]+)$", line)
        if found:
            times[int(found[1])].append(float(found[2]))
    rows = []
    for turn, plugin in enumerate(["none"] + plugins):
        pairs = list(zip(times[turn], times[0]))
        if not pairs:
            print("not ok %s has no times" % plugin)
            return 1
        rows.append([pathlib.Path(plugin).name, str(len(pairs)),
                     "%.2f" % statistics.median(times[turn]),
                     "%.2f" % statistics.median(a - b for a, b in pairs),
                     "%.3f" % statistics.median(a / b for a, b in pairs)])
    print("%s\n" % machine)
    table(["plugin", "turns", "us a call", "us above none", "to none"], rows)
    return 0


def main():
    works = {"cost": cost, "truth": truth, "copies": copies, "graphs": graphs,
             "parallel": parallel, "turns": turns}
    if len(sys.argv) != 5 or sys.argv[1] not in works:
        sys.exit(__doc__)
    failures = works[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4].split())
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
