#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to watch a fleet: memory and processor of a real Prometheus that
scrapes many simulated nodes and evaluates the rules, and of ncclstat on a node.

usage: bench_prometheus.py [--build DIR] [--nodes N] [--minutes M]

Needs prometheus. Each node has 8 ranks with 4 communicators, each of which spans
10 nodes. Their metrics are those that ncclstat --listen gives of a job that
ncclreplay plays here, with other names, and with counters that go on as fast.
Three servers run at once: one scrapes N nodes (200) every 15 s and evaluates the
rules every 30 s, one does so without rules, one has N / 4 nodes. It measures
only; it has no limits. Processor times do not depend on other load as much as
times do; those of rules are given for one server less those of the other.
"""
import argparse
import http.server
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

RANKS, COMMS, JOB_NODES = 8, 4, 10
SCRAPE_S, RULES_S, SETTLE_S = 15, 30, 60
RULES = os.path.abspath("tui/share/prometheus/ncclstat.rules.yml")
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    return [one.getsockname()[1] for one in sockets]


def get(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.read().decode()


def processor_s(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_bytes(pid, what="VmRSS"):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(what + r":\s*(\d+)", file.read())[1]) * 1024


# --- A node -------------------------------------------------------------------


def measure_node(build, folder):
    """Plays a job on this machine; returns the metrics of it, for how long it
    had run, and what a scrape costs ncclstat."""
    shm = tempfile.mkdtemp(prefix="ncclstat-bench.", dir="/dev/shm")
    environment = dict(os.environ, NCCLSTAT_DIR=shm)
    port, = free_ports(1)
    processes = []
    try:
        for comm in range(COMMS):
            logs = f"{folder}/job{comm}"
            os.mkdir(logs)
            subprocess.run(
                [sys.executable, "test/ui/fleet_job.py", "level", str(RANKS),
                 logs, f"{comm + 1:x}"], check=True)
            processes.append(subprocess.Popen(
                [f"{build}/ncclreplay", "--loop", "0", logs], env=environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        started = time.monotonic()
        exporter = subprocess.Popen(
            [f"{build}/ncclstat", f"--listen=127.0.0.1:{port}"],
            env=environment, stderr=subprocess.DEVNULL)
        processes.append(exporter)
        time.sleep(10)
        url = f"http://127.0.0.1:{port}/metrics"
        text = get(url, Accept="application/openmetrics-text;version=1.0.0")
        age = time.monotonic() - started
        scrapes, before = 50, processor_s(exporter.pid)
        for _ in range(scrapes):
            time.sleep(0.6)  # it looks twice a second at most
            get(url)
        cost = (processor_s(exporter.pid) - before) / scrapes
        return text, age, cost, memory_bytes(exporter.pid)
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
            process.wait()
        shutil.rmtree(shm)


class Template:
    """The metrics of a node, to be given other names and later times."""

    def __init__(self, text, age):
        self.age = age
        self.lines = text.splitlines()
        self.series = sum(not line.startswith("#") for line in self.lines)

    def node(self, number):
        """Returns a list of texts and of (text, value, is whole) of samples
        that grow."""
        job, place = divmod(number, JOB_NODES)
        first, ranks = place * RANKS, JOB_NODES * RANKS

        def rename(match):
            name, value = match.groups()
            if name == "comm":
                value = f"{job * COMMS + int(value, 16):016x}"
            elif name == "rank":
                value = str(first + int(value))
            elif name == "peer" and value.isdigit():
                # A ring: the last rank's next one is on the next node.
                value = str((first + int(value)) % ranks)
            elif name == "nranks":
                value = str(ranks)
            elif name == "node":
                value = f"node{number:04d}"
            return f'{name}="{value}"'

        parts = []
        for line in self.lines:
            if line.startswith("#"):
                parts.append(line + "\n")
                continue
            series, value = line.rsplit(" ", 1)
            series = re.sub(r'([a-z_]+)="([^"]*)"', rename, series)
            name = series.split("{")[0]
            if name.endswith("communicator_size"):
                value = str(ranks)
            if re.search("_(total|sum|count|bucket)$|sequence_number", name):
                whole = "." not in value
                parts.append((series, float(value), whole))
            elif name.endswith("timestamp_seconds"):
                parts.append((series, None, False))
            else:
                parts.append(f"{series} {value}\n")
        return parts

    def text(self, parts, elapsed):
        factor, now = 1 + elapsed / self.age, f"{time.time():.3f}"
        return "".join(
            part if isinstance(part, str) else
            f"{part[0]} {now}\n" if part[1] is None else
            f"{part[0]} {int(part[1] * factor)}\n" if part[2] else
            f"{part[0]} {part[1] * factor:.9f}\n" for part in parts)


def serve(template, nodes):
    """Serves /NUMBER of each node; returns the port."""
    all_parts = [template.node(number) for number in range(nodes)]
    started = time.monotonic()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = template.text(all_parts[int(self.path[1:])],
                                 time.monotonic() - started).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/openmetrics-text;"
                             " version=1.0.0; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *unused):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


# --- Prometheus ---------------------------------------------------------------


class Server:
    def __init__(self, folder, name, port, nodes, rules):
        self.name, self.nodes = name, nodes
        self.web, = free_ports(1)
        self.memory, self.durations = [], []
        home = f"{folder}/{name}"
        os.mkdir(home)
        config = {
            "global": {"scrape_interval": f"{SCRAPE_S}s",
                       "evaluation_interval": f"{RULES_S}s"},
            "rule_files": [RULES] if rules else [],
            "scrape_configs": [{
                "job_name": "ncclstat",
                "static_configs": [
                    {"targets": [f"127.0.0.1:{port}"],
                     "labels": {"__metrics_path__": f"/{number}",
                                "instance": f"node{number:04d}"}}
                    for number in range(nodes)]}]}
        with open(f"{home}/config.json", "w") as file:
            json.dump(config, file)
        with open(f"{home}/log", "w") as log:
            self.process = subprocess.Popen(
                ["nice", "prometheus", f"--config.file={home}/config.json",
                 f"--storage.tsdb.path={home}/data",
                 f"--web.listen-address=127.0.0.1:{self.web}"],
                stdout=log, stderr=log)
        self.pid = self.process.pid

    def ask(self, query):
        reply = json.loads(get(f"http://127.0.0.1:{self.web}/api/v1/query?" +
                               urllib.parse.urlencode({"query": query})))
        return [(one["metric"], float(one["value"][1]))
                for one in reply["data"]["result"]]

    def begin(self):
        self.before, self.began = processor_s(self.pid), time.monotonic()

    def sample(self):
        self.memory.append(memory_bytes(self.pid))
        text = get(f"http://127.0.0.1:{self.web}/metrics")
        durations = re.findall(
            r"^prometheus_rule_group_last_duration_seconds\{.*\} (.*)$", text,
            re.M)
        if durations:
            self.durations.append(sum(map(float, durations)))
        self.series = int(float(re.search(
            r"^prometheus_tsdb_head_series (.*)$", text, re.M)[1]))

    def end(self):
        self.cores = (processor_s(self.pid) - self.before) / (
            time.monotonic() - self.began)
        self.up = len(self.ask("up == 1"))
        self.recorded = len(self.ask("ncclstat:rank"))
        self.alerts = self.ask("ALERTS")
        self.scrape_s = statistics.median(
            value for _, value in self.ask("scrape_duration_seconds"))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    servers = []
    with tempfile.TemporaryDirectory(prefix="ncclstat-bench.") as folder:
        text, age, cost, memory = measure_node(options.build, folder)
        template = Template(text, age)
        print(f"a node: {template.series} series, {len(text)} bytes;"
              f" ncclstat --listen: {cost * 1e3:.1f} ms of processor a scrape,"
              f" {memory / MIB:.1f} MiB", flush=True)
        port = serve(template, options.nodes)
        try:
            servers = [
                Server(folder, "rules", port, options.nodes, True),
                Server(folder, "no-rules", port, options.nodes, False),
                Server(folder, "fewer", port, options.nodes // 4, True)]
            time.sleep(SETTLE_S)
            for server in servers:
                server.begin()
            while time.monotonic() < servers[0].began + options.minutes * 60:
                time.sleep(5)
                for server in servers:
                    server.sample()
            for server in servers:
                server.end()
                rules = "-" if not server.durations else (
                    f"{statistics.median(server.durations):.2f} s, at most"
                    f" {max(server.durations):.2f}")
                print(f"{server.name}: {server.up} of {server.nodes} nodes,"
                      f" {server.series} series; {server.cores * 100:.1f} % of"
                      f" a core; {statistics.median(server.memory) / MIB:.0f}"
                      f" MiB, at most {max(server.memory) / MIB:.0f}; a scrape"
                      f" {server.scrape_s * 1e3:.0f} ms; rules: {rules};"
                      f" {server.recorded} ranks recorded,"
                      f" {len(server.alerts)} alerts", flush=True)
            with_rules, without, _ = servers
            each = (with_rules.cores - without.cores) * RULES_S
            print(f"rules of {options.nodes} nodes: {each:.2f} s of processor"
                  f" each {RULES_S} s")
        finally:
            for server in servers:
                server.stop()


main()
