#!/bin/bash
# unpack.sh [DIR] [ROUNDS]: how fast `sentry` unpacks an image with one layer of DIR (the debian test image
# by default), beside `tar x` of the same layer; then what a warm start from the store costs beside the
# same directory. Prints the median of ROUNDS (5) interleaved rounds; needs scratch space of nine
# times ROUNDS the size of DIR in ${TMPDIR:-/tmp}.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
source "$top/bench/lib.sh"
sentry=${SENTRY:-$top/build/bin/sentry}
dir=${1:-$top/build/images/debian} rounds=${2:-5}
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
export SENTRY_STORE=$work/store

tar -C "$dir" --numeric-owner -cf "$work/layer.tar" .
python3 - "$work" <<'PY'
import gzip, hashlib, json, os, shutil, subprocess, sys
work = sys.argv[1]
def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(1 << 20):
            h.update(piece)
    return h.hexdigest()
subprocess.run(["gzip", "-1k", work + "/layer.tar"], check=True)
subprocess.run("command -v zstd >/dev/null && zstd -q -3 -k %s/layer.tar || true" % work, shell=True, check=True)
diff = digest(work + "/layer.tar")
for kind, name in (("", "layer.tar"), ("+gzip", "layer.tar.gz"), ("+zstd", "layer.tar.zst")):
    if not os.path.exists(work + "/" + name):
        continue
    lay = work + "/oci" + kind
    os.makedirs(lay + "/blobs/sha256")
    def blob(data, media):
        h = hashlib.sha256(data).hexdigest()
        open(lay + "/blobs/sha256/" + h, "wb").write(data)
        return {"mediaType": media, "digest": "sha256:" + h, "size": len(data)}
    h = digest(work + "/" + name)
    os.link(work + "/" + name, lay + "/blobs/sha256/" + h)
    layer = {"mediaType": "application/vnd.oci.image.layer.v1.tar" + kind, "digest": "sha256:" + h,
             "size": os.stat(work + "/" + name).st_size}
    config = blob(json.dumps({"os": "linux", "architecture": "amd64", "config": {"Cmd": ["/bin/true"]},
                              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + diff]}}).encode(),
                  "application/vnd.oci.image.config.v1+json")
    m = blob(json.dumps({"schemaVersion": 2, "config": config, "layers": [layer]}).encode(),
             "application/vnd.oci.image.manifest.v1+json")
    json.dump({"schemaVersion": 2, "manifests": [m]}, open(lay + "/index.json", "w"))
    open(lay + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
PY
cat "$work"/layer.tar* >/dev/null

# Wall time, and CPU time of the command and all it waited for, in milliseconds: on a machine that others
# use too, the second is the one to believe.
cat >"$work/spend.py" <<'PY'
import os, subprocess, sys, time
t = time.monotonic()
with open(sys.argv[1], "wb") as err:
    p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=err)
    _, status, used = os.wait4(p.pid, 0)
print(int((time.monotonic() - t) * 1000), int((used.ru_utime + used.ru_stime) * 1000))
if status != 0:
    sys.exit(open(sys.argv[1]).read())
PY
spend() {
    python3 "$work/spend.py" "$work/err" "$@"
}
# Nothing is removed between rounds: ext4 is slow to give out inodes that were freed a moment ago.
n=0
untar() {
    n=$((n + 1))
    mkdir "$work/x$n"
    spend tar -C "$work/x$n" --numeric-owner -xpf "$1"
}
unpack() {
    n=$((n + 1))
    SENTRY_STORE=$work/store$n spend "$sentry" run "$1"
}

echo "layer: $(du -m "$work/layer.tar" | cut -f1) MiB, $(tar tf "$work/layer.tar" | wc -l) members"
echo "wall and CPU time in ms; the speed is that of tar = 1"
for kind in "" +gzip +zstd; do
    [ -d "$work/oci$kind" ] || continue
    case $kind in "") file=layer.tar ;; +gzip) file=layer.tar.gz ;; *) file=layer.tar.zst ;; esac
    : >"$work/a" && : >"$work/b"
    for _ in $(seq "$rounds"); do
        untar "$work/$file" >>"$work/a"
        unpack "$work/oci$kind" >>"$work/b"
    done
    paste "$work/a" "$work/b" | awk '{ print $1 / $3, $2 / $4 }' >"$work/c"
    printf '%-14s tar x %6d %6d   sentry run, cold %6d %6d   speed %.2f %.2f\n' "$file" \
        "$(median "$work/a")" "$(median "$work/a" 2)" "$(median "$work/b")" "$(median "$work/b" 2)" \
        "$(median "$work/c")" "$(median "$work/c" 2)"
done

# Warm: the store's own tree as a directory, and by its name as a layout.
last=$(find "$work" -maxdepth 1 -name 'oci*' | sort | tail -1)
: >"$work/a" && : >"$work/b"
"$sentry" run "$last" 2>/dev/null
rootfs=$(echo "$SENTRY_STORE"/images/*/rootfs)
rounds=$((rounds * 10 + 1))
for _ in $(seq "$rounds"); do
    us "$sentry" run "$rootfs" -- /bin/true >>"$work/a"
    us "$sentry" run "$last" -- /bin/true >>"$work/b"
done
paste "$work/a" "$work/b" | awk '{ print $2 - $1 }' >"$work/c"
echo "warm start: directory $(median "$work/a") us, image $(median "$work/b") us," \
    "median of the differences $(median "$work/c") us"
