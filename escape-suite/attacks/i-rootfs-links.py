#!/usr/bin/python3
# tries: root file systems whose /dev, /proc, /sys, /tmp, /dev/null, /dev/pts, /etc/hosts, /run and mount destinations are
#   links to the host; a root that is itself a link; masked and read-only paths through links; a planted side file
# must fail because: nothing is mounted on the host; mounts, masks and devices are the sentry's, in the guest's names
# an escape would: mount, mask or write on a file of the host that a link names, as the runtime's user
# source: ATTACKS.md I7 I8 I9 I15; CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, CVE-2024-45310, CVE-2025-24965
import os
import shutil

from tool_oci import canary, config, main, run_bundle, say, scratch, snapshot


def link(path, target):
    def make(root):
        p = f"{root}/{path}"
        if os.path.isdir(p) and not os.path.islink(p):
            shutil.rmtree(p)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        os.symlink(target, p)
    return make


def mounts_here():
    """What is mounted below the scratch directory (others may mount elsewhere meanwhile)."""
    return [m for m in open("/proc/self/mounts") if scratch in m]


def attack():
    out = canary()
    before, mounts, bad = snapshot(out), mounts_here(), []
    write = "for f in /dev/null /dev/x /proc/x /sys/x /tmp/x /etc/hosts /run/x /m/x /m; do echo evil >>$f; done; true"
    cases = []
    for path in ("dev", "proc", "sys", "tmp", "dev/null", "dev/pts", "dev/shm", "dev/console", "etc/hosts", "run", "m"):
        for target in (out, out + "/victim", "../" * 20 + out[1:] + "/victim", "/proc/self/root" + out):
            c = config(["sh", "-c", write])
            c["mounts"] += [{"destination": "/m", "type": "tmpfs", "source": "tmpfs"},
                            {"destination": "/etc/hosts", "type": "bind", "source": scratch + "/hosts", "options": ["bind", "ro"]}]
            c["linux"]["maskedPaths"] = ["/m", "/etc/hosts", "/proc/kcore", "/dev/null"]
            c["linux"]["readonlyPaths"] = ["/m", "/proc/sys", "/etc"]
            cases.append((f"{path} is {target[:12]}", c, link(path, target)))
    for side in (".krun_config.json", ".krun_vm.json", "etc/resolv.conf", "etc/hostname", "etc/mtab", ".wh..wh..opq"):
        cases.append((f"side file {side}", config(["sh", "-c", write]), link(side, out + "/victim")))
    with open(scratch + "/hosts", "w") as f:
        f.write("127.0.0.1 localhost\n")
    hosts = open(scratch + "/hosts").read()
    statuses = {}
    for i, (name, c, prepare) in enumerate(cases):
        rc, text = run_bundle(f"r{i}", c, prepare)
        statuses[rc] = statuses.get(rc, 0) + 1
        if snapshot(out) != before or open(scratch + "/hosts").read() != hosts or rc == -1:
            bad.append(name)
            before = snapshot(out)
    if mounts_here() != mounts:
        bad.append("the host's mounts")
    say(f"step {len(cases)} root file systems, by status: {statuses}")
    return "ESCAPED " + ", ".join(bad) if bad else "contained no link was followed on the host"


def twin():
    rc, out = run_bundle("twin", config(["sh", "-c", "echo a >/tmp/f && cat /tmp/f && echo b >/dev/null && cat /etc/l"]),
                         lambda r: (open(r + "/etc/t", "w").write("c\n"), os.symlink("t", r + "/etc/l")))
    return "works links and mounts inside" if (rc, out) == (0, "a\nc") else f"broken {rc} {out}"


main(attack, twin)
