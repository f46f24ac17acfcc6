#!/bin/bash
# The real containerd with its runc shim over runsc-shim, in directories of the test's own.
# timeout: 200
# shellcheck disable=SC2046,SC1010,SC2034,SC2045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
for program in containerd ctr containerd-shim-runc-v2; do
    command -v $program >/dev/null || { echo "skipped: no $program here"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: containerd needs root"; exit 77; }
export LC_ALL=C

dir=$(mktemp -d /tmp/sc.XXXX)
cat >"$dir/config.toml" <<X
version = 2
root = "$dir/root"
state = "$dir/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
address = "$dir/c.sock"
X
containerd -c "$dir/config.toml" >"$dir/containerd.log" 2>&1 </dev/null &
daemon=$!
c() {
    timeout 30 ctr -a "$dir/c.sock" "$@"
}
cleanup() {
    local t
    for t in $(c task ls -q 2>/dev/null); do
        c task kill -s KILL "$t" >/dev/null 2>&1
        c task rm -f "$t" >/dev/null 2>&1
    done
    kill "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
    # Shims outlive their daemon; each has this test's socket among its arguments.
    grep -las "$dir/c.sock" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do
        f=${f#/proc/}
        [ "${f%/*}" = $$ ] || kill -9 "${f%/*}" 2>/dev/null
    done
    awk -v d="$dir/" 'index($2, d) == 1 {print $2}' /proc/mounts | sort -r |
        while read -r m; do umount "$m" 2>/dev/null; done
    rm -rf "$dir"
    oci_cleanup
    rm -rf "$work"
}
trap cleanup EXIT
until_true c version >/dev/null 2>&1 || { tail -3 "$dir/containerd.log"; exit 1; }

# An image of the test's root file system, as an archive that `ctr images import` takes.
python3 - "$bb" "$work/bb.tar" <<'X'
import hashlib, io, json, sys, tarfile
root, out = sys.argv[1:]
layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w") as t:
    t.add(root, arcname=".")
blobs = {}
def blob(data):
    d = hashlib.sha256(data).hexdigest()
    blobs[d] = data
    return {"digest": "sha256:" + d, "size": len(data)}
l = blob(layer.getvalue())
cfg = blob(json.dumps({"architecture": "amd64", "os": "linux", "config": {"Env": ["PATH=/usr/bin:/bin"]},
                       "rootfs": {"type": "layers", "diff_ids": [l["digest"]]}}).encode())
man = blob(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": dict(cfg, mediaType="application/vnd.oci.image.config.v1+json"),
    "layers": [dict(l, mediaType="application/vnd.oci.image.layer.v1.tar")]}).encode())
index = json.dumps({"schemaVersion": 2, "manifests": [dict(man,
    mediaType="application/vnd.oci.image.manifest.v1+json",
    annotations={"io.containerd.image.name": "localhost/bb:1"})]}).encode()
