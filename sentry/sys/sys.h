#pragma once
/*
 * Declarations of all handlers, expanded from abi/syscalls.def.
 */
#include "lib/compiler.h"

#include "abi/syscall_kinds.h"

#include "sentry/kernel/syscall.h"

#define SYSCALL(nr, name, status, handler, ...) \
    struct sys_res handler(struct task *t, const struct sys_args *a);
#define REFUSE(nr, name, errno_)
#include "abi/syscalls.def"
