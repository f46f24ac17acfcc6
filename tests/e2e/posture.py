#!/usr/bin/env python3
"""What the host sees of a live sandbox, against the record of what it should see.

Starts `sentry run ... sleep`, finds monitor, gofer, sentry and guest processes by their parentage and
compares what /proc says of each with RECORD: namespaces, capabilities, no_new_privs, seccomp, open
descriptors by kind, root directory, uid maps. Run as root it does so once more as an ordinary user.

usage: posture.py SENTRY IMAGE    exit status 0, 1, or 77 (skipped)
"""
import os
import stat
import subprocess
import sys
import time

NAMESPACES = ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup", "time")

# other: namespaces that differ from the caller's. sentry: those that also differ from the sentry's.
RECORD = {
    "server": {
        "other": ("user", "pid", "mnt", "net", "ipc", "uts"),
        "caps": 1 << 2,  # CAP_DAC_READ_SEARCH, over its own user namespace
        "nnp": 1, "seccomp": "2", "dumpable": False,
        "fds": {"null", "socket", "image", "pipe"}, "uids": 1,
    },
    "sentry": {
        "other": ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup"),
        "caps": 0, "nnp": 1, "seccomp": "2", "dumpable": False, "empty_root": True,
        "fds": {"null", "pipe", "socket", "eventpoll", "timerfd", "pidfd", "seccomp", "image", "memfd"}, "uids": 1,
    },
    "zygote": {
        # The time namespace is for its children; hosts before 6.3 leave itself outside.
        "other": ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup"),
        "sentry": ("user", "pid"),
        "caps": 0, "nnp": 1, "seccomp": "2", "empty_root": True,
        "fds": set(), "uids": 1,
    },
    "guest": {
        "other": NAMESPACES, "sentry": ("user", "pid", "time"),
        "caps": 0, "nnp": 1, "seccomp": "2", "empty_root": True,
        "fds": set(), "uids": 1,
    },
}

failures = 0


def check(what, want, got):
    global failures
    if want != got:
        failures += 1
        print(f"FAIL {what}\n     expected: {want}\n     got:      {got}")


def status(pid, task=None):
    path = f"/proc/{pid}/status" if task is None else f"/proc/{pid}/task/{task}/status"
    with open(path, encoding="ascii", errors="replace") as f:
        return dict(line.rstrip("\n").split(":", 1) for line in f if ":" in line)


def children(pid):
    out = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            out += [int(c) for c in f.read().split()]
    return out


def namespace(pid, name):
    return os.readlink(f"/proc/{pid}/ns/{name}")


