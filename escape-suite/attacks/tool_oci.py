"""tool_oci: what the attacks by images and bundles share. Host-side: runs on the host as the caller of the
runtime under test, writes below SCRATCH only, and hands the runtime hostile images and bundles."""
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

scratch = os.environ.get("SCRATCH", "")
role = sys.argv[1] if len(sys.argv) > 1 else ""
# Seconds. What takes less may be the fault of a machine that has fifty others to serve; of other people's runtimes some
# do hang, and the suite has to come to its end.
HANG = 30 if os.environ.get("RUNTIME_KIND") == "oci" and "runsc-shim" not in os.environ.get("RUNTIME_NAME", "") else 200


def say(*words):
    print(" ".join(str(w).replace("\n", " ") for w in words)[:400], flush=True)


def main(attack, twin):
    """Runs the role; both functions return the last line."""
    if role == "attack" and os.environ.get("SENTRY_SUITE") != "1":
        say("cannot not run by escape-suite")
        return
    if not scratch or not os.path.isdir(scratch):
        say("cannot no SCRATCH")
        return
    say(twin() if role == "twin" else attack())


# -- what must not change ---------------------------------------------------------------------------

def canary():
    """A tree beside everything that the runtime may write."""
    d = scratch + "/canary"
    os.makedirs(d + "/dir", exist_ok=True)
    for name in ("victim", "dir/file"):
        with open(f"{d}/{name}", "w") as f:
            f.write("outside of every image\n")
    return d


def snapshot(d):
    """Names, kinds, owners, modes, contents, times: /etc/passwd of the host is part of it."""
    seen = []
    for path, dirs, files in os.walk(d):
        for name in sorted(dirs + files) + ["."]:
            p = os.path.join(path, name)
            st = os.lstat(p)
            data = open(p, "rb").read() if os.path.isfile(p) and not os.path.islink(p) else b""
            seen.append((p, st.st_mode, st.st_uid, st.st_mtime_ns, st.st_nlink, data))
    st = os.stat("/etc/passwd")
    return sorted(seen), (st.st_ino, st.st_size, st.st_mtime_ns, st.st_mode)


def size_of(d):
    return sum(os.lstat(os.path.join(p, f)).st_blocks * 512 for p, _, fs in os.walk(d) for f in fs)


# -- images -------------------------------------------------------------------------------------------

def member(name, data=b"", kind=tarfile.REGTYPE, link="", mode=0o755, pax=None, **more):
    t = tarfile.TarInfo(name)
    t.type, t.linkname, t.mode, t.size = kind, link, mode, len(data)
    t.pax_headers = pax or {}
    for key, value in more.items():
        setattr(t, key, value)
    return t, data


