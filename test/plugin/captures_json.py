#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the program's dump of every capture with the capture itself.

Usage: captures_json.py [--sample=N] BUILD CAPTURES [FOLDER...]

For each job in CAPTURES, BUILD/ncclreplay makes its calls to the plugin at full
speed and stays alive, and BUILD/ncclstat --dump=json shows its state. The dump
of each process must equal the result of test/oracle.py for its file, also if
one operation in N keeps its records. This is done without a GPU and with a fake
one, with which an operation without a child may be done, too: it depends on how
soon the plugin follows launches. Prints the differences; status 1 if there are any, 77 if there is
nothing to run.
"""

import concurrent.futures
import errno
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TEST = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TEST)
sys.dont_write_bytecode = True

import oracle  # noqa: E402 (test/oracle.py)

PATIENCE_S = 60
# The GPU of a replay at full speed is done long before.
GPU_PATIENCE_S = 20
SUMMARY = re.compile(r"^ncclreplay: (.*): pid (\d+), \d+ calls in ")

# Expected losses: records, since the rings are not read meanwhile; calls that
# the captures themselves lack; and the GPU's times in them, which pass at the
# speed of the captured job.
EXPECTED_LOSSES = {"overwritten", "late", "bad_ptimer"}
EXPECTED_LOSSES_UP_TO_API_3 = {"missing_stop"}


class Differs(Exception):
    pass


def environment(directory, sample):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("NCCL")}
    kept["NCCLSTAT_DIR"] = directory
    kept["HOME"] = directory
    if sample > 1:
        kept["NCCLSTAT_SAMPLE"] = str(sample)
    return kept


def read_summaries(replay, count):
    """Returns paths by pid, once all calls were made."""
    processes = {}
    text = b""
    deadline = time.monotonic() + PATIENCE_S
    while len(processes) < count:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([replay.stderr], [], [], left)[0]:
            raise Differs("ncclreplay is not done: " + text.decode())
        more = os.read(replay.stderr.fileno(), 65536)
        if not more:
            raise Differs("ncclreplay failed: " + text.decode())
        text += more
        processes = {int(found.group(2)): found.group(1) for found in
                     map(SUMMARY.match, text.decode().splitlines()) if found}
    return processes


def comm_id(text):
    return None if text is None else int(text, 16)


def zero(number):
    """Returns 0 for a counter that the program does not show."""
    return 0 if number is None else number


def seen(rank):
    """Returns a rank of the dump in the form of the oracle."""
    channels = {}
    for channel in rank["channels"]:
        key = "%d %s %d" % (channel["channel"], channel["direction"],
                            channel["peer"])
        if key in channels:
            raise Differs("channel %s is there twice" % key)
        channels[key] = {name: channel[theirs] for name, theirs in (
            ("ops_started", "operations_started"),
            ("ops_done", "operations_done"),
            ("steps_started", "steps_started"), ("steps_done", "steps_done"),
            ("bytes", "bytes"))}
    functions = {}
    for function in rank["functions"]:
        functions[function["function"]] = {
            name: function[theirs] for name, theirs in (
                ("calls", "calls"), ("ops", "operations"),
                ("ops_done", "operations_done"), ("bytes", "bytes"),
                ("last_seq", "last_sequence_number"))}
        functions[function["function"]]["classes"] = {}
    for cls in rank["classes"]:
        if cls["other"] or cls["operations"] == 0:
            raise Differs("there is room for all classes")
        key = "%s %s %s" % tuple("-" if cls[name] is None else cls[name]
                                 for name in ("size_bytes", "algorithm", "protocol"))
        functions[cls["function"]]["classes"][key] = cls["operations"]
    return {
        "id": comm_id(rank["communicator"]["id"]),
        "name": rank["communicator"]["name"],
        "rank": rank["rank"],
        "nranks": rank["communicator"]["nranks"],
        "nnodes": rank["communicator"]["nnodes"],
        "api_version": rank["api_version"],
        "finished": rank["state"] == "finished",
        "events": {name: count for name, count in rank["events"].items()
                   if count != 0},
        "channels": channels,
        "functions": functions,
        "proxy": {name: zero(count)
                  for name, count in rank["proxy"]["transitions"].items()},
        "appended_ops": zero(rank["proxy"]["appended_operations"]),
    }


def expected(path):
    log = oracle.Log()
    log.read(oracle.read_lines(path))
    contexts = log.result()["contexts"]
    for context in contexts:
        context["id"] = comm_id(context["id"])
        context["events"] = {name: count for name, count
                             in context["events"].items() if count != 0}
    return contexts


def accept_by_gpu(want, got, launches):
    """Lets a dump say that operations without a child are done, and that the
    launch of some others had not ended when their communicator did."""
    cut_short = (got["finished"] and
                 zero(launches["ended"]) < zero(launches["followed"]))
    for name, function in want["functions"].items():
        other = got["functions"].get(name)
        if other is None:
            continue
        least = 0 if cut_short else zero(function["ops_done"])
        most = zero(function["ops_done"]) + function["childless"]
        if least <= zero(other["ops_done"]) <= most:
            other["ops_done"] = function["ops_done"]


def order(contexts):
    return sorted(contexts, key=lambda c: json.dumps(
        [c["id"], c["name"], c["rank"], c], sort_keys=True))


def differences(place, want, got):
    if isinstance(want, dict) and isinstance(got, dict):
        found = []
        for key in sorted(set(want) | set(got)):
            found += differences("%s/%s" % (place, key),
                                 want.get(key, "nothing"),
                                 got.get(key, "nothing"))
        return found
    if want == got and type(want) is type(got):
        return []
    return ["%s: the file says %r, ncclstat %r" % (place, want, got)]


def check_losses(place, rank):
    allowed = set(EXPECTED_LOSSES)
    if rank["api_version"] <= 3:
        allowed |= EXPECTED_LOSSES_UP_TO_API_3
    return ["%s: %d lost as %s" % (place, count, name)
            for name, count in rank["lost"].items()
            if count != 0 and name not in allowed]


def check_times(place, rank):
    """Returns the number of timed operations of each function."""
    found = []
    for function in rank["functions"]:
        split = sum(cls["timed"] for cls in rank["classes"]
                    if cls["function"] == function["function"]
                    and cls["timing"] == function["timing"])
        if split != function["timed"]:
            found.append("%s: %s: %d timed, %d by class" % (
                place, function["function"], function["timed"], split))
    return found


def check_sampling(place, rank, sample):
    """Checks that operations are left out only if sampling was requested."""
    sampling = rank["sampling"]
    operations = rank["events"].get("coll", 0) + rank["events"].get("p2p", 0)
    chosen = sampling["operations_kept"] + sampling["operations_left_out"]
    found = []
    if sampling["one_in"] != sample:
        found.append("one in %d" % sampling["one_in"])
    if chosen != (operations if sample > 1 else 0):
        found.append("%d of %d operations chosen" % (chosen, operations))
    if sample >= 64 and sampling["operations_left_out"] < operations // 2:
        found.append("most operations are left out")
    for steps in rank["step_estimates"]:
        if sample == 1 and steps["time_ns"]["duration"]["mean"]["error"] != 0:
            found.append("what was not sampled has no error")
        if steps["records"] > 0 and steps["one_in"] != sample:
            found.append("steps stand for %d" % steps["one_in"])
    return ["%s: sampling: %s" % (place, what) for what in found]


def compare(dump, processes, sample, gpu):
    if dump["unreadable"]:
        return ["unreadable: %r" % dump["unreadable"]]
    found = []
    for pid, path in processes.items():
        ranks = [rank for rank in dump["ranks"] if rank["pid"] == pid]
        wanted = order(expected(path))
        gotten = order([seen(rank) for rank in ranks])
        launches = {json.dumps(seen(rank), sort_keys=True): rank["launches"]
                    for rank in ranks}
        if len(wanted) != len(gotten):
            found.append("%s: %d communicators, ncclstat sees %d" %
                         (path, len(wanted), len(gotten)))
        for number, (want, got) in enumerate(zip(wanted, gotten)):
            if gpu:
                accept_by_gpu(want, got,
                              launches[json.dumps(got, sort_keys=True)])
            for function in want["functions"].values():
                del function["childless"]
            found += differences("%s#%d" % (path, number), want, got)
        for rank in ranks:
            found += check_losses(path, rank)
            found += check_times(path, rank)
            found += check_sampling(path, rank, sample)
            if rank["torn"]:
                found.append("%s: torn" % path)
    known = sum(rank["pid"] in processes for rank in dump["ranks"])
    if known != len(dump["ranks"]):
        found.append("ranks of processes that there are not")
    return found


def dump_of(build, env):
    dump = subprocess.run(
        [os.path.join(build, "ncclstat"), "--dump=json"], env=env,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
    if dump.returncode != 0:
        raise Differs("ncclstat: status %d, %s" %
                      (dump.returncode, dump.stderr.decode()))
    return json.loads(dump.stdout)


def look_until_same(build, env, processes, sample, gpu):
    """Looks until the GPU is done with the launches; once without a GPU."""
    deadline = time.monotonic() + GPU_PATIENCE_S
    while True:
        found = compare(dump_of(build, env), processes, sample, gpu)
        if not found or not gpu or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def look(build, folder, directory, sample, gpu):
    files = [name for name in os.listdir(folder) if ".calllog" in name]
    env = environment(directory, sample)
    replay = subprocess.Popen(
        [os.path.join(build, "ncclreplay"), "--speed", "max", "--hold",
         "--verbose"] + ([] if gpu else ["--no-gpu"]) + [folder], env=env,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        processes = read_summaries(replay, len(files))
        found = look_until_same(build, env, processes, sample, gpu)
    finally:
        replay.send_signal(signal.SIGTERM)
        replay.stderr.close()
        replay.wait(PATIENCE_S)
    if replay.returncode != 0:
        found.append("ncclreplay: status %d" % replay.returncode)
    left = os.listdir(directory)
    if left:
        found.append("it left %s" % ", ".join(left))
    return found


def look_in_private(build, folder, sample, gpu):
    directory = tempfile.mkdtemp(prefix="test-plugin.", dir="/dev/shm")
    try:
        found = look(build, folder, directory, sample, gpu)
    except (Differs, subprocess.SubprocessError, OSError) as error:
        found = ["%s: %s" % (folder, error)]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return ["%s: %s" % ("with a GPU" if gpu else "without", line)
            for line in found]


def look_both_ways(build, folder, sample):
    return (look_in_private(build, folder, sample, False) +
            look_in_private(build, folder, sample, True))


def main():
    arguments = sys.argv[1:]
    sample = 1
    if arguments and arguments[0].startswith("--sample="):
        sample = int(arguments.pop(0).split("=", 1)[1])
    if len(arguments) < 2:
        sys.exit("usage: captures_json.py [--sample=N] BUILD CAPTURES"
                 " [FOLDER...]")
    build, captures = arguments[:2]
    if not os.access(os.path.join(build, "ncclstat"), os.X_OK):
        print("there is no %s/ncclstat" % build)
        sys.exit(77)
    try:
        subprocess.run([os.path.join(build, "ncclstat"), "--version"],
                       stdout=subprocess.DEVNULL)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        print("%s/ncclstat is for another processor" % build)
        sys.exit(77)
    names = arguments[2:] or sorted(os.listdir(captures))
    folders = [os.path.join(captures, name) for name in names
               if os.path.isdir(os.path.join(captures, name))]
    if not folders:
        sys.exit("no captures in %s" % captures)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = pool.map(
            lambda folder: look_both_ways(build, folder, sample), folders)
        for folder, found in zip(folders, results):
            for line in found[:20]:
                print(line)
            failed += bool(found)
    print("%d of %d captures are seen as they are" %
          (len(folders) - failed, len(folders)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
