#!/usr/bin/env python3
"""The end of a run: at once, whatever holds on; output kept; the report whole or absent; many at once.

usage: limits_behaviour.py SENTRY IMAGE GUEST_DIR WORK    exit status 0 or 1

No duration is asserted: what has to end by itself is waited for, for a long time, while whatever could
delay it would last longer still.
"""
import base64
import json
import os
import subprocess
import sys
import threading
import time

from limits_left import cgroups_of, members, until_empty

SENTRY, IMAGE, GUEST, WORK = sys.argv[1:5]
LONG = 400
failures = 0
count = 0


def check(name, want, got):
    global failures
    if want == got:
        print("ok  ", name)
        return
    failures += 1
    print("FAIL", name, "\n     expected:", repr(want)[:300], "\n     got:     ", repr(got)[:300])


def report_path():
    global count
    count += 1
    return f"{WORK}/report.{count}"


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def start(options, program, path=None, **kwargs):
    path = path or report_path()
    args = [SENTRY, "run", "--report", path, *options, IMAGE, "--", *program]
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    kwargs.setdefault("stdout", subprocess.DEVNULL)
    kwargs.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(args, **kwargs), path


def ended(process):
    """Its exit status; None if it had to be killed."""
    try:
        return process.wait(LONG)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def verdict(name, want, options, program, **kwargs):
    process, path = start(options, program, **kwargs)
    status = ended(process)
    check(name, want, load(path)["verdict"] if os.path.exists(path) else f"no report, status {status}")
    return process, path


def sh(text):
    return ["sh", "-c", text]


GUEST_OPTIONS = ["--volume", f"{GUEST}:/mnt:ro"]


def at_once():
    for name, text in (
        ("a grandchild holds the pipes", "sleep 1000 & echo done"),
        ("a grandchild of its own session", "setsid sleep 1000 & echo done"),
        ("a stopped child", "sleep 1000 & kill -STOP $!; echo done"),
        ("children that compute", "while :; do :; done & while :; do :; done & echo done"),
    ):
        process, path = start(["--timeout", "0"], sh(text), stdout=subprocess.PIPE)
        try:
            out = process.communicate(timeout=LONG)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            out = b"still there"
        check(name, (b"done\n", "ok"), (out, load(path)["verdict"]))


def deadline():
    options = ["--timeout", "400ms"]
    verdict("deadline: all signals blocked and ignored, threads that compute", "wall-limit",
            options + GUEST_OPTIONS, ["/mnt/g", "blocked"])
    verdict("deadline: stopped", "wall-limit", options + GUEST_OPTIONS, ["/mnt/g", "stopped"])
    verdict("deadline: vfork", "wall-limit", options + GUEST_OPTIONS, ["/mnt/g", "vfork"])
    r, w = os.pipe()
    verdict("deadline: the reader of stdout is stuck", "wall-limit", options, ["yes"], stdout=w)
    os.close(r), os.close(w)
    r, w = os.pipe()
    process, path = start(options, sh("yes >&2"), stderr=w)
    check("deadline: the reader of stderr is stuck", 124, ended(process))
    check("deadline: the report is there nevertheless", "wall-limit", load(path)["verdict"])
    os.close(r), os.close(w)
    r, w = os.pipe()
    verdict("deadline: stdin stays open", "wall-limit", options, ["cat"], stdin=r)
    os.close(r), os.close(w)
    r, w = os.pipe()
    os.close(r)
    process, path = verdict("the reader of stdout has gone", "signal", [], ["yes"], stdout=w)
    check("the reader of stdout has gone: status", 128 + 13, process.returncode)
    os.close(w)
    r, w = os.pipe()
    os.close(r)
    process, path = start([], ["true"], stderr=w)
    check("nobody reads stderr", (0, "ok"), (ended(process), load(path)["verdict"]))
    os.close(w)


def output_kept():
    big = "x=; while :; do x=$x$x+; done"
    for want, options, text in (
        ("ok", [], ":"),
        ("exit", [], "exit 3"),
        ("signal", [], "kill -9 $$"),
        ("wall-limit", ["--timeout", "3s"], "sleep 1000"),
        ("cpu-limit", ["--cpu-time", "200ms"], "while :; do :; done"),
        ("memory-limit", ["--memory", "160M"], big),
        ("memory-limit", ["--memory", "160M", "--cgroup", "none"], big),
        ("pids-limit", ["--pids", "4"], "sleep 9 & sleep 9 & sleep 9 & sleep 9 & wait"),
        ("output-limit", ["--output", "4K"], "yes"),
    ):
        process, path = start(options + ["--capture"], sh("echo before; " + text), stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=LONG)
        report = load(path)
        kept = base64.b64decode(report["stdout"]["base64"])
        check(f"output is kept: {want}", (want, True, True),
              (report["verdict"], out.startswith(b"before\n"), kept == out))
        check(f"output is counted: {want}", len(out), report["stdout"]["kept"])


