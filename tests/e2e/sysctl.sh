#!/bin/bash
# Settings below /proc/sys: which ones the emulated root changes, what they then do, and what nobody
# changes.
source "$(dirname "$0")/lib.sh"

py() {
    timeout 60 "$sentry" run --user "$1" "$deb" -- /usr/bin/python3 -c "$2" 2>&1 </dev/null
}

check "set, rounded, refused" "8192 16384 EINVAL EINVAL EPERM" "$(py 0 '
import errno, os
def put(name, value):
    try:
        os.write(os.open("/proc/sys/" + name, os.O_WRONLY), value.encode())
    except OSError as e:
        return errno.errorcode[e.errno]
    return open("/proc/sys/" + name).read().strip()
name = "fs/pipe-max-size"
print(put(name, "8192"), put(name, "9000\n"), put(name, "0"), put(name, "x"), put("kernel/core_pattern", "x"))')"

check "only by root" "PermissionError" "$(py 65534 '
try:
    open("/proc/sys/vm/overcommit_memory", "w")
except OSError as e:
    print(type(e).__name__)')"

check "pipes of others are smaller" "65536 4096 PermissionError" "$(py 0 '
import fcntl, os
open("/proc/sys/fs/pipe-max-size", "w").write("4096")
size = lambda: fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ)
first = size()
os.setuid(65534)
second = size()
try:
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETPIPE_SZ, 8192)
except OSError as e:
    print(first, second, type(e).__name__)')"

check "inotify: instances and watches of a user" "EMFILE ENOSPC 1" "$(py 0 '
import ctypes, errno, os
for name, n in ("max_user_instances", 2), ("max_user_watches", 3):
    open("/proc/sys/fs/inotify/" + name, "w").write(str(n))
c = ctypes.CDLL(None, use_errno=True)
fds = [c.inotify_init() for i in range(3)]
first = errno.errorcode[ctypes.get_errno()]
for d in "/", "/etc", "/tmp", "/usr":
    r = c.inotify_add_watch(fds[0], d.encode(), 2)
second = errno.errorcode[ctypes.get_errno()]
os.setuid(65534)
print(first, second, int(c.inotify_init() > 0))')"

check "the next process id" "1001 1000" "$(py 0 '
import os
open("/proc/sys/kernel/ns_last_pid", "w").write("999")
a = os.fork() or os._exit(0)
b = os.fork() or os._exit(0)
print(b, a)')"

check "groups by the thousand" "3000 1 0 65536" "$(py 0 '
import os
os.setgroups(range(5000, 2000, -1))
g = os.getgroups()
line = [l for l in open("/proc/self/status") if l.startswith("Groups:")][0]
a, b = len(g), int(g == sorted(g) and len(line.split()) == 3001)
os.setgroups([])
c = len(os.getgroups())
os.setgroups(range(65536))
print(a, b, c, len(os.getgroups()))')"

finish
