#!/bin/bash
# timeout: 300
# Every limit at its edge: just under passes, just over gives exactly that verdict.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_limits.sh"
guest_build

g() {
    local name=$1 verdict=$2
    shift 2
    ends "$name" "$verdict" "${guest[@]}" "$@"
}

# -- tasks
g "pids, processes under" ok --pids 8 "$bb" -- /mnt/g processes 7
check "pids: peak" 8 "$(field pids_peak)"
g "pids, processes over" pids-limit --pids 8 "$bb" -- /mnt/g processes 8
check "pids: peak is the limit" 8 "$(field pids_peak)"
g "pids, threads under" ok --pids 8 "$bb" -- /mnt/g threads 7
g "pids, threads over" pids-limit --pids 8 "$bb" -- /mnt/g threads 8
g "pids, one" ok --pids 1 "$bb" -- /mnt/g burn 1
g "pids, python" pids-limit --pids 16 "$deb" -- python3 -c '
import os
while True: os.fork()'
ends "fork bomb whose shell ends at once" pids-limit --pids 32 "$bb" -- sh -c 'f(){ f|f& };f'
ends "left behind, asleep" ok --pids 32 "$bb" -- sh -c '(sleep 1000 &); echo done'
ends "left behind, busy" ok --pids 32 "$bb" -- sh -c 'while :; do :; done & echo done'
# (Wide: what it writes before the shell has ended counts.)
ends "left behind, writing" ok --output 256M "$bb" -- sh -c 'yes & echo done'

# -- CPU time
between() {
    python3 -c 'import sys; u, s, lo, hi = map(float, sys.argv[1:]); print("yes" if lo <= u + s <= hi else (u, s))' \
        "$(field cpu_user_ms)" "$(field cpu_system_ms)" "$1" "$2"
}
g "cpu, under" ok --cpu-time 2s "$bb" -- /mnt/g burn 500
check "cpu: counted" yes "$(between 500 2000)"
g "cpu, one thread" cpu-limit --cpu-time 300ms "$bb" -- /mnt/g burn 100000
check "cpu: not much more than the limit" yes "$(between 300 500)"
g "cpu, many threads" cpu-limit --cpu-time 300ms "$bb" -- /mnt/g burn-threads 20
check "cpu: all threads are counted" yes "$(between 300 500)"
g "cpu, many short processes" cpu-limit --cpu-time 300ms "$bb" -- /mnt/g burn-processes
check "cpu: ended ones are counted" yes "$(between 300 500)"
g "cpu, python" cpu-limit --cpu-time 300ms "$deb" -- python3 -c 'while 1: pass'
g "cpu, system time" cpu-limit --cpu-time 500ms "$deb" -- python3 -c '
import os
while 1: os.getppid()'
check "cpu: the sentry's work is system time" yes \
    "$(python3 -c 'import sys; print("yes" if float(sys.argv[1]) > 20 else sys.argv[1])' "$(field cpu_system_ms)")"

# -- wall time
g "wall, under" ok --timeout 50s "$bb" -- sleep 0.1
for how in sleep stopped blocked vfork; do
    case $how in
    sleep) g "wall, $how" wall-limit --timeout 300ms "$bb" -- sleep 1000 ;;
    *) g "wall, $how" wall-limit --timeout 300ms "$bb" -- /mnt/g $how ;;
    esac
done
g "wall: asleep with a CPU limit" wall-limit --timeout 1s --cpu-time 200ms "$bb" -- sleep 1000

# -- descriptors, file size, disk
runs "files" 0 "16 24" "${guest[@]}" --files 16 "$bb" -- /mnt/g files
runs "file size, under" 0 "1048576 0" "${guest[@]}" --file-size 1M "$bb" -- /mnt/g grow 1048576
runs "file size, over" 1 "1048576 27" "${guest[@]}" --file-size 1M "$bb" -- /mnt/g grow 1048577
runs "file size: SIGXFSZ" 153 "" --file-size 64K "$bb" -- sh -c 'exec dd if=/dev/zero of=/tmp/x bs=1k count=1000 2>/dev/null'
runs "disk, under" 0 "1048576 0" "${guest[@]}" --disk 1M "$bb" -- /mnt/g grow 1048576
runs "disk, over" 1 "1048576 28" "${guest[@]}" --disk 1M "$bb" -- /mnt/g grow 1052672
runs "disk, freed and used again" 0 "" --disk 1M "$bb" -- sh -c \
    'for i in 1 2 3; do dd if=/dev/zero of=/tmp/x bs=1k count=900 2>/dev/null || exit 1; rm /tmp/x; done'
runs "disk 0" 0 "refused" --disk 0 "$bb" -- sh -c 'echo x >/tmp/x || echo refused' 2>/dev/null

# -- output
for stream in stdout stderr; do
    redirect=""
    [ $stream = stderr ] && redirect=" >&2"
    ends "output, $stream under" ok --output 4K "$bb" -- sh -c "head -c 4096 /dev/zero$redirect"
    check "output: bytes" "4096 4096 False" "$(field $stream.bytes) $(field $stream.kept) $(field $stream.truncated)"
    ends "output, $stream over" output-limit --output 4K "$bb" -- sh -c "head -c 4097 /dev/zero$redirect"
    check "output: kept" "4096 True" "$(field $stream.kept) $(field $stream.truncated)"
done
check "output: passed on to the caller" 4096 "$(timeout 300 "$sentry" run --output 4K "$bb" -- yes 2>/dev/null | wc -c)"
ends "output 0" output-limit --output 0 "$bb" -- echo x
ends "output 0, nothing said" ok --output 0 "$bb" -- true
ends "output, captured" output-limit --output 64K --capture "$bb" -- yes
check "output: the capture is what was kept" "65536 y" "$(python3 -c '
import base64, json, sys
b = base64.b64decode(json.load(open(sys.argv[1]))["stdout"]["base64"])
print(len(b), b[:1].decode())' "$work/report")"

# -- too low to start, out of range, one line each
says "memory too low" 125 "--memory: at least" run --memory 4K "$bb" -- true
says "pids too low" 125 "--pids: .*1" run --pids 0 "$bb" -- true
says "pids too high" 125 "--pids: " run --pids 1000000 "$bb" -- true
says "files too low" 125 "--files: .*3" run --files 2 "$bb" -- true
says "cpus" 125 "--cpus: .*0.01" run --cpus 0 "$bb" -- true
finish
