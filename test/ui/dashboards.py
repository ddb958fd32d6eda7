#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks queries of dashboards.

dashboards.py names NAMES RULES DASHBOARD...
    each metric that a dashboard or the rules name is in NAMES, a file with a line
    for each, or is recorded by the rules
dashboards.py links DASHBOARD...
    each link leads to a dashboard that is there, and sets variables that it has;
    each dashboard links to the others
dashboards.py run URL DASHBOARD...
    Prometheus answers each query; prints "N queries, M with results"
"""
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

VARIABLES = {'$__rate_interval': '5s', '$comm': '.*', '$job_id': '.*'}


def queries(path):
    """Title and query of each panel, annotation and variable."""
    with open(path) as file:
        board = json.load(file)
    for panel in board['panels']:
        assert panel['targets'], panel['title']
        for target in panel['targets']:
            yield panel['title'], target['expr']
    for annotation in board['annotations']['list']:
        assert annotation['target']['expr'] == annotation['expr'], annotation
        yield annotation['name'], annotation['expr']
    for variable in board['templating']['list']:
        if variable['type'] == 'query':
            query = variable['query']['query']
            match = re.fullmatch(r'label_values\((.*), \w+\)', query)
            assert match, query
            yield variable['name'], match.group(1)


def check_names(names, rules, boards):
    with open(names) as file:
        known = {'ncclstat_' + line.strip() for line in file}
    with open(rules) as file:
        text = file.read()
    recorded = set(re.findall(r'record: (\S+)', text))
    texts = [(rules, re.sub(r'#.*|record: .*|name: .*', '', text))]
    for board in boards:
        texts += [('%s: %s' % (board, title), expr)
                  for title, expr in queries(board)]
    found = 0
    for where, text in texts:
        for name in re.findall(r'[a-z_]*:?ncclstat[a-z_0-9]*[:a-z_0-9]*',
                               text):
            bare = re.sub('_(sum|count|bucket)$', '', name)
            found += 1
            if name not in recorded and name not in known and \
                    bare not in known and name != 'ncclstat':
                print('%s: no such metric: %s' % (where, name))
                sys.exit(1)
    assert found > 50, found


def check_links(paths):
    texts = [open(path).read() for path in paths]
    boards = {board['uid']: board for board in map(json.loads, texts)}
    found = 0
    for text in texts:
        for uid, query in re.findall(r'"/d/([^?"]*)\?([^"]*)"', text):
            names = {one['name'] for one in boards[uid]['templating']['list']}
            wanted = set(re.findall(r'var-(\w+)=', query))
            assert wanted and wanted <= names, (uid, query)
            found += 1
    assert found, 'no link'
    for board in boards.values():
        tags, = [link['tags'] for link in board['links']]
        assert all(set(tags) <= set(one['tags']) for one in boards.values())


def run(url, boards):
    count = filled = 0
    for board in boards:
        with open(board) as file:
            # A healthy job has none.
            marks = {one['name'] for one in
                     json.load(file)['annotations']['list']}
        for title, expr in queries(board):
            for name, value in VARIABLES.items():
                expr = expr.replace(name, value)
            data = urllib.parse.urlencode({'query': expr}).encode()
            try:
                reply = urllib.request.urlopen(url + '/api/v1/query', data,
                                               timeout=20)
            except urllib.error.HTTPError as error:
                print('%s: %s: %s' % (board, title, error.read().decode()))
                sys.exit(1)
            result = json.load(reply)['data']['result']
            if title in marks:
                continue
            count += 1
            filled += bool(result)
            if not result:
                print('nothing: %s' % title)
    print('%d queries, %d with results' % (count, filled))


if sys.argv[1] == 'names':
    check_names(sys.argv[2], sys.argv[3], sys.argv[4:])
elif sys.argv[1] == 'links':
    check_links(sys.argv[2:])
else:
    run(sys.argv[2], sys.argv[3:])
