#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the commands of a manual page or of a file of Markdown, one a line.

usage: page_commands.py PAGE [SECTION]
       page_commands.py FILE.md

A command follows "$ " in a literal block of the page, or in a code block of
the file, which may leave out the "$ ". Lines that it goes on to are joined: in a
page those that are indented further, in a file those after a backslash.
"""
import re
import subprocess
import sys


def of_page(page, section):
    text = subprocess.run(["mandoc", "-Tascii", "-Owidth=200", page], check=True,
                          capture_output=True, text=True).stdout
    commands, here, indent = [], section is None, None
    for line in re.sub(".\b", "", text).split("\n"):
        if re.match(r"\S", line):
            here = section is None or line == section
        if not here:
            continue
        found = re.match(r"( +)\$ (.*)", line)
        if found:
            indent = len(found.group(1))
            commands.append(found.group(2))
        elif (indent is not None and line.strip() and
              len(line) - len(line.lstrip()) > indent):
            commands[-1] += "\n" + line.strip()
        else:
            indent = None
    return commands


def of_markdown(path):
    commands, inside, begun = [], False, False
    with open(path) as file:
        for line in file.read().split("\n"):
            block = re.match(r"    (?! )(?:\$ )?(.*)", line)
            if line.startswith("```"):
                inside = line.startswith("```sh")
                begun = False
            elif inside or block:
                text = block.group(1) if block else re.sub(r"^\$ ", "", line)
                if begun:
                    commands[-1] += " " + text.strip()
                elif text.strip() and not text.startswith("#"):
                    commands.append(text)
                begun = text.endswith("\\")
                if begun:
                    commands[-1] = commands[-1][:-1].rstrip()
    return commands


for command in (of_markdown(sys.argv[1]) if sys.argv[1].endswith(".md") else
                of_page(sys.argv[1], *sys.argv[2:] or [None])):
    print(command.replace("\n", " "))
