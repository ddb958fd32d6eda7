# SPDX-License-Identifier: MIT
"""Shared by the scripts that compare exports with lines of JSON. Not a test, and
shares no code with the program.
"""

failed = False


def check(what, found, wanted):
    """Prints "ok ..." or "not ok ..."; `failed` is set then."""
    global failed
    if found == wanted:
        print(f"ok {what}")
        return
    failed = True
    print(f"not ok {what}\n  found  {str(found)[:2000]}\n"
          f"  wanted {str(wanted)[:2000]}")


def rank_of(line):
    return line["host"], line["pid"], line["communicator_id"], line["rank"]


def once(lines):
    """Leaves out operations that a later line replaces."""
    last = {}
    for place, line in enumerate(lines):
        if line.get("again"):
            last[rank_of(line), line["operation"]] = place
    return [line for place, line in enumerate(lines)
            if line["event"] not in ("coll", "p2p") or last.get(
                (rank_of(line), line["operation"]), place) == place]
