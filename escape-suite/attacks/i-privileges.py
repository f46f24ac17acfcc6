#!/usr/bin/python3
# tries: a configuration that asks for more than a box may have: devices of the host, sysctls of the host, inheritable and
#   ambient capabilities, LD_PRELOAD for the runtime, annotations that name plug-ins, namespaces by path, cgroup paths with ..,
#   bind mounts of /proc/1/root, mounts of unknown types, an id map of the host's root
# must fail because: what cannot be had is refused or means nothing outside of the sentry; annotations load nothing
# an escape would: open a device, change a sysctl, or load code of the caller's choice into the runtime
# source: ATTACKS.md I10 I12; CVE-2022-27650, CVE-2019-5736, CVE-2022-0811
import os

from tool_oci import canary, config, main, run_bundle, say, scratch, snapshot

watched = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
           "/proc/sys/net/ipv4/ip_forward", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/shmmax")


def state():
    return [open(p).read() if os.path.exists(p) else "" for p in watched]


def attack():
    out = canary()
    before, values, bad, statuses = snapshot(out), state(), [], {}
    look = "cat /dev/escape | head -c 16 | grep -c . ; cat /etc/escape /escape 2>/dev/null; id -u; grep Cap /proc/self/status"
    mem = {"path": "/dev/escape", "type": "c", "major": 1, "minor": 1, "fileMode": 0o666}
    evil = scratch + "/evil.so"
    caps = {k: ["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_MKNOD", "CAP_NET_ADMIN"] for k in
            ("bounding", "effective", "permitted", "inheritable", "ambient")}
    cases = {
        "device mem": lambda c: c["linux"].update(devices=[mem]),
        "device disk": lambda c: c["linux"].update(devices=[{**mem, "type": "b", "major": 8, "minor": 0}]),
        "device vda": lambda c: c["linux"].update(devices=[{**mem, "type": "b", "major": 254, "minor": 0}]),
        "capabilities": lambda c: c["process"].update(capabilities=caps, noNewPrivileges=False),
        "inheritable": lambda c: c["process"].update(capabilities={"inheritable": ["CAP_SYS_ADMIN"]}, user={"uid": 1000, "gid": 1000}),
        "core_pattern": lambda c: c["linux"].update(sysctl={"kernel.core_pattern": "|/bin/sh -c evil"}),
        "core_pattern with +": lambda c: c["linux"].update(sysctl={"kernel.shm_rmid_forced": "1+kernel.core_pattern=|/x"}),
        "sysctl a path": lambda c: c["linux"].update(sysctl={"../../etc/x": "1", "kernel/modprobe": "/x", "vm.overcommit_memory": "2"}),
        "preload": lambda c: c["process"].update(env=["LD_PRELOAD=" + evil, "LD_AUDIT=" + evil, "GCONV_PATH=" + scratch]),
        "annotations": lambda c: c.update(annotations={"run.oci.seccomp.plugins": evil, "run.oci.hooks.stdout": out + "/victim",
                                                       "run.oci.handler": "krun", "run.oci.mount_context_type": "x"}),
        "namespace by path": lambda c: c["linux"].update(namespaces=[{"type": "mount", "path": "/proc/1/ns/mnt"},
                                                                     {"type": "pid", "path": "/proc/1/ns/pid"}, {"type": "network", "path": "/proc/1/ns/net"}]),
        "cgroup upwards": lambda c: c["linux"].update(cgroupsPath=f"/../../../escape-up-{os.getpid()}"),
        "bind of the host's root": lambda c: c["mounts"].append({"destination": "/escape", "type": "bind", "source": "/proc/1/root" + out + "/victim", "options": ["bind", "ro"]}),
        "bind of a device": lambda c: c["mounts"].append({"destination": "/dev/escape", "type": "bind", "source": "/dev/mem", "options": ["bind"]}),
        "bind upwards": lambda c: c["mounts"].append({"destination": "/../../../.." + out, "type": "bind", "source": scratch, "options": ["rbind", "rw"]}),
        "an ext4 of the host": lambda c: c["mounts"].append({"destination": "/escape", "type": "ext4", "source": "/dev/vda"}),
        "an overlay of the host": lambda c: c["mounts"].append({"destination": "/escape", "type": "overlay", "source": "overlay",
                                                               "options": ["lowerdir=" + out, "upperdir=/tmp", "workdir=/tmp"]}),
        "id map": lambda c: c["linux"].update(namespaces=c["linux"]["namespaces"] + [{"type": "user"}], uidMappings=[{"containerID": 0, "hostID": 0, "size": 4294967295}]),
        "apparmor": lambda c: c["process"].update(apparmorProfile="unconfined", selinuxLabel="system_u:system_r:kernel_t:s0"),
        "root upwards": lambda c: c.update(root={"path": "../../../../../.."}),
    }
    for i, (name, change) in enumerate(cases.items()):
        c = config(["sh", "-c", look])
        change(c)
        rc, text = run_bundle(f"p{i}", c)
        statuses[rc] = statuses.get(rc, 0) + 1
        line = text.replace("\n", " ")
        if name != "bind of the host's root" and "outside of every image" in text or snapshot(out) != before or state() != values or rc == -1:
            bad.append(name)
        if name == "inheritable" and "CapEff:\t0000000000000000" not in text and rc == 0:
            bad.append(name)
        if name.startswith("device") and rc == 0 and text.startswith("1"):
            bad.append(name)
        say(f"step {name}: status {rc} {line[:110]}")
    return "ESCAPED " + ", ".join(bad) if bad else f"contained by status {statuses}: nothing of the host was had"


def twin():
    rc, out = run_bundle("twin", config(["sh", "-c", "head -c 4 /dev/zero | grep -c . ; echo x >/dev/null && id -u"], user={"uid": 7, "gid": 7}))
    return "works devices of the box and a user" if rc == 0 and out.endswith("7") else f"broken {rc} {out}"


main(attack, twin)
