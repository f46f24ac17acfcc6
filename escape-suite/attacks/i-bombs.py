#!/usr/bin/python3
# tries: a layer that unpacks a thousand to one, gzip in gzip, one gzip member after another, a sparse file of a terabyte,
#   two thousand layers, twenty thousand members, endless extended headers
# must fail because: bytes, members, layers and the ratio of unpacked to packed are limited and counted while
#   unpacking; a refused image leaves nothing
# an escape would: fill the disk or the memory of the one who unpacks
# source: ATTACKS.md I4 I3
import gzip
import io
import tarfile
import time

from tool_oci import HANG, Layout, base, images, layer, main, member, run_image, say, scratch, size_of


def zeros(n):
    """A layer with a file of n zero bytes, compressed piece by piece: never in memory as a whole."""
    info = member("zeros")[0]
    info.size = n
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9) as z:
        z.write(info.tobuf())
        for _ in range(n >> 20):
            z.write(bytes(1 << 20))
        z.write(bytes(10240))
    return out.getvalue()


def cases():
    def ratio():
        lay = Layout("ratio")
        return lay.write([base(), b""], packed={1: zeros(128 << 20)})

    def nested():
        tar = layer([member("etc/x", bytes(1 << 20))])
        return Layout("nested").write([base(), tar], packed={1: gzip.compress(gzip.compress(gzip.compress(tar)))})

    def members():
        tar = layer([member("etc/x", b"y")])
        return Layout("many").write([base(), tar], packed={1: gzip.compress(tar) + gzip.compress(bytes(1 << 20)) * 3000})

    def sparse():
        return Layout("sparse").write([base(), layer([member("s", b"1\n0\n0\n" + bytes(506), pax={
            "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s",
            "GNU.sparse.realsize": str(1 << 40)})])])

    def layers():
        tar = layer([member("etc/x", b"y")])
        return Layout("layers").write([base()] + [tar] * 2000)

    def entries():
        return Layout("entries").write([base(), layer([member(f"e/{i}", b"") for i in range(20000)])])

    def headers():
        return Layout("headers").write([base(), layer([member("h", b"x", pax={f"k{i}": "v" * 60000 for i in range(40)})])])

    return [("a thousand to one", ratio), ("gzip in gzip", nested), ("six hundred gzip members", members),
            ("a sparse terabyte", sparse), ("two thousand layers", layers), ("twenty thousand members", entries),
            ("extended headers of 2 MB", headers)]


start = time.time()


def too_much(name, *_):
    used = size_of(scratch + "/store")
    if used > 300 << 20:
        say(f"step {name}: {used >> 20} MiB are in the store")
    return used > 300 << 20 or time.time() - start > 5 * HANG


def twin():
    tar = layer([member("etc/x", b"compressed\n" * 1000)])
    rc, out, err = run_image(Layout("twin").write([base(), tar], packed={1: gzip.compress(tar)}), "/bin/sh", "-c",
                             "head -n 1 /etc/x 2>/dev/null || cat /etc/x")
    return "works a compressed layer" if out.startswith("compressed\n") else f"broken {rc} {err}"


main(lambda: images(cases(), too_much), twin)
