#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes unit tests of the alerts for promtool, in JSON, which is YAML.

rules_test.py RULES [WORDS]: all tests, or those with the words in their name

Each alert has a job in which it fires, with the labels and annotations that it
then has, and jobs in which it does not, among them a healthy one for all.
"""
import json
import sys

NODES = 'abcd'
ALERTS = ('NcclHang', 'NcclRankMissing', 'NcclStuck', 'NcclRanksUnseen', 'NcclRankDied',
          'NcclStraggler', 'NcclSlowLink', 'NcclSlow', 'NcclProxyAsleep')
LONG = 600  # samples, 15 s apart


def series(name, values, **labels):
    text = ','.join('%s="%s"' % pair for pair in sorted(labels.items()))
    return {'series': 'ncclstat_%s{%s}' % (name, text), 'values': values}


def grows(each, count=LONG, first=0):
    return '%s+%sx%d' % (first, each, count)


def stands(value, count=LONG):
    return '%s+0x%d' % (value, count)


def job(ranks=4, size=None, job_id='77', **changes):
    """Series of a healthy job, one rank a node; `changes` are functions of the
    rank that give other values; None leaves a series out."""
    result = []
    of_job = dict(comm='c', comm_name='world', job_id=job_id)

    def put(name, values, rank, key=None, **labels):
        change = changes.get(key or name)
        values = change(rank, values) if change else values
        if values is not None:
            result.append(series(name, values, **of_job, rank=str(rank),
                                 node=NODES[rank], instance=NODES[rank],
                                 **labels))

    for rank in range(ranks):
        put('rank_info', stands(1), rank, pid=str(10 + rank),
            UUID='GPU-%d' % rank)
        put('rank_alive', stands(1), rank)
        put('sequence_number', grows(15), rank, func='AllReduce')
        put('oldest_operation_seconds', stands(0.01), rank)
        put('oldest_wait_seconds', stands(0.01), rank)
        put('operations_done_total', grows(15), rank, func='AllReduce')
        put('operation_seconds_count', grows(15), rank, func='AllReduce',
            timing='stream')
        put('operation_seconds_sum', grows(1.5), rank, func='AllReduce',
            timing='stream')
        put('proxy_seconds_total', grows(7.5), rank, state='sleep')
        peer = str((rank + 1) % ranks)
        put('peer_sent_bytes_total', grows(150000000), rank, peer=peer)
        put('peer_wait_seconds_total', grows(3), rank, peer=peer,
            state='send_wait')
        result.append(series('communicator_size', stands(size or ranks),
                             **of_job, instance=NODES[rank]))
    for name, each in ('class_bus_bytes_total', 15e9), \
            ('class_seconds_total', 1.5):
        change = changes.get(name)
        values = grows('%d' % each if each > 10 else each)
        result.append(series(name, change(values) if change else values,
                             **of_job, node='a', func='AllReduce',
                             size='1048576', algo='RING', proto='SIMPLE',
                             timing='stream', instance='a'))
    return result


def only(rank, values):
    """A change of one rank's values."""
    return lambda r, before: values if r == rank else before


def every(values):
    return lambda r, before: values


def alert(summary, command, **labels):
    return {'exp_labels': labels,
            'exp_annotations': {'summary': summary, 'command': command}}


def test(name, data, minute, quiet=(), **expected):
    """At that minute exactly the expected alerts fire, and none at the quiet
    ones."""
    return {'name': name, 'interval': '15s', 'input_series': data,
            'alert_rule_test': [
                {'eval_time': at, 'alertname': one,
                 'exp_alerts': expected.get(one, [])
                 if at == '%dm' % minute else []}
                for at in [*quiet, '%dm' % minute] for one in ALERTS]}


def times(first, last):
    """The times of all samples between two minutes, the last not included."""
    return ['%ds' % at for at in range(first * 60, last * 60, 15)]


