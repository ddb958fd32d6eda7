# SPDX-License-Identifier: MIT
"""Asks DuckDB about tables that ncclstat exported, and compares the answers with
lines of JSON, CSV and what is known of a simulated job. Runs the SQL that is
installed.

    check.py DUCKDB FOLDER NCCLSTAT BUILD

DUCKDB is what fetch.sh filled. FOLDER has NAME.tables, NAME.ndjson and, of one
host, NAME.ncs, as test/ui/parquet.sh made them. Prints "ok ..." or "not ok ..."
for each check.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
import json_lines

NAMES = ("net-v5-mix", "net-v5-ddp8", "nvlink-v5-mix8", "simulated", "hostile",
         "damaged")
SQL = os.path.abspath("tui/share/sql")

duckdb, folder, ncclstat, build = sys.argv[1:]
query = os.path.abspath("test/duckdb/query.mjs")


def check(what, found, wanted):
    json_lines.check(f"DuckDB: {what}", found, wanted)


def ask(tables, *questions):
    """Returns the rows of each answer; integers of 64 bits are strings."""
    done = subprocess.run(["node", query, duckdb, *questions], text=True,
                          cwd=tables, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"not ok DuckDB: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(tables, name):
    return ask(tables, f"@{SQL}/{name}.sql")[0]


def lines_of(name):
    with open(f"{folder}/{name}.ndjson", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def check_tables(name):
    """Each table is read; counts and sums of all columns of steps agree."""
    lines = lines_of(name)
    steps = [line for line in lines if line["event"] == "proxy_step"]
    sums = ("bytes", "duration_ns", "send_gpu_wait_ns", "send_peer_wait_ns",
            "send_wait_ns", "recv_wait_ns", "recv_flush_wait_ns",
            "recv_gpu_wait_ns", "start_ns")
    found = ask(f"{folder}/{name}.tables",
                "SELECT count(*) AS n FROM '*.operations.parquet'",
                "SELECT count(*) AS n, " + ", ".join(
                    f"coalesce(sum({column}), 0)::VARCHAR AS {column}"
                    for column in sums) + " FROM '*.steps.parquet'",
                "SELECT DISTINCT communicator AS c FROM '*.operations.parquet'",
                "SELECT count(*) AS n, count(DISTINCT taken_ns) AS t"
                " FROM '*.states.parquet'",
                "SELECT count(*) AS n FROM '*.launches.parquet'"
                " WHERE timing NOT IN ('stream', 'kernel') OR operations < 1")
    operations = {(line["pid"], line["communicator_id"], line["rank"],
                   line["operation"])
                  for line in lines if line["event"] in ("coll", "p2p")}
    check(f"{name} has its operations", int(found[0][0]["n"]),
          len(operations))
    wanted = {"n": str(len(steps))}
    for column in sums:
        wanted[column] = str(sum(step.get(column) or 0 for step in steps))
    check(f"{name} has its steps and their sums", found[1][0], wanted)
    check(f"{name} has the names of its communicators",
          {row["c"] for row in found[2]},
          {line["communicator"] for line in lines
           if line["event"] in ("coll", "p2p")})
    check(f"{name} has states", int(found[3][0]["n"]) > 0, True)
    check(f"{name} has no launch without a time", found[4][0]["n"], "0")


def check_metadata():
    notes = ask(f"{folder}/net-v5-mix.tables",
                "SELECT decode(key) AS k, decode(value) AS v FROM"
                " parquet_kv_metadata('*.steps.parquet')"
                " WHERE decode(key) = 'send_wait_ns'")[0]
    check("a column's note is in the file",
          [row["v"] for row in notes], ["ns; record; time on the wire"])


def compare_bandwidths(what, name, wanted):
    """Compares bandwidths by class with those that the SQL finds: they are the same
    within 3 %. If a busy machine plays a launch's end before its last begin, by about
    the error of these times, looks may leave out a launch that all records together do
    not, or the other way round. Of few launches, one decides the median: half of
    those classes must agree."""
    rows = {(row["communicator_id"], row["function"], row["size_bytes"] or "",
             row["algorithm"] or "", row["protocol"] or ""): row
            for row in run(f"{folder}/{name}.tables", "busbw")
            if row["busbw_gbs"] is not None}
    found = {key: tuple(f"{row[figure]:.6g}"
                        for figure in ("algbw_gbs", "busbw_gbs"))
             for key, row in rows.items()}
    alike = {key for key in found.keys() & wanted.keys()
             if all(abs(float(a) - float(b)) <= 0.03 * float(b)
                    for a, b in zip(found[key], wanted[key]))}
    many = {key for key, row in rows.items() if int(row["launches"]) >= 8}
    few = (found.keys() | wanted.keys()) - many
    check(f"{name}: bandwidths of many launches are those of {what}",
          {key: found[key] for key in many - alike},
          {key: wanted.get(key) for key in many - alike})
    check(f"{name}: so are most of few", 2 * len(few & alike) >= len(few), True)
    check(f"{name}: there are bandwidths", len(wanted) > 0, True)


def check_busbw_csv(name):
    """The figures are those of the table of CSV, which each rank has, even if the
    job ended long before the recording."""
    text = subprocess.run(
        [ncclstat, "--export=csv", "--window=start", f"{folder}/{name}.ncs"],
        check=True, capture_output=True, text=True).stdout
    keys = ("communicator_id", "function", "size_bytes", "algorithm",
            "protocol")
    wanted = {tuple(row[key] for key in keys):
              (row["algbw_gbs"], row["busbw_gbs"])
              for row in csv.DictReader(io.StringIO(text))
              if row["busbw_gbs"]}
    compare_bandwidths("the table of CSV", name, wanted)


def check_busbw_dump(name):
    """Likewise of the last of many dumps, ten a second."""
    text = subprocess.run(
        [ncclstat, "--dump=json", "--window=start", "--interval=0.1",
         f"{folder}/{name}.ncs"],
        check=True, capture_output=True, text=True).stdout
    wanted = {(rank["communicator"]["id"], one["function"],
               str(one["size_bytes"]), one["algorithm"] or "",
               one["protocol"] or ""):
              tuple(f"{one[key]:.6g}" for key in ("algbw_gbs", "busbw_gbs"))
              for rank in json.loads(text.splitlines()[-1])["ranks"]
              for one in rank["classes"] if one["busbw_gbs"] is not None}
    compare_bandwidths("a dump", name, wanted)


def check_stragglers():
    """Rank 37 of a simulated job comes 2 ms late."""
    job, tables = f"{folder}/late", f"{folder}/late.tables"
    os.mkdir(job)
    subprocess.run([f"{build}/ncclsimulate", "-h", "8", "-r", "8", "-n", "60",
                    "-l", "37:2000", job], check=True, capture_output=True)
    subprocess.run([ncclstat, "--export=parquet", "-o", tables] +
                   [f"{job}/host{i}.ncclstat" for i in range(8)], check=True)
    late = run(tables, "stragglers")
    check("the straggler is rank 37, on its host",
          (late[0]["rank"], late[0]["host"]), (37, "host4"))
    check("it is late by about 2 ms, and no other rank by half as much",
          (1500 < late[0]["later_us"] < 2500,
           late[1]["later_us"] < late[0]["later_us"] / 2), (True, True))


def check_nodes():
    """A ring: each host sends to the next one only."""
    rows = run(f"{folder}/simulated.tables", "nodes")
    wanted = collections.Counter()
    for line in lines_of("simulated"):
        if line["event"] == "proxy_step" and line["direction"] == "send":
            host = int(line["host"][len("host"):])
            wanted[f"host{host}", f"host{(host + 1) % 4}"] += line["bytes"]
    check("what each node sent to which is known",
          {(row["from_host"], row["to_host"]): int(row["bytes"])
           for row in rows}, dict(wanted))
    check("there are four pairs of nodes, each with a time",
          (len(rows), all(row["ns_per_byte"] > 0 for row in rows)), (4, True))
    pivot = open(f"{SQL}/nodes.sql", encoding="utf-8").read().rstrip().rstrip(";")
    matrix = ask(f"{folder}/simulated.tables",
                 f"PIVOT ({pivot}) ON to_host USING first(ns_per_byte)"
                 " GROUP BY from_host ORDER BY from_host")[0]
    check("the rows make a matrix, by what the file says",
          [[host for host, value in row.items()
            if host != "from_host" and value is not None] for row in matrix],
          [["host1"], ["host2"], ["host3"], ["host0"]])


def check_slowest(name):
    """The same steps by lines of JSON, with their longest wait."""
    waits = (("gpu", "send_gpu_wait_ns"), ("peer", "send_peer_wait_ns"),
             ("network", "send_wait_ns"), ("sender", "recv_wait_ns"),
             ("flush", "recv_flush_wait_ns"), ("kernel", "recv_gpu_wait_ns"))
    steps = sorted((line for line in lines_of(name)
                    if line["event"] == "proxy_step"),
                   key=lambda line: -line["duration_ns"])[:20]
    rows = run(f"{folder}/{name}.tables", "slowest_steps")
    check(f"{name}: the slowest steps are those of the lines of JSON",
          [row["duration_us"] for row in rows],
          [step["duration_ns"] / 1000 for step in steps])
    longest = max(waits, key=lambda wait: steps[0].get(wait[1]) or 0)[0]
    check(f"{name}: the slowest one waited for the {longest}",
          rows[0]["waited_for"], longest)


def check_kept_jobs():
    """What watches on two machines have kept; the lines are as kept_jobs.sh has them."""
    lines = {
        "n1": ({"event": "begun", "node": "n1", "job": "1"},
               {"event": "ended", "node": "n1", "job": "1", "lasted_s": 3600,
                "severity": "stuck", "end_is_unseen": False, "findings": [
                    {"verdict": "rank_missing", "cost_share": None}]},
               {"event": "ended", "node": "n1", "job": "2", "lasted_s": 7200,
                "severity": "slow", "end_is_unseen": True, "findings": [
                    {"verdict": "late_rank", "cost_share": 0.25},
                    {"verdict": "late_rank", "cost_share": 0.1}]}),
        "n2": ({"event": "ended", "node": "n2", "job": "3", "lasted_s": None,
                "severity": "well", "end_is_unseen": True, "findings": []},),
    }
    shared = f"{folder}/shared"
    for node, jobs in lines.items():
        os.makedirs(f"{shared}/{node}")
        with open(f"{shared}/{node}/jobs.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(job) + "\n" for job in jobs)
    check("kept_jobs: each node's jobs are counted", run(shared, "kept_jobs"), [
        {"node": "n1", "jobs": "2", "hours": 3, "stuck": "1", "slow": "1",
         "late_rank": "1", "lost_hours": 0.5, "unseen_ends": "1"},
        {"node": "n2", "jobs": "1", "hours": None, "stuck": "0", "slow": "0",
         "late_rank": "0", "lost_hours": None, "unseen_ends": "1"}])


def kept(node, job, begun_s, busbw_gbs, findings=(), nnodes=1):
    """The line of a job of an hour that has ended."""
    return {"event": "ended", "job": job, "node": node, "uid": 1, "user": "u",
            "begun_s": begun_s, "ended_s": begun_s + 3600, "lasted_s": 3600,
            "processes": 8, "ranks": 8, "severity": "well", "sentence": "",
            "end_is_unseen": False, "training_step": {"step_ns": 250000000},
            "findings": list(findings), "communicators": [{
                "communicator": {"id": "a", "name": None, "nranks": 8,
                                 "nnodes": nnodes},
                "functions": [{"function": "AllReduce", "timing": "stream",
                               "busbw_gbs": busbw_gbs}],
                "skew": {"operations": 9, "median_ns": 5, "p99_ns": 70},
                "lost": 0}]}


def check_history():
    """Weeks of jobs on three nodes. n1 was late in three of its latest 20 jobs, and in
    one before these; n2's links are slow in the latest week, n3's were before."""
    day = 86400
    late = {"verdict": "late_rank", "severity": "slow", "rank": 3,
            "cost_share": 0.25, "sentence": "rank 3 ..."}
    missing = {"verdict": "rank_missing", "severity": "stuck", "rank": 2,
               "cost_share": None, "sentence": "rank 2 ..."}
    little = dict(late, cost_share=0.06)
    history = f"{folder}/history"
    for node in ("n1", "n2", "n3"):
        lines = []
        for i in range(24):
            speed = 300
            if node == "n2" and i >= 18 or node == "n3" and i < 10:
                speed = 200
            found = {("n1", 2): [late], ("n1", 5): [late, little],
                     ("n1", 9): [missing], ("n1", 20): [little],
                     ("n3", 12): [missing]}
            # The rank that did not come may be the other node's.
            lines.append(kept(node, f"{node}.{i}", (100 + i) * day, speed,
                              found.get((node, i), ()),
                              2 if (node, i) == ("n3", 12) else 1))
        lines.insert(0, {"event": "begun", "job": "x", "node": node})
        os.makedirs(f"{history}/{node}")
        # A log that has grown is kept under another name.
        for name, part in (("jobs.jsonl.old", lines[:9]),
                           ("jobs.jsonl", lines[9:])):
            with open(f"{history}/{node}/{name}", "w",
                      encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in part)
            if name == "jobs.jsonl":
                with open(f"{history}/{node}/{name}", "a",
                          encoding="utf-8") as file:
                    file.write('{"event":"ended","job":"cut')
    check("history: the lines of all jobs become a table",
          run(history, "job_history"), [{"Count": "72"}])
    check("history: it has times of the clock, steps and users",
          ask(history, "SELECT begun::VARCHAR AS begun, step_s, user_name FROM"
              " 'jobs.parquet' WHERE job = 'n1.0'")[0],
          [{"begun": "1970-04-11 00:00:00", "step_s": 0.25,
            "user_name": "u"}])
    check("history: a node was late in some of its latest 20 jobs",
          run(history, "late_nodes"),
          [{"node": "n1", "jobs": "20", "late": "3",
            "latest": "1970-05-01 00:00:00"}])
    check("history: a node's links fell below its peers' in a week",
          run(history, "slow_links"),
          [{"node": "n2", "collective": "AllReduce", "nranks": "8",
            "nnodes": "1", "busbw_gbs": 200, "peers_gbs": 300, "jobs": "7"}])
    check("history: jobs lost more than a tenth to a rank",
          [(row["job"], row["late_rank"], row["cost_share"], row["lost_hours"])
           for row in run(history, "lost_time")],
          [("n1.2", "3", 0.25, 0.25), ("n1.5", "3", 0.25, 0.25)])


for each in NAMES:
    check_tables(each)
check_kept_jobs()
check_history()
check_metadata()
for each in ("net-v5-mix", "net-v5-ddp8"):
    check_busbw_csv(each)
check_busbw_csv("nvlink-v5-mix8")
check_busbw_dump("nvlink-v5-mix8")
check_stragglers()
check_nodes()
for each in ("net-v5-ddp8", "simulated"):
    check_slowest(each)
for each in ("stragglers", "nodes", "busbw", "slowest_steps"):
    check(f"{each} answers where there are no steps",
          isinstance(run(f"{folder}/nvlink-v5-mix8.tables", each), list), True)
sys.exit(json_lines.failed)
