#!/usr/bin/env python3
"""Runs under filters that take one mechanism of the host away, as an old kernel or a container engine would.

The run must fail with status 125 and one line that names the mechanism; `sentry doctor` must miss it too. What a
run can do without must not fail it.

usage: old_host.py SENTRY IMAGE    exit status 0 or 1
"""
import ctypes
import os
import struct
import subprocess
import sys

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, EINVAL, ENOSYS = 1, 22, 38
NR_UNSHARE, NR_SECCOMP, NR_OPENAT2 = 272, 317, 437
NR_PIDFD_OPEN, NR_PIDFD_GETFD, NR_READV, NR_CLONE3, NR_LANDLOCK = 434, 438, 310, 435, 444
ARG0, ARG1 = 16, 24  # offsets in struct seccomp_data


def call(nr, err):
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 1, nr), (RETURN, 0, 0, ERRNO | err), (RETURN, 0, 0, ALLOW)]


def call_with(nr, arg, bits, err):
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 3, nr), (LOAD, 0, 0, arg), (ANY_BIT, 0, 1, bits),
            (RETURN, 0, 0, ERRNO | err), (RETURN, 0, 0, ALLOW)]


# What is taken away, and what the run says; None: it works without.
HOSTS = (
    ("seccomp", call(NR_SECCOMP, ENOSYS), "seccomp user-notify"),
    ("the listener", call_with(NR_SECCOMP, ARG1, 1 << 3, EINVAL), "seccomp user-notify"),
    ("the flag of Linux 5.19", call_with(NR_SECCOMP, ARG1, 1 << 5, EINVAL), "WAIT_KILLABLE_RECV"),
    ("openat2", call(NR_OPENAT2, ENOSYS), "openat2"),
    ("pidfd_getfd", call(NR_PIDFD_GETFD, ENOSYS), "pidfd_getfd"),
    ("pidfds", call(NR_PIDFD_OPEN, ENOSYS), "pidfd"),
    ("other processes' memory", call(NR_READV, EPERM), "memory of child processes"),
    ("unshare", call(NR_UNSHARE, EPERM), "namespaces"),
    ("time namespaces", call_with(NR_UNSHARE, ARG0, 0x80, EINVAL), "time namespaces"),
    ("user namespaces", call_with(56, ARG0, 0x10000000, EPERM), "namespaces"),
    ("clone3", call(NR_CLONE3, ENOSYS), None),
    ("Landlock", call(NR_LANDLOCK, ENOSYS), None),
)

# There can be one listener in a chain of filters.
OTHER_LISTENER = ("a listener of its own", call(NR_LANDLOCK, ENOSYS), "under a user-notify filter already")

failures = 0


def filtered(code, user, listener=False):
    """What the child does before it executes the command."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))

    class Fprog(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    prog = Fprog(len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None)

    def enter():
        if user is not None:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        libc.prctl(38, 1, 0, 0, 0)
        if listener:
            fd = libc.syscall(NR_SECCOMP, 1, 1 << 3, ctypes.byref(prog))
            failed = fd < 0 or os.dup2(fd, 0) != 0  # which stays open
        else:
            failed = libc.prctl(22, 2, ctypes.byref(prog), 0, 0) != 0
        if failed:
            os._exit(99)

    enter.program = program  # lives as long as what points at it
    return enter


def check(sentry, image, user, host):
    global failures
    what, code, says = host
    result = subprocess.run([sentry, "run", image, "--", "echo", "works"],
                            preexec_fn=filtered(code, user, host is OTHER_LISTENER),
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=90)
    lines = result.stderr.splitlines()
    if says is None:
        good = (result.returncode, result.stdout) == (0, "works\n")
    else:
        good = result.returncode == 125 and len(lines) == 1 and says in lines[0]
    who = "caller" if user is None else f"uid {user}"
    print(f"{'ok  ' if good else 'FAIL'} {who}: a host without {what}")
    if not good:
        failures += 1
        print(f"     status {result.returncode}, said {lines}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for user in (None, 1000) if os.geteuid() == 0 else (None,):
        for host in HOSTS + (OTHER_LISTENER,):
            check(sys.argv[1], sys.argv[2], user, host)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
