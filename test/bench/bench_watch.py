#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the processor time and memory of a watch and its recorder.

usage: bench_watch.py [--seconds N] [--after N] [--interval N] [--capture FOLDER] [BUILD]...

A captured job is played again and again, by the player of the first build folder. One
watch of each folder, with an archive of its own, looks at it at once, so that other load
on the machine affects all equally. Times are those of /proc/PID/task/TID/schedstat,
from some seconds after the begin on.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time


def processor_s(pid):
    """The time for which threads of a process had a processor."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in tasks) / 1e9


def memory_mib(pid):
    """The memory of a process, pages that others share by their share."""
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0


def recorder_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return int(children.split()[0])


def measure(options, folder):
    """Prints a line for each build."""
    with subprocess.Popen(
            [f"{options.builds[0]}/ncclreplay", "--loop", "0",
             options.capture]) as player:
        time.sleep(2)
        watches = [subprocess.Popen(
            [f"{build}/ncclstat", "watch", f"--archive={folder}/{number}",
             f"--interval={options.interval}"], stdout=subprocess.DEVNULL)
            for number, build in enumerate(options.builds)]
        try:
            time.sleep(options.after)
            pids = [(watch.pid, recorder_of(watch.pid)) for watch in watches]
            begun, before = time.monotonic(), [
                [processor_s(pid) for pid in pair] for pair in pids]
            time.sleep(options.seconds)
            took = time.monotonic() - begun
            for build, pair, was in zip(options.builds, pids, before):
                shares = [100 * (processor_s(pid) - s) / took
                          for pid, s in zip(pair, was)]
                mib = sum(memory_mib(pid) for pid in pair)
                print(f"| {build} | {shares[0]:.2f} | {shares[1]:.2f} |"
                      f" {sum(shares):.2f} | {mib:.0f} |")
        finally:
            for process in watches + [player]:
                process.terminate()
            for watch in watches:
                watch.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--after", type=float, default=60)
    parser.add_argument("--interval", type=float, default=2)
    parser.add_argument("--capture", default="test/captures/net-v5-ddp8")
    parser.add_argument("builds", nargs="*", default=["build"])
    options = parser.parse_args()
    print("| build | watch, % of a core | recorder | both | MiB |")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shm, \
            tempfile.TemporaryDirectory() as folder:
        os.environ["NCCLSTAT_DIR"] = shm
        measure(options, folder)


main()
