#!/usr/bin/env python3
"""`sentry exec --tty` on a terminal: what is typed arrives, the size is passed on, ^C interrupts.

usage: control_tty.py ID SENTRY-COMMAND...
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

failures = 0


def check(what, good, seen=b""):
    global failures
    if not good:
        failures += 1
        print(f"FAIL tty: {what}: {seen!r}")


class Session:
    def __init__(self, args, rows=24, cols=80):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.execvp(args[0], args)
        self.seen = b""

    def until(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], 1)
            if not ready:
                continue
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        return text in self.seen

    def type(self, text):
        os.write(self.fd, text)

    def size(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def end(self):
        self.until(b"\0never", 5)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def main():
    name, sentry = sys.argv[1], sys.argv[2:]
    s = Session(sentry + ["exec", "--tty", name, "--", "sh"], 30, 100)
    s.type(b"tty; stty size\n")
    check("a terminal of the sandbox", s.until(b"/dev/pts/"), s.seen)
    check("size", s.until(b"30 100"), s.seen)
    s.type(b"trap 'echo resized' WINCH; echo rea''dy\n")
    check("ready", s.until(b"ready"), s.seen)
    s.size(40, 120)
    s.type(b"while [ \"$(stty size)\" != \"40 120\" ]; do :; done; echo now 4''0\n")
    check("resized", s.until(b"now 40"), s.seen)
    s.type(b"sh -c 'echo wai\"\"ting; sleep 1000'\n")
    check("waiting", s.until(b"waiting"), s.seen)
    s.type(b"\x03")
    s.type(b"echo interr''upted\n")
    check("^C", s.until(b"interrupted"), s.seen)
    s.type(b"exit 9\n")
    check("status", s.end() == 9, s.seen)

    s = Session(sentry + ["exec", "--tty", name, "--", "sh", "-c", "echo last words; exit 0"])
    check("status 0", s.end() == 0)
    check("what it wrote at the end", b"last words" in s.seen, s.seen)

    # Without --tty a terminal on standard input is passed on, and ^C ends the program.
    s = Session(sentry + ["exec", name, "--", "sh", "-c", "read x; echo got $x; sleep 1000"])
    s.type(b"line\n")
    check("terminal as stdin", s.until(b"got line"), s.seen)
    s.type(b"\x03")
    check("^C without a terminal", s.end() == 128 + signal.SIGINT, s.seen)

    # A terminal that goes away takes the program's along.
    s = Session(sentry + ["exec", "--tty", name, "--", "sh", "-c", "echo up; sleep 1000"])
    check("up", s.until(b"up"), s.seen)
    os.close(s.fd)
    _, status = os.waitpid(s.pid, 0)
    check("hang-up", os.waitstatus_to_exitcode(status) in (128 + signal.SIGHUP, -signal.SIGHUP), str(status).encode())
    sys.exit(1 if failures else 0)


main()
