#!/bin/bash
# --strace: one line per call, decoded, with results; calls that never return; signals.
source "$(dirname "$0")/lib.sh"

timeout 60 "$sentry" run --strace="$work/trace" "$bb" -- sh -c \
    'echo "a b" >/tmp/f; cat /tmp/f /missing; (exit 3); trap "echo got" USR1; kill -USR1 $$; exit 4' \
    >"$work/out" 2>/dev/null </dev/null
check "status is the program's" 4 $?
check "output is untouched" "a b got" "$(tr '\n' ' ' <"$work/out" | sed 's/ $//')"

has "flags by name" '^1 (open|openat)\((AT_FDCWD, )?"/tmp/f", O_WRONLY\|O_CREAT\|O_TRUNC.*, 0666\) = [0-9]+$'
has "strings" '^[0-9]+ write\(1, "a b\\n", 4\) = 4$'
has "buffers after the call" '^[0-9]+ read\([0-9]+, "a b\\n", [0-9]+\) = 4$|sendfile\(.*\) = 4$'
has "errno by name" '"/missing", O_RDONLY[^)]*\) = -1 ENOENT$'
has "wait status" 'wait4\(-1, \[exited 3\], .*\) = [0-9]+$'
has "signals" '^1 --- SIGUSR1 \{si_code=0, si_pid=1, si_uid=65534\} ---$'
has "handlers" 'rt_sigaction\(SIGUSR1, \{sa_handler=0x[0-9a-f]+, sa_mask='
has "addresses" '^1 brk\(NULL\) = 0x[0-9a-f]+$'
has "refused calls" '^1 rseq\(0x.*\) = -1 ENOSYS$'
has "calls that never return" '^1 exit_group\(4\) = \?$'
check "every line has the form" "0" \
    "$(grep -Evc '^[0-9]+ ([a-z0-9_]+\(.*\) = (\?|-?[0-9]+|0x[0-9a-f]+|-1 E[A-Z0-9]+|\? ERESTART[A-Z_]+)( \(.*\))?|--- SIG[A-Z0-9_]+ .* ---)$' "$work/trace")"

timeout 60 "$sentry" run --timeout 500ms --strace="$work/trace" "$bb" -- sleep 20 \
    >/dev/null 2>&1 </dev/null
check "time limit" 124 $?
has "a call cut off by the end" '^1 (clock_)?nanosleep\(.*\{tv_sec=20, tv_nsec=0\}.*\) = \?$'
finish
