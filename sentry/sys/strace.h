#pragma once
/*
 * --strace: one line per call, "PID NAME(ARGUMENTS) = RESULT", written by host_strace_write.
 * Dispatch calls these only while kernel.strace is set. A task's pending line is t->strace, owned
 * here.
 */
#include "lib/compiler.h"

struct task;
struct lx_siginfo;

/* A fresh call (not a re-run): formats what the guest passed, before anything can overwrite it. */
void strace_enter(struct task *t, uint64_t nr, const uint64_t args[6]);
/* The call of the last strace_enter returns result: prints the line. */
void strace_exit(struct task *t, int64_t result);
/* A signal is about to be delivered: "--- SIGCHLD ... ---". */
void strace_signal(struct task *t, const struct lx_siginfo *info);
/* The task ends: prints a call that never returned as "= ?" and frees t->strace. */
void strace_gone(struct task *t);
/* The run is over: strace_gone for every task that is left. */
void strace_finish(void);
