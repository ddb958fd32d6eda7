#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares documents of JSON with a definition of the JSON Schema that is
installed: json_schema.py SCHEMA DEFINITION FILE...

A file has one document on each line. Prints where the first wrong one differs,
and exits with 1. Without DEFINITION, checks the schema itself, which takes longer
than most documents. Exits with 77 if python3-jsonschema is too old for the draft.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is missing, or before 4.0")
    sys.exit(77)


def main(path, definition, files):
    with open(path) as file:
        schema = json.load(file)
    if definition is None:
        Draft202012Validator.check_schema(schema)
        return
    if definition not in schema["$defs"]:
        sys.exit("%s has no %s" % (path, definition))
    del schema["anyOf"]
    schema["$ref"] = "#/$defs/" + definition
    validator = Draft202012Validator(schema)
    count = 0
    for name in files:
        with open(name) as file:
            for line in file:
                count += 1
                for error in validator.iter_errors(json.loads(line)):
                    sys.exit("%s: %s: %s" % (
                        name, "/".join(map(str, error.absolute_path)),
                        error.message[:300]))
    if count == 0:
        sys.exit("there is no document")
    print("%d documents are %s" % (count, definition))


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, sys.argv[3:])
