#!/bin/bash
# Debuggers inside: strace from the host's own package, if it is there, in a small image; and limits, which
# hold for programs that their tracers have stopped.
source "$(dirname "$0")/lib.sh"

if ! command -v strace >/dev/null || ! command -v cc >/dev/null; then
    echo "skip: no strace or no cc"
    exit 77
fi
root=$work/root
cp -a "$bb" "$root"
mkdir -p "$root/t"
for file in "$(command -v strace)" $(ldd "$(command -v strace)" | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
done
cat >"$work/hold.c" <<'END'
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
/* Holds a child in a stop for ever; or itself is held by its child. */
int main(int argc, char **argv)
{
    pid_t parent = getpid(), pid = fork();
    if (argc > 1 && strcmp(argv[1], "up") == 0 && pid == 0) {
        if (ptrace(PTRACE_ATTACH, parent, 0, 0) < 0)
            return 9;
        waitpid(parent, 0, __WALL);
        write(1, "held\n", 5);
    } else if (pid > 0 && argc == 1) {
        ptrace(PTRACE_SEIZE, pid, 0, 0);
        ptrace(PTRACE_INTERRUPT, pid, 0, 0);
        waitpid(pid, 0, __WALL);
        write(1, "held\n", 5);
    }
    for (;;)
        pause();
}
END
cc -static -O1 -w -o "$root/t/hold" "$work/hold.c"

timeout 100 "$sentry" run "$root" -- strace -f sh -c 'echo hi | cat; exit 3' \
    >"$work/out" 2>"$work/trace" </dev/null
check "status is the traced program's" 3 $?
check "output is untouched" "hi" "$(cat "$work/out")"
has "a call" 'write\(1, "hi\\n", 3'
has "a new process" 'Process [0-9]+ attached'
has "a signal" '--- SIGCHLD \{si_signo=SIGCHLD, si_code=CLD_EXITED'
has "an end" '^\+\+\+ exited with 3 \+\+\+'

runs "a fault is the program's own" 139 "" "$root" -- strace -qq -e trace=none sh -c 'kill -SEGV $$'
runs "a stopped tracee does not outlive the deadline" 124 "held" --timeout 2s "$root" -- /t/hold
runs "nor does a first process that is stopped" 124 "held" --timeout 2s "$root" -- /t/hold up
finish
