#!/bin/bash
# Real programs from a real root file system.
source "$(dirname "$0")/lib.sh"

runs "pipeline" 0 "a b c" "$bb" -- sh -c 'for i in 1 2 3; do echo $i | cat | tr 1-3 a-c; done | tr "\n" " " | sed "s/ $//"'
runs "own descriptors only" 0 "0 1 2 3" "$bb" -- sh -c 'ls /proc/self/fd | tr "\n" " " | sed "s/ $//"'
check "ps" "1" "$(timeout 60 "$sentry" run "$bb" -- ps | grep -c ' ps$')"

native=$(cd "$deb" && find . -xdev -type f -readable | wc -l)
inside=$(timeout 300 "$sentry" run --user 0 --timeout 280s --cpu-time 280s "$deb" -- \
    bash -c 'set -o pipefail; find / -xdev -type f | sort | xargs -n 200 sha256sum | wc -l')
check "every file of the image" "$native" "$inside"
runs "python" 0 "b'42'" "$deb" -- python3 -c \
    'import threading,subprocess,json,sqlite3,os,mmap,select,signal; print(subprocess.check_output(["perl","-e","print 6*7"]))'
runs "gcc" 0 "hi" --writable "$deb" -- bash -c \
    'cd /root 2>/dev/null || cd /tmp; printf "#include <stdio.h>\nint main(){puts(\"hi\");}" >a.c && gcc -O2 -pthread a.c -o a && ./a'
runs "git" 0 "x" "$deb" -- sh -c \
    'git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s'
runs "no network" 0 "97" "$deb" -- python3 -c '
import socket
try: socket.socket(socket.AF_INET)
except OSError as e: print(e.errno)'
runs "memory error, not death" 0 "MemoryError" "$deb" -- python3 -c '
try: "a" * (20000 << 30)
except MemoryError: print("MemoryError")'
runs "multiprocessing" 0 "[1, 1]" "$deb" -- python3 -c '
import multiprocessing as m
m.Lock(); print(m.Pool(2).map(abs, [1, -1]))'
runs "threads" 0 "4950" "$deb" -- python3 -c '
import threading
r = []
ts = [threading.Thread(target=lambda i=i: r.append(i)) for i in range(100)]
[t.start() for t in ts]; [t.join() for t in ts]; print(sum(r))'
finish
