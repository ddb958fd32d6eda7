# SPDX-License-Identifier: MIT
"""The map from columns to the JSON of a dump: for each row of a view, the values
that its cells tell, by title. Written by hand from ncclstat-json(5), so that it
shares no code with the program."""
import re


def table_of(name):
    """Pairs of the second and of the last word of a table's rows."""
    text = open(f"include/ncclstat/tables/{name}.def").read()
    return re.findall(r'X\(\w+, "([^"]+)", \w+, "([^"]+)"', text)


LABELS = dict(table_of("channel_states"))
FUNCTIONS = re.findall(r'X\(\w+, "(\w+)", (?:ONE|RANKS)',
                       open("include/ncclstat/tables/functions.def").read())
GROUPS = re.findall(r'X\(\w+, "([^"]+)"',
                    open("include/ncclstat/tables/event_groups.def").read())


def known(word):
    return word if word != "unknown" else None


def percent(share):
    return None if share is None else 100 * share


def comm_of(communicator):
    return communicator["name"] or communicator["id"]


def job_of(labels):
    labels = labels or {}
    run = labels.get("run_id")
    return labels.get("job_id") or (run if run != "none" else None) or \
        labels.get("pod")


def gpu_of(pci_id):
    """0000:1b:00.0 is 1b:00."""
    if pci_id is None:
        return None
    return re.sub(r"\.0$", "", re.sub(r"^0+:(?=.*:)", "", pci_id))


def call_of(operation):
    number = operation.get("sequence_number")
    return operation.get("function") if number is None else \
        f"{operation['function']}#{number}"


def lost_of(rank):
    return sum(count for name, count in rank["lost"].items()
               if name != "overwritten")


def settings_of(settings):
    """The words of --set, of which some may be left out."""
    if settings is None:
        return None
    return {"events": "all" + "".join(
                f"-{group}" for group in GROUPS
                if group not in settings["events"]),
            "kernel": settings["kernel"], "sample": str(settings["sample"]),
            "timing": settings["timing"],
            "lease": settings["lease"] is not None}


def stream_of(launches):
    if launches.get("status") == "some":
        return f"1/{launches['one_in']}"
    return launches.get("status")


def ranks_of(dump):
    for rank in dump["ranks"]:
        lateness = rank["lateness"] or {}
        recent = lateness.get("recent") or {}
        compared = recent.get("operations", 0) > 0
        launches = rank["launches"] or {}
        oldest = rank["in_flight"][0] if rank["in_flight"] else {}
        tag = oldest.get("user_tag")
        yield {
            "RANK": rank["rank"], "COMM": comm_of(rank["communicator"]),
            "GPU": gpu_of(rank["gpu_pci_id"]), "PID": rank["host_pid"],
            "STATE": "past" if rank["past"] else
                     rank["state"],
            "WAITS-FOR": rank["waits_for"], "OLDEST": rank["oldest_wait_ns"],
            "LATE": recent["median_ns"] if compared else None,
            "%COST": percent(lateness.get("cost_share")),
            "BUSGB/s": rank["busbw_gbs"],
            "OPERATION": call_of(oldest),
            "OP/S": rank["operations_per_s"],
            "SENDB/s": rank["send_bytes_per_s"],
            "RECVB/s": rank["recv_bytes_per_s"],
            "PROXY": known(rank["proxy"]["state"]),
            "LATEBY": recent.get("cause"),
            "%LAST": 100 * recent["last"] / recent["operations"]
            if compared else None,
            "LOST": lost_of(rank), "JOB": job_of(rank["job"]),
            "SIZE": rank["communicator"]["nranks"],
            "TAG": str(tag) if tag else None,
            "LATE99": recent["p99_ns"] if compared else None,
            "ALONE": recent.get("exclusive_ns"),
            "API": rank["api_version"], "NCCL": rank["nccl_version"],
            "KERNELS": known(rank["kernel_timing"]["status"]),
            "STREAM": stream_of(launches),
            "AHEAD": launches.get("ahead"),
            "BEGUN": launches.get("begun"), "ENDED": launches.get("ended"),
            "MOVED": rank["kernel_age_ns"], "CALLED": rank["call_age_ns"],
            "SETTINGS": settings_of(rank["settings"]),
        }


