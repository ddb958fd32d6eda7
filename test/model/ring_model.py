#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves the three lock-free protocols of shm/ under the C11 memory model.

  ring        shm/ring.h: ncs_ring_put_words(), ncs_ring_available(),
              ncs_ring_copy()
  seqlock     shm/seqlock.h: ncs_seqlock_begin(), _end(), _read()
  operation   a slot whose number is its lock: read_operation() in
              shm/read/operation_reader.c, publish() in
              plugin/events/operation.c

Each is proved in both forms of shm/atomics.h: fences around relaxed words, and
for ThreadSanitizer (NCS_TSAN) acquire and release on every word. Every single
weakening must be caught, including those that no x86 machine can show.

Method: one writer that only stores and fences, one reader that only loads and
fences, no read-modify-write, no seq_cst. For such programs
 - modification order of a location is the writer's program order;
 - happens-before is sequenced-before plus synchronizes-with: release store or
   fence to acquire load or fence by reads-from (no release sequence through
   later plain stores: C++20's rule, the weaker one);
 - consistency is coherence: a load takes no value older than the newest that
   happens before it (CoWR), and the loads of one location never go back
   (CoRR). The reader stores nothing, so that is all.
Every reads-from choice of every load is tried, so "ok" is a proof for the
bounded program, for every compiler and machine that implements C11.

The model is compared with the source, call by call.

Prints "ok NAME" or "not ok NAME" lines; exit status 0 or 1.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


# --- The memory model ----------------------------------------------------

class Violation(Exception):
    """The reader accepted a wrong value."""


class Execution:
    """A run of the reader; `choices` decides what its loads return.

    `writer` is a list of ('fence',) and ('store', location, value, release).
    """

    def __init__(self, writer):
        self.writer = writer
        self.stores = {}         # location -> [(index in writer, value)]
        self.fence_before = []   # index of the latest release fence
        fence = -1
        for index, event in enumerate(writer):
            self.fence_before.append(fence)
            if event[0] == 'fence':
                fence = index
            else:
                self.stores.setdefault(event[1], [(-1, 0)]).append(
                    (index, event[2]))

    def start(self, oracle):
        self.oracle = oracle
        self.step = 0
        self.choices = []        # number of possible values of each load
        self.known = -1          # latest writer event that happens before now
        self.pending = -1        # the same after the next acquire fence
        self.seen = {}           # location -> index into its stores

    def load(self, location, acquire):
        stores = self.stores.get(location, [(-1, 0)])
        low = self.seen.get(location, 0)
        while low + 1 < len(stores) and stores[low + 1][0] <= self.known:
            low += 1
        if self.step == len(self.oracle):
            self.oracle.append(0)
        taken = low + self.oracle[self.step]
        self.choices.append(len(stores) - low)
        self.step += 1
        self.seen[location] = taken
        index, value = stores[taken]
        if index >= 0:
            release = self.writer[index][3]
            source = index if release else self.fence_before[index]
            self.pending = max(self.pending, source)
            if acquire:
                self.known = max(self.known, source)
        return value

    def fence(self):
        self.known = max(self.known, self.pending)


class Count:
    """Counts of events over all runs, to show that no proof is empty."""

    def __init__(self):
        self.runs = 0
        self.accepted = 0
        self.rejected = 0        # found overwritten after the copy
        self.missed = 0          # overwritten or changing before the copy


def explore(writer, reader):
    """Runs the reader in all possible ways: (runs, violation or None)."""
    execution = Execution(writer)
    count = Count()
    oracle = []
    while True:
        execution.start(oracle)
        count.runs += 1
        try:
            reader(execution, count)
        except Violation as violation:
            return count, str(violation)
        del oracle[execution.step:]
        while oracle and \
                oracle[-1] + 1 >= execution.choices[len(oracle) - 1]:
            oracle.pop()
        if not oracle:
            return count, None
        oracle[-1] += 1


# --- The two forms of shm/atomics.h --------------------------------------

class Form:
    """The meaning of fences and payload words. `weak` is a part to leave out:
    'no writer fence', 'no reader fence', ('relaxed store', k), ('relaxed
    load', k) of payload word k.
    """

    def __init__(self, tsan, weak=()):
        self.tsan = tsan
        self.weak = weak

    def fence_release(self):
        if self.tsan or 'no writer fence' in self.weak:
            return []
        return [('fence',)]

    def payload_store(self, location, value, k):
        release = self.tsan and ('relaxed store', k) not in self.weak
        return [('store', location, value, release)]

    def payload_load(self, execution, location, k):
        acquire = self.tsan and ('relaxed load', k) not in self.weak
        return execution.load(location, acquire)

    def fence_acquire(self, execution):
        if not self.tsan and 'no reader fence' not in self.weak:
            execution.fence()


def store(location, value, release):
    return [('store', location, value, release)]


def word(generation, k):
    return 100 * generation + k if generation else 0


# --- ring ----------------------------------------------------------------

def ring_writer(form, records, capacity, words):
    """Runs ncs_ring_put_words() `records` times."""
    program = []
    for i in range(records):
        program += form.fence_release()
        for k in range(words):
            program += form.payload_store(('slot', i % capacity, k),
                                          word(i + 1, k), k)
        program += store('head', i + 1, 'head stored relaxed' not in form.weak)
    return program


def ring_reader(form, capacity, words, polls, batch):
    """Runs ncs_ring_available(), then ncs_ring_copy() until all available
    records were copied, `polls` times. batch 0: all in one copy."""
    weak = form.weak
    slack = 1 if 'off by one' in weak else 0

    def reader(execution, count):
        following = lost = accepted = 0
        for _ in range(polls):
            head = execution.load('head', 'head loaded relaxed' not in weak)
            if head < following:
                raise Violation('head went back')
            if head >= capacity and following < head - capacity + 1:
                count.missed += head - capacity + 1 - following
                lost += head - capacity + 1 - following
                following = head - capacity + 1
            while following < head:
                n = min(batch or head - following, head - following)
                copies = [[form.payload_load(
                    execution, ('slot', (following + d) % capacity, k), k)
                    for k in range(words)] for d in range(n)]
                form.fence_acquire(execution)
                again = head if 'no re-check' in weak else \
                    execution.load('head', False)
                if again < following + n:
                    raise Violation('head is behind what it promised')
                first = max(again + 1 - capacity - slack, 0)
                skip = min(max(first - following, 0), n)
                for d in range(skip, n):
                    if copies[d] != [word(following + d + 1, k)
                                     for k in range(words)]:
                        raise Violation('torn or stale record accepted')
                accepted += n - skip
                lost += skip
                following += n
                count.accepted += n - skip
                count.rejected += skip
                if 'bound reused' in weak:
                    head = max(head, again)
        if accepted + lost != following:
            raise Violation('loss is not exact')
    return reader


# --- seqlock -------------------------------------------------------------

def seqlock_writer(form, updates, words):
    """Runs begin, the stores of the block's words, end, `updates` times."""
    weak = form.weak
    program = []
    for u in range(1, updates + 1):
        if 'no mark' not in weak:
            program += store('sequence', 2 * u - 1, 'mark released' in weak)
        program += form.fence_release()
        for k in range(words):
            program += form.payload_store(('block', k), word(u, k), k)
        program += store('sequence', 2 * u, 'end relaxed' not in weak)
    return program


def seqlock_reader(form, words, tries, reads):
    """Runs ncs_seqlock_try() `tries` times for each of `reads`."""
    weak = form.weak

    def read(execution, count):
        for _ in range(tries):
            sequence = execution.load('sequence',
                                      'first load relaxed' not in weak)
            copy = [form.payload_load(execution, ('block', k), k)
                    for k in range(words)]
            if sequence & 1 and 'odd accepted' not in weak:
                count.missed += 1
                continue
            form.fence_acquire(execution)
            again = sequence if 'no re-check' in weak else \
                execution.load('sequence', 're-check acquires' in weak)
            if again == sequence:
                return sequence, copy
            count.rejected += 1
        return None, None

    def reader(execution, count):
        before = 0
        for _ in range(reads):
            sequence, copy = read(execution, count)
            if sequence is None:
                continue
            count.accepted += 1
            if sequence & 1 or \
                    copy != [word(sequence // 2, k) for k in range(words)]:
                raise Violation('mixed block accepted')
            if sequence < before:
                raise Violation('an older block after a newer one')
            before = sequence
    return reader


# --- operation slot ------------------------------------------------------

def operation_writer(form, operations, words):
    """Fills in the slot `operations` times; word 0 is a counter, which is
    incremented once more while the operation stays."""
    weak = form.weak
    program = []
    for n in range(1, operations + 1):
        number = 1 if 'number repeats' in weak else n
        if 'no mark' not in weak:
            program += store('number', 0, 'mark released' in weak)
        program += form.fence_release()
        for k in range(words):
            program += form.payload_store(('slot', k), word(n, 10 * k), k)
        program += store('number', number, 'number stored relaxed' not in weak)
        program += form.payload_store(('slot', 0), word(n, 1), 'counter')
    return program


def operation_reader(form, operations, words, looks):
    """Runs read_operation() `looks` times."""
    weak = form.weak

    def consistent(number, copy):
        numbers = range(1, operations + 1) if 'number repeats' in weak \
            else [number]
        return any(copy[0] in (word(n, 0), word(n, 1)) and
                   copy[1:] == [word(n, 10 * k) for k in range(1, words)]
                   for n in numbers)

    def reader(execution, count):
        for _ in range(looks):
            number = execution.load('number',
                                    'first load relaxed' not in weak)
            if number == 0 and 'empty accepted' not in weak:
                count.missed += 1
                continue
            copy = [form.payload_load(
                execution, ('slot', k), k if k else 'counter')
                for k in range(words)]
            form.fence_acquire(execution)
            again = number if 'no re-check' in weak else \
                execution.load('number', 're-check acquires' in weak)
            if again != number:
                count.rejected += 1
                continue
            count.accepted += 1
            if not consistent(number, copy):
                raise Violation('mixed operation accepted')
    return reader


# --- Programs to be proved and faults to be caught -----------------------

def name_of(weak):
    return ' of word '.join(str(w) for w in weak) \
        if isinstance(weak, tuple) else weak


FENCES = ['no writer fence', 'no reader fence']


def words_of(words):
    return [(what, k) for what in ('relaxed store', 'relaxed load')
            for k in words]


def proofs():
    """Yields (name, writer, reader) of programs that must hold."""
    for tsan in (False, True):
        form = Form(tsan)
        kind = 'per-word' if tsan else 'fences'
        for capacity, words, records in ((2, 2, 5), (4, 2, 6), (2, 3, 4)):
            for batch in (1, 2, 0):
                yield (f'ring, {kind}: {records} records of {words} words in'
                       f' {capacity} slots, copied by {batch or "all"}',
                       ring_writer(form, records, capacity, words),
                       ring_reader(form, capacity, words, 3, batch))
        for words, updates, tries, reads in \
                ((2, 3, 2, 1), (3, 2, 2, 1), (2, 2, 1, 2)):
            yield (f'seqlock, {kind}: {updates} updates of {words} words,'
                   f' {reads} reads of {tries} tries',
                   seqlock_writer(form, updates, words),
                   seqlock_reader(form, words, tries, reads))
        for words, operations in ((2, 3), (3, 2)):
            yield (f'operation, {kind}: {operations} in a slot of {words}'
                   ' words',
                   operation_writer(form, operations, words),
                   operation_reader(form, operations, words, 3))


def weakenings():
    """Yields (name, writer, reader) of programs that must be caught: each lacks
    one part of the protocol."""
    for tsan in (False, True):
        kind = 'per-word' if tsan else 'fences'
        order = words_of((0, 1)) if tsan else FENCES
        for weak in order + ['head stored relaxed', 'head loaded relaxed',
                             'no re-check', 'off by one', 'bound reused']:
            form = Form(tsan, (weak,))
            yield (f'ring, {kind}: {name_of(weak)}',
                   ring_writer(form, 5, 2, 2), ring_reader(form, 2, 2, 3, 0))
        for weak in order + ['no mark', 'end relaxed', 'first load relaxed',
                             'odd accepted', 'no re-check']:
            form = Form(tsan, (weak,))
            yield (f'seqlock, {kind}: {name_of(weak)}',
                   seqlock_writer(form, 3, 2), seqlock_reader(form, 2, 2, 1))
        if tsan:
            order = words_of((1,)) + [('relaxed store', 'counter'),
                                      ('relaxed load', 'counter')]
        for weak in order + ['no mark', 'number stored relaxed',
                             'first load relaxed', 'empty accepted',
                             'no re-check', 'number repeats']:
            form = Form(tsan, (weak,))
            yield (f'operation, {kind}: {name_of(weak)}',
                   operation_writer(form, 3, 2),
                   operation_reader(form, 3, 2, 3))
    # Stores and loads that look like a fence and are none.
    form = Form(False, ('no writer fence', 'mark released'))
    yield ('seqlock, fences: a release store for the writer\'s fence',
           seqlock_writer(form, 3, 2), seqlock_reader(form, 2, 2, 1))
    form = Form(False, ('no reader fence', 're-check acquires'))
    yield ('seqlock, fences: an acquire load for the reader\'s fence',
           seqlock_writer(form, 3, 2), seqlock_reader(form, 2, 2, 1))


# --- Comparison with the source ------------------------------------------

CALL = re.compile(r'\bncs_((?:load|store|payload|fence|add|exchange|cas)_'
                  r'[a-z0-9_]+)\(')

# Shared accesses of each function, in the order of its text.
SOURCE = (
    ('shm/ring.h', 'ncs_ring_put_words',
     'fence_release payload_store store_release'),
    ('shm/ring.h', 'ncs_ring_available', 'load_acquire'),
    ('shm/ring.h', 'ncs_ring_copy',
     'payload_load fence_acquire load_relaxed'),
    ('shm/seqlock.h', 'ncs_seqlock_begin',
     'store_relaxed load_relaxed fence_release'),
    ('shm/seqlock.h', 'ncs_seqlock_end', 'store_release load_relaxed'),
    ('shm/seqlock.h', 'ncs_seqlock_try',
     'load_acquire payload_load fence_acquire load_relaxed'),
    ('shm/read/operation_reader.c', 'read_operation',
     'load_acquire payload_load fence_acquire load_relaxed'),
    ('plugin/events/operation.c', 'publish',
     'store_relaxed fence_release payload_store payload_store payload_store'
     ' payload_store store_release'),
)

HELPERS = {
    'load_relaxed': 'atomic_load_explicit memory_order_relaxed',
    'load_acquire': 'atomic_load_explicit memory_order_acquire',
    'store_relaxed': 'atomic_store_explicit memory_order_relaxed',
    'store_release': 'atomic_store_explicit memory_order_release',
    'payload_load': 'atomic_load_explicit NCS_PAYLOAD_LOAD',
    'payload_store': 'atomic_store_explicit NCS_PAYLOAD_STORE',
}

TSAN_ORDERS = {'STORE': 'release', 'LOAD': 'acquire'}


def read_source(path):
    """Returns a file's text without comments."""
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)


def body_of(text, function):
    found = re.search(r'\b' + function + r'\([^;{]*\)\n\{(.*?)\n\}', text,
                      re.S)
    return found.group(1) if found else ''


def helpers_are_modelled():
    text = read_source('shm/atomics.h')
    for helper, wanted in HELPERS.items():
        body = body_of(text, 'ncs_' + helper)
        found = re.findall(r'atomic_\w+|memory_order_\w+|NCS_PAYLOAD_\w+',
                           body)
        if ' '.join(found) != wanted:
            return False
    forms = re.search(r'#ifdef NCS_TSAN\n(.*?)#else\n(.*?)#endif', text, re.S)
    if not forms:
        return False
    for form, tsan in ((forms.group(1), True), (forms.group(2), False)):
        for what, order in TSAN_ORDERS.items():
            define = f'#define NCS_PAYLOAD_{what} memory_order_' + \
                (order if tsan else 'relaxed')
            if define + '\n' not in form:
                return False
        for order in ('release', 'acquire'):
            wanted = '' if tsan else \
                f'atomic_thread_fence(memory_order_{order});'
            if body_of(form, 'ncs_fence_' + order).strip() != wanted:
                return False
    return True


def source_checks():
    """Yields (name, whether it holds, remark)."""
    yield ('shm/atomics.h is the one modelled', helpers_are_modelled(), '')
    for path, function, wanted in SOURCE:
        name = f'{function}() in {path} is the one modelled'
        if not os.path.exists(os.path.join(ROOT, path)):
            yield name, True, 'SKIP no such file'
            continue
        found = ' '.join(CALL.findall(body_of(read_source(path), function)))
        yield name, found == wanted, found


# --- Main ----------------------------------------------------------------

def main():
    failed = 0

    def report(good, name, remark):
        nonlocal failed
        failed += not good
        print(f'{"ok" if good else "not ok"} {name} # {remark}', flush=True)

    for name, good, remark in source_checks():
        report(good, name, remark)
    for name, writer, reader in proofs():
        count, violation = explore(writer, reader)
        # A proof is void if nothing was ever rejected or missed.
        good = not violation and count.accepted > 0 and \
            count.rejected > 0 and count.missed > 0
        report(good, 'proved: ' + name,
               violation or f'{count.runs} executions, {count.accepted}'
               f' accepted, {count.rejected} rejected, {count.missed} missed')
    for name, writer, reader in weakenings():
        count, violation = explore(writer, reader)
        report(violation is not None, 'caught: ' + name,
               violation or f'{count.runs} executions')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
