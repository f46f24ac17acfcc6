#!/bin/bash
# One host call of a start fails: the start ends, with status 125 and one line that says why.
source "$(dirname "$0")/lib.sh"
strace -o /dev/null true 2>/dev/null || { echo "skipped: no strace, or it may not trace"; exit 77; }

export ASAN_OPTIONS=detect_leaks=0 # leaks are not looked for in traced processes

# fails NAME PATTERN CALL ERRNO N [-f]: the N-th CALL of the monitor, or of every process, fails; the
# program would run for a minute.
fails() {
    local name=$1 pattern=$2 rc
    timeout -s KILL 30 strace "${@:6}" -o "$work/trace" -e trace="$3" -e inject="$3:error=$4:when=$5" \
        "$sentry" run "$bb" -- sleep 60 >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    check "$name: status, lines" "125 1" "$rc $(wc -l <"$work/err")"
    check "$name: says why" 1 "$(grep -Ec -- "^sentry: $pattern" "$work/err")"
    check "$name: it failed once" 1 "$(grep -c INJECTED "$work/trace")"
}

fails "the monitor cannot wait" "internal error: " poll EINVAL 1
fails "the monitor cannot read" "internal error: " recvfrom ENOMEM 2
fails "the server cannot look at /proc" "server of the image: /proc: Input/output error" readlinkat EIO 1 -f

# Each of the first calls of every process; a process in a filter makes getpid instead.
for n in 1 2 3 4 5 6 7 8; do
    timeout -k 1 30 strace -f -o "$work/trace" -e trace=fcntl \
        -e inject="fcntl:error=EMFILE:syscall=getpid:when=$n" \
        "$sentry" run "$bb" -- echo hi >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    case "$rc $(wc -l <"$work/err") $(cat "$work/out")" in
    "0 0 hi" | "12"[56]" 1 ") got=fine ;;
    *) got="status $rc: $(cat "$work/out" "$work/err")" ;;
    esac
    check "no descriptor $n: the program runs, or one line says why not" fine "$got"
done
finish