with tarfile.open(out, "w") as t:
    def put(name, data):
        i = tarfile.TarInfo(name)
        i.size = len(data)
        t.addfile(i, io.BytesIO(data))
    put("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    put("index.json", index)
    for d, data in blobs.items():
        put("blobs/sha256/" + d, data)
X
c images import --snapshotter native "$work/bb.tar" >/dev/null
check "the image" 0 $?
image=localhost/bb:1
run() { c run --rm --snapshotter native --runc-binary "$shim" "$@" </dev/null; }
detached() { c run -d --snapshotter native --runc-binary "$shim" "$@" </dev/null; }

check "run" hi "$(run $image c1 /bin/busybox echo hi)"
run $image c2 sh -c 'exit 7'
check "exit status" 7 $?
check "stderr" err "$(run $image c3 sh -c 'echo err >&2' 2>&1 >/dev/null)"
run $image c4 /bin/nothing >/dev/null 2>"$work/err"
check "a missing program" "1 1" "$(($? != 0)) $(grep -ic 'no such file or directory' "$work/err")"
check "--env, --cwd" "b /tmp" "$(echo $(run --env A=b --cwd /tmp $image c5 sh -c 'echo $A; pwd'))"
check "--seccomp" hi "$(run --seccomp $image c8 echo hi)"
mkdir "$work/vol"
echo host >"$work/vol/f"
check "--mount" "host" \
    "$(run --mount "type=bind,src=$work/vol,dst=/vol,options=rbind:ro" $image c6 cat /vol/f)"
check "--read-only" "1" "$(run --read-only $image c7 sh -c 'echo x >/f' >/dev/null 2>&1; echo $?)"

detached $image t sh -c 'trap "exit 9" TERM; echo up; while :; do sleep 0.1; done' >/dev/null
check "run -d" 0 $?
task() { c task ls | awk -v t="$1" '$1 == t {print $3}'; }
task_is() { [ "$(task "$1")" = "$2" ]; }
until_true task_is t RUNNING
check "tasks ls" RUNNING "$(task t)"
check "tasks exec" "5 hi" "$(c task exec --exec-id e1 t sh -c 'echo hi; exit 5' >"$work/o" </dev/null; echo $? $(cat "$work/o"))"
c task exec --exec-id e2 t /bin/nothing >/dev/null 2>&1 </dev/null
check "tasks exec of what is not there" 1 $(($? != 0))
check "tasks ps" 1 "$(($(c task ps t | wc -l) >= 2))"
c task pause t
check "tasks pause" "0 PAUSED" "$? $(task t)"
c task resume t
check "tasks resume" "0 RUNNING" "$? $(task t)"
c task metrics t >"$work/o" 2>&1
check "tasks metrics" 0 $?
check "tasks metrics: memory" 1 "$(grep -ic 'memory.usage' "$work/o" | sed 's/^[1-9].*/1/')"
c task kill -s TERM t
check "tasks kill" 0 $?
until_true task_is t STOPPED
check "tasks kill: the handler ran" STOPPED "$(task t)"
c task rm t >"$work/o" 2>&1
check "tasks rm: the status" 1 "$(grep -c 'code 9' "$work/o")"
c task start -d t >/dev/null 2>&1
until_true task_is t RUNNING
check "tasks start again" RUNNING "$(task t)"
c task kill -a -s KILL t
until_true task_is t STOPPED
c task rm -f t >/dev/null 2>&1
check "tasks kill --all, rm -f: gone" "" "$(task t)"
c container rm t
check "containers rm" 0 $?

# A root that is kept: the task is new, its files are there.
printf '#!/bin/sh\nexec %q --root-storage bundle "$@"\n' "$shim" >"$dir/runsc-bundle"
chmod +x "$dir/runsc-bundle"
c run -d --snapshotter native --runc-binary "$dir/runsc-bundle" $image k \
    sh -c 'echo x >>/kept; while :; do sleep 0.1; done' >/dev/null </dev/null
n=0
kept() { [ "$(c task exec --exec-id "k$((n += 1))" k cat /kept </dev/null 2>/dev/null | wc -l)" = "$1" ]; }
until_true kept 1
c task kill -s KILL k
until_true task_is k STOPPED
c task rm k >/dev/null 2>&1
c task start -d k >/dev/null 2>&1
until_true kept 2
check "--root-storage bundle: tasks start again" 0 $?
c task kill -s KILL k
until_true task_is k STOPPED
c task rm -f k >/dev/null 2>&1
c container rm k

# A terminal: ctr wants one of its own.
cat >"$work/terminal.py" <<'X'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    out += data
st = os.waitpid(pid, 0)[1]
print(out.decode(errors="replace").replace("\r", ""), "exit", os.waitstatus_to_exitcode(st))
X
out=$(timeout 60 python3 "$work/terminal.py" ctr -a "$dir/c.sock" run --rm -t --snapshotter native \
    --runc-binary "$shim" $image tty sh -c 'tty; test -t 0 && echo yes; exit 3')
check "run -t" "/dev/pts/0 yes exit 3" "$(echo $out)"
check "no task is left" "" "$(c task ls -q)"
left=$(find /sys/fs/cgroup -type d -path '*/default/*' 2>/dev/null | grep -E '/(c[1-8]|t|k|tty)$')
check "no cgroup is left" "" "$left"
finish
