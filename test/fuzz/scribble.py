#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes into live segments while each mode of ncclstat reads them.

  BUILD=folder SCRIBBLE_BUILD=folder SCRIBBLE_SECONDS=60 test/fuzz/scribble.py

ncclreplay in BUILD plays a job for ever, ncclstat in SCRIBBLE_BUILD, a build
with sanitizers, reads it. Words at random places, often in the header, are
changed and later put back, so that readers find segments that seem valid at
first. Nothing may crash, take longer than TIMEOUT_S or use more than
MEMORY_KIB. Nothing outside a directory of its own is written.

The last line is "N passed, N failed"; exit status 0 or 1.
"""
import mmap
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BUILD = os.environ.get('BUILD', 'build')
SUBJECT = os.path.join(os.environ.get('SCRIBBLE_BUILD', BUILD + '-asan'),
                       'ncclstat')
SECONDS = float(os.environ.get('SCRIBBLE_SECONDS', '60'))
TIMEOUT_S = 60
MEMORY_KIB = 1 << 20
HEADER_BYTES = 4096
JOB = 'test/captures/net-v5-mix'

VALUES = (0, 1, 0xffff, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)


class Scribbler(threading.Thread):
    """Changes words of all objects in a directory, and puts them back."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.directory = directory
        self.maps = {}
        self.over = False
        self.random = random.Random(1)
        self.changed = 0

    def look(self):
        for name in os.listdir(self.directory):
            path = os.path.join(self.directory, name)
            if path in self.maps:
                continue
            os.chmod(path, 0o600)
            with open(path, 'r+b') as file:
                if os.fstat(file.fileno()).st_size >= HEADER_BYTES:
                    self.maps[path] = mmap.mmap(file.fileno(), 0)

    def place(self, words):
        if self.random.random() < 0.4:
            words = min(words, HEADER_BYTES // 8)
        return 8 * self.random.randrange(words)

    def word(self):
        value = self.random.choice(VALUES) if self.random.random() < 0.6 \
            else self.random.getrandbits(64)
        return value.to_bytes(8, 'little')

    def run(self):
        while not self.over:
            self.look()
            kept = []
            for memory in self.maps.values():
                for _ in range(self.random.choice((1, 8, 300))):
                    place = self.place(len(memory) // 8)
                    kept.append((memory, place, memory[place:place + 8]))
                    memory[place:place + 8] = self.word()
                    self.changed += 1
            time.sleep(self.random.choice((0, 0.001, 0.03)))
            for memory, place, before in reversed(kept):
                memory[place:place + 8] = before
            time.sleep(self.random.choice((0, 0.002)))


def modes(folder):
    """Returns the arguments of each mode, and whether it needs a terminal."""
    recording = os.path.join(folder, 'recording')
    keys = os.path.join(folder, 'keys')
    with open(keys, 'w', encoding='ascii') as file:
        for key in ('1', '2', '3', '4', '5', '6', '7', '8', '9', 'Enter'):
            file.write(f'{key}\nwait 0.2\n')
        file.write('q\n')
    return (
        (('--dump',), False),
        (('--dump=json',), False),
        (('--dump=json', '--count', '2', '--interval', '0.1'), False),
        (('--diagnose',), False),
        (('--diagnose=json',), False),
        (('--list',), False),
        (('--record=' + recording, '--duration', '1'), False),
        (('--critical-path', recording), False),
        (('--critical-path=json', recording), False),
        (('--dump=json', recording), False),
        (('--keys', keys, '--interval', '0.1'), True),
    )


def run(arguments, on_terminal, environment):
    """Returns why a run has failed, or None."""
    master = None
    with tempfile.TemporaryFile() as errors:
        if on_terminal:
            master, slave = pty.openpty()
        process = subprocess.Popen(
            [SUBJECT, *arguments], env=environment, stderr=errors,
            stdin=slave if on_terminal else subprocess.DEVNULL,
            stdout=slave if on_terminal else subprocess.DEVNULL)
        if on_terminal:
            os.close(slave)
            threading.Thread(target=drain, args=(master,),
                             daemon=True).start()
        until, pid = time.monotonic() + TIMEOUT_S, 0
        while pid == 0 and time.monotonic() < until:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                time.sleep(0.01)
        if pid == 0:
            process.kill()
            process.wait()
            return f'took longer than {TIMEOUT_S} s'
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors='replace')
    if process.returncode < 0:
        return f'signal {-process.returncode}: {text}'
    if 'Sanitizer' in text or 'runtime error' in text:
        return text
    if usage.ru_maxrss > MEMORY_KIB:
        return f'used {usage.ru_maxrss} KiB'
    return None


def drain(master):
    """Reads what the live view writes, until it ends."""
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass
    os.close(master)


def main():
    os.chdir(ROOT)
    folder = tempfile.mkdtemp(prefix='ncclstat-scribble.')
    segments = tempfile.mkdtemp(prefix='ncclstat-scribble.', dir='/dev/shm')
    environment = dict(os.environ, NCCLSTAT_DIR=segments, TERM='xterm',
                       ASAN_OPTIONS='detect_leaks=0')
    failed, runs = {}, {}
    job = subprocess.Popen(
        [os.path.join(BUILD, 'ncclreplay'), '--loop', '0', JOB],
        env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)
    scribbler = Scribbler(segments)
    try:
        while len(os.listdir(segments)) < 2:
            time.sleep(0.05)
        # A recording to begin with, of a job that is well.
        run(modes(folder)[6][0], False, environment)
        scribbler.start()
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for arguments, on_terminal in modes(folder):
                name = ' '.join(arguments).replace(folder, '.')
                why = run(arguments, on_terminal, environment)
                runs[name] = runs.get(name, 0) + 1
                if why:
                    failed.setdefault(name, why)
    finally:
        scribbler.over = True
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        shutil.rmtree(segments, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    for name, count in runs.items():
        if name in failed:
            print(failed[name])
        print(f'{"not ok" if name in failed else "ok"} ncclstat {name}:'
              f' {count} runs')
    print(f'# {scribbler.changed} words changed')
    print(f'{len(runs) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed or not runs or not scribbler.changed else 0


if __name__ == '__main__':
    sys.exit(main())