def any_bytes():
    data = bytes(range(256)) * 40
    process, path = start(["--capture"], sh("cat; cat /proc/self/cmdline >&2"), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
    process.communicate(data, timeout=LONG)
    report = load(path)
    check("any bytes: stdout", data, base64.b64decode(report["stdout"]["base64"]))
    for name in (b"\xff\xfe\x80", b"\xc3", b'"\\\n', b"\xed\xa0\x80"):
        process, path = start([], [name])
        ended(process)
        report = load(path)
        check(f"any bytes: a program called {name!r}", ("start-failed", 127, True),
              (report["verdict"], report["exit_code"], bool(report["message"])))
    process, _ = start([], ["true"], path="-")
    last = process.communicate(timeout=LONG)[1].splitlines()[-1]
    check("the report as the last line of stderr", "ok", json.loads(last)["verdict"])


def entries(directory):
    return sorted(os.listdir(directory))


def report_places():
    place = f"{WORK}/place"
    os.mkdir(place)
    with open(f"{place}/target", "w", encoding="ascii") as f:
        f.write("mine")
    os.symlink("target", f"{place}/link")
    verdict("report: in the place of a link", "ok", [], ["true"], path=f"{place}/link")
    with open(f"{place}/target", encoding="ascii") as f:
        check("report: the link was not followed", "mine", f.read())
    os.symlink("nowhere", f"{place}/dangling")
    verdict("report: in the place of a dangling link", "ok", [], ["true"], path=f"{place}/dangling")
    verdict("report: over an old one", "exit", [], ["false"], path=f"{place}/link")
    check("report: nothing else is left", ["dangling", "link", "target"], entries(place))

    for name, path in (("no such directory", f"{place}/none/report"), ("a directory", place),
                       ("below a file", f"{place}/target/report"), ("no descriptor", "/dev/fd/987")):
        process, _ = start([], ["sh", "-c", "echo started"], path=path, stdout=subprocess.PIPE)
        out, err = process.communicate(timeout=LONG)
        check(f"report: {name}: nothing starts, one line says why", (125, b"", 1, True),
              (process.returncode, out, err.count(b"\n"), b"--report" in err))
    process = subprocess.run([SENTRY, "run", "--report", "-", "--report", f"{place}/two", IMAGE, "true"],
                             capture_output=True, timeout=LONG, check=False)
    check("report: two of them", (125, True), (process.returncode, b"--report: given twice" in process.stderr))

    os.mkfifo(f"{place}/fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append(open(f"{place}/fifo", encoding="utf-8").read()))
    reader.start()
    # The reader has to be there: it is, as soon as the pipe can be opened.
    hold = os.open(f"{place}/fifo", os.O_WRONLY)
    process, _ = start([], ["true"], path=f"{place}/fifo")
    ended(process)
    os.close(hold)
    reader.join()
    check("report: a named pipe", "ok", json.loads(got[0])["verdict"])
    r, w = os.pipe()
    process, _ = start(["--capture"], ["true"], path=f"/dev/fd/{w}", pass_fds=[w])
    ended(process)
    os.close(w)
    check("report: a descriptor", "ok", json.loads(os.read(r, 65536))["verdict"])
    os.close(r)


def full_disk():
    """A file system of one page in a mount namespace of our own: the report does not fit."""
    disk = f"{WORK}/disk"
    os.mkdir(disk)
    script = (f"mount -t tmpfs -o size=16k none {disk} && echo mounted && exec 3>&1 && "
              f"{SENTRY} run --capture --report {disk}/report {IMAGE} -- sh -c 'yes | head -c 100000' >/dev/null 2>{WORK}/full; "
              f"echo status $?; ls -A {disk}; wc -l <{WORK}/full")
    process = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, timeout=LONG, check=False)
    out = process.stdout.decode().split("\n")
    if out[0] != "mounted":
        print("     no mount namespace: the full disk was not tried")
        return
    check("report: a full disk: status, no file, one line", ["status 125", "1", ""], out[1:])


def policy():
    path = f"{WORK}/policy.json"
    for text, want in (
        ('{"netwrk": "none"}', ":1: netwrk: unknown key"),
        ('{\n "limits": {\n  "wall_ms": 10,\n  "bogus": 1}}', ":4: limits.bogus: unknown key"),
        ('{\n\n"network": "host"}', ":3: network: must be one of: none"),
        ('{"network": 3}', ":1: network: must be a string"),
        ('{"network": null}', ":1: network: "),
        ('{"filesystem": "rw"}', ":1: filesystem: "),
        ('{"seccomp": "off"}', ":1: seccomp: "),
        ('{"limits": []}', ":1: limits: must be an object"),
        ('{"limits": {"wall_ms": "10"}}', ":1: limits.wall_ms: must be an integer"),
        ('{"limits": {"wall_ms": 1.5}}', ":1: limits.wall_ms: must be an integer"),
        ('{"limits": {"wall_ms": -1}}', ":1: limits.wall_ms: must be between"),
        ('{"limits": {"cpu_ms": 99999999999}}', ":1: limits.cpu_ms: must be between"),
        ('{"limits": {"memory_mb": 1}}', ":1: limits.memory_mb: must be between"),
        ('{"limits": {"pids": 0}}', ":1: limits.pids: must be between"),
        ('{"limits": {"files": 2}}', ":1: limits.files: must be between"),
        ('{"limits": {"file_mb": -1}}', ":1: limits.file_mb: must be between"),
        ('{"limits": {"disk_mb": true}}', ":1: limits.disk_mb: must be an integer"),
        ('{"limits": {"output_kb": {}}}', ":1: limits.output_kb: must be an integer"),
        ('{"limits": {"cpus": 0}}', ":1: limits.cpus: must be between"),
        ('{"namespaces": "pid"}', ":1: namespaces: must be an array"),
        ('{"namespaces": [\n"pid",\n"foo"]}', ":3: namespaces[1]: must be one of"),
        ('{"network": "none", "network": "none"}', ":1: duplicate"),
        ('{"network": "none"', ":1: "),
        ("{", ":1: "),
        ("", ":1: "),
        ("[]", ":1: must be an object"),
        ('{"network": "none"} x', ":1: "),
        ('{"a\\nb": 1}', ":1: a?b: unknown key"),
    ):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        process = subprocess.run([SENTRY, "run", "--policy", path, IMAGE, "--", "echo", "started"],
                                 capture_output=True, timeout=LONG, check=False)
        err = process.stderr.decode()
        check(f"policy: {text[:50]!r}", (125, b"", 1, True),
              (process.returncode, process.stdout, err.count("\n"), path + want in err))
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"network": "none", "filesystem": "ephemeral", "seccomp": "allowlist",
                   "namespaces": ["pid", "net", "mount", "user", "ipc"],
                   "limits": {"wall_ms": 300, "cpu_ms": 2000, "memory_mb": 256, "pids": 64, "files": 256,
                              "file_mb": 16, "disk_mb": 64, "output_kb": 64, "cpus": 1.0}}, f)
    for options in (["--policy", path], ["--hostname", "x", f"--policy={path}"]):
        _, report = verdict("policy: its limits hold", "wall-limit", options, ["sleep", "1000"])
        check("policy: it is its wall limit", True, "0.3 s" in load(report)["message"])
    for options in (["--timeout", "50s", "--policy", path], ["--policy", path, "--timeout", "50s"]):
        verdict("policy: options override it", "exit", options, sh("sleep 0.5; exit 1"))


