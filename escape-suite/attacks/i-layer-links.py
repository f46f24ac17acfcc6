#!/usr/bin/python3
# tries: a layer plants a link that leads out of the unpack root; later layers write, hard-link, delete, change
#   owner and attributes through it; whiteouts with names that are paths; links in circles and to /proc
# must fail because: every name is resolved below the root being filled, by openat2, and links in the middle
#   never leave it
# an escape would: write or delete a file of the host as the one who unpacks, often root
# source: ATTACKS.md I1; thaloco/banger
import tarfile

from tool_oci import Layout, base, canary, digest, images, layer, main, member, run_image

LINK, HARD, DIR = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


def cases():
    out = canary()
    up = "../" * 24 + out[1:]
    later = {
        "file through a link": [member("etc2/victim", b"evil")],
        "directory over a link": [member("etc2", kind=DIR, mode=0o777), member("etc2/victim", b"evil")],
        "hard link through a link": [member("copy", kind=HARD, link="etc2/victim"), member("copy", b"evil")],
        "whiteout through a link": [member("etc2/.wh.victim")],
        "opaque through a link": [member("etc2/.wh..wh..opq")],
        "whiteout that is a path": [member(".wh../../canary/victim"), member(".wh...")],
        "whiteout of everything above": [member(".wh..")],
        "attributes through a link": [member("etc2", kind=DIR, mode=0o777, uid=1234, mtime=1,
                                             pax={"SCHILY.xattr.user.x": "y"})],
        "hard link to the host": [member("copy", kind=HARD, link=out + "/victim"), member("copy", b"evil")],
        "hard link upwards": [member("copy", kind=HARD, link=up + "/victim"), member("copy", b"evil")],
    }
    first = {"absolute": out, "relative": up, "magic": "/proc/self/root" + out, "cwd": "/proc/self/cwd/../canary"}
    made = []
    for how, target in first.items():
        for what, members in later.items():
            def make(how=how, what=what, target=target, members=members):
                plant = layer([member("etc2", kind=LINK, link=target), member("etc/escape", kind=LINK,
                                                                             link=target + "/victim")])
                return Layout(f"{how}-{what}".replace(" ", "-")).write([base(), plant, layer(members)])
            made.append((f"{how} link, {what}", make))
    chain = [member(f"l{i}", kind=LINK, link=f"l{i + 1}") for i in range(60)] + [member("l60", kind=LINK, link=out)]
    made.append(("a chain of links", lambda: Layout("chain").write(
        [base(), layer(chain), layer([member("l0/victim", b"evil"), member("l30/new", b"evil")])])))
    return made


def twin():
    inside = [member("real", kind=DIR), member("link", kind=LINK, link="real")]
    image = Layout("twin").write([base(), layer(inside), layer([member("link/file", b"through a link inside\n")])])
    rc, out, err = run_image(image, "/bin/cat", "/real/file")
    return "works a link inside of the image is followed" if out == "through a link inside\n" else f"broken {rc} {err}"


main(lambda: images(cases()), twin)
