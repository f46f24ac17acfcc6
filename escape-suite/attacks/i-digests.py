#!/usr/bin/python3
# tries: layers, manifests and configurations whose digest or size is another's; digests that are paths; blobs that are
#   links to files of the host, fifos, directories, devices; indexes in circles; foreign layers with URLs
# must fail because: what is used has been hashed before; names of blobs are hexadecimal digits, opened without following links
# an escape would: run what nobody signed, or read a host file as a layer and show it to the guest
# source: ATTACKS.md I4
import json
import os

from tool_oci import Layout, base, canary, images, layer, main, member, run_image, scratch


def spoil(name, change):
    """An honest image, then change(directory, index, manifest)."""
    def make():
        d = Layout(name.replace(" ", "-")).write([base(), layer([member("etc/x", b"y")])])
        index = json.load(open(d + "/index.json"))
        m = index["manifests"][0]["digest"][7:]
        manifest = json.load(open(f"{d}/blobs/sha256/{m}"))
        change(d, index, manifest)
        return d
    return name, make


def rewrite(d, index, manifest):
    """The manifest anew, with the right digest of itself."""
    lay = Layout.__new__(Layout)
    lay.dir = d
    index["manifests"][0] = lay.blob(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json")
    json.dump(index, open(d + "/index.json", "w"))


def cases():
    out = canary() + "/victim"

    def blob(d, manifest):
        return f"{d}/blobs/sha256/{manifest['layers'][1]['digest'][7:]}"

    def other_bytes(d, _, manifest):
        with open(blob(d, manifest), "r+b") as f:
            f.seek(512)
            f.write(b"evil")

    def replaced(kind):
        def change(d, _, manifest):
            os.unlink(blob(d, manifest))
            if kind == "fifo":
                os.mkfifo(blob(d, manifest))
            elif kind == "directory":
                os.mkdir(blob(d, manifest))
            else:
                os.symlink(kind, blob(d, manifest))
        return change

    def field(key, value, which=1):
        def change(d, index, manifest):
            (manifest["layers"][which] if which >= 0 else manifest["config"])[key] = value
            rewrite(d, index, manifest)
        return change

    def circle(d, index, _):
        index["manifests"] = [{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": "sha256:" + "0" * 64, "size": 10}]
        json.dump(index, open(d + "/index.json", "w"))
        os.symlink("../../index.json", f"{d}/blobs/sha256/{'0' * 64}")

    return [spoil("other bytes", other_bytes), spoil("a link to the host", replaced(out)),
            spoil("a link upwards", replaced("../../../canary/victim")), spoil("a fifo", replaced("fifo")),
            spoil("a directory", replaced("directory")), spoil("a device", replaced("/dev/zero")),
            spoil("size too small", field("size", 10)), spoil("size too large", field("size", 1 << 50)),
            spoil("size negative", field("size", -1)), spoil("size a string", field("size", "12")),
            spoil("digest a path", field("digest", "sha256:../../../canary/victim")),
            spoil("digest absolute", field("digest", "sha256:" + out)),
            spoil("digest of another kind", field("digest", "md5:" + "0" * 32)),
            spoil("digest in capitals", field("digest", "sha256:" + "A" * 64)),
            spoil("digest with NUL", field("digest", "sha256:" + "0" * 60 + "\x00/..")),
            spoil("configuration a path", field("digest", "sha256:../../../canary/victim", -1)),
            spoil("foreign layer", field("urls", ["http://169.254.169.254/layer", "file://" + out])),
            spoil("an index in a circle", circle)]


def used(name, rc, out, _):
    return rc != 125 and name not in ("foreign layer",)


def twin():
    rc, out, err = run_image(Layout("twin").write([base(), layer([member("etc/x", b"y")])]), "/bin/cat", "/etc/x")
    return "works an image whose digests are right" if out == "y" else f"broken {rc} {err}"


main(lambda: images(cases(), used), twin)
