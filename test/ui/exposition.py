#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks metrics as text.

exposition.py openmetrics|prometheus NAMES FILE...

Each FILE must be well formed, as specified, without a series twice, and its
metrics those of NAMES, a file with a line for each. Files are of one exporter, in
their order: no counter may fall from one to the next. Prints what is wrong.
"""
import re
import sys

SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? ([0-9.]+)$')
LABEL = re.compile(r'([a-zA-Z_]+)="((?:[^"\\]|\\["\\n])*)"(?:,|$)')
SUFFIXES = {'counter': ('_total',), 'gauge': ('',), 'info': ('_info',),
            'summary': ('_count', '_sum'),
            'histogram': ('_bucket', '_count', '_sum')}


def wrong(path, number, why):
    print('%s:%d: %s' % (path, number, why))
    wrong.found = True


wrong.found = False


def labels_of(text):
    """The labels as a tuple of pairs; None if they are malformed."""
    labels, end = [], 0
    for match in LABEL.finditer(text):
        if match.start() != end:
            return None
        labels.append(match.groups())
        end = match.end()
    return tuple(labels) if end == len(text) else None


def read(path, is_open, names):
    """Checks a file; returns its samples: (name, labels) to (type, value)."""
    samples, families, family = {}, set(), {}
    with open(path, newline='') as file:
        text = file.read()
    lines = text.split('\n')
    if lines.pop() != '':
        wrong(path, len(lines), 'no end of line')
    if is_open and (not lines or lines.pop() != '# EOF'):
        wrong(path, len(lines), 'no EOF')
    for number, line in enumerate(lines, 1):
        if line.startswith('# '):
            word, name, rest = line[2:].split(' ', 2)
            if word == 'TYPE':
                if name in families:
                    wrong(path, number, 'a family twice')
                families.add(name)
                family = {'name': name, 'type': rest, 'labels': None}
            elif word not in ('HELP', 'UNIT') or name != family['name']:
                wrong(path, number, 'a heading out of place')
            elif word == 'UNIT' and not name.endswith('_' + rest):
                wrong(path, number, 'the unit does not end the name')
            continue
        match = SAMPLE.match(line)
        labels = labels_of(match.group(2) or '') if match else None
        if labels is None:
            wrong(path, number, 'malformed: ' + line)
            continue
        name, value = match.group(1), match.group(3)
        ends = SUFFIXES[family['type']] if is_open else \
            SUFFIXES.get(family['type'], ('',)) \
            if family['type'] in ('summary', 'histogram') else ('',)
        if name not in [family['name'] + end for end in ends]:
            wrong(path, number, 'a sample of another family')
        keys = [key for key, _ in labels if key != 'le']
        if family['labels'] not in (None, keys) or len(set(keys)) < len(keys):
            wrong(path, number, 'other labels than before')
        family['labels'] = keys
        if (name, labels) in samples:
            wrong(path, number, 'a series twice')
        bare = re.sub('_(bucket|count|sum)$', '', name)
        if name not in names and bare not in names:
            wrong(path, number, 'not in the table: ' + name)
        counts = family['type'] in ('counter', 'summary', 'histogram')
        samples[name, labels] = (counts, float(value))
    return samples


def main():
    is_open = sys.argv[1] == 'openmetrics'
    with open(sys.argv[2]) as file:
        names = {'ncclstat_' + line.strip() for line in file}
    before = {}
    for path in sys.argv[3:]:
        now = read(path, is_open, names)
        for series, (counts, value) in now.items():
            if counts and value < before.get(series, (True, 0))[1]:
                wrong(path, 0, 'fell: %s %s' % series)
        before = now
    sys.exit(wrong.found)


main()
