#!/usr/bin/env python3
"""A client of the control socket that does everything wrong: the sandbox answers the next one.

usage: control_hostile.py STATE-DIRECTORY SENTRY-PID
"""
import array
import fcntl
import os
import random
import socket
import struct
import sys

MAGIC = 0x53435431
START, EXEC, SIGNAL, WAIT, PS, STATS, RESIZE, PAUSE, RESUME, LIMIT = range(1, 11)
DONE, FAILED, STARTED, EXITED, PROCESSES, STATISTICS = range(1, 7)
REPLY = struct.Struct("<IIiIiiiI")
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK

failures = 0


def check(what, good, seen=None):
    global failures
    if not good:
        failures += 1
        print(f"FAIL hostile: {what}: {seen!r}")


def connect(timeout=20):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1] + "/control.sock")  # waits while the queue is full
    s.settimeout(timeout)
    return s


def request(op, pid=0, signal=0, magic=MAGIC, reserved=0):
    return struct.pack("<IIiiHHI", magic, op, pid, signal, 0, 0, reserved)


def reply(s):
    """Kind and error of the next answer; None at the end."""
    try:
        data, _, _, _ = s.recvmsg(4096, 256)
    except ConnectionResetError:
        return None
    if not data:
        return None
    magic, kind, _pid, _count, _status, error, _code, _reserved = REPLY.unpack(data[: REPLY.size])
    check("magic of an answer", magic == MAGIC, data)
    return kind, error


def send(s, data, fds=()):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])


def alive(where):
    s = connect()
    send(s, request(STATS))
    check(f"answers after {where}", reply(s) == (STATISTICS, 0))
    s.close()


def descriptors():
    return len(os.listdir(f"/proc/{sys.argv[2]}/fd"))


def memfd(data, seals=SEALS):
    fd = os.memfd_create("blob", os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def blob(args, nargs=None):
    head = struct.pack("<IIII", MAGIC, 0, len(args) if nargs is None else nargs, 0)
    return head + bytes(14 * 4 + 5 * 8 + 16 * 16 + 64 * 4) + b"".join(a + b"\0" for a in args)


def refused(what, data, fds=(), want=(FAILED, None)):
    s = connect()
    send(s, data, fds)
    got = reply(s)
    check(what, got is None or (got[0] == want[0]), got)
    s.close()


def messages():
    refused("magic", request(PS, magic=1))
    refused("reserved", request(PS, reserved=1))
    refused("short", request(PS)[:-1])
    refused("long", request(PS) + b"x")
    refused("longest", request(PS) + bytes(60000))
    refused("no task", request(LIMIT))
    refused("a billion tasks", request(LIMIT, reserved=10**9))
    for op in (0, LIMIT + 1, 0xFFFFFFFF):
        refused(f"word {op}", request(op))
    null = os.open("/dev/null", os.O_RDWR)
    refused("descriptors with another word", request(PS), [null])
    refused("too many descriptors", request(EXEC), [null] * 16)
    refused("no descriptor", request(EXEC))
    refused("signal", request(SIGNAL, 0, 65))
    refused("signal to nobody", request(SIGNAL, 4242, 9))
    refused("pid", request(WAIT, -7))
    os.close(null)
    alive("odd messages")


def blobs():
    null = os.open("/dev/null", os.O_RDWR)
    good = blob([b"/bin/busybox", b"true"])
    read_end, write_end = os.pipe()
    cases = {
        "not sealed": memfd(good, 0),
        "half sealed": memfd(good, fcntl.F_SEAL_GROW),
        "empty": memfd(b""),
        "too large": memfd(bytes(5 << 20)),
        "no NUL": memfd(good[:-1]),
        "count": memfd(blob([b"x"], 0x10000)),
        "no argument": memfd(blob([])),
        "a pipe": read_end,
        "a device": null,
    }
    for name, fd in cases.items():
        refused(f"blob: {name}", request(EXEC), [fd, null, null, null])
    rng = random.Random(1)
    for _ in range(200):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        fd = memfd(bytes(data[: rng.randrange(1, len(data) + 1)]))
        s = connect()
        send(s, request(EXEC), [fd, null, null, null])
        got = reply(s)
        check("random blob", got is not None and got[0] in (FAILED, STARTED), got)
        s.close()
        os.close(fd)
    for name, fd in cases.items():
        if name != "a device":
            os.close(fd)
    os.close(write_end)
    os.close(null)
    alive("odd blobs")


def twice():
    """One process a connection."""
    null = os.open("/dev/null", os.O_RDWR)
    fd = memfd(blob([b"/bin/busybox", b"sleep", b"100"]))
    s = connect()
    send(s, request(EXEC), [fd, null, null, null])
    check("exec", reply(s) == (STARTED, 0))
    send(s, request(EXEC), [fd, null, null, null])
    check("another exec", (reply(s) or (0,))[0] == FAILED)
    send(s, request(WAIT, 0))
    check("a wait", (reply(s) or (0,))[0] == FAILED)
    send(s, request(SIGNAL, -2, 9))
    check("its end", (reply(s) or (0,))[0] == EXITED)
    os.close(fd)
    os.close(null)


def gone_early():
    null = os.open("/dev/null", os.O_RDWR)
    fd = memfd(blob([b"/bin/busybox", b"true"]))
    for _ in range(40):
        s = connect()
        send(s, request(EXEC), [fd, null, null, null])
        s.close()
    os.close(fd)
    os.close(null)
    alive("clients that left")


def never_reads():
    s = connect()
    s.setblocking(False)
    try:
        for _ in range(100000):
            send(s, request(PS))
    except OSError:
        pass
    alive("a client that never reads")
    s.close()


def many():
    idle = [connect() for _ in range(64)]
    late = [connect() for _ in range(20)]
    send(late[-1], request(STATS))
    for s in idle:
        s.close()
    check("the last of many", reply(late[-1]) == (STATISTICS, 0))
    for s in late:
        s.close()
    alive("many")


def main():
    alive("nothing")
    before = descriptors()
    for part in (messages, blobs, twice, gone_early, never_reads, many):
        part()
    # The descriptors of the last connections go when the sentry next looks at them.
    for _ in range(200):
        alive("all")
        if descriptors() <= before:
            break
    check("descriptors", descriptors() <= before, (before, descriptors()))
    sys.exit(1 if failures else 0)


main()
