#!/bin/bash
# What the unpacking process can reach, looked at while it works: it is stopped in the middle.
source "$(dirname "$0")/lib.sh"
if [ "$(id -u)" != 0 ]; then
    echo "skipped: needs root to look into /proc"
    exit 77
fi
export SENTRY_STORE=$work/store
python3 - "$work" <<'PY'
import hashlib, io, json, os, sys, tarfile
lay = sys.argv[1] + "/i"
os.makedirs(lay + "/blobs/sha256")
def put(data, kind):
    h = hashlib.sha256(data).hexdigest()
    open(f"{lay}/blobs/sha256/{h}", "wb").write(data)
    return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + h, "size": len(data)}
out = io.BytesIO()
with tarfile.open(fileobj=out, mode="w") as t:
    for n in range(30000):
        t.addfile(tarfile.TarInfo("f%d" % n))
layer = put(out.getvalue(), "layer.v1.tar")
config = put(json.dumps({"os": "linux", "architecture": "amd64", "config": {"Cmd": ["/x"]},
                         "rootfs": {"diff_ids": [layer["digest"]]}}).encode(), "config.v1+json")
m = put(json.dumps({"config": config, "layers": [layer]}).encode(), "manifest.v1+json")
json.dump({"manifests": [m]}, open(lay + "/index.json", "w"))
open(lay + "/oci-layout", "w").write("{}")
PY
"$sentry" run "$work/i" >/dev/null 2>&1 &
runner=$!
for _ in $(seq 2000); do
    [ -n "$(find "$SENTRY_STORE/tmp" -name 'f1*' -print -quit 2>/dev/null)" ] && break
    sleep 0.01
done
child=$(cat "/proc/$runner/task/$runner/children" 2>/dev/null)
child=${child%% *}
kill -STOP "$child" || { check "the unpacking process was caught at work" yes no; finish; }
field() {
    sed -n "s/^$1:[[:space:]]*//p" "/proc/$child/status"
}
for set in CapPrm CapEff; do
    check "$set" 000000008000001b "$(field $set)"
done
check "CapBnd" 0000000000000000 "$(field CapBnd)"
check "CapAmb" 0000000000000000 "$(field CapAmb)"
check "NoNewPrivs" 1 "$(field NoNewPrivs)"
check "Seccomp filter" 2 "$(field Seccomp)"
for ns in user mnt pid net ipc uts; do
    check "own $ns namespace" yes "$([ "$(readlink "/proc/$child/ns/$ns")" != "$(readlink /proc/self/ns/$ns)" ] && echo yes)"
done
check "no network device but lo" "lo" "$(sed 1,2d "/proc/$child/net/dev" | cut -d: -f1 | tr -d ' ')"
check "one mount" 1 "$(wc -l <"/proc/$child/mountinfo")"
check "nosuid, nodev, noexec" 3 "$(cut -d' ' -f6 "/proc/$child/mountinfo" | tr , '\n' | grep -cE '^no(suid|dev|exec)$')"
check "its root is what it fills" yes "$([ -e "/proc/$child/root/f0" ] && [ ! -e "/proc/$child/root/etc/passwd" ] && echo yes)"
check "no core file" 0 "$(awk '/^Max core/ { print $5 }' "/proc/$child/limits")"
# Descriptors: the socket, the target, the layout, the scratch file, the layer and documents, stderr.
check "no descriptor of the store's" "" "$(find "/proc/$child/fd" -printf '%l\n' | grep -E "store/(lock|refs|images|cache)" | head -3)"
kill -KILL "$runner"
wait "$runner" 2>/dev/null
for _ in $(seq 500); do [ -d "/proc/$child" ] || break; sleep 0.01; done
check "it dies with the command" no "$([ -d "/proc/$child" ] && echo yes || echo no)"
finish
