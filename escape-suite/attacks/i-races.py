#!/usr/bin/python3
# tries: two creates of one id at once, delete --force while creating and starting, kill -9 of the runtime at random moments
#   between create and start, kill of the monitor, start twice, delete of a running one, state throughout
# must fail because: the state directory is locked and says how far a container was brought; whatever is left reads as
#   stopped, and delete --force gets back to nothing
# an escape would: leave processes, cgroups, mounts or directories behind, or two containers of one name
# source: ATTACKS.md I18 V6; runc's changelog
import os
import random
import signal
import subprocess
import time

from tool_oci import HANG, bundle, config, main, oci, runtime, say, scratch

mark = f"escape-race-{os.getpid()}-"  # no beginning of another one's


def start(*args):
    return subprocess.Popen(runtime() + ["--root", scratch + "/state"] + list(args), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def processes():
    """Processes of the runtime that name this attack's containers or directories."""
    found = []
    for p in os.listdir("/proc"):
        if p.isdigit() and int(p) != os.getpid():
            try:
                line = open(f"/proc/{p}/cmdline", "rb").read().decode(errors="replace")
            except OSError:
                continue
            if mark in line and "python" not in line:
                found.append(int(p))
    return found


def attack():
    random.seed(7)
    d = bundle("b", config(["sleep", "100"]))
    won, bad = 0, []
    for i in range(8):
        both = [start("create", "--bundle", d, mark) for _ in range(3)]
        codes = sorted(p.wait(timeout=HANG) for p in both)
        won += codes.count(0) == 1
        if codes.count(0) != 1:
            bad.append(f"creates at once ended with {codes}")
        oci("delete", "--force", mark)
    for i in range(25):
        p = start("create", "--bundle", d, mark)
        time.sleep(random.random() * 0.12)
        if i % 3 == 0:
            p.kill()
        elif i % 3 == 1:
            oci("delete", "--force", mark)
        else:
            q = start("start", mark)
            time.sleep(random.random() * 0.02)
            q.kill()
            q.wait()
        p.wait(timeout=HANG)
        oci("state", mark)
        for _ in range(3):
            oci("delete", "--force", mark)
    oci("create", "--bundle", d, mark)
    codes = [p.wait(timeout=HANG) for p in [start("start", mark) for _ in range(4)]]
    if codes.count(0) != 1:
        bad.append(f"starts at once ended with {codes}")
    rc, _ = oci("delete", mark)
    if rc == 0:
        bad.append("a running container was deleted without force")
    for pid in processes():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    oci("delete", "--force", mark)
    end = time.time() + HANG
    while processes() and time.time() < end:
        time.sleep(0.05)
    if processes():
        bad.append(f"processes {processes()} are left")
    left = os.listdir(scratch + "/state") if os.path.isdir(scratch + "/state") else []
    if [x for x in left if mark in x]:
        bad.append(f"state {left} is left")
    groups = [p for p, _, _ in os.walk("/sys/fs/cgroup") if mark in p]
    if groups:
        bad.append(f"cgroup {groups[0]} is left")
    return "ESCAPED " + "; ".join(bad) if bad else f"contained {won} of 8 contests had one winner, nothing is left"


def twin():
    d = bundle("twin", config(["sleep", "100"]))
    codes = [oci("create", "--bundle", d, mark)[0], oci("start", mark)[0], oci("kill", mark, "KILL")[0]]
    for _ in range(20 * HANG):
        time.sleep(0.05)
        rc = oci("delete", mark)[0]
        if rc == 0:
            break
    codes.append(rc)
    return "works create, start, kill, delete" if codes == [0, 0, 0, 0] else f"broken {codes}"


main(attack, twin)
