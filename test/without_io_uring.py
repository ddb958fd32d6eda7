#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command with io_uring forbidden, as in many containers.

Usage: without_io_uring.py COMMAND [ARGUMENT]...

A seccomp filter makes io_uring_setup(2) fail with EPERM. If the kernel has no
seccomp, the exit status is 77.
"""

import ctypes
import os
import struct
import sys

LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
IO_URING_SETUP = 425  # on all machines
ALLOW, FAIL_EPERM = 0x7FFF0000, 0x00050001
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

PROGRAM = b"".join(
    struct.pack("<HBBI", *instruction)
    for instruction in (
        (LOAD, 0, 0, 0),  # the system call's number
        (JUMP_EQUAL, 0, 1, IO_URING_SETUP),
        (RETURN, 0, 0, FAIL_EPERM),
        (RETURN, 0, 0, ALLOW),
    )
)


class Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def main():
    """Forbids io_uring and becomes the command."""
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = Filter(len(PROGRAM) // 8, PROGRAM)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(wanted), 0, 0) != 0:
        print(os.strerror(ctypes.get_errno()), file=sys.stderr)
        sys.exit(77)
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
