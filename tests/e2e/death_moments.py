#!/usr/bin/env python3
"""Kills the monitor, the sentry or a server of a run at a random moment and looks for what is left.

Looked at: processes, cgroups, the state directory with its socket, mounts, files in TMPDIR. Named runs and
others; the moment is anywhere from the monitor's first instruction to a running program. What is left is
waited for: a busy machine takes its time, but not as long as the wall limit of a run.

usage: death_moments.py SENTRY IMAGE WORK SEED ROUNDS    exit status 0 or 1
"""
import fcntl
import os
import random
import signal
import subprocess
import sys
import time

PATIENCE = 30
ROLES = {"sentry": "sentry", "sentry-gofer": "server"}
failures = 0


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def children(pid):
    out = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        tasks = []
    for task in tasks:
        out += [int(c) for c in read(f"/proc/{pid}/task/{task}/children").split()]
    return out


def tree(pid):
    return [p for child in children(pid) for p in [child] + tree(child)]


def identity(pid):
    """Start time and state; None when there is no such process."""
    fields = read(f"/proc/{pid}/stat").rsplit(")", 1)
    return (fields[1].split()[19], fields[1].split()[0]) if len(fields) == 2 else None


def cgroups(monitor=""):
    """The groups carry their monitor's pid; an older one may have had the same."""
    found = set()
    for where, dirs, _ in os.walk("/sys/fs/cgroup"):
        found |= {f"{where}/{d}" for d in dirs if d.startswith(f"sentry-{monitor}")}
    return found


def entries(root):
    try:
        return {f"{root}/{name}" for name in os.listdir(root)}
    except OSError:
        return set()


def orphan(entry):
    """An entry that no monitor holds. Other runs of this machine have entries beside ours."""
    try:
        fd = os.open(entry, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return bool(os.fstat(fd).st_mode & 0o1000 and os.fstat(fd).st_nlink)
    except OSError:
        return False
    finally:
        os.close(fd)


def pick(monitor, below, rnd):
    """A process of ours, and what it is called. The janitor is none of the three."""
    roles = [(monitor, "monitor")]
    for pid in below:
        role = ROLES.get(read(f"/proc/{pid}/comm").strip())
        # A sentry that is nobody's pid 1 is a fork on its way to be something else, or makes one call for it.
        pids_of = read(f"/proc/{pid}/status").split("NSpid:")[-1].split("\n")[0].split()
        if role == "sentry" and (len(pids_of) < 2 or pids_of[-1] != "1"):
            continue
        if role:
            roles.append((pid, role))
    wanted = rnd.choice(("monitor", "sentry", "server"))
    return rnd.choice([r for r in roles if r[1] == wanted] or roles)


def left(monitor, below, state, before, groups, work):
    out = []
    for pid, who in below.items():
        now = identity(pid)
        if who and now and now[0] == who[0] and now[1] not in "ZX":
            out.append(f"process {pid} ({read(f'/proc/{pid}/comm').strip()})")
    out += [f"cgroup {group}" for group in cgroups(f"{monitor}-") - groups]
    out += [f"entry {entry}" for entry in entries(state) - before if orphan(entry)]
    out += [f"mount {line}" for line in read("/proc/self/mountinfo").split("\n") if work in line]
    out += [f"file {name}" for name in os.listdir(f"{work}/tmp")]
    return out


def one(sentry, image, work, user, index, rnd):
    global failures
    state = "/run/sentry" if user is None else f"{work}/runtime/sentry"
    command = [sentry, "run", image, "--", "sh", "-c", "sleep 1000 & while :; do :; done & echo up; wait"]
    if rnd.random() < 0.5:
        command[2:2] = ["--name", f"moments-{os.getpid()}-{index}"]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] + command
    before, groups = entries(state), cgroups()
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           env=dict(os.environ, XDG_RUNTIME_DIR=f"{work}/runtime"))
    starts = rnd.random() < 0.7
    if not starts:
        run.stdout.readline()
    time.sleep(rnd.random() * 0.03)
    pids = tree(run.pid)
    below = {pid: identity(pid) for pid in pids}
    victim, role = pick(run.pid, pids, rnd)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        pass
    end = time.monotonic() + PATIENCE
    if role == "monitor":
        run.wait()
    while True:
        what = left(run.pid, below, state, before, groups, work)
        if run.poll() is None:
            what.append("the monitor runs")
        if not what or time.monotonic() > end:
            break
        time.sleep(0.01)
    run.kill()
    run.communicate()
    if what:
        failures += 1
        print(f"FAIL {role} killed {'while it started' if starts else 'while it ran'}"
              f"{'' if user is None else f', uid {user}'}: left {what}")
    return role


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sentry, image, work = (os.path.abspath(a) for a in sys.argv[1:4])
    rnd = random.Random(int(sys.argv[4]))
    users = [None]
    if os.geteuid() == 0 and subprocess.run(
            ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", sentry, "run", image, "true"],
            check=False, capture_output=True, env=dict(os.environ, XDG_RUNTIME_DIR=f"{work}/runtime")).returncode == 0:
        users.append(1000)
    for user in users:
        seen = {}
        for index in range(int(sys.argv[5])):
            role = one(sentry, image, work, user, index, rnd)
            seen[role] = seen.get(role, 0) + 1
        print(f"{'caller' if user is None else f'uid {user}'}: killed {seen}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
