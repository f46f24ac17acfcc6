#!/usr/bin/env python3
"""images_make.py DIR BUSYBOX: OCI layouts for images.sh, good ones and hostile ones.

Each case is a directory DIR/CASE with a layout. DIR/cases lists: name, kind (good or bad), and for a
bad one an expression that its error must match.
"""
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile

OUT, BUSYBOX = sys.argv[1:3]
CASES = []
GZIP = "application/vnd.oci.image.layer.v1.tar+gzip"
PLAIN = "application/vnd.oci.image.layer.v1.tar"
ZSTD = "application/vnd.oci.image.layer.v1.tar+zstd"


def entry(name, kind=tarfile.REGTYPE, data=b"", link="", mode=0o644, uid=0, gid=0, pax=None):
    t = tarfile.TarInfo(name)
    t.type, t.linkname, t.mode, t.uid, t.gid, t.mtime = kind, link, mode, uid, gid, 1000000000
    t.size = len(data)
    if kind == tarfile.DIRTYPE and mode == 0o644:
        t.mode = 0o755
    if pax:
        t.pax_headers = pax
    return t, data


def d(name, **kw):
    return entry(name, tarfile.DIRTYPE, **kw)


def f(name, data=b"x\n", **kw):
    return entry(name, data=data, **kw)


def sym(name, to):
    return entry(name, tarfile.SYMTYPE, link=to)


def hard(name, to):
    return entry(name, tarfile.LNKTYPE, link=to)


def tar(entries, fmt=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fmt, encoding="utf-8") as t:
        for info, data in entries:
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


with open(BUSYBOX, "rb") as bb:
    BASE = tar([d("bin"), f("bin/busybox", bb.read(), mode=0o755), sym("bin/sh", "busybox"),
                d("etc"), f("etc/passwd", b"root:x:0:0::/:/bin/sh\nweb:x:33:34::/:/bin/sh\n"),
                f("etc/group", b"root:x:0:\nwebs:x:35:\n"), d("tmp", mode=0o1777)])