def with_members(dump):
    """Yields communicators with their ranks. Early releases of NCCL tell no id;
    communicators without one are in the order of their ranks."""
    ranks = list(dump["ranks"])
    for one in dump["communicators"]:
        members = [rank for rank in ranks
                   if rank["communicator"] == one["communicator"]]
        members = members[:one["ranks_seen"]]
        assert len(members) == one["ranks_seen"], one
        ranks = [rank for rank in ranks if rank not in members]
        yield one, members


def communicators_of(dump):
    for one, ranks in with_members(dump):
        skew = one["skew"] or {}
        ahead = [rank["launches"]["ahead"] for rank in ranks
                 if rank["launches"] and
                 rank["launches"]["ahead"] is not None]
        yield {
            "COMM": comm_of(one["communicator"]),
            "JOB": job_of(ranks[0]["job"]),
            "SIZE": one["communicator"]["nranks"],
            "SEEN": one["ranks_seen"], "LIVE": one["ranks_live"],
            "SILENT": one["ranks_silent"], "DEAD": one["ranks_dead"],
            "FUNCTION": one["function"], "SEQ": one["sequence_number"],
            "BEHIND": one["behind"],
            "SLOWEST": (one["slowest"] or {}).get("rank"),
            "OLDEST": one["oldest_wait_ns"],
            "OP/S": one["operations_per_s"],
            "SENDB/s": one["send_bytes_per_s"],
            "RECVB/s": one["recv_bytes_per_s"],
            "SKEW": skew.get("median_ns"), "MOVE": skew.get("transfer_ns"),
            "LATE": (one["straggler"] or {}).get("rank"),
            "AHEAD": max(ahead) if ahead else None,
            "LOST": one["lost"], "ID": one["communicator"]["id"],
        }


def channels_of(dump):
    for rank in dump["ranks"]:
        for one in rank["channels"]:
            step, steps = one["step"], one["nsteps"]
            rate = one["bytes_per_s"]
            yield {
                "RANK": rank["rank"], "COMM": comm_of(rank["communicator"]),
                "CH": one["channel"], "DIR": one["direction"],
                "PEER": one["peer"], "STATE": LABELS.get(one["state"]),
                "SINCE": one["state_age_ns"],
                "STEP": None if step is None else str(step) if steps is None
                        else f"{step}/{steps}",
                "FUNCTION": one["function"],
                "MB/s": None if rate is None else rate / 1e6,
                "BYTES": one["bytes"],
                "%GPU": percent(one["gpu_wait_share"]),
                "%PEER": percent(one["peer_wait_share"]),
                "%NET": percent(one["network_wait_share"]),
                "%IDLE": percent(one["idle_share"]),
                "OPS": one["operations_started"], "STEPS": one["steps_done"],
            }


def proxy_of(dump):
    for rank in dump["ranks"]:
        proxy = rank["proxy"]
        yield {
            "RANK": rank["rank"], "COMM": comm_of(rank["communicator"]),
            "PID": rank["host_pid"], "STATE": known(proxy["state"]),
            "SINCE": proxy["state_age_ns"],
            "%SLEEP": percent(proxy["sleep_share"]),
            "%IDLE": percent(proxy["idle_share"]),
            "%ACTV": percent(proxy["active_share"]),
            "%APPD": percent(proxy["append_share"]),
            "WAKE/S": proxy["wakeup_per_s"], "IDLE/S": proxy["idle_per_s"],
            "ACTV/S": proxy["active_per_s"], "APPD/S": proxy["append_per_s"],
            "APPENDED": proxy["appended_operations"],
        }


def most(values):
    """The largest of the known values."""
    told = [value for value in values if value is not None]
    return max(told) if told else None


def collectives_of(dump):
    for one, ranks in with_members(dump):
        moving = {of["function"]: of for of in one["functions"]}
        for name in FUNCTIONS:
            used = [of for rank in ranks for of in rank["functions"]
                    if of["function"] == name]
            if used:
                yield collective_of(one, used, moving.get(name, {}))


