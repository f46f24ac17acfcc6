/*
 * sys_seccomp.c: seccomp(2).
 *
 * There are no listeners (SECCOMP_RET_USER_NOTIF): a guest that asks for one is told what a host
 * says below a sandbox that has one already, EBUSY.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/prctl.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/seccomp_call.h"
#include "sentry/sys/sys.h"

#define FLAGS_KNOWN                                                            \
    (LX_SECCOMP_FILTER_FLAG_TSYNC | LX_SECCOMP_FILTER_FLAG_LOG |               \
     LX_SECCOMP_FILTER_FLAG_SPEC_ALLOW | LX_SECCOMP_FILTER_FLAG_NEW_LISTENER | \
     LX_SECCOMP_FILTER_FLAG_TSYNC_ESRCH | LX_SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)

static int64_t set_filter(struct task *t, uint32_t flags, gaddr_t addr)
{
    struct lx_sock_fprog prog;
    const bool sync = flags & LX_SECCOMP_FILTER_FLAG_TSYNC;
    const bool listener = flags & LX_SECCOMP_FILTER_FLAG_NEW_LISTENER;

    if (flags & ~(uint32_t)FLAGS_KNOWN)
        return -EINVAL;
    if (sync && listener && !(flags & LX_SECCOMP_FILTER_FLAG_TSYNC_ESRCH))
        return -EINVAL;
    if ((flags & LX_SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) && !listener)
        return -EINVAL;
    if (copy_from_user(t, &prog, addr, sizeof(prog)) < 0)
        return -EFAULT;
    if (prog.len == 0 || prog.len > SECCOMP_MAX_INSNS)
        return -EINVAL;
    size_t size = prog.len * sizeof(struct lx_sock_filter);
    struct lx_sock_filter *code = kalloc(size);
    if (code == NULL)
        return -ENOMEM;
    int r = copy_from_user(t, code, GADDR(prog.filter), size) < 0 ? -EFAULT : 0;
    if (r == 0)
        r = listener ? -EBUSY : seccomp_attach(t, code, prog.len, sync);
    kfree(code);
    return r > 0 && (flags & LX_SECCOMP_FILTER_FLAG_TSYNC_ESRCH) ? -ESRCH : r;
}

static int64_t action_available(struct task *t, gaddr_t addr)
{
    uint32_t action;
    if (copy_from_user(t, &action, addr, sizeof(action)) < 0)
        return -EFAULT;
    switch (action) {
    case LX_SECCOMP_RET_KILL_PROCESS:
    case LX_SECCOMP_RET_KILL_THREAD:
    case LX_SECCOMP_RET_TRAP:
    case LX_SECCOMP_RET_ERRNO:
    case LX_SECCOMP_RET_TRACE:
    case LX_SECCOMP_RET_LOG:
    case LX_SECCOMP_RET_ALLOW:
        return 0;
    default:
        return -EOPNOTSUPP;
    }
}

int64_t seccomp_prctl(struct task *t, uint64_t mode, gaddr_t program)
{
    if (mode == LX_SECCOMP_MODE_STRICT)
        return seccomp_set_strict(t);
    return mode == LX_SECCOMP_MODE_FILTER ? set_filter(t, 0, program) : -EINVAL;
}

struct sys_res sys_seccomp(struct task *t, const struct sys_args *a)
{
    static const uint16_t sizes[3] = {80, 24, 64};
    uint32_t op = sys_uint(a, 0), flags = sys_uint(a, 1);
    gaddr_t addr = sys_addr(a, 2);

    switch (op) {
    case LX_SECCOMP_SET_MODE_STRICT:
        return sys_ret(flags != 0 || addr.v != 0 ? -EINVAL : seccomp_set_strict(t));
    case LX_SECCOMP_SET_MODE_FILTER:
        return sys_ret(set_filter(t, flags, addr));
    case LX_SECCOMP_GET_ACTION_AVAIL:
        return sys_ret(flags != 0 ? -EINVAL : action_available(t, addr));
    case LX_SECCOMP_GET_NOTIF_SIZES:
        return sys_ret(flags != 0 ? -EINVAL : copy_to_user(t, addr, sizes, sizeof(sizes)));
    default:
        return sys_ret(-EINVAL);
    }
}