def fd_kind(pid, fd):
    """Kind of an open descriptor and whether it can change something on the host."""
    path = f"/proc/{pid}/fd/{fd}"
    link = os.readlink(path)
    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as f:
        flags = int(next(line.split()[1] for line in f if line.startswith("flags")), 8)
    writable = flags & os.O_ACCMODE != os.O_RDONLY
    for prefix in ("pipe", "socket"):
        if link.startswith(prefix + ":["):
            return prefix
    if link.startswith("anon_inode:"):
        return link[len("anon_inode:"):].strip("[]").removesuffix(" notify")
    if link.startswith("/memfd:"):
        return "memfd"
    if link == "/dev/null":
        return "null"
    mode = os.stat(path).st_mode
    if not writable and (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        return "directory" if stat.S_ISDIR(mode) else "image"
    return f"{link} ({'writable' if writable else 'read-only'})"


def check_fds(role, pid, want):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            kind = fd_kind(pid, fd)
        except FileNotFoundError:
            continue
        if kind == "directory" and role == "server":
            kind = "image"
        if kind not in want:
            check(f"{role} {pid}: descriptor {fd}", sorted(want), kind)


def check_status(role, pid, rec):
    for task in os.listdir(f"/proc/{pid}/task"):
        st = status(pid, task)
        where = f"{role} {pid} thread {task}"
        for name in ("CapEff", "CapPrm"):
            check(f"{where}: {name}", rec["caps"], int(st[name], 16))
        for name in ("CapBnd", "CapAmb", "CapInh"):
            check(f"{where}: {name}", 0, int(st[name], 16))
        check(f"{where}: NoNewPrivs", rec["nnp"], int(st["NoNewPrivs"]))
        if rec["seccomp"] is not None:
            check(f"{where}: Seccomp", rec["seccomp"], st["Seccomp"].strip())


def check_process(role, pid, monitor, sentry, user):
    rec = RECORD[role]
    check_status(role, pid, rec)
    for ns in rec["other"]:
        if namespace(pid, ns) == namespace(monitor, ns):
            check(f"{role} {pid}: namespace {ns}", "not the caller's", "the caller's")
    for ns in rec.get("sentry", ()):
        if namespace(pid, ns) == namespace(sentry, ns):
            check(f"{role} {pid}: namespace {ns}", "not the sentry's", "the sentry's")
    check_fds(role, pid, rec["fds"])
    if rec.get("empty_root"):
        check(f"{role} {pid}: root directory", [], os.listdir(f"/proc/{pid}/root/"))
    # Files of a process that is not dumpable belong to the root of the user namespace that it was executed in. A server of
    # an ordinary user is executed in its own, whose root he is, so of that one they tell nothing.
    if "dumpable" in rec and (role != "server" or user is None):
        owner = os.stat(f"/proc/{pid}/mem").st_uid
        uid = int(status(pid)["Uid"].split()[1])
        check(f"{role} {pid}: dumpable", rec["dumpable"], owner == uid and uid != 0)
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        core = next(line for line in f if line.startswith("Max core file size")).split()
    check(f"{role} {pid}: core size", "0", core[4])
    if role in ("sentry", "zygote", "guest"):
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{pid}/{name}", encoding="ascii") as f:
                lines = [line.split() for line in f]
            check(f"{role} {pid}: lines of {name}", 1, len(lines))
            check(f"{role} {pid}: length of {name}", "1", lines[0][2])
            if user is None and int(lines[0][1]) < 1 << 16:
                check(f"{role} {pid}: {name}", "an id that owns nothing", lines[0][1])


def find(monitor):
    """Roles of the processes below the monitor."""
    roles = {}
    for pid in children(monitor):
        if status(pid)["Name"].strip() == "sentry-gofer":
            roles[pid] = "server"
        elif len(status(pid).get("NSpid", "").split()) > 1:
            roles[pid] = "sentry"
            for zygote in children(pid):
                roles[zygote] = "zygote"
                for guest in children(zygote):
                    roles[guest] = "guest"
    return roles


def start(sentry, image, user):
    command = [sentry, "run", "--volume", image + ":/mnt:ro", image, "--", "sh", "-c", "sleep 30 & sleep 30"]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] + command
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def monitor_of(process):
    """setpriv executes its command, so this is the monitor; wait until the guests run."""
    for _ in range(100):
        if process.poll() is not None:
            return None
        roles = find(process.pid)
        if list(roles.values()).count("guest") >= 3:
            time.sleep(0.5)
            return process.pid
        time.sleep(0.1)
    return process.pid


def run(sentry, image, user):
    process = start(sentry, image, user)
    who = "caller" if user is None else f"uid {user}"
    try:
        monitor = monitor_of(process)
        if monitor is None:
            print(f"FAIL {who}: ended at once: {process.stderr.read().decode(errors='replace')}")
            return False
        roles = find(monitor)
        seen = sorted(set(roles.values()))
        check(f"{who}: processes", sorted(RECORD), seen)
        box = next(pid for pid, role in roles.items() if role == "sentry")
        for pid, role in roles.items():
            try:
                check_process(role, pid, monitor, box, user)
            except (FileNotFoundError, ProcessLookupError):
                check(f"{who}: {role} {pid}", "alive", "gone")
        print(f"{who}: {len(roles)} processes looked at")
        return True
    finally:
        process.kill()
        process.communicate()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sentry, image = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not os.path.isdir(image):
        print(f"skipped: no image {image}")
        sys.exit(77)
    good = run(sentry, image, None)
    if os.geteuid() == 0:
        readable = subprocess.run(["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups",
                                   "test", "-x", sentry, "-a", "-x", image], check=False)
        if readable.returncode == 0:
            good = run(sentry, image, 1000) and good
        else:
            print("not looked at as uid 1000: it cannot reach the program")
    sys.exit(0 if good and failures == 0 else 1)


if __name__ == "__main__":
    main()
