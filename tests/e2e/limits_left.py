"""What is left of runs that have ended: for limits_behaviour.py and limits_faults.py."""
import os
import time

LONG = 400


def members(pgrp):
    """Processes of a process group that are more than zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        if fields[2] == str(pgrp) and fields[0] not in "ZX":
            found.append((int(pid), text[text.index("(") + 1:text.rindex(")")]))
    return found


def cgroups_of(pids):
    """Groups that the monitors of these pids made."""
    pids = {str(p) for p in pids}
    found = []
    for top, names, _ in os.walk("/sys/fs/cgroup"):
        found += [f"{top}/{n}" for n in names if n.startswith("sentry-") and n.split("-")[1] in pids]
    return found


def until_empty(look):
    """What look() still finds after a long time: what has been killed may need a while to be gone."""
    for _ in range(LONG * 50):
        found = look()
        if not found:
            return found
        time.sleep(0.02)
    return found
