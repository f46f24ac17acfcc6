#!/usr/bin/python3
# tries: what an image says about being run: WorkingDir in /proc/self/fd and through links, users that are not there or
#   numbers that overflow, Env with LD_PRELOAD and without '=', Entrypoint of megabytes; /dev, /proc, /etc/passwd and
#   /dev/null that are links to the host's
# must fail because: all of it is resolved in the guest's own file system; /dev and /proc are the sentry's
# an escape would: start in a directory of the host, or make the monitor load, read or write a file of the image's choice
# source: ATTACKS.md I5 I7 I8 I10
import os
import tarfile

from tool_oci import Layout, base, canary, images, layer, main, member, run_image, scratch

LINK, DIR = tarfile.SYMTYPE, tarfile.DIRTYPE


def cases():
    out = canary()
    configs = {f"WorkingDir /proc/self/fd/{n}": {"WorkingDir": f"/proc/self/fd/{n}"} for n in (3, 4, 7, 9)}
    configs |= {
        "WorkingDir with ..": {"WorkingDir": "/../../../.." + out},
        "WorkingDir by a link": {"WorkingDir": "/etc/out"},
        "WorkingDir relative": {"WorkingDir": "../.."},
        "WorkingDir of a megabyte": {"WorkingDir": "/x" * 500000},
        "User overflows": {"User": "4294967296:99999999999"},
        "User negative": {"User": "-1:-1"},
        "User a path": {"User": "../../root"},
        "LD_PRELOAD": {"Env": ["LD_PRELOAD=/etc/evil.so", "LD_AUDIT=/etc/evil.so", "SENTRY_STORE=" + out]},
        "Env without =": {"Env": ["x", "=", "=y", "a\nb=c", "PATH=/proc/self/fd/7"]},
        "Env of megabytes": {"Env": ["X=" + "y" * 3000000]},
        "Entrypoint relative": {"Entrypoint": ["../../../bin/sh"]},
        "Entrypoint of a descriptor": {"Entrypoint": ["/proc/self/fd/3/../../bin/sh"]},
        "hooks and volumes": {"Volumes": {out: {}}, "OnBuild": ["RUN rm -rf /"], "Hooks": {"prestart": [{"path": "/bin/sh"}]}},
        "types": {"WorkingDir": 7, "Env": "x", "User": []},
    }
    links = {
        "/dev is a link": [member("dev", kind=LINK, link=out)],
        "/dev/null is a link": [member("dev/null", kind=LINK, link=out + "/victim")],
        "/proc is a link": [member("proc", kind=LINK, link=out)],
        "/etc/passwd is a link": [member("etc/passwd", kind=LINK, link="/proc/self/root/etc/shadow")],
        "/tmp is a link": [member("tmp", kind=LINK, link=out)],
        "/etc is a link": [member("moved", kind=DIR), member("etc", kind=LINK, link="/proc/1/root/etc")],
    }
    common = layer([member("etc/out", kind=LINK, link=out), member("etc/evil.so", b"\x7fELF junk"),
                    member("etc/escape", kind=LINK, link=out + "/victim")])
    made = [(n, lambda c=c, i=i: Layout(f"config-{i}").write([base(), common], c)) for i, (n, c) in enumerate(configs.items())]
    made += [(n, lambda m=m, i=i: Layout(f"links-{i}").write([base(), common, layer(m)])) for i, (n, m) in enumerate(links.items())]
    return made


def twin():
    image = Layout("twin").write([base()], {"WorkingDir": "/etc", "Env": ["A=b", "PATH=/bin"], "User": "5:6"})
    rc, out, err = run_image(image, "/bin/sh", "-c", 'echo $(pwd) $A $(id -u) $(id -g)')
    return "works directory, environment and user" if out.strip() == "/etc b 5 6" else f"broken {rc} {out} {err}"


main(lambda: images(cases()), twin)
