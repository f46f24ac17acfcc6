#!/usr/bin/python3
# tries: members named ../x, absolute, with PAX and GNU names that differ from the short one, with NUL, newline, 4096
#   bytes and 300 directories; devices, setuid files, capabilities, attributes that are not a user's
# must fail because: names with .. are refused, absolute ones are below the root; devices become empty files, other
#   attributes are dropped, the store is closed to others
# an escape would: write outside of the store, or leave a device or a setuid program where the host's users reach it
# source: ATTACKS.md I3
import os
import stat
import tarfile

from tool_oci import Layout, base, canary, images, layer, main, member, run_image, scratch

CHR, BLK, FIFO = tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE


def cases():
    out = canary()
    up = "../" * 24 + out[1:] + "/victim"
    sets = {
        "..": [member(up, b"evil")],
        "dir/../..": [member("etc/../../../" + up, b"evil")],
        "absolute": [member(out + "/victim", b"evil")],
        "pax path": [member("harmless", b"evil", pax={"path": up})],
        "pax linkpath": [member("l", kind=tarfile.SYMTYPE, link="x", pax={"linkpath": out}), member("l/victim", b"evil")],
        "pax size": [member("short", b"evil", pax={"size": "999999999999"})],
        "pax sparse": [member("s", b"1\n0\n999999999\n", pax={"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                                              "GNU.sparse.name": up, "GNU.sparse.realsize": "99999999999"})],
        "long": [member("x" * 4096, b"evil")],
        "deep": [member("d/" * 300 + "f", b"evil")],
        "newline": [member("a\nb", b"x"), member("\x1b]0;title\x07", b"x")],
        "dots": [member(".", kind=tarfile.DIRTYPE, mode=0o777), member("./", kind=tarfile.DIRTYPE), member("..", kind=tarfile.DIRTYPE)],
        "devices": [member("dev/mem", kind=CHR, devmajor=1, devminor=1), member("etc/disk", kind=BLK, devmajor=8, devminor=0),
                    member("etc/fifo", kind=FIFO), member("etc/escape", kind=CHR, devmajor=1, devminor=5)],
        "setuid": [member("bin/rootsh", b"#!/bin/sh\n", mode=0o6777)],
        "attributes": [member("etc/a", b"x", pax={"SCHILY.xattr.security.capability": "x" * 20,
                                                 "SCHILY.xattr.trusted.overlay.opaque": "y",
                                                 "SCHILY.xattr.system.posix_acl_access": "z"})],
        "duplicates": [member("etc/dup", bytes([65 + i % 26])) for i in range(5000)],
        "file over directory": [member("tmp", b"a file"), member("tmp/x", b"below a file")],
    }
    made = []
    for what, members in sets.items():
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            def make(what=what, members=members, form=form):
                return Layout(f"{what}-{form}".replace("/", "_").replace(" ", "-")).write([base(), layer(members, form)])
            made.append((f"{what}, format {form}", make))
    return made


def exposed(*_):
    """Devices, or setuid programs that others than the store's owner could reach."""
    store = scratch + "/store"
    if os.path.isdir(store) and os.stat(store).st_mode & 0o077:
        return True
    for path, dirs, files in os.walk(store):
        for name in dirs + files:
            mode = os.lstat(os.path.join(path, name)).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                return True
    return False


def twin():
    image = Layout("twin").write([base(), layer([member("a/b/" + "c" * 200, b"a long name\n")])])
    rc, out, err = run_image(image, "/bin/sh", "-c", "cat /a/b/*")
    return "works long names and directories" if out == "a long name\n" else f"broken {rc} {err}"


main(lambda: images(cases(), exposed), twin)