HUNG = dict(oldest_operation_seconds=every(grows(15)),
            operations_done_total=every(stands(90)),
            operation_seconds_count=every(stands(90)),
            operation_seconds_sum=every(stands(9)))
WORLD = dict(comm='c', comm_name='world')
SLURM = 'ncclstat --slurm=77 --diagnose'
HOSTS = 'ncclstat --hosts=a,b,c,d --diagnose'


def behind(rank, values):
    return stands(98 if rank == 1 else 100)


def seen_late(data, nodes):
    """The same, but that the exporters of some nodes begin 90 s later."""
    return [dict(one, values='_x6 ' + one['values'])
            if one['series'].split('instance="')[1][0] in nodes else one
            for one in data]


def tests():
    yield test('a healthy job', job(), 20)
    yield test('a job that pauses, with ranks that are not level',
               job(sequence_number=behind,
                   operations_done_total=every(stands(90)),
                   operation_seconds_count=every(stands(90)),
                   operation_seconds_sum=every(stands(9)),
                   oldest_operation_seconds=every(stands(0))), 20)
    yield test('a rank that is a little behind, and moves',
               job(sequence_number=lambda r, v: grows(15, LONG, 5 - r)), 20)
    # Two nodes, each of which sees its own rank, name different ones.
    found = [series('finding_seconds', grows(15), verdict='rank_missing',
                    severity='stuck', confidence='possible', comm='c',
                    comm_name='world', job_id='77', node='' if rank else 'a',
                    rank=str(rank), func='AllReduce', instance=NODES[rank])
             for rank in (0, 1)]
    hang = alert('c is stuck for %s', SLURM, severity='critical', job_id='77',
                 **WORLD)
    for minute, lasted in (1, '1m 0s'), (10, '10m 0s'):
        told = json.loads(json.dumps(hang).replace('%s', lasted))
        yield test('nodes diagnose a hang, at minute %d' % minute,
                   job(sequence_number=behind, **HUNG) + found, minute,
                   ['15s'], NcclHang=[told])
    yield test('a node diagnoses a rank that is slow', job() + [
        dict(one, series=one['series'].replace('stuck', 'slow'))
        for one in found], 10)
    missing = alert('rank 1 of c on b (pid 11) is 2 calls of AllReduce behind,'
                    ' and others wait', SLURM, severity='critical', rank='1',
                    func='AllReduce', node='b', pid='11', job_id='77', **WORLD)
    # The others are stuck, too, for this cause: one alert is enough.
    yield test('a rank is missing', job(sequence_number=behind, **HUNG), 10,
               NcclRankMissing=[missing])
    yield test('a rank is missing, not for long',
               job(sequence_number=behind, **HUNG), 1)
    # The others call after a pause of five minutes, and again soon after.
    called = dict(HUNG, oldest_operation_seconds=lambda r, v: stands(0)
                  if r == 1 else '0+0x20 15+15x500')
    yield test('a rank is missing after a pause',
               job(sequence_number=lambda r, v: stands(98) if r == 1 else
                   '98+0x20 99+0x1 100+0x500', **called), 10, times(1, 8),
               NcclRankMissing=[missing])
    # Prometheus sees the rank that is missing before the others, or after them.
    waiting = dict(HUNG, oldest_operation_seconds=lambda r, v: stands(0)
                   if r == 1 else grows(15, LONG, 300))
    yield test('a rank is missing, the others are seen later',
               seen_late(job(sequence_number=behind, **waiting), 'acd'), 10,
               times(1, 4), NcclRankMissing=[missing])
    yield test('a rank is missing, and seen later',
               seen_late(job(sequence_number=behind, **waiting), 'b'), 10,
               times(1, 3), NcclRankMissing=[missing])
    stuck = dict(severity='critical', **WORLD)
    sentence = 'no rank of c has finished an operation for two minutes, and' \
               ' one is under way'
    yield test('all are stuck in one call',
               job(sequence_number=every(stands(100)), **HUNG), 4,
               times(1, 3),
               NcclStuck=[alert(sentence, SLURM, job_id='77', **stuck)])
    yield test('the same without a batch system',
               job(sequence_number=every(stands(100)), job_id='', **HUNG), 10,
               NcclStuck=[alert(sentence, HOSTS, **stuck)])
    yield test('two of six ranks are not seen', job(size=6), 10,
               NcclRanksUnseen=[alert(
                   '2 ranks of c are not seen: there is no exporter on their'
                   ' node, or no plugin in their process', SLURM,
                   severity='warning', job_id='77', **WORLD)])
    yield test('a rank died', job(rank_alive=only(2, '1+0x20 0+0x500')), 10,
               NcclRankDied=[alert(
                   'the process 12 of rank 2 of c on c is gone, and others'
                   ' live', SLURM, severity='critical', rank='2', node='c',
                   pid='12', job_id='77', **WORLD)])
    yield test('all died', job(rank_alive=every(stands(0))), 10)
    yield test('a rank comes late',
               job(operation_seconds_sum=only(3, grows(0.75))), 15,
               NcclStraggler=[alert(
                   'the others wait 50ms for rank 3 of c on d at each'
                   ' AllReduce', SLURM, severity='warning', rank='3',
                   func='AllReduce', timing='stream', node='d', pid='13',
                   UUID='GPU-3', job_id='77', **WORLD)])
    yield test('a rank comes a little late',
               job(operation_seconds_sum=only(3, grows(1.3))), 15)
    yield test('a rank comes late, to few operations',
               job(operation_seconds_sum=only(3, grows(0.75)),
                   operations_done_total=every(grows(2))), 15)
    yield test('a link is slow',
               job(peer_wait_seconds_total=only(1, grows(14))), 15,
               NcclSlowLink=[alert(
                   'what b sends to c is on the way three times as long as'
                   ' between other nodes',
                   'ncclstat --hosts=b,c --diagnose', severity='warning',
                   node='b', peer_node='c')])
    yield test('a link is a little slow',
               job(peer_wait_seconds_total=only(1, grows(7))), 15)
    yield test('a slow link with little traffic',
               job(peer_wait_seconds_total=only(1, grows(14)),
                   peer_sent_bytes_total=only(1, grows(150000))), 15)

    def slower(factor):
        end = 15000000000 * 400
        return lambda v: '0+15000000000x400 %d+%dx200' % (
            end + 15e9 * factor, 15e9 * factor)
    yield test('all is slow', job(class_bus_bytes_total=slower(0.4)), 130,
               NcclSlow=[alert(
                   'AllReduce of 1048576 bytes on c is at 4GB/s, less than'
                   ' half of its usual bandwidth', SLURM, severity='warning',
                   func='AllReduce', size='1048576', job_id='77', **WORLD)])
    yield test('operations that take little time are slow',
               job(class_bus_bytes_total=slower(0.4),
                   class_seconds_total=lambda v: grows(0.15)), 130)
    yield test('all is a little slow', job(class_bus_bytes_total=slower(0.7)),
               130)
    asleep = dict(proxy_seconds_total=only(1, grows(15)),
                  oldest_wait_seconds=only(1, grows(15)))
    yield test('a proxy thread sleeps while its rank waits', job(**asleep), 5,
               NcclProxyAsleep=[alert(
                   'the proxy thread of rank 1 of c on b sleeps while the rank'
                   ' waits', SLURM, severity='critical', rank='1', node='b',
                   pid='11', job_id='77', **WORLD)])
    yield test('a proxy thread sleeps, and nothing waits',
               job(proxy_seconds_total=only(1, grows(15))), 5)


def main():
    json.dump({'rule_files': [sys.argv[1]], 'evaluation_interval': '15s',
               'tests': [one for one in tests()
                         if ''.join(sys.argv[2:]) in one['name']]}, sys.stdout, indent=1)


main()
