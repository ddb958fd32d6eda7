#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that no two threads keep the same lane: ncs_lane_claim() against
ncs_lane_forget_claims(), plugin/state/lane.c.

A thread that makes a late callback claims a lane while init gives the
communicator's entry to a new communicator, and a thread of the new communicator
claims one. Every interleaving of their steps is tried. Each step is one access
to shared memory. That they happen one after the other is enough: both sides
change `lanes_claimed` by read-modify-writes with acquire and release, which are
in one order, and the access to the place comes before it on one side and after
it on the other.

A claim without its last look at `lanes_claimed`, or a reset in the other order,
must be caught: each lets two threads have one lane for good.

Prints "ok NAME" or "not ok NAME" lines; exit status 0 or 1.
"""
import os
import re
import sys

LANES = 2  # lanes of their own; more threads share lane 0
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..',
                      'plugin', 'state', 'lane.c')


def claim(memory, thread, looks):
    """A callback of a thread: uses its lane, or claims one."""
    place = ('place', thread)
    yield
    if memory[place] is None:
        yield
        life, number = memory['claimed']
        memory['claimed'] = (life, number + 1)
        lane = number + 1 if number < LANES else 0
        yield
        memory[place] = lane
        if looks:
            yield
            if memory['claimed'][0] != life:
                yield
                memory[place] = None


def reset(memory, threads, life_first):
    """Init gives the entry to a new communicator."""
    def begin_life():
        memory['claimed'] = (memory['claimed'][0] + 1, 0)

    yield
    if life_first:
        begin_life()
    for thread in range(threads):
        yield
        memory[('place', thread)] = None
    if not life_first:
        yield
        begin_life()


def outcome(schedule, looks, life_first, threads):
    """Runs one interleaving. Returns whose turn it may be next (empty at the
    end), and the lanes at the end."""
    memory = {'claimed': (0, 0)}
    memory.update({('place', thread): None for thread in range(threads)})
    actors = [claim(memory, thread, looks) for thread in range(threads - 1)]
    actors.append(reset(memory, threads, life_first))
    late = claim(memory, threads - 1, looks)  # of the new communicator
    running = set()
    for number, actor in enumerate(actors):
        next(actor)
        running.add(number)
    for turn in schedule:
        actor = actors[turn]
        try:
            next(actor)
        except StopIteration:
            running.discard(turn)
            if turn == threads - 1 and len(actors) == threads:
                actors.append(late)
                next(late)
                running.add(threads)
    lanes = [memory[('place', thread)] for thread in range(threads)]
    return running, [lane for lane in lanes if lane]


def explore(looks, life_first, threads=2):
    """Returns the number of interleavings, and one that gives two threads one
    lane, or None."""
    count, stack = 0, [()]
    while stack:
        schedule = stack.pop()
        running, lanes = outcome(schedule, looks, life_first, threads)
        if not running:
            count += 1
            if len(lanes) != len(set(lanes)):
                return count, schedule
        stack.extend(schedule + (turn,) for turn in running)
    return count, None


def source_is_modelled():
    """Tells whether the steps are in the source in this order."""
    with open(SOURCE, encoding='utf-8') as file:
        text = file.read()
    order = (r'void ncs_lane_forget_claims.*ncs_exchange_acquire_release\('
             r'&comm->lanes_claimed.*memset\(comm->lane_of_thread.*'
             r'bool is_same_life.*ncs_add_acquire_release\('
             r'&comm->lanes_claimed, 0\).*'
             r'\*ncs_lane_claim.*ncs_add_relaxed\(&comm->lanes_claimed, 1\).*'
             r'lane_of_thread\[ncs_thread\.index\] = lane;\s*'
             r'if \(!is_same_life\(comm, claimed\)\) \{\s*'
             r'comm->lane_of_thread\[ncs_thread\.index\] = NULL;')
    return re.search(order, text, re.S) is not None


def main():
    failed = 0

    def report(good, name, remark):
        nonlocal failed
        failed += not good
        print(f'{"ok" if good else "not ok"} {name} # {remark}', flush=True)

    report(source_is_modelled(), 'plugin/state/lane.c is the one modelled', '')
    count, violation = explore(looks=True, life_first=True)
    report(violation is None, 'proved: no two threads keep one lane',
           violation or f'{count} interleavings')
    for name, looks, life_first in (
            ('claim without a last look', False, True),
            ('places cleared before the life', True, False)):
        count, violation = explore(looks, life_first)
        report(violation is not None, 'caught: ' + name,
               violation or f'{count} interleavings')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
