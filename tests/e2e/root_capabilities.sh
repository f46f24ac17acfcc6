#!/bin/bash
# Root without all of its capabilities, as in a container: the image's owners stay who they are, the server is nobody's,
# and where the host takes no descriptors from him the run says so and does not wait.
source "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "only root has capabilities to be without"; exit 77; }
chmod 755 "$work"
mkdir -p "$work/image/bin" "$work/image/theirs"
cp "$bb/bin/busybox" "$work/image/bin/" && ln -s busybox "$work/image/bin/sh"
echo secret >"$work/image/theirs/file"
chown -R 33:34 "$work/image/theirs" && chmod 600 "$work/image/theirs/file"

# without CAPS NAME EXPECTED
without() {
    local out
    out=$(timeout -s KILL 60 setpriv --bounding-set="$1" --inh-caps=-all "$sentry" run --cgroup none --user 0 "$work/image" -- \
        sh -c 'busybox stat -c %u:%g /theirs/file; busybox cat /theirs/file' </dev/null 2>&1)
    check "$2" "$3" "${out//$'\n'/ }"
}
without -setfcap "without the right to map root" "33:34 secret"
without -sys_admin "without the right to a pid namespace" "33:34 secret"
without -sys_admin,-setfcap "without both" "33:34 secret"

setpriv --bounding-set=-sys_admin --inh-caps=-all "$sentry" run --cgroup none "$bb" -- sleep 30 </dev/null &
run=$!
server() { pgrep -P $run -x sentry-gofer; }
for _ in $(seq 200); do
    [ "$(awk '/^CapPrm/ { print $2 }' "/proc/$(server)/status" 2>/dev/null)" = 0000000000000004 ] && break
    sleep 0.05
done
check "the server's user is nobody's" "more than 65536" \
    "$(awk '/^Uid/ { print ($2 > 65536 && $3 == $2 && $4 == $2) ? "more than 65536" : $0 }' "/proc/$(server)/status")"
for ns in user pid mnt net; do
    check "its namespace: $ns" apart "$([ "$(readlink "/proc/$(server)/ns/$ns")" = "$(readlink "/proc/$run/ns/$ns")" ] || echo apart)"
done
kill $run && wait $run 2>/dev/null

# The host counts descriptors in flight per user.
cat >"$work/fill.py" <<'PY'
import array, socket, sys
a, b = socket.socketpair()
for _ in range(4):
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 100))])
print("full", flush=True)
sys.stdin.read()
PY
coproc FILL { exec python3 "$work/fill.py"; }
fill=$FILL_PID
read -r line <&"${FILL[0]}"
check "more than a share is in flight" full "$line"
out=$(ulimit -n 256; timeout -s KILL 30 setpriv --bounding-set=-sys_admin,-sys_resource --inh-caps=-all \
    "$sentry" run "$bb" -- echo ran </dev/null 2>&1)
rc=$?
case "$rc $out" in
"0 ran" | "125 sentry: "*"Too many references"*) rc=ended ;;
esac
check "a run that may pass on nothing ends" ended "$rc"
kill "$fill"
finish
