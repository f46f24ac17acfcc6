/*
 * table.c: number to handler. A number twice in the list is a compile error (-Woverride-init).
 */
#include "sentry/sys/table.h"

#include "lib/compiler.h"

#include "abi/syscalls.h"

#include "sentry/sys/sys.h"

static sys_fn *const handlers[] = {
#define SYSCALL(nr, name, status, handler, ...) [nr] = handler,
#define REFUSE(nr, name, errno_)
#include "abi/syscalls.def"
};

sys_fn *syscall_handler(uint64_t nr)
{
    return nr < ARRAY_LEN(handlers) ? handlers[nr] : NULL;
}

int64_t syscall_refusal(uint64_t nr)
{
    const struct syscall_desc *d = syscall_find(nr);
    return d != NULL && d->refuse != 0 ? -(int64_t)d->refuse : -ENOSYS;
}
