/*
 * sys_prctl.c: prctl(2), arch_prctl(2), personality(2).
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/prctl.h"

#include "sentry/kernel/cred.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/seccomp_call.h"
#include "sentry/sys/sys.h"

static int64_t prctl_name(struct task *t, int op, gaddr_t addr)
{
    char name[LX_TASK_COMM_LEN] = {0};
    if (op == LX_PR_GET_NAME)
        return copy_to_user(t, addr, t->comm, sizeof(t->comm));
    int64_t r = strncpy_from_user(t, name, addr, sizeof(name));
    if (r < 0 && r != -ENAMETOOLONG)
        return r;
    name[sizeof(name) - 1] = '\0';
    task_set_comm(t, name);
    return 0;
}

static int64_t prctl_bounding_drop(struct task *t, uint64_t cap)
{
    if (cap > LX_CAP_LAST_CAP)
        return -EINVAL;
    if (!cred_capable(t->cred, LX_CAP_SETPCAP))
        return -EPERM;
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return -ENOMEM;
    c->cap_bounding &= ~(1ull << cap);
    cred_put(t->cred);
    t->cred = c;
    return 0;
}

static int64_t prctl_securebits(struct task *t, uint64_t bits)
{
    const uint64_t locks = 0xaa, known = 0xff; /* a bit's lock is the next higher bit */
    uint64_t old = t->cred->securebits;

    if ((((old & locks) >> 1) & (old ^ bits)) != 0 || (old & locks & ~bits) != 0 ||
        (bits & ~known) != 0 || !cred_capable(t->cred, LX_CAP_SETPCAP))
        return -EPERM;
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return -ENOMEM;
    c->securebits = (uint32_t)bits;
    cred_put(t->cred);
    t->cred = c;
    return 0;
}

static int64_t prctl_keepcaps(struct task *t, uint64_t on)
{
    if (on > 1)
        return -EINVAL;
    if (t->cred->securebits & (2u << LX_SECURE_KEEP_CAPS))
        return -EPERM;
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return -ENOMEM;
    c->securebits &= ~(1u << LX_SECURE_KEEP_CAPS);
    c->securebits |= (uint32_t)on << LX_SECURE_KEEP_CAPS;
    cred_put(t->cred);
    t->cred = c;
    return 0;
}

static int64_t prctl_ambient(struct task *t, const struct sys_args *a)
{
    uint64_t op = a->v[1], cap = a->v[2];
    struct cred *c;
    if (cap > (op == LX_PR_CAP_AMBIENT_CLEAR_ALL ? 0 : LX_CAP_LAST_CAP) || a->v[3] != 0 ||
        a->v[4] != 0)
        return -EINVAL;
    uint64_t bit = 1ull << cap;
    if (op == LX_PR_CAP_AMBIENT_IS_SET)
        return (t->cred->cap_ambient & bit) != 0;
    if (op == LX_PR_CAP_AMBIENT_RAISE &&
        ((t->cred->cap_permitted & t->cred->cap_inheritable & bit) == 0 ||
         (t->cred->securebits & (1u << LX_SECURE_NO_CAP_AMBIENT_RAISE)) != 0))
        return -EPERM;
    if (op < LX_PR_CAP_AMBIENT_RAISE || op > LX_PR_CAP_AMBIENT_CLEAR_ALL)
        return -EINVAL;
    c = cred_dup(t->cred);
    if (c == NULL)
        return -ENOMEM;
    if (op == LX_PR_CAP_AMBIENT_RAISE)
        c->cap_ambient |= bit;
    else
        c->cap_ambient &= op == LX_PR_CAP_AMBIENT_LOWER ? ~bit : 0;
    cred_put(t->cred);
    t->cred = c;
    return 0;
}

/* Calls about credentials; -ENOSYS: not one of them. */
static int64_t prctl_cred(struct task *t, int op, const struct sys_args *a)
{
    switch (op) {
    case LX_PR_CAPBSET_READ:
        return a->v[1] > LX_CAP_LAST_CAP ? -EINVAL
                                         : (int64_t)((t->cred->cap_bounding >> a->v[1]) & 1);
    case LX_PR_CAPBSET_DROP:
        return prctl_bounding_drop(t, a->v[1]);
    case LX_PR_GET_SECUREBITS:
        return t->cred->securebits;
    case LX_PR_SET_SECUREBITS:
        return prctl_securebits(t, a->v[1]);
    case LX_PR_GET_KEEPCAPS:
        return (t->cred->securebits >> LX_SECURE_KEEP_CAPS) & 1;
    case LX_PR_SET_KEEPCAPS:
        return prctl_keepcaps(t, a->v[1]);
    case LX_PR_CAP_AMBIENT:
        return prctl_ambient(t, a);
    case LX_PR_SET_NO_NEW_PRIVS:
        if (a->v[1] != 1 || a->v[2] != 0 || a->v[3] != 0 || a->v[4] != 0)
            return -EINVAL;
        t->no_new_privs = true;
        return 0;
    case LX_PR_GET_NO_NEW_PRIVS:
        return a->v[1] != 0 || a->v[2] != 0 ? -EINVAL : t->no_new_privs;
    default:
        return -ENOSYS;
    }
}

static int64_t put_int(struct task *t, gaddr_t addr, int32_t v)
{
    return put_user(t, addr, &v);
}

