#!/usr/bin/python3
# tries: a config.json of 100 MiB, a million brackets deep, with a million keys, duplicate keys, numbers of 1e400, lone
#   surrogates, a byte order mark, NUL, invalid UTF-8, wrong types everywhere, a fifo, a device, a directory, a link
# must fail because: size and depth are limited, types are checked one by one, an error names the place
# an escape would: crash or hang the runtime, which often runs as root, or be read otherwise than another reader reads it
# source: ATTACKS.md I13
import json
import os
import time

from tool_oci import HANG, bundle, canary, config, main, oci, say, scratch


def attack():
    honest = config(["true"])
    text = json.dumps(honest)
    bad, n = [], 0
    raw = {
        "huge": b'{"x":"' + b"y" * (100 << 20) + b'"}', "deep": b"[" * 1000000, "deep object": b'{"a":' * 500000,
        "keys": ("{" + ",".join(f'"k{i}":{i}' for i in range(300000)) + "," + text[1:]).encode(),
        "number": text.replace('"uid": 0', '"uid": 1e400').encode(), "digits": text.replace('"uid": 0', '"uid": ' + "9" * 100000).encode(),
        "surrogate": text.replace("box", "\\ud800").encode(), "mark": b"\xef\xbb\xbf" + text.encode(),
        "nul": text.replace("box", "a\\u0000b").encode(), "utf8": text.encode().replace(b"box", b"\xff\xfe\x80"),
        "empty": b"", "null": b"null", "list": b"[]", "cut": text[:-20].encode(), "twice": text.encode() + text.encode(),
        "duplicate": text.replace('"process":', '"process": {"args": ["sh"], "cwd": "/"}, "process":').encode(),
    }
    cases = [(k, v) for k, v in raw.items()]
    for path in ("process", "root", "mounts", "linux", "hooks", "annotations", "hostname", "process.args", "process.env",
                 "process.cwd", "process.user", "process.capabilities", "process.rlimits", "linux.resources",
                 "linux.namespaces", "linux.seccomp", "linux.uidMappings", "linux.maskedPaths"):
        for value in (None, 7, -1, "x", [], {}, [[]], [None], {"a": 1}, True):
            c = json.loads(text)
            at = c
            for k in path.split(".")[:-1]:
                at = at.setdefault(k, {})
            at[path.split(".")[-1]] = value
            cases.append((f"{path}-{json.dumps(value)}", json.dumps(c).encode()))
    for i, (name, data) in enumerate(cases):
        d = bundle(f"b{i}", data)
        start = time.time()
        rc, out = oci("run", "--bundle", d, f"escape-bomb-{os.getpid()}-{i}")
        oci("delete", "--force", f"escape-bomb-{os.getpid()}-{i}")
        n += 1
        if rc < 0 or rc in (134, 139) or time.time() - start > HANG / 2 or "Sanitizer" in out or "assertion" in out:
            bad.append(name)
            say(f"step {name}: status {rc} after {time.time() - start:.1f} s: {out[:120]}")
    for kind, make in (("fifo", os.mkfifo), ("directory", os.mkdir), ("zero", lambda p: os.symlink("/dev/zero", p)),
                       ("loop", lambda p: os.symlink("config.json", p))):
        d = bundle(kind, honest)
        os.unlink(d + "/config.json")
        make(d + "/config.json")
        rc, out = oci("run", "--bundle", d, f"escape-bomb-{os.getpid()}-{kind}")
        say(f"step config.json is a {kind}: status {rc} {out[:100]}")
        if rc in (-1, 134, 139, 0):
            bad.append(kind)
    return "ESCAPED " + ", ".join(bad) if bad else f"contained {n} configurations, none crashed or held the runtime"


def twin():
    rc, out = oci("run", "--bundle", bundle("twin", config(["echo", "fine"])), f"escape-bomb-{os.getpid()}-twin")
    return "works an ordinary configuration" if (rc, out) == (0, "fine") else f"broken {rc} {out}"


main(attack, twin)
