#!/usr/bin/env python3
"""Runs stress_kill.c in a sandbox and compares the sentry before and after: descriptors, memory, processes.

usage: stress_kill.py SENTRY IMAGE PROGRAM SECONDS SEED    exit status 0 or 1
"""
import os
import subprocess
import sys
import time


def kids(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(c) for c in f.read().split()]


def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def find(monitor):
    """The sentry, and the zygote below it."""
    for child in kids(monitor):
        with open(f"/proc/{child}/comm", encoding="ascii") as f:
            if f.read().strip() == "sentry":
                below = kids(child)
                return child, below[0] if below else None
    return None, None


def look(sentry, init):
    fds = [os.readlink(f"/proc/{sentry}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{sentry}/fd")]
    return {"descriptors": len(fds), "rss": rss_kib(sentry), "processes": len(kids(init))}


# A spare process may be in the making, and files of the image stay open.
SLACK = (("descriptors", 6), ("processes", 3), ("rss", 16384))


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sentry, image, program, seconds, seed = sys.argv[1:]
    # A sanitized build keeps what was freed; that is not what is looked for here.
    keep_little = "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:detect_leaks=0"
    env = dict(os.environ, ASAN_OPTIONS=":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), keep_little])))
    run = subprocess.Popen(
        [sentry, "run", "--volume", f"{os.path.dirname(os.path.abspath(program))}:/t:ro", "--timeout",
         "0", "--cpu-time", "0", "--pids", "200", image, "--",
         "sh", "-c", f"read x; /t/{os.path.basename(program)} 1 1 </dev/null; echo ready; read x; "
         f"exec /t/{os.path.basename(program)} {seconds} {seed}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    run.stdin.write(b"warm up\n")
    run.stdin.flush()
    first, ready = run.stdout.readline(), run.stdout.readline()
    if ready != b"ready\n":
        print(f"FAIL did not start: {first!r} {ready!r} {run.communicate()[1][-3000:].decode(errors='replace')}")
        return 1
    box, init = find(run.pid)
    time.sleep(0.3)
    before = look(box, init)
    run.stdin.write(b"go\n")
    run.stdin.flush()
    said = run.stdout.readline()
    good = said.endswith(b"nothing left\n")
    if not good:
        print(f"FAIL the program says {said!r}")
    try:
        # What was killed last may still be ending, and a spare process be in the making.
        for _ in range(600):
            after = look(box, init)
            if all(after[name] <= before[name] + slack for name, slack in SLACK):
                break
            time.sleep(0.1)
    except (FileNotFoundError, ProcessLookupError):
        print(f"FAIL the sentry ended: {run.communicate()[1][-3000:].decode(errors='replace')}")
        return 1
    print(f"{said.decode(errors='replace').strip()}; before {before}, after {after}")
    for name, slack in SLACK:
        if after[name] > before[name] + slack:
            print(f"FAIL {name}: {before[name]} before, {after[name]} after")
            good = False
    out, err = run.communicate(b"end\n", timeout=200)
    if run.returncode != 0:
        print(f"FAIL status {run.returncode}: {out!r} {err[-2000:].decode(errors='replace')}")
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
