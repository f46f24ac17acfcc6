#!/bin/bash
# The host counts descriptors in flight over sockets per user: another process of `nobody` that uses
# its share up must not keep the image server from answering.
source "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "only root can be another user"; exit 77; }
cat >"$work/fill.py" <<'PY'
import array, os, socket, sys
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
a, b = socket.socketpair()
a.setblocking(False)
sent = 0
try:
    while sent < 2000:
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 100))])
        sent += 100
except OSError:
    pass  # the share is used up
print("full", flush=True)
sys.stdin.read()
PY
coproc FILL { ulimit -n 1024; exec python3 "$work/fill.py"; }
chmod 755 "$work"
read -r line <&"${FILL[0]}"
check "the share of nobody is used up" full "$line"
runs "a run beside it" 0 ok "$bb" -- echo ok
runs "a run with a volume" 0 ok --volume "$work:/mnt:ro" "$bb" -- sh -c 'test -f /mnt/fill.py && echo ok'
kill "$FILL_PID"
finish
