#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables and verdicts from what the jobs of kernel_timing.sh left.

Each job left a folder, MODE/NUMBER, with the files that the script's job()
lists. Prints a table in Markdown, then "ok" or "not ok" for each claim; the exit
status is 1 if a claim fails. Must not run anything itself.

usage: kernel_timing.py cost|graphs FOLDER MACHINE MODES
"""
import collections
import json
import pathlib
import re
import statistics
import sys

HUNG = "124"
# The claim: from this length on, calls are no slower than this factor.
LONG_BYTES = 1 << 20
NO_SLOWER_THAN = 1.01
# How many logs of failed jobs are shown for each mode.
LOGS_SHOWN = 3


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

    def kernels_timed(self):
        """The kernel events of all ranks; None if there is no dump."""
        if self.ranks is None:
            return None
        return sum(rank.get("events", {}).get("kernel_ch") or 0
                   for rank in self.ranks)

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


def jobs_of(folder, mode):
    found = pathlib.Path(folder, mode)
    if not found.is_dir():
        return []
    return [Job(path) for path in
            sorted(found.iterdir(), key=lambda path: int(path.name))]


def nccl_version(jobs):
    for some in jobs.values():
        for job in some:
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


def plugin_was_there(verdicts, mode, jobs):
    """Checks jobs that ran: both ranks publish if and only if there is a plugin."""
    wrong = [job.name for job in jobs
             if (job.published < 2) != (mode == "none")]
    verdicts.say("%s_has_%s_plugin" %
                 (mode, "no" if mode == "none" else "the"),
                 not wrong, " ".join(wrong))


# --- Cost ------------------------------------------------------------------

def repetitions(job, clock):
    """{bytes: [µs per call]}"""
    times = collections.defaultdict(list)
    for size, us in re.findall(r"^bytes (\d+) .*\b%s_us (\S+)" % clock,
                               job.out, re.MULTILINE):
        times[int(size)].append(float(us))
    return times


def name_of(size):
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return "%g_%s" % (size / unit, name)
    return "%d_bytes" % size


def cost_table(times, modes, noise):
    others = modes[1:]
    rows = []
    for size in sorted(times["none"]):
        medians = {mode: [statistics.median(one) for one in times[mode][size]]
                   for mode in modes}
        none = statistics.median(medians["none"])
        rows.append([name_of(size).replace("_", " ")] +
                    [" ".join("%.2f" % us for us in medians[mode])
                     for mode in modes] +
                    ["%.2f-%.2f" % noise[size]] +
                    ["%.4f" % (statistics.median(medians[mode]) / none)
                     for mode in others])
    table(["AllReduce"] + modes + ["5-95 % of none"] +
          ["%s / none" % mode for mode in others], rows)


def by_size(jobs, modes, clock):
    """{mode: {bytes: [[µs of each repetition] of each round]}}"""
    times = {mode: collections.defaultdict(list) for mode in modes}
    for mode in modes:
        for job in jobs[mode]:
            for size, values in repetitions(job, clock).items():
                times[mode][size].append(values)
    return times


def noise_of(times):
    """{bytes: (5 %, 95 %)} of single repetitions without a plugin."""
    noise = {}
    for size, rounds in times["none"].items():
        values = sorted(us for one in rounds for us in one)
        last = len(values) - 1
        noise[size] = (values[round(last * 0.05)], values[round(last * 0.95)])
    return noise


def judge_default(verdicts, times, noise):
    for size in sorted(times["none"]):
        none, default = (
            statistics.median(statistics.median(one)
                              for one in times[mode][size])
            for mode in ("none", "default"))
        if size >= LONG_BYTES:
            verdicts.say("default_is_within_1_percent_at_" + name_of(size),
                         default <= none * NO_SLOWER_THAN,
                         "%.2f µs, not %.2f" % (default, none))
        else:
            verdicts.say("default_is_within_the_noise_at_" + name_of(size),
                         default <= noise[size][1],
                         "%.2f µs, none has %.2f-%.2f" %
                         (default, *noise[size]))


def kernels_are_timed(verdicts, mode, jobs):
    timed = [job.kernels_timed() for job in jobs]
    print("kernel events, %s: %s" %
          (mode, " ".join("?" if n is None else str(n) for n in timed)))
    # A plugin that does nothing would also cost nothing.
    known = [n for n in timed if n is not None]
    if mode == "always" and known:
        verdicts.say("always_times_kernels", all(known))


def cost(folder, machine, modes):
    verdicts = Verdicts()
    jobs = {mode: jobs_of(folder, mode) for mode in modes}
    for some in jobs.values():
        for job in some:
            if job.status != "0":
                job.show()
                verdicts.say("%s_ends_well" % job.name, False)
    if verdicts.failures:
        return verdicts.failures
    print("\nBack-to-back AllReduce, µs per call, the median of %d "
          "repetitions for each round; %s, NCCL %s\n" %
          (len(next(iter(repetitions(jobs["none"][0], "gpu").values()))),
           machine, nccl_version(jobs)))
    for clock, name in (("host", "the host's clock"), ("gpu", "CUDA events")):
        print("By %s:\n" % name)
        times = by_size(jobs, modes, clock)
        noise = noise_of(times)
        cost_table(times, modes, noise)
    # `times` are now those of CUDA events.
    for mode in modes:
        plugin_was_there(verdicts, mode, jobs[mode])
        kernels_are_timed(verdicts, mode, jobs[mode])
    if "default" in modes:
        judge_default(verdicts, times, noise)
    return verdicts.failures


# --- Graphs ----------------------------------------------------------------

def decision_of(rank):
    """Returns the rank's kernel timing status; "?" if it has none."""
    return (rank.get("kernel_timing") or {}).get("status", "?")


