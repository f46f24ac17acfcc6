#!/bin/bash
# timeout: 400
# The memory limit, whoever holds it: just under passes, just over is memory-limit and nothing else.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_limits.sh"


guest_build

# What grows beyond the limit of 160 MB, in each way that there is; HELD MB of it must pass before.
run_all() {
    local cg=$1 opts
    opts=(--cgroup "$cg" --memory 160M --timeout 300s --disk 1G --file-size 1G --files 4096)

    ends "$cg: enforced" ok "${opts[@]}" "$bb" -- true
    case $cg in
    none) check "$cg: named" "sentry sentry.committed" "$(field enforced_by.memory) $(field memory_metric)" ;;
    *) check "$cg: named" yes "$(field enforced_by.memory | grep -q '^cgroup[12]$' && echo yes)" ;;
    esac
    ends "$cg: bytes, under" ok "${opts[@]}" "$deb" -- python3 -c 'a = bytearray(80 << 20)'
    local peak
    peak=$(field memory_peak_bytes)
    check "$cg: the peak has what was touched, and not much more" yes \
        "$([ "$peak" -ge $((80 << 20)) ] && [ "$peak" -le $((150 << 20)) ] && echo yes || echo "$peak")"
    ends "$cg: bytes, over" memory-limit "${opts[@]}" "$deb" -- python3 -c 'a = bytearray(300 << 20)'
    ends "$cg: reservations are free" ok "${opts[@]}" "$deb" -- python3 -c '
import mmap
a = mmap.mmap(-1, 64 << 30, prot=0, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
b = mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
b[0:4096] = b"x" * 4096'
    ends "$cg: an absurd request is refused" ok "${opts[@]}" "${guest[@]}" "$bb" -- /mnt/g absurd
    ends "$cg: python, an absurd request" ok "${opts[@]}" "$deb" -- python3 -c '
try: bytearray(20000 << 30)
except MemoryError: raise SystemExit(0)
raise SystemExit(3)'
    ends "$cg: page tables" memory-limit "${opts[@]}" "${guest[@]}" "$bb" -- /mnt/g tables 8000
    ends "$cg: deep directories" memory-limit "${opts[@]}" "${guest[@]}" "$bb" -- /mnt/g deep
    runs "$cg: socket queues are bounded before that" 0 full "${opts[@]}" "${guest[@]}" "$bb" -- /mnt/g sockets
    ends "$cg: mmap, private" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import mmap
a = [mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for i in range(300)]
for m in a: m.write(b"x" * (1 << 20))'
    ends "$cg: mmap, shared" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import mmap
m = mmap.mmap(-1, 400 << 20)
for i in range(0, 400 << 20, 4096): m[i] = 1
print("past it")'
    ends "$cg: after the owner ended" ok "${opts[@]}" "$deb" -- python3 -c '
import os
for i in range(6):
    p = os.fork()
    if p == 0:
        a = bytearray(80 << 20)
        os._exit(0)
    os.waitpid(p, 0)'
    ends "$cg: fork, shared pages" ok "${opts[@]}" "$deb" -- python3 -c '
import os
a = bytearray(50 << 20)
r, w = os.pipe()
for i in range(8):
    if os.fork() == 0:
        os.close(w); os.read(r, 1); os._exit(0)
os.close(r); os.close(w)
for i in range(8): os.wait()'
    ends "$cg: fork, own pages" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import os, signal
for i in range(20):
    if os.fork() == 0:
        a = bytearray(16 << 20)
        signal.pause()
signal.pause()'
    ends "$cg: threads" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import threading
e = threading.Event()
def f():
    a = bytearray(16 << 20)
    e.wait()
for i in range(20): threading.Thread(target=f).start()'
    ends "$cg: tmpfs file" memory-limit "${opts[@]}" "$bb" -- dd if=/dev/zero of=/tmp/x bs=1M count=400
    ends "$cg: memfd" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import os
f = os.memfd_create("x")
for i in range(400): os.write(f, bytes(1 << 20))'
    ends "$cg: shm" memory-limit "${opts[@]}" "$deb" -- python3 -c '
from multiprocessing import shared_memory
m = shared_memory.SharedMemory(create=True, size=400 << 20)
for i in range(0, 400 << 20, 4096): m.buf[i] = 1
print("past it")'
    ends "$cg: pipe buffers" memory-limit "${opts[@]}" "$deb" -- python3 -c '
import fcntl, os
keep = []
for i in range(250):
    r, w = os.pipe()
    fcntl.fcntl(w, 1031, 1 << 20)
    os.set_blocking(w, False)
    keep.append(os.write(w, bytes(1 << 20)))
    keep.append((r, w))
import signal; signal.pause()'
}

auto=$(timeout 300 "$sentry" run --report "$work/report" "$bb" -- true >/dev/null 2>&1; field enforced_by.memory)
case $auto in
cgroup*) run_all "v${auto#cgroup}" ;;
*) echo "     no memory cgroup here" ;;
esac
run_all none
share() { timeout 60 "$sentry" run --report "$work/report" "$@" "$bb" -- true >/dev/null 2>&1; field enforced_by.cpus; }
check "a CPU share without a cgroup" none "$(share --cpus 0.5 --cgroup none)"
check "a CPU share is named as memory is" "${auto/sentry/none}" "$(share --cpus 0.5)"

says "too little, said at once" 125 "--memory: at least [0-9]+M" run --memory 1M "$bb" -- true
says "a cgroup that is not there" 125 "--cgroup: .*(v1|v2)" \
    run --cgroup "$([ "$auto" = cgroup2 ] && echo v1 || echo v2)" "$bb" -- true
says "bad choice" 125 "--cgroup: 'v3'" run --cgroup v3 "$bb" -- true
finish