static bool rest_is_zero(const struct sys_args *a, int from)
{
    for (int i = from; i < 5; i++) {
        if (a->v[i] != 0)
            return false;
    }
    return true;
}

/* What a program asks of the processor; nothing of it changes the host. -ENOSYS: not one of them.
 */
static int64_t prctl_processor(struct task *t, int op, const struct sys_args *a)
{
    switch (op) {
    case LX_PR_GET_TIMING:
        return 0; /* PR_TIMING_STATISTICAL */
    case LX_PR_SET_TIMING:
        return a->v[1] == 0 ? 0 : -EINVAL;
    case LX_PR_GET_TSC:
        return put_int(t, sys_addr(a, 1), LX_PR_TSC_ENABLE);
    case LX_PR_SET_TSC:
        return a->v[1] == LX_PR_TSC_ENABLE ? 0 : -EINVAL;
    case LX_PR_GET_THP_DISABLE:
        return rest_is_zero(a, 1) ? t->group->thp_disabled : -EINVAL;
    case LX_PR_SET_THP_DISABLE:
        if (!rest_is_zero(a, 2))
            return -EINVAL;
        t->group->thp_disabled = a->v[1] != 0;
        return 0;
    case LX_PR_GET_SPECULATION_CTRL:
        if (!rest_is_zero(a, 2))
            return -EINVAL;
        return a->v[1] > LX_PR_SPEC_L1D_FLUSH ? -ENODEV : 0; /* not affected */
    default:
        return -ENOSYS;
    }
}

static int64_t prctl_other(struct task *t, int op, const struct sys_args *a)
{
    switch (op) {
    case LX_PR_SET_PDEATHSIG:
        if (a->v[1] > LX_NSIG)
            return -EINVAL;
        t->pdeath_signal = (int)a->v[1];
        return 0;
    case LX_PR_GET_PDEATHSIG:
        return put_int(t, sys_addr(a, 1), t->pdeath_signal);
    case LX_PR_GET_DUMPABLE:
        return t->group->dumpable;
    case LX_PR_SET_DUMPABLE:
        if (a->v[1] > 1)
            return -EINVAL;
        t->group->dumpable = a->v[1] == 1;
        return 0;
    case LX_PR_SET_NAME:
    case LX_PR_GET_NAME:
        return prctl_name(t, op, sys_addr(a, 1));
    case LX_PR_SET_CHILD_SUBREAPER:
        t->group->child_subreaper = a->v[1] != 0;
        return 0;
    case LX_PR_GET_CHILD_SUBREAPER:
        return put_int(t, sys_addr(a, 1), t->group->child_subreaper);
    case LX_PR_SET_TIMERSLACK:
        t->timer_slack = a->v[1] == 0 ? t->timer_slack_default : a->v[1];
        return 0;
    case LX_PR_GET_TIMERSLACK:
        return (int64_t)t->timer_slack;
    case LX_PR_GET_TID_ADDRESS:
        return copy_to_user(t, sys_addr(a, 1), &t->clear_child_tid.v, 8);
    case LX_PR_GET_SECCOMP:
        return t->seccomp_mode;
    case LX_PR_SET_SECCOMP:
        return seccomp_prctl(t, a->v[1], sys_addr(a, 2));
    case LX_PR_SET_PTRACER:
    case LX_PR_MCE_KILL:
        return 0;
    case LX_PR_SET_VMA:
        return a->v[1] == LX_PR_SET_VMA_ANON_NAME ? 0 : -EINVAL;
    case LX_PR_SET_MM:
        return -EPERM;
    default:
        return -EINVAL;
    }
}

struct sys_res sys_prctl(struct task *t, const struct sys_args *a)
{
    int op = sys_int(a, 0);
    int64_t r = prctl_cred(t, op, a);
    if (r == -ENOSYS)
        r = prctl_processor(t, op, a);
    return sys_ret(r == -ENOSYS ? prctl_other(t, op, a) : r);
}

struct sys_res sys_arch_prctl(struct task *t, const struct sys_args *a)
{
    struct host_call call;
    uint64_t code = sys_uint(a, 0), addr = a->v[1];

    switch (code) {
    case LX_ARCH_SET_FS:
    case LX_ARCH_SET_GS:
        if (addr >= LX_TASK_SIZE)
            return sys_ret(-EPERM);
        if (host_call_arch_prctl(a->v[0], addr, &call) < 0)
            return sys_ret(-EINVAL);
        if (code == LX_ARCH_SET_FS)
            t->tls = GADDR(addr);
        else
            t->gs_base = GADDR(addr);
        return sys_host(t, &call);
    case LX_ARCH_GET_FS:
        return sys_ret(copy_to_user(t, GADDR(addr), &t->tls.v, 8));
    case LX_ARCH_GET_GS:
        return sys_ret(copy_to_user(t, GADDR(addr), &t->gs_base.v, 8));
    case LX_ARCH_GET_CPUID:
        return sys_ret(1);
    case LX_ARCH_SET_CPUID:
        return sys_ret(-ENODEV); /* as by a processor that cannot fault on cpuid */
    default:
        return sys_ret(-EINVAL);
    }
}

struct sys_res sys_personality(struct task *t, const struct sys_args *a)
{
    uint32_t old = t->personality;
    if (sys_uint(a, 0) != 0xffffffffu)
        t->personality = sys_uint(a, 0);
    return sys_ret(old);
}
