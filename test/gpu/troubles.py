#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at jobs of jobs.py with `ncclstat --diagnose` and judges what it says.

usage: troubles.py BUILD FOLDER JOB[@GROUP]:LINK...

With a group the job is `3d` with the trouble in that communicator, on all GPUs, and
with the link `nodes` each half of it is looked at through an agent of its own. GPUS
in the environment is how many there are.

Prints a table in Markdown and, for each job, `ok` or `not ok`; exits with 1 if one
was not ok. Each job publishes into a folder of its own below FOLDER, where its
diagnoses, dumps and log are left: JOB-LINK.txt, .json, .dump, .log, and with KEEP=1
also a recording, JOB-LINK.ncs. LOOKS is how often a healthy job is looked at, JOBS how
many jobs that get stuck run at a time.
"""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import time

# Job: exit status, verdict, rank, and cause; None is anything.
SLOW, STUCK = 1, 2
EXPECTED = {
    "healthy": (0, None, None, None),
    "idle": (0, None, None, None),
    "compute": (0, None, None, None),
    "3d": (0, None, None, None),
    "host-late": (SLOW, "late_rank", 1, "host"),
    "gpu-late": (SLOW, "late_rank", 1, "stream"),
    "stopped": (STUCK, "rank_stopped", 1, None),
    "killed": (STUCK, "rank_died", 1, None),
    "host-busy": (STUCK, "rank_missing", 1, None),
    "gpu-busy": (STUCK, "gpu_late|consumer_late", 1, None),
    "order": (STUCK, "deadlock|order_mismatch", None, None),
    "calls": (STUCK, "order_mismatch|left_behind", None, None),
    "size": (STUCK, "size_mismatch", 1, None),
    "sendrecv": (STUCK, "deadlock", None, None),
    "unmet": (STUCK, "p2p_unmet", 1, None),
    "slow-link": (SLOW, "slow_network", None, None),
}
# Over NVLink both calls end, with wrong sums.
ENDS_OVER_NVLINK = {"size": (SLOW, "size_mismatch", None, None)}
# Limits the rate of loopback, which is the link between two nodes.
SLOW_LINK = "tc qdisc %s dev lo root tbf rate 4gbit burst 1mb latency 50ms"
# A trouble is stuck after 5 s, and told within 5 s more; a slow job within 5 s. A look
# that has begun by then may take a while.
WITHIN_S = {SLOW: 5, STUCK: 10}
LOOK_S = 3
# Jobs are healthy for so long.
BEFORE_S = 3
LOOKS = int(os.environ.get("LOOKS", 200))
LOOKS_AT_A_TIME = 10
JOBS = int(os.environ.get("JOBS", 1))


class Looked:
    def __init__(self, case):
        done = subprocess.run(case.command("--diagnose=json"), env=case.env, timeout=60,
                              capture_output=True, text=True)
        self.status = done.returncode
        try:
            self.findings = json.loads(done.stdout)["findings"]
        except (ValueError, KeyError):
            self.findings = []

    def first(self):
        if not self.findings:
            return "-"
        finding = self.findings[0]
        root = finding["root"] or {}
        return "%s rank %s" % (finding["verdict"], root.get("rank"))

    def is_right(self, expected):
        status, verdict, rank, cause = expected
        if self.status != status or (verdict is None) != (not self.findings):
            return False
        if verdict is None:
            return True
        finding = self.findings[0]
        return (re.fullmatch(verdict, finding["verdict"]) is not None and
                (rank is None or (finding["root"] or {}).get("rank") == rank) and
                (cause is None or finding["cause"] == cause))


class Case:
    def __init__(self, build, folder, name, port):
        self.job, self.link = name.split(":")
        self.job, _, self.group = self.job.partition("@")
        self.name = name.replace(":", "-")
        self.program = os.path.join(build, "ncclstat")
        self.path = os.path.join(folder, self.name)
        shared = self.path + ".shm"
        os.makedirs(shared, exist_ok=True)
        self.env = dict(os.environ, NCCLSTAT_DIR=shared)
        self.told = self.path + ".told"
        self.port = port
        self.process = self.recorder = None
        self.slow_link = False

    def command(self, *options):
        """ncclstat, which sees the nodes of a job through agents."""
        agents = []
        if self.link == "nodes":
            agents = ["--from=" + " ".join(
                "(export NCCLSTAT_DIR='%s/%s'; exec unshare --uts sh -c 'echo %s "
                ">/proc/sys/kernel/hostname; exec %s --stream=lines --records') &" %
                (self.env["NCCLSTAT_DIR"], node, node, self.program)
                for node in ("node0", "node1")) + " wait"]
        return [self.program, *options, *agents]

    def start(self):
        job = "3d" if self.group else self.job
        arguments = [sys.executable, "test/gpu/jobs.py", job, "--link", self.link,
                     "--before", str(BEFORE_S), "--told", self.told, "--port",
                     str(self.port)]
        if self.group:
            arguments += ["--trouble", self.job, "--group", self.group]
        if self.group or self.job == "3d":
            arguments += ["--ranks", os.environ["GPUS"]]
        if self.link == "nodes":
            arguments += ["--apart"]
        if self.job == "healthy":
            # The host runs ahead of the GPU, as it does in well-made jobs.
            arguments += ["--sync", "10"]
        with open(self.path + ".log", "w") as log:
            self.process = subprocess.Popen(arguments, env=self.env, stdout=log,
                                            stderr=log)

    def when(self, word, patience):
        """Waits until the job tells the word; returns the time, or None."""
        end = time.time() + patience
        while time.time() < end and self.process.poll() is None:
            if os.path.exists(self.told):
                with open(self.told) as file:
                    for line in file:
                        if line.startswith(word + " "):
                            return float(line.split()[1])
            time.sleep(0.05)
        return None

    def record(self):
        if os.environ.get("KEEP"):
            # Streams are kept as they come.
            pack = [] if self.link == "nodes" else ["--compress=9"]
            self.recorder = subprocess.Popen(
                self.command("--record=" + self.path + ".ncs",
                             "--duration=%g" % (BEFORE_S + 6), *pack),
                env=self.env, stderr=subprocess.DEVNULL)

    def limit_link(self):
        self.slow_link = True
        subprocess.run((SLOW_LINK % "add").split(), check=True)

    def keep_views(self):
        for suffix, option in [("txt", "--diagnose"), ("json", "--dump=json"),
                               ("dump", "--dump")]:
            with open("%s.%s" % (self.path, suffix), "w") as file:
                subprocess.run(self.command(option), env=self.env, stdout=file,
                               stderr=file, timeout=60)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        if self.recorder:
            try:
                self.recorder.wait(15)
            except subprocess.TimeoutExpired:
                self.recorder.send_signal(signal.SIGINT)
                self.recorder.wait()
        if self.slow_link:
            subprocess.run((SLOW_LINK % "del").split(), check=False)
        for folder, _, _ in os.walk(self.env["NCCLSTAT_DIR"]):
            subprocess.run([self.program, "--clean"],
                           env=dict(self.env, NCCLSTAT_DIR=folder),
                           stdout=subprocess.DEVNULL)

    def judge(self):
        """Returns a row of the table and whether the job got its verdict."""
        expected = EXPECTED[self.job]
        if self.link == "nvlink":
            expected = ENDS_OVER_NVLINK.get(self.job, expected)
        self.start()
        try:
            if self.when("running", 90) is None:
                return "did not begin", False
            self.record()
            began = self.when("trouble", 60)
            if began is None:
                return "did not get to the trouble", False
            if self.job == "slow-link":
                self.limit_link()
            if expected[0] == 0:
                result = self.look_often(expected)
            else:
                result = self.look_until_told(expected, began)
            self.keep_views()
            return result
        finally:
            self.stop()

    def look_often(self, expected):
        looks = LOOKS if self.job == "healthy" else max(1, LOOKS // 10)
        with concurrent.futures.ThreadPoolExecutor(LOOKS_AT_A_TIME) as pool:
            done = list(pool.map(lambda _: Looked(self), range(looks)))
        wrong = [look for look in done if not look.is_right(expected)]
        words = sorted({"%d %s" % (look.status, look.first()) for look in wrong})
        return ("%d of %d looks without a finding; %s" %
                (looks - len(wrong), looks, ", ".join(words) or "-"), not wrong)

    def look_until_told(self, expected, began):
        within = WITHIN_S[expected[0]]
        seen, told = [], None
        while time.time() < began + within + LOOK_S:
            look = Looked(self)
            at = time.time() - began
            right = look.is_right(expected)
            if told is None and right:
                told = at
            words = "%d %s" % (look.status, look.first())
            if not right and (not seen or seen[-1][1] != words):
                seen.append((at, words))
        row = "%s; before: %s" % (
            "-" if told is None else "told after %.1f s" % told,
            ", ".join("%s (%.1f s)" % (words, at) for at, words in seen) or "-")
        return row, told is not None and right and told <= within + LOOK_S


def judge(case):
    text, good = case.judge()
    print("%s %s: %s" % ("ok" if good else "not ok", case.name, text), flush=True)
    status, verdict, rank, cause = EXPECTED[case.job]
    words = [word for word in (verdict, rank, cause) if word is not None]
    return good, "| %s | %s | %d %s | %s |" % (
        case.job + (" in " + case.group if case.group else ""), case.link, status,
        " ".join(str(word).replace("|", " or ") for word in words) or "-", text)


def main():
    build, folder = sys.argv[1:3]
    cases = [Case(build, folder, name, 29600 + number)
             for number, name in enumerate(sys.argv[3:])]
    # Jobs that are stuck do not mind others on their GPUs.
    stuck = [case for case in cases if EXPECTED[case.job][0] == STUCK]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = dict(zip(stuck, pool.map(judge, stuck)))
    for case in cases:
        if case not in results:
            results[case] = judge(case)
    print("\n| job | link | expected | diagnosed |\n|---|---|---|---|")
    for case in cases:
        print(results[case][1])
    return 0 if all(good for good, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