class Layout:
    def __init__(self, name):
        self.dir = os.path.join(OUT, name)
        os.makedirs(os.path.join(self.dir, "blobs/sha256"))
        with open(os.path.join(self.dir, "oci-layout"), "w") as o:
            o.write('{"imageLayoutVersion":"1.0.0"}')

    def blob(self, data, kind, **more):
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.dir, "blobs/sha256", digest), "wb") as o:
            o.write(data)
        return dict({"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}, **more)

    def index(self, manifests):
        with open(os.path.join(self.dir, "index.json"), "w") as o:
            json.dump({"schemaVersion": 2, "manifests": manifests}, o)

    def path(self, descriptor):
        return os.path.join(self.dir, "blobs/sha256", descriptor["digest"][7:])


def pack(data, how):
    if how == "gzip":
        return gzip.compress(data, 1, mtime=0), GZIP
    if how == "zstd":
        return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE,
                              check=True).stdout, ZSTD
    return data, PLAIN


def image(name, layers, how="plain", config=None, arch="amd64", tamper=None, diffs=None, top=None):
    """layers: tars as bytes, or (packed, media type, diff_id's bytes)."""
    lay = Layout(name)
    descriptors, diff_ids = [], []
    for layer in layers:
        packed, kind, data = layer if isinstance(layer, tuple) else (*pack(layer, how), layer)
        descriptors.append(lay.blob(packed, kind))
        diff_ids.append("sha256:" + hashlib.sha256(data).hexdigest())
    doc = {"os": "linux", "architecture": arch, "config": config or {},
           "rootfs": {"type": "layers", "diff_ids": diffs or diff_ids}}
    c = lay.blob(json.dumps(doc).encode(), "application/vnd.oci.image.config.v1+json")
    manifest = {"schemaVersion": 2, "config": c, "layers": descriptors}
    if tamper:
        tamper(lay, manifest)
    m = lay.blob(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json")
    if top:
        top(lay, m)
    else:
        lay.index([m])
    return lay


def good(name, *args, **kw):
    CASES.append((name, "good", "-"))
    return image(name, *args, **kw)


def bad(name, pattern, *args, **kw):
    CASES.append((name, "bad", pattern))
    return image(name, *args, **kw)


def over(*entries, **kw):
    return [BASE, tar(entries, **kw)]


# --- honest images ------------------------------------------------------------------------------
good("plain", [BASE], config={"Env": ["A=image", "B=image"], "Entrypoint": ["/bin/busybox"],
                              "Cmd": ["echo", "from", "cmd"], "WorkingDir": "/made/up",
                              "User": "web:webs"})
good("gzip", [BASE, tar([f("etc/x")])], how="gzip")
if subprocess.run(["sh", "-c", "command -v zstd"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
    good("zstd", [BASE, tar([f("etc/x")])], how="zstd")
    good("large-zstd", [BASE, tar([f("noise/%d" % n, os.urandom(400000)) for n in range(8)])], how="zstd")
# Large enough to be decompressed by a thread of its own.
noise = tar([f("noise/%d" % n, os.urandom(400000)) for n in range(8)])
good("large-gzip", [BASE, noise], how="gzip")
good("large-twice", [BASE, (gzip.compress(noise[:1500160]) + gzip.compress(noise[1500160:]), GZIP, noise)])
bad("large-cut", "layer 2.*(decompressing|damaged|runcated)",
    [BASE, (gzip.compress(noise)[:2000000], GZIP, noise)])
bad("large-diff", "layer 2.*diff_id", [BASE, (gzip.compress(noise), GZIP, BASE)])
good("whiteouts", [BASE, tar([d("w"), f("w/a"), f("w/b"), d("o"), f("o/old"), d("o/sub"),
                              f("o/sub/old"), d("p"), f("p/old")]),
                   tar([f("w/.wh.a", b""), f("o/new"), d("o/sub"), f("o/sub/new"),
                        f("o/.wh..wh..opq", b""), f(".wh.p", b""), f("w/.wh..wh.aufs", b"")])])
good("links", [BASE, tar([d("l"), f("l/one", b"one\n"), hard("l/two", "l/one"),
                          hard("l/three", "./l/one")]),
               tar([hard("l/four", "/l/one"), sym("l/loop", "loop"), hard("l/five", "l/loop")])])
good("through", [BASE, tar([d("usr"), d("usr/lib"), sym("lib", "usr/lib"), sym("abs", "/usr/lib")]),
                 tar([f("lib/a", b"a\n"), f("abs/b", b"b\n")])])
good("replace", [BASE, tar([d("r"), f("r/file"), sym("r/link", "../etc"), d("r/dir"),
                            f("r/dir/x")]),
                 tar([d("r/file"), f("r/file/in", b"in\n"), d("r/link"), f("r/link/in", b"in\n"),
                      f("r/dir", b"now a file\n")])])
long = "/".join("d%03d" % i + "x" * 100 for i in range(20))
good("names", [BASE, tar([f("n/" + long + "/" + "e" * 255, b"pax\n"), f("n/\u00fcml\u00e4ut", b"u\n"),
                          f("n/new\nline", b"nl\n")]),
               tar([f("g/" + long + "/end", b"gnu\n")], fmt=tarfile.GNU_FORMAT),
               tar([f("./dot/./x", b"dot\n"), f("/abs/x", b"abs\n"), f("a//b///c", b"abc\n")])])
good("attributes", [BASE, tar([f("s", mode=0o4755, uid=1000, gid=1001), d("t", mode=0o1777),
                               f("u", pax={"SCHILY.xattr.user.color": "blue",
                                           "SCHILY.xattr.trusted.x": "no"}),
                               d("sg", mode=0o2755, gid=7), f("sg/in", gid=0), d("closed", mode=0),
                               f("closed/x", mode=0)])])
good("devices", over(entry("null", tarfile.CHRTYPE), entry("sda", tarfile.BLKTYPE),
                     entry("fifo", tarfile.FIFOTYPE), d("dev"), sym("dev/null", "/etc/passwd"),
                     sym("dev/pts", "/etc")))
good("devlink", over(sym("dev", "etc"), sym("proc", "/tmp")))
good("devgone", over(sym("dev", "/nowhere/at/all")))
CASES.append(("sysfile", "odd", "-"))
image("sysfile", over(f("sys")))
good("empty-layer", [BASE, tar([]), b""])
good("double", over(f("x", b"first\n"), f("x", b"second\n"), d("y"), d("y"), hard("x", "x")))


def two(lay, m):
    other = dict(m, platform={"os": "linux", "architecture": "arm64"})
    ours = dict(m, platform={"os": "linux", "architecture": "amd64"})
    noise = dict(m, platform={"os": "unknown", "architecture": "unknown"})
    inner = lay.blob(json.dumps({"schemaVersion": 2, "manifests": [other, noise, ours]}).encode(),
                     "application/vnd.oci.image.index.v1+json",
                     annotations={"org.opencontainers.image.ref.name": "one"})
    lay.index([inner])


good("platforms", [BASE], top=two)

# --- I1, I3: names and links that lead out --------------------------------------------------------
canary = os.path.join(os.path.dirname(OUT), "canary")
good("escape-write", [BASE, tar([d(canary.lstrip("/")), sym("out", canary)]),
                      tar([f("out/file", b"inside\n")])])
good("escape-whiteout", [BASE, tar([d(canary.lstrip("/")), f(canary.lstrip("/") + "/victim"),
                                    sym("out", canary)]),
                         tar([f("out/.wh.victim", b"")])])
good("escape-opaque", [BASE, tar([sym("out", canary), sym("up", "../../../../../..")]),
                       tar([f("out/.wh..wh..opq", b""), f("up/.wh." + canary.split("/")[1], b"")])])
good("absolute", over(f(canary + "/absolute", b"inside\n")))
bad("nowhere", "member out/x.*link that leads nowhere", [BASE, tar([sym("out", canary)]),
                                                       tar([f("out/x")])])
bad("dotdot", "member ../x: leads out", over(f("../x")))
bad("dotdot-deep", "member a/b/../../../x: leads out", over(f("a/b/../../../x")))
bad("dotdot-dir", "leads out", over(d("..")))
bad("hard-out", "member h: hard link to ../../../../etc/passwd: leads out",
    over(hard("h", "../../../../etc/passwd")))
bad("hard-absolute", "member h: hard link to .*canary.*", over(hard("h", canary + "/victim")))
bad("hard-through", "member h: hard link to out/victim", [BASE, tar([sym("out", canary)]),
                                                         tar([hard("h", "out/victim")])])
bad("hard-dir", "hard link to a directory", over(hard("h", "etc")))
bad("hard-root", "hard link to the root", over(hard("h", "/")))
bad("whiteout-dots", "whiteout of nothing", over(f("etc/.wh...", b"")))
bad("whiteout-empty", "whiteout of nothing", over(f(".wh.", b"")))
bad("root-file", "the root is not a directory", over(sym(".", "/etc")))
bad("file-parent", "its directory", over(f("etc/passwd/x")))
bad("long-component", "name is too long", over(f("x" * 256)))
bad("long-name", "too long|deeper than", over(f("/".join(["y" * 200] * 25))))
bad("too-deep", "deeper than", over(f("/".join(["z"] * 300))))
bad("xattr-big", "extended attribute user.big", over(f("x", pax={"SCHILY.xattr.user.big": "b" * 70000})))
bad("xattr-many", "more than 64 extended", over(f("x", pax={"SCHILY.xattr.user.%d" % i: "v" for i in range(100)})))
raw = bytearray(tar([f("neg", b"")]))
raw[124:136] = b"\xff" * 12
raw[148:156] = b"        "
raw[148:156] = b"%06o\0 " % sum(raw[:512])
bad("negative", "damaged tar|negative", [BASE, bytes(raw)])
bad("truncated", "damaged tar|truncated|Truncated", [BASE, tar([f("t", b"y" * 100000)])[:50000]])
bad("garbage", "not a tar archive", [BASE, os.urandom(4096)])
good("pax-path", over(f("q", pax={"path": "in/side"})))
bad("pax-path-out", "leads out", over(f("q", pax={"path": "../in/side"})))

good("sparse", over(f("big", b"data", pax={"GNU.sparse.map": "100000000,4", "GNU.sparse.size": "200000000"})))
good("sparse-fresh", over(f("big", b"data", pax={"GNU.sparse.map": "100000001,4", "GNU.sparse.size": "200000000"})))
bad("sparse-huge", "member big: a file of 1099511627776 bytes: the image is larger than 68719476736 bytes .--max-size",
    over(f("big", b"data", pax={"GNU.sparse.map": "1000000,4", "GNU.sparse.size": str(1 << 40)})))
bad("sparse-lie", "member big: damaged tar",
    over(f("big", b"data", pax={"GNU.sparse.map": "9000000,4", "GNU.sparse.size": "2000000"})))

# --- I4: bombs and lies ----------------------------------------------------------------------------
zeros = tar([f("bomb", bytes(100 << 20))])
bad("bomb-gzip", "more than 200 times its size", [BASE, (gzip.compress(zeros, 6), GZIP, zeros)])
twice = tar([f("x")])
bad("nested", "compressed more than once",
    [BASE, (gzip.compress(gzip.compress(twice)), GZIP, gzip.compress(twice))])
bad("cut-gzip", "decompressing|damaged|truncated", [BASE, (gzip.compress(os.urandom(90000))[:5000], GZIP, b"")])
bad("layers-many", "more than 256 layers", [BASE] + [twice] * 300)


def size_lie(lay, m):
    m["layers"][0]["size"] += 1


def rewrite(lay, m):
    with open(lay.path(m["layers"][1]), "r+b") as o:
        o.seek(600)
        o.write(b"!")


def gone(lay, m):
    os.unlink(lay.path(m["layers"][1]))


def config_changed(lay, m):
    with open(lay.path(m["config"]), "r+b") as o:
        o.seek(2)
        o.write(b"O")


def blob_link(lay, m):
    os.unlink(lay.path(m["layers"][1]))
    os.symlink("/etc/passwd", lay.path(m["layers"][1]))


def traversal(lay, m):
    m["layers"][0]["digest"] = "sha256:../../../../etc/passwd"


def encrypted(lay, m):
    m["layers"][0]["mediaType"] += "+encrypted"


extra = [BASE, tar([f("etc/some", b"text\n" * 1000)])]
bad("size-lie", r"manifest .*layers\[0\]|size says", extra, tamper=size_lie)
bad("digest", "layer 2 .*does not match its digest", extra, tamper=rewrite)
bad("blob-gone", "No such file", extra, tamper=gone)
bad("blob-link", "Too many levels|regular", extra, tamper=blob_link)
bad("config-digest", "config .*does not match its digest", extra, tamper=config_changed)
bad("digest-path", r"layers\[0\].digest: not a sha256", extra, tamper=traversal)
bad("encrypted", r"layers\[0\]: .*no kind of layer", extra, tamper=encrypted)
bad("diff-id", "layer 2.*diff_id", [BASE, tar([f("x")])], how="gzip",
    diffs=["sha256:" + hashlib.sha256(BASE).hexdigest(), "sha256:" + "0" * 64])
bad("diff-id-plain", "layer 1.*diff_id", [BASE], diffs=["sha256:" + "0" * 64])
bad("diff-ids-few", "rootfs.diff_ids: 1, but the image has 2 layers", extra,
    diffs=["sha256:" + hashlib.sha256(BASE).hexdigest()])
bad("arch", "architecture: 'arm64'", [BASE], arch="arm64")
bad("env-type", r"config.Env\[0\]", [BASE], config={"Env": [1]})
bad("workdir", "config.WorkingDir: not an absolute path", [BASE], config={"WorkingDir": "../x"})


def no_platform(lay, m):
    lay.index([dict(m, platform={"os": "windows", "architecture": "amd64"})])


def several(lay, m):
    lay.index([dict(m, annotations={"org.opencontainers.image.ref.name": n}) for n in ("one", "two")])


def text(content):
    def write(lay, m):
        with open(os.path.join(lay.dir, "index.json"), "wb") as o:
            o.write(content)
    return write


bad("platform", "no image for linux/amd64 .*windows/amd64", [BASE], top=no_platform)
bad("several", "several images.*one, two", [BASE], top=several)
bad("json-deep", "index.json", [BASE], top=text(b"[" * 100000))
bad("json-cut", "index.json", [BASE], top=text(b'{"manifests": ['))
bad("json-type", "index.json:1: manifests", [BASE], top=text(b'{"manifests": {}}'))
bad("json-twice", "index.json", [BASE], top=text(b'{"manifests": [], "manifests": []}'))
bad("json-empty", "index.json", [BASE], top=text(b""))
bad("json-big", "index.json", [BASE], top=text(b" " * (5 << 20)))

with open(os.path.join(OUT, "cases"), "w") as listing:
    for case in CASES:
        listing.write("\t".join(case) + "\n")