def decisions(jobs):
    found = collections.Counter(decision_of(rank) for job in jobs
                                for rank in job.ranks or [])
    return "; ".join("%s: %d" % pair for pair in found.most_common()) or "-"


def kernels(jobs):
    timed = [job.kernels_timed() for job in jobs]
    return "%d" % sum(1 for n in timed if n)


def graphs(folder, machine, modes):
    verdicts = Verdicts()
    rows = []
    jobs = {mode: jobs_of(folder, mode) for mode in modes}
    for mode in modes:
        states = collections.Counter(
            {"0": "well", HUNG: "hung", "not run": "not run"}
            .get(job.status, "failed") for job in jobs[mode])
        rows.append([mode, str(len(jobs[mode]))] +
                    [str(states[state])
                     for state in ("well", "hung", "failed", "not run")] +
                    [kernels(jobs[mode]), decisions(jobs[mode])])
    print("\nJobs that mix replays with eager calls; %s, NCCL %s\n" %
          (machine, nccl_version(jobs)))
    table(["NCCLSTAT_KERNEL_TIMING", "jobs", "ended well", "hung", "failed",
           "not run", "saw kernel times", "decision, ranks"], rows)
    for mode in modes:
        ran = [job for job in jobs[mode] if job.status != "not run"]
        bad = [job for job in ran if job.status != "0"]
        for job in bad[:LOGS_SHOWN]:
            job.show()
        verdicts.say("%d_graphs_run_to_their_end_with_%s" %
                     (len(jobs[mode]), mode),
                     bool(ran) and not bad and len(ran) == len(jobs[mode]),
                     " ".join(job.name for job in bad))
        plugin_was_there(verdicts, mode, ran)
        left = [job.name for job in ran if job.left and job.status == "0"]
        verdicts.say("nothing_is_left_with_%s" % mode, not left,
                     " ".join(left))
    return verdicts.failures


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("cost", "graphs"):
        sys.exit(__doc__)
    work = {"cost": cost, "graphs": graphs}[sys.argv[1]]
    failures = work(sys.argv[2], sys.argv[3], sys.argv[4].split())
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
