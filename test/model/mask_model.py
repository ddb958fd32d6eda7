#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries all interleavings of the threads that switch NCCL's activation mask.

plugin/mask/mask.c explains why the mask must not be switched at the wrong time,
and argues that it is not. Here its rules are a small program. It is run against
NCCL's steps (read the mask, call back at each call, call back at the end of a
group) by up to three threads, while communicators are initialised, finalized
and aborted. Every order of all steps is tried, with both answers to "is the
next group to be timed?". The result is checked against the three invariants of
mask.c, for each communicator:

  I1 never captured off and then on; never captured on and then off
  I2 after a drift: not on again once off; after a Broadcast all the same
  I3 point-to-point calls of one group all on or all off

Each rule is also removed once, which must be noticed. The model is sequentially
consistent. That is sufficient, since everything that matters is either one
word (control, swapped as a whole; the mask, for which coherence is enough) or
ordered by such a word, as the ORDER comments in the source say and ThreadSanitizer
checks. The model is compared with the source, call by call.

Prints "ok NAME" or "not ok NAME" lines; exit status 0 or 1.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')

NOBODY, ANYONE = 0, -1


class Violation(Exception):
    """A job that may hang."""


# --- Counts of NCCL and the GPU, per communicator ------------------------

class Counts:
    """The history of one communicator, as far as I1 to I3 need it."""

    __slots__ = ('captured', 'drifted', 'was_off', 'broadcast', 'after',
                 'group')

    def __init__(self):
        self.captured = None   # captured calls were on; None: no such call
        self.drifted = False
        self.was_off = False   # at the drift, or since
        self.broadcast = False
        self.after = None      # calls after the Broadcast were on; None: none
        self.group = ()        # (kind, on) of the calls so far

    def copy(self):
        other = Counts()
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def key(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def call(self, kind, on):
        self.group += ((kind, on),)

    def launch(self):
        """Ends a group: launches its calls in NCCL's order."""
        if len({on for kind, on in self.group if kind == 'p2p'}) > 1:
            raise Violation('I3: calls that may be joined are on and off')
        order = {'coll': 0, 'captured': 0, 'broadcast': 1, 'p2p': 2}
        for kind, on in sorted(self.group, key=lambda call: order[call[0]]):
            self.work(kind, on)
        self.group = ()

    def work(self, kind, on):
        if self.captured is not None and self.captured != on:
            raise Violation('I1: captured %s, then %s' %
                            ('on' if self.captured else 'off',
                             'on' if on else 'off'))
        if self.drifted and self.was_off and on:
            raise Violation('I2: on after a drift')
        if kind == 'captured':
            self.captured = on
        if kind in ('p2p', 'broadcast'):
            self.drifted = True
        if self.drifted and not on:
            self.was_off = True
        if kind == 'broadcast':
            self.broadcast = True
        elif self.broadcast:
            if self.after not in (None, on):
                raise Violation('I2: on and off after a Broadcast')
            self.after = on


# --- The state -----------------------------------------------------------

class Control:
    """The word `control` of mask.c, swapped as a whole."""

    __slots__ = ('owner', 'locked', 'closing', 'stuck', 'keep')

    def __init__(self, owner=NOBODY, locked=False, closing=False,
                 stuck=False, keep=False):
        self.owner, self.locked, self.closing = owner, locked, closing
        self.stuck, self.keep = stuck, keep

    def key(self):
        return (self.owner, self.locked, self.closing, self.stuck, self.keep)

    def but(self, **changes):
        values = dict(zip(self.__slots__, self.key()))
        values.update(changes)
        return Control(**values)

    def __eq__(self, other):
        return self.key() == other.key()


class State:
    def __init__(self, programs, weak, promise):
        self.programs, self.weak, self.promise = programs, weak, promise
        self.word = self.stored = False
        self.control = Control()
        self.live = ()             # entries, as mask.comms
        self.context = {}          # entry -> context
        self.next_context = 1
        self.counts = {}           # context -> Counts
        self.busy = frozenset()    # contexts that a thread has a group on
        self.process_lock = None   # the thread that is in init or finalize
        self.anyone = False
        self.threads = tuple(Thread(i) for i in range(len(programs)))

    def copy(self):
        other = State.__new__(State)
        other.__dict__.update(self.__dict__)
        other.context = dict(self.context)
        other.counts = {c: k.copy() for c, k in self.counts.items()}
        other.threads = tuple(t.copy() for t in self.threads)
        return other

    def key(self):
        return (self.word, self.stored, self.control.key(), self.live,
                tuple(sorted(self.context.items())), self.next_context,
                tuple((c, k.key()) for c, k in sorted(self.counts.items())),
                self.busy,
                self.process_lock, self.anyone,
                tuple(t.key() for t in self.threads))


class Thread:
    __slots__ = ('index', 'item', 'step', 'call', 'local')

    def __init__(self, index):
        self.index, self.item, self.step = index, 0, 0
        self.call, self.local = 0, ()

    def copy(self):
        other = Thread(self.index)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def key(self):
        return (self.item, self.step, self.call,
                tuple(v.key() if isinstance(v, Control) else v
                      for v in self.local))

    def done(self):
        self.item, self.step, self.call, self.local = self.item + 1, 0, 0, ()


def rightful_owner(state):
    if not state.live:
        state.anyone = False
    elif len(state.live) > 1 and \
            (state.promise or 'several may switch' in state.weak):
        state.anyone = True
    if state.anyone:
        return ANYONE
    return state.context[state.live[0]] if len(state.live) == 1 else NOBODY


def end_switching(state, context, on, keep):
    """Swaps control once."""
    control = state.control
    if on and (keep or control.owner not in (context, ANYONE)):
        control = control.but(keep=True)
    state.control = control.but(stuck=True)


# --- One step of a thread ------------------------------------------------

def successors(state):
    for thread in state.threads:
        if thread.item < len(state.programs[thread.index]):
            what = state.programs[thread.index][thread.item]
            yield from {'group': group, 'init': init, 'unseen': init,
                        'finalize': finalize, 'abort': finalize}[what[0]](
                            state, thread.index, what)


def fork(state, index):
    other = state.copy()
    return other, other.threads[index]


def group(state, index, what):
    """('group', entry, kinds): the calls of a group on a communicator."""
    _, entry, kinds = what
    thread = state.threads[index]
    other, mine = fork(state, index)
    if thread.step == 0 and thread.call == 0:
        # The application calls one after the other on a communicator.
        if entry not in state.live:
            return
        context = state.context[entry]
        if context in state.busy or state.process_lock == ('init', entry):
            return
        other.busy |= {context}
        mine.local = (context,)
        mine.step = 1
        yield other
        return
    context = thread.local[0]
    is_ours = state.context.get(entry) == context and entry in state.live
    if thread.step == 1:           # R
        mine.local = (context, state.word)
        mine.step = 2
    elif thread.step == 2:         # ncs_mask_call()
        on = thread.local[1]
        kind = kinds[thread.call]
        other.counts[context].call(kind, on)
        if is_ours or 'no life' in state.weak:
            callback(other, mine, entry, context, kind)
        mine.call += 1
        mine.local = (context,)
        mine.step = 1
        if mine.call == len(kinds):
            mine.step = 3
        if 'switch at calls' in state.weak:
            mine.step += 20
        elif kind == 'broadcast' and is_ours and other.stored and \
                not other.control.keep and \
                'a window stays open' not in state.weak:
            mine.local = (context, other.control, mine.step, True)
            mine.step = 4
    elif thread.step in (21, 23):  # as at the group's end
        yield from end_of_group(state, index, entry, thread.step - 20)
        return
    elif thread.step == 3:         # ncs_mask_group_end() follows
        if context in other.counts:
            other.counts[context].launch()
        if not is_ours and 'owner by entry' not in state.weak:
            other.busy -= {context}
            mine.done()
            yield other
            return
        yield from end_of_group(other, index, entry, 9)
        return
    elif thread.step >= 4:
        yield from switch(state, index, entry)
        return
    yield other


def callback(state, thread, entry, context, kind):
    """ncs_mask_call(): mask.c shows that it finds the value that R has read."""
    on, weak = state.word, state.weak
    if kind == 'captured' and 'captured goes unseen' not in weak:
        broken = state.control.owner == ANYONE
        end_switching(state, context, on,
                      not broken and 'captured on is let go' not in weak)
    if kind == 'p2p' and 'no end by p2p' not in weak:
        if not state.control.stuck:
            end_switching(state, context, on, False)
    if kind == 'broadcast' and 'no end by broadcast' not in weak:
        end_switching(state, context, on, state.control.stuck and
                      'no keep for both' not in weak)


def end_of_group(state, index, entry, after):
    """ncs_mask_group_end() up to the decision. `after` is the step that
    follows; 9 if the group is done. NCCL may also not report the end."""
    weak = state.weak
    other, mine = fork(state, index)
    context = mine.local[0]
    if 'owner by entry' in weak:
        context = state.context.get(entry)
    control, on = other.control, other.stored
    if after == 9:
        one, thread = fork(other, index)
        leave(one, thread, after)
        yield one
    wishes = (False,) if control.stuck and 'stuck is opened' not in weak \
        else (False, True)
    for wanted in wishes:
        one, thread = fork(other, index)
        may = not (control.closing or control.locked) and \
            (not control.stuck or 'stuck is opened' in weak) \
            if wanted else not control.keep
        if control.owner in (context, ANYONE) and wanted != on and may and \
                not control.locked:
            thread.local = (thread.local[0], control, after, False)
            thread.step = 4
        else:
            leave(one, thread, after)
        yield one


def leave(state, thread, after):
    context = thread.local[0]
    thread.local = (context,)
    thread.step = after
    if after == 9:
        state.busy -= {context}
        thread.done()


def switch(state, index, entry):
    """switch_to(): lock, set the mask, set stored, unlock. `broadcast`: at a
    call, after which the mask must stay if it cannot be switched."""
    other, mine = fork(state, index)
    context, control, after, broadcast = mine.local
    if mine.step == 4:
        if not other.control == control or control.locked:
            if broadcast and 'no keep if not closed' not in state.weak:
                other.control = other.control.but(keep=True)
            leave(other, mine, after)
        else:
            other.control = control.but(locked=True)
            mine.step = 5
    elif mine.step == 5:
        other.word = not other.stored
        mine.step = 6
    elif mine.step == 6:
        other.stored = other.word
        mine.step = 7
    elif mine.step == 7:
        now = other.control
        other.control = now.but(locked=False)
        if other.stored and now.stuck and not now.keep and \
                'stuck is opened' not in state.weak:
            mine.local = (context, other.control, after, False)
            mine.step = 4
        else:
            leave(other, mine, after)
    yield other


def hand_over(state, owner, closing=False):
    state.control = state.control.but(owner=owner, closing=closing)


def init(state, index, what):
    """('init', entry): ncs_mask_add_comm(). ('unseen', entry): the same for a
    communicator whose calls make no callbacks."""
    unseen = what[0] == 'unseen'
    thread = state.threads[index]
    other, mine = fork(state, index)
    entry = what[1]
    may_anyone = state.promise
    if thread.step == 0:
        if state.process_lock or entry in state.live:
            return
        other.process_lock = ('init', entry)
        if not state.live and not unseen:
            control = state.control
            other.word = other.stored = control.stuck and control.keep
            mine.step = 4
        elif may_anyone or not state.live:
            mine.step = 4
        else:
            owner = state.control.owner
            hand_over(other, owner, owner not in (NOBODY, ANYONE))
            mine.step = 1
    elif thread.step == 1:
        if state.control.locked and 'no handshake' not in state.weak:
            return
        mine.step = 2
    elif thread.step == 2:         # gives up waiting, at any time
        if 'init closes' in state.weak and state.stored:
            other.word = other.stored = False
        hand_over(other, NOBODY)
        mine.step = 3
    elif thread.step == 3:
        if state.control.locked and 'no handshake' not in state.weak:
            return
        mine.step = 4
    elif thread.step == 4:
        if unseen:
            if 'unseen goes unseen' not in state.weak:
                end_switching(other, NOBODY, other.stored, not may_anyone)
            other.counts[-2] = Counts()
            other.context[entry] = -2
        else:
            other.context[entry] = state.next_context
            other.next_context += 1
            other.counts[other.context[entry]] = Counts()
            other.live += (entry,)
        mine.step = 5
    elif thread.step == 5:
        hand_over(other, rightful_owner(other))
        mine.step = 6
    elif thread.step == 6:
        if state.control.locked and 'no handshake' not in state.weak:
            return
        other.process_lock = None
        mine.done()
    yield other


def finalize(state, index, what):
    """('finalize', entry), or 'abort', which does not wait."""
    thread = state.threads[index]
    other, mine = fork(state, index)
    entry = what[1]
    if thread.step == 0:
        if state.process_lock or entry not in state.live or \
                (what[0] == 'finalize' and
                 state.context[entry] in state.busy):
            return
        other.process_lock = ('finalize', entry)
        # live is cleared, so that later callbacks are ignored; the values of
        # its counters no longer matter.
        other.counts[state.context[entry]] = Counts()
        hand_over(other, NOBODY)
        mine.step = 1
    elif thread.step == 1:
        if state.control.locked and 'no handshake' not in state.weak:
            return
        other.live = tuple(e for e in state.live if e != entry)
        if not other.live and state.stored and not state.control.keep:
            other.word = other.stored = False
        mine.step = 2
    elif thread.step == 2:
        hand_over(other, rightful_owner(other))
        mine.step = 3
    elif thread.step == 3:
        if state.control.locked and 'no handshake' not in state.weak:
            return
        other.process_lock = None
        mine.done()
    yield other


# --- Calls that are not reported -----------------------------------------

def unseen_calls(state):
    """Lets a communicator without callbacks make a call at any time."""
    if -2 not in state.counts:
        return
    for kind in ('coll', 'captured'):
        other = state.copy()
        other.counts[-2].call(kind, state.word)
        other.counts[-2].launch()
        yield other


def explore(programs, weak=(), promise=False):
    """Returns (states, whether a window was opened, violation or None)."""
    first = State(programs, weak, promise)
    seen = {first.key()}
    stack = [first]
    opened = False
    while stack:
        state = stack.pop()
        try:
            following = list(successors(state)) + list(unseen_calls(state))
        except Violation as violation:
            return len(seen), opened, str(violation)
        for other in following:
            opened |= other.word
            key = other.key()
            if key not in seen:
                seen.add(key)
                stack.append(other)
    return len(seen), opened, None


# --- Scenes to be proved and faults to be caught -------------------------

A, B = 'A', 'B'


def calls(entry, *groups):
    return [('group', entry, tuple(kinds)) for kinds in groups]


COLL, CAPTURED = ['coll'], ['captured']
P2P, BROADCAST = ['p2p', 'p2p'], ['broadcast']

SCENES = {
    'one communicator, two threads, a graph':
        ([('init', A)] + calls(A, COLL, CAPTURED, COLL),
         calls(A, COLL, CAPTURED, COLL)),
    'one communicator, a group with a captured call':
        ([('init', A)] + calls(A, COLL, COLL, ['captured', 'captured'],
                               COLL, CAPTURED),),
    'a second communicator while the first one calls':
        ([('init', A)] + calls(A, COLL, CAPTURED, COLL),
         [('init', B)] + calls(B, CAPTURED, COLL)),
    'a second communicator that is gone again':
        ([('init', A)] + calls(A, COLL, COLL, CAPTURED, COLL),
         [('init', B)] + calls(B, COLL, CAPTURED) + [('finalize', B)]),
    'the first communicator goes, the second one stays':
        ([('init', A)] + calls(A, COLL, COLL) + [('finalize', A)],
         [('init', B)] + calls(B, COLL, CAPTURED, COLL, COLL)),
    'two communicators and three threads':
        ([('init', A)] + calls(A, COLL, COLL), calls(A, CAPTURED, COLL),
         [('init', B)] + calls(B, COLL, CAPTURED)),
    'an abort in the middle of a call, its entry used again':
        ([('init', A)] + calls(A, COLL, COLL, CAPTURED),
         [('abort', A), ('init', A)] + calls(A, COLL, CAPTURED, COLL)),
    'point to point':
        ([('init', A)] + calls(A, COLL, COLL, P2P, COLL),
         calls(A, COLL, P2P)),
    'point to point, and a second communicator':
        ([('init', A)] + calls(A, COLL, P2P, COLL),
         [('init', B)] + calls(B, P2P, COLL) + [('finalize', B)]),
    'Broadcasts':
        ([('init', A)] + calls(A, COLL, ['coll', 'broadcast'], COLL, COLL),
         calls(A, COLL, BROADCAST)),
    'Broadcasts, and point to point in their group':
        ([('init', A)] + calls(A, COLL, ['p2p', 'broadcast', 'p2p'], COLL,
                               COLL),),
    'Broadcasts, and a second communicator':
        ([('init', A)] + calls(A, COLL, BROADCAST, COLL, COLL),
         [('init', B)] + calls(B, COLL, BROADCAST) + [('finalize', B)]),
    'point to point, Broadcasts, a graph, and two threads':
        ([('init', A)] + calls(A, COLL, P2P, CAPTURED, COLL),
         calls(A, COLL, BROADCAST, CAPTURED)),
    'two communicators, one after the other, and two at once':
        ([('init', A)] + calls(A, COLL) + [('finalize', A), ('init', A)] +
         calls(A, COLL, CAPTURED),
         [('init', B)] + calls(B, COLL, CAPTURED) + [('finalize', B)],
         calls(A, COLL)),
    'a communicator whose calls are not seen':
        ([('init', A)] + calls(A, COLL, COLL, COLL), [('unseen', B)]),
}

PROMISED = {
    'promised: two communicators, no graphs':
        ([('init', A)] + calls(A, COLL, COLL, COLL),
         [('init', B)] + calls(B, COLL, COLL) + [('finalize', B)]),
}

# Rules that are removed, each with a scene in which that must be noticed.
WEAKENINGS = {
    'several may switch': 'a second communicator while the first one calls',
    'no handshake': 'a second communicator while the first one calls',
    'init closes': 'a second communicator while the first one calls',
    'captured goes unseen': 'one communicator, two threads, a graph',
    'captured on is let go': 'one communicator, two threads, a graph',
    'stuck is opened': 'one communicator, two threads, a graph',
    'owner by entry':
        'an abort in the middle of a call, its entry used again',
    'switch at calls': 'point to point',
    'no end by p2p': 'point to point',
    'no end by broadcast': 'Broadcasts',
    'no keep for both': 'Broadcasts, and point to point in their group',
    'no keep if not closed': 'Broadcasts, and a second communicator',
    'a window stays open': 'Broadcasts',
    'unseen goes unseen': 'a communicator whose calls are not seen',
}


# --- Comparison with the source ------------------------------------------

CALL = re.compile(r'\b(ncs_(?:load|store|add|cas)_[a-z0-9_]+|lock|unlock|'
                  r'add_flags|end_switching|hand_over|let_close|switch_to|'
                  r'rightful_owner|stop_switching)\(')

SOURCE = (
    ('lock', 'ncs_cas_acquire_release'),
    ('unlock', 'ncs_add_acquire_release'),
    ('end_switching', 'ncs_load_relaxed ncs_cas_acquire_release'
     ' ncs_store_relaxed'),
    ('switch_to', 'lock ncs_load_relaxed ncs_cas_relaxed32'
     ' ncs_store_relaxed unlock switch_to'),
    ('hand_over', 'ncs_load_relaxed ncs_cas_acquire_release'
     ' ncs_load_acquire'),
    ('stop_switching', 'let_close hand_over'),
    ('ncs_mask_add_comm', 'stop_switching hand_over rightful_owner'),
    ('ncs_mask_add_unseen', 'stop_switching end_switching ncs_load_relaxed'
     ' hand_over rightful_owner'),
    ('ncs_mask_remove_comm', 'hand_over ncs_store_relaxed ncs_store_relaxed'
     ' ncs_store_relaxed switch_to hand_over rightful_owner'),
)


def source_checks():
    """Yields (name, whether it holds, remark)."""
    with open(os.path.join(ROOT, 'plugin/mask/mask.c'), encoding='utf-8') as file:
        text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
    for function, wanted in SOURCE:
        body = re.search(r'\b' + function + r'\([^;{]*\)\n\{(.*?)\n\}', text,
                         re.S)
        found = ' '.join(CALL.findall(body.group(1))) if body else 'nothing'
        yield (f'{function}() in plugin/mask/mask.c is the one modelled',
               found == wanted, found)


def main():
    failed = 0

    def report(good, name, remark):
        nonlocal failed
        failed += not good
        print(f'{"ok" if good else "not ok"} {name} # {remark}', flush=True)

    for name, good, remark in source_checks():
        report(good, name, remark)
    for promise, scenes in ((False, SCENES), (True, PROMISED)):
        for name, programs in scenes.items():
            states, opened, violation = explore(programs, (), promise)
            # A proof is void if no window was ever open.
            report(not violation and opened, 'proved: ' + name,
                   violation or f'{states} states')
    for weak, scene in WEAKENINGS.items():
        states, _, violation = explore(SCENES[scene], (weak,))
        report(violation is not None, 'caught: ' + weak,
               violation or f'{states} states')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
