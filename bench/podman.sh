#!/bin/bash
# podman.sh [ROUNDS]: `podman run --rm` of true with runc and with runsc-shim, and the runtimes' own
# create, start and delete of one bundle, in turns; medians of ROUNDS (20) rounds. Needs root, podman,
# conmon and runc; everything it makes is below a directory of its own, removed at the end.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
source "$top/bench/lib.sh"
shim=${SHIM:-$top/build/release/bin/runsc-shim}
bb=${BUSYBOX:-$top/build/images/busybox}
rounds=${1:-20}
[ "$(id -u)" = 0 ] || { echo "podman.sh: needs root" >&2; exit 1; }
for program in podman conmon runc; do
    command -v $program >/dev/null || { echo "podman.sh: no $program here" >&2; exit 1; }
done
dir=$(mktemp -d /tmp/bp.XXXX)
p() {
    timeout 60 podman --root "$dir/root" --runroot "$dir/run" --tmpdir "$dir/tmp" --storage-driver vfs \
        --cgroup-manager cgroupfs "$@"
}
cleanup() {
    p rm -f -a -t 0 >/dev/null 2>&1 || true
    umount -R "$dir/root" "$dir/run" 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT
mkdir -p "$dir/tmp" "$dir/bundle" "$dir/state"
cat >"$dir/containers.conf" <<END
[containers]
netns = "none"
log_driver = "k8s-file"
[engine]
events_logger = "file"
runtime_supports_json = ["runsc-shim"]
runtime_supports_nocgroup = ["runsc-shim"]
[engine.runtimes]
runsc-shim = ["$shim"]
END
export CONTAINERS_CONF=$dir/containers.conf TMPDIR=$dir/tmp
tar -C "$bb" -c . | p import -q - bb:1 >/dev/null

: >"$dir/a" && : >"$dir/b"
# report TITLE: of the files a (runc) and b (runsc-shim)
report() {
    paste "$dir/a" "$dir/b" | awk '{ print $2 / $1 }' >"$dir/c"
    echo "$1: runc $(median "$dir/a") us, runsc-shim $(median "$dir/b") us, ratio $(median "$dir/c")"
    : >"$dir/a" && : >"$dir/b"
}
podman_run() {
    p --runtime "$1" run --rm --network none --ulimit nofile=1024:4096 --ulimit nproc=1024:1024 bb:1 /bin/true </dev/null
}
podman_run runc && podman_run runsc-shim
for _ in $(seq "$rounds"); do
    us podman_run runc >>"$dir/a"
    us podman_run runsc-shim >>"$dir/b"
done
report "podman run --rm true"

cp -a "$bb" "$dir/bundle/rootfs"
(cd "$dir/bundle" && runc spec) && python3 - "$dir/bundle/config.json" <<'PY'
import json, sys
c = json.load(open(sys.argv[1]))
c["process"].update(args=["/bin/true"], terminal=False)
json.dump(c, open(sys.argv[1], "w"))
PY
life() {
    local rt=$1 id=bench-$$-$2
    "$rt" --root "$dir/state" create --bundle "$dir/bundle" "$id" </dev/null >/dev/null
    "$rt" --root "$dir/state" start "$id"
    "$rt" --root "$dir/state" delete --force "$id"
}
for i in $(seq "$rounds"); do
    us life runc "$i" >>"$dir/a"
    us life "$shim" "$i" >>"$dir/b"
done
report "create, start, delete --force"
