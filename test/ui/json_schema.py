#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares documents of JSON with definitions of the JSON Schema that is installed.

    json_schema.py SCHEMA                      checks the schema itself, which
                                               takes longer than most documents
    json_schema.py SCHEMA DEFINITION FILE...   prints where the first wrong
                                               document differs, and exits with 1
    json_schema.py SCHEMA --each LIST          prints "ok" or "not ok" for each
        line of LIST: "is" or "is-not", DEFINITION, FILE, and what is checked

A file has one document on each line. Exits with 77 if python3-jsonschema is too old
for the draft.
"""
import json
import re
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is missing, or before 4.0")
    sys.exit(77)


def shape(line):
    """Returns a line without the digits of numbers of two and more that are not
    zero: no bound or pattern of the schema tells those apart."""
    return re.sub(r"\d\d+",
                  lambda m: "1" * len(m[0]) if m[0].strip("0") else m[0], line)


def fault(validator, names):
    """Returns where the first wrong document of the files differs, or None."""
    seen = set()
    for name in names:
        with open(name) as file:
            for line in file:
                if shape(line) in seen:
                    continue
                seen.add(shape(line))
                for error in validator.iter_errors(json.loads(line)):
                    return "%s: %s: %s" % (
                        name, "/".join(map(str, error.absolute_path)),
                        error.message[:300])
    return None if seen else "there is no document"


def main(path, definition=None, *files):
    with open(path) as file:
        schema = json.load(file)
    if definition is None:
        Draft202012Validator.check_schema(schema)
        return None
    del schema["anyOf"]

    def of(name):
        if name not in schema["$defs"]:
            sys.exit("%s has no %s" % (path, name))
        return Draft202012Validator(dict(schema, **{"$ref": "#/$defs/" + name}))

    if definition != "--each":
        return fault(of(definition), files)
    failed = 0
    with open(files[0]) as lines:
        for line in lines:
            wanted, name, document, what = line.rstrip("\n").split(" ", 3)
            found = fault(of(name), [document])
            if (found is None) == (wanted == "is"):
                print("ok", what)
            else:
                print("not ok %s\n  %s" % (what, found))
                failed = 1
    return failed


sys.exit(main(*sys.argv[1:]))
