#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the rules for a time that passes 30 times as fast: their ranges, how
long an alert is pending, and for how long somebody waits are a 30th. All else is
left as it is.

usage: shorter_rules.py RULES
"""
import re
import sys

FASTER = 30
UNITS = {"s": 1000, "m": 60000, "h": 3600000}


def shorter(match):
    before, number, unit, after = match.groups()
    return f"{before}{int(number) * UNITS[unit] // FASTER}ms{after}"


with open(sys.argv[1]) as file:
    text = file.read()
text = re.sub(r"(\[)(\d+)([smh])(\])", shorter, text)
text = re.sub(r"(\boffset )(\d+)([smh])(\b)", shorter, text)
text = re.sub(r"(?m)^( *for: )(\d+)([smh])()$", shorter, text)
text = re.sub(r"(?m)(ncclstat_oldest_\w+_seconds\) > )(\d+)$",
              lambda match: match[1] + str(int(match[2]) // FASTER), text)
print(text, end="")
