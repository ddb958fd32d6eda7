#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records through rings by the billion, with a recorder, a live view and metrics
beside: at the end all counts are exact, and no process has grown.

  BUILD=folder test/soak/soak.py [--records 1e10] [--threads 2]

soak.c publishes as fast as it can, so that the recorder loses what is overwritten
before it comes: what it has and what it lost are together what was published.
Memory is looked at each second, and may grow by GROWTH_KIB after a tenth of the
run; the recording is a few files in memory, of which the oldest are removed.

Prints "ok ..." or "not ok ..." for each check, then the figures. Measures no time
that it judges. Leaves neither processes nor files.
"""
import argparse
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
NCCLSTAT = os.path.join(BUILD, "ncclstat")
GROWTH_KIB = 8192
SAMPLE_S = 1
PATIENCE_S = 60
PAGE_KIB = os.sysconf("SC_PAGESIZE") // 1024


class Process:
    """A process whose memory is looked at; `kib` has what it was."""

    def __init__(self, name, command, **more):
        self.name, self.kib, self.cpu_s = name, [], 0
        self.child = subprocess.Popen(command, **more)

    def sample(self):
        try:
            with open("/proc/%d/statm" % self.child.pid) as file:
                self.kib.append(int(file.read().split()[1]) * PAGE_KIB)
            with open("/proc/%d/stat" % self.child.pid) as file:
                words = file.read().rsplit(")", 1)[1].split()
            self.cpu_s = (int(words[11]) + int(words[12])) / \
                os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            pass

    def growth(self):
        """Returns KiB at a tenth of the run, and the growth after it."""
        settled = self.kib[len(self.kib) // 10:]
        return settled[0], max(settled) - settled[0]

    def end(self, number):
        if self.child.poll() is None:
            self.child.send_signal(number)
        return self.child.wait()


def view():
    """Starts a live view in a terminal of its own."""
    ours, its = pty.openpty()
    process = Process("view", [NCCLSTAT, "--interval", "0.5"], stdin=its,
                      stdout=its, stderr=subprocess.DEVNULL,
                      start_new_session=True)
    os.close(its)

    def drain():
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass
        os.close(ours)

    threading.Thread(target=drain, daemon=True).start()
    return process


def metric(text, name, label):
    """Returns the sum of a metric's samples with that label."""
    return sum(int(float(value)) for labels, value in re.findall(
        r"^%s\{([^}]*)\} (\S+)" % name, text, re.M) if label in labels)