def layer(members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def base():
    """busybox and the directories that a program expects."""
    with open(os.environ["IMAGE"] + "/bin/busybox", "rb") as f:
        box = f.read()
    made = [member(d, kind=tarfile.DIRTYPE) for d in ("bin", "etc", "tmp", "dev", "proc", "sys")]
    made.append(member("bin/busybox", box))
    made += [member("bin/" + n, kind=tarfile.SYMTYPE, link="busybox")
             for n in ("sh", "echo", "cat", "ls", "id", "pwd", "env", "true", "sleep")]
    return layer(made)


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Layout:
    """An OCI layout in SCRATCH; everything in it can be made to lie."""

    def __init__(self, name):
        self.dir = f"{scratch}/{name}"
        os.makedirs(self.dir + "/blobs/sha256")
        with open(self.dir + "/oci-layout", "w") as f:
            f.write('{"imageLayoutVersion":"1.0.0"}')

    def blob(self, data, media, **lies):
        d = digest(data)
        with open(f"{self.dir}/blobs/sha256/{d[7:]}", "wb") as f:
            f.write(data)
        return {"mediaType": media, "digest": d, "size": len(data), **lies}

    def write(self, layers, config=None, packed=None, **lies):
        """layers: tar bytes; packed: how each is stored; lies: into the layers' descriptors."""
        kind = "application/vnd.oci.image."
        conf = {"architecture": "amd64", "os": "linux", "config": config or {},
                "rootfs": {"type": "layers", "diff_ids": [digest(x) for x in layers]}}
        descs = []
        for i, tar in enumerate(layers):
            stored = (packed or {}).get(i, tar)
            media = kind + "layer.v1.tar" + ("+gzip" if stored[:2] == b"\x1f\x8b" else "")
            descs.append(self.blob(stored, media, **(lies if i == len(layers) - 1 else {})))
        manifest = {"schemaVersion": 2, "config": self.blob(json.dumps(conf).encode(), kind + "config.v1+json"),
                    "layers": descs}
        index = {"schemaVersion": 2,
                 "manifests": [self.blob(json.dumps(manifest).encode(), kind + "manifest.v1+json")]}
        with open(self.dir + "/index.json", "w") as f:
            json.dump(index, f)
        return self.dir


def run_image(image, *command, options=(), timeout=300):
    """`sentry run IMAGE`: (status, standard output, standard error)."""
    env = dict(os.environ, SENTRY_STORE=scratch + "/store", TMPDIR=scratch)
    argv = os.environ["RUNTIME"].split() + list(options) + [image] + (["--"] + list(command) if command else [])
    try:
        p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return -1, "", "no answer"
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace").strip()


def images(cases, checked=None):
    """Runs each (name, layers, config, packed, lies): the last line. Outside of the store nothing may change."""
    outside = canary()
    before, bad, refused = snapshot(outside), [], 0
    for name, make in cases:
        image = make()
        start = time.time()
        rc, out, err = run_image(image, "/bin/sh", "-c", "cat /etc/escape /escape 2>/dev/null; echo ran")
        say(f"step {name}: status {rc} after {time.time() - start:.1f} s "
            f"{out.strip()[:60]} {err.replace(scratch, '')[:120]}")
        refused += rc == 125
        if snapshot(outside) != before:
            bad.append(name)
            before = snapshot(outside)
        if rc in (-1, 139, 134) or "internal error" in err or "outside of every image" in out:
            bad.append(name)
        if checked and checked(name, rc, out, err):
            bad.append(name)
    if bad:
        return "ESCAPED " + ", ".join(bad)
    return f"contained {len(cases)} images, {refused} refused; nothing outside of the store has changed"


# -- bundles ------------------------------------------------------------------------------------------

options = []  # further global ones


def runtime():
    if os.environ.get("RUNTIME_KIND") == "oci":
        return os.environ["RUNTIME"].split()
    return [os.environ["BIN"] + "/runsc-shim"]


def oci(*args, root=None, timeout=HANG, **more):
    """The OCI runtime: (status, output and errors). Into a file: what it starts may keep a pipe open."""
    argv = runtime() + options + ["--root", root or scratch + "/state"] + list(args)
    with tempfile.TemporaryFile(dir=scratch) as out:
        try:
            p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=timeout, **more)
        except subprocess.TimeoutExpired:
            return -1, "no answer"
        out.seek(0)
        return p.returncode, out.read(1 << 20).decode(errors="replace").strip()


def config(args, **process):
    none = {k: [] for k in ("bounding", "effective", "permitted", "inheritable", "ambient")}
    return {"ociVersion": "1.0.2", "hostname": "box", "root": {"path": "rootfs", "readonly": False},
            "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": args, "cwd": "/",
                        "env": ["PATH=/bin"], "capabilities": none, "noNewPrivileges": True, **process},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
                       {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}],
            "linux": {"namespaces": [{"type": t} for t in ("pid", "ipc", "uts", "mount", "network")]}}


def bundle(name, conf, prepare=None):
    """A bundle with a small root file system, which prepare(root) may spoil. conf: a dictionary or raw text."""
    d = f"{scratch}/{name}"
    root = d + "/rootfs"
    for sub in ("bin", "etc", "tmp", "dev", "proc", "sys"):
        os.makedirs(f"{root}/{sub}")
    shutil.copy2(os.environ["IMAGE"] + "/bin/busybox", root + "/bin/busybox")
    for n in ("sh", "echo", "cat", "ls", "pwd", "true", "sleep", "id", "env", "readlink", "head", "grep"):
        os.symlink("busybox", f"{root}/bin/{n}")
    if prepare:
        prepare(root)
    with open(d + "/config.json", "wb") as f:
        f.write(conf if isinstance(conf, bytes) else json.dumps(conf).encode())
    return d


def run_bundle(name, conf, prepare=None, *more, timeout=HANG):
    d = bundle(name, conf, prepare)
    r = oci("run", "--bundle", d, *more, f"escape-{os.getpid()}-{name}", timeout=timeout)
    oci("delete", "--force", f"escape-{os.getpid()}-{name}")
    return r
