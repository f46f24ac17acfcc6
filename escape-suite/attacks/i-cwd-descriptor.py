#!/usr/bin/python3
# tries: process.cwd, args[0] and root.path through descriptors that the runtime may have left open: /proc/self/fd/3 to 20
#   with .. behind, links in the root file system that lead there; looks for a file of the host from there
# must fail because: cwd and program are resolved inside of the guest's file system, by the sentry, which has no
#   descriptor of a directory of the host
# an escape would: start the container's process in a directory of the host
# source: ATTACKS.md I5 F2; CVE-2024-21626
import os

from tool_oci import canary, config, main, run_bundle, say, scratch

look = ("cat canary/victim ../canary/victim ../../canary/victim ../../../../../../.." + scratch +
        "/canary/victim 2>/dev/null; ls -d ../../../../../../../../.." + scratch + " 2>/dev/null; pwd; readlink /proc/self/cwd")


def attack():
    canary()
    bad, tried, refused = [], 0, 0
    cases = [(f"fd{n}", {"cwd": f"/proc/self/fd/{n}"}, None) for n in range(3, 14)]
    cases += [(f"up{n}", {"cwd": f"/proc/self/fd/{n}/../../.."}, None) for n in (3, 5, 7, 8, 9)]
    cases += [(f"link{n}", {"cwd": "/etc/there"}, lambda r, n=n: os.symlink(f"/proc/self/fd/{n}", r + "/etc/there")) for n in (3, 7, 8)]
    cases += [("thread", {"cwd": "/proc/thread-self/fd/7"}, None), ("one", {"cwd": "/proc/1/cwd/../../.."}, None),
              ("root", {"cwd": "/proc/1/root/../../.." + scratch}, None), ("relative", {"cwd": "../../../.."}, None)]
    for name, process, prepare in cases:
        rc, out = run_bundle(name, config(["sh", "-c", look], **process), prepare)
        tried += 1
        refused += rc != 0
        if "outside of every image" in out or (rc == 0 and scratch in out):
            bad.append(name)
            say(f"step {name}: status {rc}: {out[:150]}")
    for n in (3, 7):
        rc, out = run_bundle(f"args{n}", config([f"/proc/self/fd/{n}/../../../../../../bin/busybox", "cat", scratch + "/canary/victim"]))
        tried += 1
        if "outside of every image" in out:
            bad.append(f"args{n}")
    say(f"step {tried} bundles, {refused} refused; the last said: {out[:120]}")
    return "ESCAPED " + ", ".join(bad) if bad else "contained no way leads to a directory of the host"


def twin():
    rc, out = run_bundle("twin", config(["sh", "-c", "pwd; readlink /proc/self/cwd"], cwd="/etc"))
    return "works a directory of the container" if (rc, out) == (0, "/etc\n/etc") else f"broken {rc} {out}"


main(attack, twin)