class Soak:
    def __init__(self, records, threads):
        self.folder = tempfile.mkdtemp(prefix="ncclstat-soak.", dir="/dev/shm")
        self.records, self.threads = records, threads
        self.failed, self.processes = False, []
        os.environ.update(NCCLSTAT_DIR=os.path.join(self.folder, "segments"),
                          TERM="xterm", LINES="24", COLUMNS="80")
        os.mkdir(os.environ["NCCLSTAT_DIR"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, what, *values):
        """Passes if all values are equal."""
        good = all(value == values[0] for value in values)
        print("%s %s%s" % ("ok" if good else "not ok", what,
                           "" if good else ": " + " ".join(map(str, values))),
              flush=True)
        self.failed = self.failed or not good

    def start(self):
        self.job = Process("job", [
            os.path.join(BUILD, "test", "soak", "soak"), str(self.records),
            str(self.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.processes.append(self.job)
        self.wait_for(lambda: len(os.listdir(os.environ["NCCLSTAT_DIR"])) >
                      self.threads)
        self.recorder = Process("recorder", [
            NCCLSTAT, "--record", self.path("recording"), "--rotate-size",
            "64M", "--keep", "2"], stderr=subprocess.PIPE)
        self.metrics = Process("metrics", [
            NCCLSTAT, "--textfile", self.folder, "--interval", "1"])
        self.view = view()
        self.processes += [self.recorder, self.metrics, self.view]
        # The recorder first writes after it has opened the segments: what was
        # overwritten before that it would not count.
        self.wait_for(lambda: os.path.exists(self.path("recording")) and
                      os.path.getsize(self.path("recording")) > 0 and
                      os.path.exists(self.path("ncclstat.prom")))

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError("a process does not start")
            time.sleep(0.05)

    def read_metrics(self):
        with open(self.path("ncclstat.prom")) as file:
            return file.read()

    def run(self):
        """Lets the job run; returns what it says of each rank."""
        said = []
        reader = threading.Thread(target=lambda: said.extend(
            self.job.child.stdout.readline().decode()
            for _ in range(self.threads)))
        begun = time.monotonic()
        self.job.child.stdin.write(b"\n")
        self.job.child.stdin.flush()
        reader.start()
        while reader.is_alive():
            reader.join(SAMPLE_S)
            for process in self.processes:
                process.sample()
        self.elapsed_s = time.monotonic() - begun
        return [{key: int(value) for key, value in
                 re.findall(r"(\w+) (\d+)", line)} for line in said]

    def check_counts(self, ranks):
        total = {name: sum(rank[name] for rank in ranks) for name in ranks[0]}
        self.check("each rank's segment counts its operations",
                   total["operations"], total["counted_operations"])
        self.check("and its steps", total["steps"], total["counted_steps"])
        self.check("and its records", total["records"], total["published"])
        dump = json.loads(subprocess.run(
            [NCCLSTAT, "--dump=json", "--count", "1"], stdout=subprocess.PIPE,
            check=True).stdout.splitlines()[-1])
        self.check("a dump tells the operations", total["operations"], sum(
            function["operations"] for rank in dump["ranks"]
            for function in rank["functions"]
            if function["function"] == "AllReduce"))
        for _ in range(20):  # until the latest file is that of the end
            counted = metric(self.read_metrics(), "ncclstat_operations_total",
                             'func="AllReduce"')
            if counted == total["operations"]:
                break
            time.sleep(0.5)
        self.check("metrics tell the operations", total["operations"], counted)
        self.job.child.stdin.close()
        self.check("the job ends well", 0, self.job.child.wait())
        said = self.recorder.child.stderr.read().decode()
        self.check("the recorder ends with it", 0, self.recorder.child.wait())
        recorded, = re.findall(r"recorded (\d+) record", said)
        lost = (re.findall(r"(\d+) lost", said) + ["0"])[0]
        self.check("what is recorded and lost is what was published",
                   total["records"], int(recorded) + int(lost))
        self.total, self.recorded, self.lost = total, int(recorded), int(lost)
        self.check("the view ends well", 0, self.view.end(signal.SIGTERM))
        self.check("metrics end well", 0, self.metrics.end(signal.SIGTERM))

    def check_memory(self):
        for process in self.processes:
            _, growth = process.growth()
            self.check("the memory of the %s is flat" % process.name, True,
                       growth <= GROWTH_KIB)

    def say_figures(self):
        print("%d records in %.0f s, %.1f million/s, by %d threads; %d "
              "recorded, %d lost" % (
                  self.total["records"], self.elapsed_s,
                  self.total["records"] / self.elapsed_s / 1e6, self.threads,
                  self.recorded, self.lost))
        print("| process | MiB after a tenth | MiB more at most | processor, s |")
        print("|---|---:|---:|---:|")
        for process in self.processes:
            settled, growth = process.growth()
            print("| %s | %.1f | %.1f | %.1f |" % (
                process.name, settled / 1024, growth / 1024, process.cpu_s))

    def close(self):
        for process in self.processes:
            process.end(signal.SIGKILL)
        shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=float, default=1e10)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    soak = Soak(int(options.records), options.threads)
    try:
        soak.start()
        soak.check_counts(soak.run())
        soak.check_memory()
        soak.say_figures()
    finally:
        soak.close()
    sys.exit(soak.failed)


if __name__ == "__main__":
    main()