def collective_of(one, used, moving):
    name, nranks = used[0]["function"], one["communicator"]["nranks"]
    is_transfer = name in ("Send", "Recv", "SendRecv")
    ranks = moving["ranks"] if moving and not is_transfer else len(used)
    times = sorted(of["time_ns"]["p50"] for of in used
                   if of["time_ns"]["p50"] is not None)
    sizes = [of["bytes"] for of in used]
    return {
        "COMM": comm_of(one["communicator"]), "FUNCTION": name,
        "RANKS": str(ranks) if nranks is None else f"{ranks}/{nranks}",
        "OPS": max(of["operations"] for of in used),
        "OP/S": most(of["operations_per_s"] for of in used),
        "BYTES": None if None in sizes else max(sizes),
        # The lower one of two; by a histogram's bucket, which is as wide.
        "TIME": (times[(len(times) - 1) // 2], 0.04) if times else None,
        "MOVE": moving.get("moving_ns"), "ALGGB/s": moving.get("algbw_gbs"),
        "BUSGB/s": moving.get("busbw_gbs"),
        "TIMING": moving.get("timing", "none"),
        "TIMED": moving.get("operations", 0), "AGE": moving.get("age_ns"),
    }


def ranges_of(dump):
    for rank in dump["ranks"]:
        for one in rank["ranges"]:
            times, gpu = one["time_ns"], one["gpu"] or {}
            waits, hidden = one["waits_ns"], gpu.get("hidden_ns")
            longest = max(waits, key=waits.get)
            waited = waits[longest] > 0
            yield {
                "COMM": comm_of(rank["communicator"]), "RANK": rank["rank"],
                "RANGE": one["name"], "CALLS": one["calls"],
                "OPS": one["operations"], "BYTES": one["bytes"],
                "TIME": times["sum"], "BUSY": one["busy_ns"],
                "BUSYBW": one["busy_algbw_gbs"],
                "WAIT": LABELS[longest] if waited else None,
                "SHARE": 100 * waits[longest] / sum(waits.values())
                if waited else None,
                "COMPUTE": gpu.get("compute_busy_ns"),
                "%HIDDEN": None if hidden is None else
                           100 * hidden / gpu["communication_ns"],
                "P50": times["p50"], "P99": times["p99"],
            }


def functions_of(dump):
    for rank in dump["ranks"]:
        for one in rank["functions"]:
            yield {
                "COMM": comm_of(rank["communicator"]),
                "RANK": rank["rank"], "FUNCTION": one["function"],
                "CALLS": one["calls"], "OPS": one["operations"],
                "DONE": one["operations_done"],
                "OP/S": one["operations_per_s"], "BYTES": one["bytes"],
                "TIMING": one["timing"], "TIMED": one["timed"],
                "SEQ": one["last_sequence_number"],
                **{title: one["time_ns"][title.lower()]
                   for title in ("P50", "P95", "P99", "MAX")},
            }


def size_of(one):
    """Powers of two have no digits behind the point."""
    size, units = one["size_bytes"], iter(["", "K", "M", "G", "T"])
    if one["other"]:
        return "other"
    if size is None:
        return None
    unit = next(units)
    while size >= 1024:
        size, unit = size // 1024, next(units)
    return f"{size}{unit}"


def sizes_of(dump):
    for rank in dump["ranks"]:
        for one in rank["classes"]:
            times, timed = one["time_ns"], one["timed"]
            other = "other" if one["other"] else None
            yield {
                "COMM": comm_of(rank["communicator"]),
                "RANK": rank["rank"], "FUNCTION": one["function"],
                "SIZE": size_of(one), "ALGO": one["algorithm"] or other,
                "PROTO": one["protocol"] or other,
                "OPS": one["operations"], "OP/S": one["operations_per_s"],
                "TIMED": timed,
                "TIME": times["sum"] / timed if timed else None,
                "ALGGB/s": one["algbw_gbs"], "BUSGB/s": one["busbw_gbs"],
                "P50": times["p50"], "P95": times["p95"],
                "P99": times["p99"], "MAX": times["max"],
                "TIMING": one["timing"],
            }


ROWS = {"ranks": ranks_of, "communicators": communicators_of,
        "channels": channels_of, "proxy": proxy_of,
        "collectives": collectives_of, "ranges": ranges_of,
        "functions": functions_of, "sizes": sizes_of}
