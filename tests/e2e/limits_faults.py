#!/usr/bin/env python3
"""Kills the sentry, the gofer or the monitor of a run at random moments; starves runs of descriptors and memory.

usage: limits_faults.py SENTRY IMAGE WORK ROUNDS SEED    exit status 0 or 1

Whatever was killed: the monitor, if it was not the victim, ends with a verdict and a whole report, and
no process and no cgroup of the run is left. The moments depend on SEED and on how the host schedules.
"""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

from limits_left import cgroups_of, members, until_empty

SENTRY, IMAGE, WORK = sys.argv[1:4]
ROUNDS, SEED = int(sys.argv[4]), int(sys.argv[5])
LONG = 400
BUSY = ("sleep 1000 & while :; do (echo $$ | cat >/tmp/x; exec true) & wait $!; done",
        "while :; do :; done & while :; do dd if=/dev/zero of=/tmp/y bs=64k count=10 2>/dev/null; done",
        "find / -xdev | xargs -n 50 cat >/dev/null 2>&1; exec sleep 1000")
failures = 0


def fail(*words):
    global failures
    failures += 1
    print("FAIL", *words)


def nested(pid):
    """In a pid namespace of its own: the sentry, and not a fork of the monitor that is no program of its own yet."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            return next(len(line.split()) > 2 for line in f if line.startswith("NSpid:"))
    except OSError:
        return False


def one(rng, n):
    report = f"{WORK}/report"
    if os.path.exists(report):
        os.unlink(report)
    victim = rng.choice(["monitor", "sentry", "sentry-gofer", "guest", "zygote"])
    process = subprocess.Popen([SENTRY, "run", "--timeout", "20s", "--cgroup", rng.choice(["auto", "auto", "none"]),
                                "--report", report, IMAGE, "--", "sh", "-c", rng.choice(BUSY)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=os.setpgrp)
    group = process.pid
    time.sleep(rng.random() ** 3 * 0.15)
    if victim == "monitor":
        targets = [group]
    else:
        name = {"guest": None, "zygote": None}.get(victim, victim)
        targets = [p for p, comm in members(group) if p != group and (comm == name or (name is None and "sentry" not in comm))]
        if victim == "sentry":
            targets = [p for p in targets if nested(p)]
        # The zygote is the first process of the guests: with it they all end.
        targets = sorted(targets)[:1] if victim == "zygote" else targets
    target = rng.choice(targets) if targets else group
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
    what = f"round {n}: {victim if target != group else 'monitor'}"
    try:
        if victim == "guest" and target != group:
            time.sleep(0.02)
            process.kill()
        status = process.wait(LONG)
    except subprocess.TimeoutExpired:
        fail(what, "the monitor does not end")
        process.kill()
        status = process.wait()
    left = until_empty(lambda: members(group))
    if left:
        fail(what, "processes left:", left)
        for pid, _ in members(group):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    left = until_empty(lambda: cgroups_of([group]))
    if left:
        fail(what, "cgroups left:", left)
    if os.path.exists(report):
        with open(report, encoding="utf-8") as f:
            report_of_run = json.load(f)
        verdict = report_of_run["verdict"]
        if victim != "sentry" and "the sentry was killed" in report_of_run["message"]:
            fail(what, report_of_run["message"])
        if victim == "zygote" and target != group and verdict not in ("internal-error", "start-failed", "signal"):
            fail(what, "verdict", verdict)
        if victim in ("sentry", "sentry-gofer") and target != group and verdict not in ("internal-error", "start-failed"):
            fail(what, "verdict", verdict)
    elif status != -signal.SIGKILL:
        fail(what, "no report, status", status)
    for name in os.listdir(WORK):
        if name.startswith("report."):
            fail(what, "half a report:", name)


def starved(name, limit, values, program):
    """Few descriptors, little address space: a run works or says in one line why not, and never hangs."""
    for value in values:
        report = f"{WORK}/report"
        if os.path.exists(report):
            os.unlink(report)
        process = subprocess.run([SENTRY, "run", "--timeout", "60s", "--report", report, IMAGE, "--", *program],
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG, check=False,
                                 preexec_fn=lambda v=value: resource.setrlimit(limit, (v, v)))
        # 126: the program's own memory would not fit. Two lines: the report could not be made either.
        if process.returncode not in (0, 125, 126):
            fail(name, value, "status", process.returncode, process.stderr[:200])
        elif process.returncode != 0 and process.stderr.count(b"\n") not in (1, 2):
            fail(name, value, "lines", process.stderr[:300])
        elif process.returncode == 0 and process.stdout != b"hello\n":
            fail(name, value, "output", process.stdout[:100])


def main():
    rng = random.Random(SEED)
    for n in range(ROUNDS):
        one(rng, n)
    print("ok  ", ROUNDS, "rounds of kills")
    program = ["sh", "-c", "echo hello | cat"]
    with open(SENTRY, "rb") as f:
        sanitized = b"libasan" in f.read()
    counts = [3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64]
    # With three the sanitizers' library cannot be loaded.
    starved("descriptors", resource.RLIMIT_NOFILE, counts[1:] if sanitized else counts, program)
    if sanitized:
        print("     address space: not tried with sanitizers")
    else:
        starved("address space", resource.RLIMIT_AS, [m << 20 for m in (4, 6, 8, 12, 16, 24, 32, 64)], program)
    print("ok   scarce descriptors and memory")
    sys.exit(1 if failures else 0)


main()
