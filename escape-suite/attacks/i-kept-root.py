#!/usr/bin/python3
# tries: a container whose root is kept on the host (runsc-shim --root-storage bundle) writes, renames, links, chowns, makes
#   devices through links out of it and under races, also of the host's own; mount points and the working directory are
#   made through such links; the engine writes by the guest's links in the namespace of the container's pid
# must fail because: links are the guest's, in its own tree; the volume server is asked for one name at a time below the root, follows
#   none, and makes no device; the monitor's mount namespace has nothing but the root
# an escape would: change a file outside of the root directory, or leave a device node in it
# source: ATTACKS.md I7 I9 I15 F3 F12 V1; CVE-2019-14271, CVE-2024-1753, CVE-2024-45310
import ctypes
import os
import shutil
import stat
import threading

import tool_oci
from tool_oci import bundle, canary, config, main, oci, run_bundle, say, scratch, snapshot

libc = ctypes.CDLL(None, use_errno=True)
EVERYTHING = """
out=%s; up=../../../../../../../../../../../../..$out
mkdir -p $out/dir; echo mine >$out/victim; ln -s $out /l; ln -s $up /u; ln -s $out/victim /v; mkdir -p /d/e; ln -s ../../../../../../../..$out /d/e/l
for p in /l /u /d/e/l $out $up; do
    for f in victim dir/file new; do echo evil >$p/$f; echo evil >>$p/$f; chmod 4777 $p/$f; chown 1:1 $p/$f; done
    mv /d $p/d; mv $p/dir $p/gone; rm -rf $p/dir; ln $p/victim /hard; ln /bin/busybox $p/hard; mkdir $p/made; touch $p/victim
done
echo evil >/v; rm -f /v/; for t in 'b 8 0' 'c 1 1' 'c 5 1' 'b 254 0'; do set -- $t; mknod /dev-$1$2 $t; mknod /d/dev-$1$2 $t; done
cp /bin/busybox /suid; chown 0:0 /suid; chmod 6755 /suid; mount -t tmpfs x /d; mkfifo /fifo; exit 0
"""
RACE = """
out=%s; i=0; mkdir -p $out; echo mine >$out/victim
(while :; do rm -rf /r; mkdir /r; mv /r /r2; ln -s $out /r; mv /r /r3; mv /r2 /r; rm -rf /r3; done) &
while [ $i -lt 120 ]; do echo evil >/r/victim; echo evil >/swap/victim; rm -f /swap/victim; mkdir -p /swap/made; rmdir /swap/made
    mv /d/x /swap/x; mv /swap/x /d/x; chmod 0 /swap/victim; i=$((i+1)); done; kill $!; exit 0
""".replace("\n    ", "; ")
TOOLS = ("ln", "mkdir", "chmod", "chown", "mv", "rm", "touch", "mknod", "cp", "mount", "mkfifo", "rmdir", "kill")


def tools(root):
    _ = [os.symlink("busybox", f"{root}/bin/{n}") for n in TOOLS]

def devices(top):
    """Device nodes below top."""
    return [p for p, _, fs in os.walk(top) for f in fs if stat.S_IFMT(os.lstat(f"{p}/{f}").st_mode) in (stat.S_IFBLK, stat.S_IFCHR)]


def hostile(out):
    """The program that tries everything, then mounts and a working directory through links of the image."""
    run_bundle("all", {**config(["sh", "-c", EVERYTHING % out]), "mounts": []}, tools)
    for i, target in enumerate((out, out + "/dir", "../" * 20 + out[1:], "/proc/self/root" + out)):
        c = config(["sh", "-c", "echo evil >/m/victim; echo evil >/n/x/victim; echo evil >victim; pwd"], cwd="/n/cwd/made")
        c["mounts"][2:] = [{"destination": "/m/at", "type": "tmpfs", "source": "tmpfs"},
                           {"destination": "/n/file", "type": "bind", "source": scratch + "/hosts", "options": ["bind", "ro"]}]
        run_bundle(f"links{i}", c, lambda r, t=target: (tools(r), os.symlink(t, r + "/m"), os.symlink(t, r + "/n")))


def swap(root, out, stop):
    """The host's own race: root/swap is a directory, then a link to the outside, then a directory."""
    os.symlink(out, root + "/swap2")
    while not stop.is_set():
        libc.syscall(316, -100, (root + "/swap").encode(), -100, (root + "/swap2").encode(), 2)
        stop.wait(0.0005)


def races(out):
    stop = threading.Event()
    c = config(["sh", "-c", RACE % out])
    d = bundle("race", {**c, "mounts": c["mounts"][:2]},  # /tmp is the root's too
               lambda r: (tools(r), os.mkdir(r + "/swap"), os.mkdir(r + "/d"), open(r + "/d/x", "w").close()))
    t = threading.Thread(target=swap, args=(d + "/rootfs", out, stop))
    t.start()
    rc, text = oci("run", "--bundle", d, f"escape-{os.getpid()}-race", timeout=60)
    stop.set()
    oci("delete", "--force", f"escape-{os.getpid()}-race")
    say(f"step races ended with {rc} {text[-80:]}")


def engine(out):
    """Writes as an engine's cp does: in the mount namespace of the pid, by paths with the guest's links."""
    name, pid_file = f"escape-{os.getpid()}-cp", scratch + "/pid"
    d = bundle("cp", config(["sleep", "100"]), lambda r: (os.symlink(out, r + "/l"), os.symlink("../" * 20 + out[1:], r + "/u")))
    rc, text = oci("create", "--bundle", d, "--pid-file", pid_file, name)
    if rc == 0:
        oci("start", name)
        child = os.fork()
        if child == 0:
            fd = os.open(f"/proc/{open(pid_file).read()}/ns/mnt", os.O_RDONLY)
            if libc.unshare(0x200) == 0 and libc.setns(fd, 0x20000) == 0:
                for path in ("/l/victim", "/u/victim", out + "/victim", "/l/new", "/inside"):
                    libc.write(libc.open(path.encode(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), b"evil", 4)
            os._exit(0)
        os.waitpid(child, 0)
    oci("delete", "--force", name)
    say(f"step the engine's namespace: create {rc} {text[:80]}, its own file is there: {os.path.exists(d + '/rootfs/inside')}")


def attack():
    tool_oci.options = ["--root-storage", "bundle"]
    out, bad = canary(), []
    open(scratch + "/hosts", "w").write("hosts\n")
    before = snapshot(out)
    for what in (hostile, races, engine):
        what(out)
        if snapshot(out) != before or open(scratch + "/hosts").read() != "hosts\n":
            bad.append(what.__name__)
            shutil.rmtree(out)
            before = snapshot(canary())
    nodes = [p for n in os.listdir(scratch) if os.path.isdir(f"{scratch}/{n}/rootfs") for p in devices(f"{scratch}/{n}/rootfs")]
    bad += [f"device nodes in {nodes[0]}"] if nodes else []
    return "ESCAPED " + ", ".join(bad) if bad else "contained everything stayed in the root directory, and no device in it"


def twin():
    tool_oci.options = ["--root-storage", "bundle"]
    d = f"{scratch}/twin/rootfs"
    rc, text = run_bundle("twin", config(["sh", "-c", "mkdir /d && echo kept >/d/f && ln -s d /l && cat /l/f"]), tools)
    kept = open(d + "/d/f").read() if os.path.exists(d + "/d/f") else "nothing"
    return "works what was written is there" if (rc, text, kept) == (0, "kept", "kept\n") else f"broken {rc} {text} {kept}"


main(attack, twin)
