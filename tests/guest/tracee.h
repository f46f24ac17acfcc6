#pragma once
/* Children that let themselves be traced. */
#include <signal.h>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "facts.h"

/* Stops itself, then runs fn and ends with status. */
static inline pid_t traced_child(void (*fn)(void), int status)
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        if (syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0) < 0)
            _exit(90);
        raise(SIGSTOP);
        fn();
        _exit(status);
    }
    return pid;
}

/* The same; its stop has been waited for. */
static inline pid_t stopped_child(void (*fn)(void), int status)
{
    pid_t pid = traced_child(fn, status);
    int st;
    NEED(waitpid(pid, &st, 0));
    return pid;
}
