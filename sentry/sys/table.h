#pragma once
/*
 * The dispatch table, expanded from abi/syscalls.def.
 */
#include "lib/compiler.h"

#include "sentry/kernel/syscall.h"

enum {
    SYS_NR_RESTART_SYSCALL = 219
};

/* The handler of a call, or NULL: then syscall_refusal says the (negative) errno. */
sys_fn *syscall_handler(uint64_t nr);
int64_t syscall_refusal(uint64_t nr);
