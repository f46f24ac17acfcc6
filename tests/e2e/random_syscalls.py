#!/usr/bin/env python3
"""Runs random_syscalls.c in a sandbox while the host kernel notes every call that it executes.

The tracepoint raw_syscalls:sys_enter comes after the seccomp filter: a call that the sentry answered
itself never reaches it. So what it reports for guest threads is what the host really did for them, and
that must be on the list of platform/gate_policy.c. The run ends with the program's own status.

usage: random_syscalls.py SENTRY IMAGE PROGRAM SEED ROUNDS    exit status 0, 1, or 77 (skipped)
"""
import os
import re
import subprocess
import sys
import tempfile

# mmap munmap mprotect mremap madvise arch_prctl clone exit close close_range clock_gettime rt_sigreturn
PERMITTED = {9, 11, 10, 25, 28, 158, 56, 60, 3, 436, 228, 15}
# uretprobe and uprobe: the host lets no filter see them. They raise SIGILL wherever no probe is set.
UNFILTERED = {335, 336}
GUEST_COMM = "memfd:guest"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


class Trace:
    """An instance of ftrace of our own, so that nobody else's is disturbed."""

    def __init__(self):
        self.mount = None
        root = "/sys/kernel/tracing"
        if not os.path.exists(f"{root}/instances"):
            root = tempfile.mkdtemp()
            if subprocess.run(["mount", "-t", "tracefs", "none", root], capture_output=True,
                              check=False).returncode:
                os.rmdir(root)
                skip("no tracefs")
            self.mount = root
        self.dir = f"{root}/instances/sentry-test-{os.getpid()}"
        if not os.path.exists(f"{root}/events/raw_syscalls/sys_enter"):
            self.unmount()
            skip("the host kernel has no raw_syscalls tracepoints")
        os.mkdir(self.dir)
        self.write("buffer_size_kb", "32768")

    def write(self, name, text):
        with open(f"{self.dir}/{name}", "w", encoding="ascii") as f:
            f.write(text)

    def start(self, pids):
        self.write("options/event-fork", "1")
        self.write("set_event_pid", " ".join(str(p) for p in pids))
        self.write("events/raw_syscalls/sys_enter/enable", "1")

    def read(self):
        """Pairs of host thread id and call number."""
        self.write("events/raw_syscalls/sys_enter/enable", "0")
        calls = []
        with open(f"{self.dir}/trace", encoding="ascii", errors="replace") as f:
            for line in f:
                m = re.search(r"-(\d+) .* sys_enter: NR (-?\d+) ", line)
                if m:
                    calls.append((int(m.group(1)), int(m.group(2))))
        return calls

    def unmount(self):
        if self.mount is not None:
            subprocess.run(["umount", self.mount], check=False)
            os.rmdir(self.mount)

    def end(self):
        os.rmdir(self.dir)
        self.unmount()


def kids(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(c) for c in f.read().split()]


def guests(monitor):
    """The guests' pid 1, which is our own code outside the filter; and all threads of the others."""
    for child in kids(monitor):
        for init in kids(child):
            with open(f"/proc/{init}/comm", encoding="ascii", errors="replace") as f:
                if f.read().strip() == GUEST_COMM:
                    return init, [int(t) for pid in kids(init) for t in os.listdir(f"/proc/{pid}/task")]
    return None, []


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sentry, image, program, seed, rounds = sys.argv[1:]
    if os.geteuid() != 0:
        skip("tracing needs root")
    trace = Trace()
    good = True
    try:
        run = subprocess.Popen(
            [sentry, "run", "--volume", f"{os.path.dirname(os.path.abspath(program))}:/t:ro",
             "--timeout", "90s", "--pids", "64", image, "--",
             f"/t/{os.path.basename(program)}", seed, rounds],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = run.stdout.readline()
        if first != b"ready\n":
            print(f"FAIL did not start: {first!r} {run.communicate()[1][-2000:].decode(errors='replace')}")
            return 1
        init, threads = guests(run.pid)
        if not threads:
            print("FAIL no guest threads found")
            good = False
        trace.start(threads)
        out, err = run.communicate(b"go\n")
        calls = trace.read()
        bad = {}
        for tid, nr in calls:
            if tid != init and nr not in PERMITTED | UNFILTERED:
                bad[nr] = bad.get(nr, 0) + 1
        print(f"{len(calls)} calls executed by the host, kinds {sorted({nr for t, nr in calls if t != init})}")
        if not calls:
            print("FAIL nothing was traced")
            good = False
        if bad:
            print(f"FAIL the host executed calls that are not on the list: {bad}")
            good = False
        if run.returncode != 7:
            print(f"FAIL status {run.returncode}, expected 7: {out[-300:]!r} {err[-2000:].decode(errors='replace')}")
            good = False
        else:
            print(out.decode(errors="replace").strip())
    finally:
        trace.end()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