KINDS = (
    ("ok", [], ["true"]),
    ("exit", [], ["false"]),
    ("signal", [], sh("kill -9 $$")),
    ("wall-limit", ["--timeout", "1s"], ["sleep", "1000"]),
    ("cpu-limit", ["--cpu-time", "100ms"], sh("while :; do :; done")),
    ("pids-limit", ["--pids", "4"], sh("sleep 9 & sleep 9 & sleep 9 & sleep 9 & wait")),
    ("output-limit", ["--output", "4K"], ["yes"]),
    ("memory-limit", ["--memory", "128M", "--cgroup", "none"], ["dd", "if=/dev/zero", "of=/dev/null", "bs=400M", "count=1"]),
    ("memory-limit", ["--memory", "128M"], ["dd", "if=/dev/zero", "of=/dev/null", "bs=400M", "count=1"]),
    ("start-failed", [], ["/nosuch"]),
)


def left_of(pgrp):
    return [pid for pid, _ in members(pgrp) if pid != os.getpid()]


def many():
    runs = []
    first = None
    for i in range(100):
        kind, options, program = KINDS[i % len(KINDS)]
        process, path = start(options, program, process_group=first or 0) if sys.version_info >= (3, 11) else \
            start(options, program, preexec_fn=lambda: os.setpgid(0, first or 0))
        first = first or process.pid
        runs.append((kind, process, path))
    wrong = []
    for kind, process, path in runs:
        status = ended(process)
        got = load(path)["verdict"] if os.path.exists(path) else f"no report, status {status}"
        if got != kind:
            wrong.append((kind, got))
        process.stderr.close()
    check("a hundred at once: every verdict", [], wrong)
    check("a hundred at once: no process is left", [], until_empty(lambda: left_of(first)))
    pids = {str(p.pid) for _, p, _ in runs}
    check("a hundred at once: no cgroup is left", [], until_empty(lambda: cgroups_of(pids)))


def main():
    for part in (at_once, deadline, output_kept, any_bytes, report_places, full_disk, policy, many):
        part()
    sys.exit(1 if failures else 0)


main()
