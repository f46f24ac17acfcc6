/* filter.c: a process enters one of its filters. */
#include "platform/confine/filter.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

int confine_filter_enter(const struct confine_filter *f)
{
    /* The kernel's structure has no const. */
    struct sock_fprog program = {.len = f->len};
    memcpy(&program.filter, &f->code, sizeof(program.filter));
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}
