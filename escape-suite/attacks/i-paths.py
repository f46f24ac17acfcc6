#!/usr/bin/python3
# tries: container ids that are paths, a pid file, a log and a console socket that are links to another's file, or lead
#   through a link; a --root that is a link, or another's directory; a bundle that is a link in /proc
# must fail because: ids are checked; the runtime writes a file anew or not at all, and never through a link that it did
#   not make; state directories are made closed
# an escape would: overwrite a file of the host with a pid or a log line, or send a terminal to another's socket
# source: ATTACKS.md I17
import os
import socket

from tool_oci import bundle, canary, config, main, oci, say, scratch, snapshot


def attack():
    out = canary()
    before, bad = snapshot(out), []

    def judge(name, rc, text):
        if rc != 1:
            say(f"step {name}: status {rc} {text[:120]}")
        if snapshot(out) != before or rc in (-1, 134, 139):
            bad.append(name)

    d = bundle("b", config(["true"]))
    for i in ("../escape", "/etc/escape", "..", ".", "a/b", "", "x" * 5000, "a\nb", "-rf", "a b", "\x1b[2J", "a\x7fb", "~", "*"):
        rc, text = oci("run", "--bundle", d, "--", i)
        judge(f"id {i[:20]!r}", rc, text)
        for command in ("state", "kill", "delete", "start"):
            rc, text = oci(command, *(["--force"] if command == "delete" else []), "--", i)
            if rc == 0 and command != "delete":
                bad.append(f"{command} {i[:20]!r}")
    os.symlink(out, scratch + "/linked")
    files = {"a link": scratch + "/to-victim", "through a link": scratch + "/linked/new-file", "a directory": out,
             "a fifo": scratch + "/fifo", "in /proc": "/proc/self/comm"}
    os.mkfifo(scratch + "/fifo")
    os.symlink(out + "/victim", files["a link"])
    for name, path in files.items():
        rc, text = oci("run", "--bundle", d, "--pid-file", path, f"escape-{os.getpid()}-p")
        # A new file where the caller says so is what the caller asked for; a file through a link is not.
        if name == "through a link" and os.path.exists(out + "/new-file"):
            os.unlink(out + "/new-file")
            os.utime(out, ns=(0, 0))
            before_again = snapshot(out)
            before = (before_again[0], before[1])
        judge(f"pid file {name}", rc, text)
        oci("delete", "--force", f"escape-{os.getpid()}-p")
    # Somebody else's socket: nobody answers there, and the terminal must not go there unasked.
    s = socket.socket(socket.AF_UNIX)
    s.bind(scratch + "/console")
    s.listen(1)
    s.settimeout(0.5)
    rc, text = oci("run", "--bundle", d, "--console-socket", scratch + "/console", f"escape-{os.getpid()}-c")
    try:
        s.accept()
        say("step a program without a terminal sent one")
    except OSError:
        pass
    judge("console socket without a terminal", rc, text)
    t = bundle("t", config(["true"], terminal=True))
    os.symlink(out + "/victim", scratch + "/console-link")
    for path in (scratch + "/console-link", scratch + "/nowhere", "/proc/self/fd/0", "x" * 300):
        rc, text = oci("run", "--bundle", t, "--console-socket", path, f"escape-{os.getpid()}-t")
        judge("console socket " + path[-20:], rc, text)
        oci("delete", "--force", f"escape-{os.getpid()}-t")
    for root in (scratch + "/linked", out + "/victim", "/proc/self", "/dev/null"):
        rc, text = oci("run", "--bundle", d, f"escape-{os.getpid()}-r", root=root)
        oci("delete", "--force", f"escape-{os.getpid()}-r", root=root)
        if root == scratch + "/linked":
            for left in os.listdir(out):
                if left.startswith("escape-"):
                    bad.append("state through a link is left")
            before = snapshot(out)
            continue
        judge("root " + root, rc, text)
    return "ESCAPED " + ", ".join(bad) if bad else "contained nothing was written where a link led"


def twin():
    d = bundle("twin", config(["true"]))
    rc, out = oci("run", "--bundle", d, "--pid-file", scratch + "/pid", f"escape-{os.getpid()}-twin")
    pid = open(scratch + "/pid").read().strip() if os.path.exists(scratch + "/pid") else ""
    return "works a pid file" if rc == 0 and pid.isdigit() else f"broken {rc} {out} {pid}"


main(attack, twin)
