/*
 * sys_info.c: what the system and a process say of themselves: uname, sysinfo, rusage, rlimits,
 * clock adjustment state.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/prctl.h"
#include "abi/rlimit.h"
#include "abi/time.h"

#include "sentry/kernel/cpu_limit.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/uts.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

static void set_field(char *dst, const char *src)
{
    size_t n = strnlen(src, LX_NEW_UTS_LEN);
    memcpy(dst, src, n);
}

struct sys_res sys_uname(struct task *t, const struct sys_args *a)
{
    struct lx_utsname u = {0};
    set_field(u.sysname, UTS_SYSNAME);
    set_field(u.nodename, kernel.hostname);
    set_field(u.release, UTS_RELEASE);
    set_field(u.version, UTS_VERSION);
    set_field(u.machine, UTS_MACHINE);
    set_field(u.domainname, kernel.domainname);
    return sys_ret(put_user(t, sys_addr(a, 0), &u));
}

static int64_t set_name(struct task *t, const struct sys_args *a, char name[LX_NEW_UTS_LEN + 1])
{
    char fresh[LX_NEW_UTS_LEN + 1] = {0};
    int len = sys_int(a, 1);

    if (!cred_capable(t->cred, LX_CAP_SYS_ADMIN))
        return -EPERM;
    if (len < 0 || len > LX_NEW_UTS_LEN)
        return -EINVAL;
    if (copy_from_user(t, fresh, sys_addr(a, 0), (size_t)len) < 0)
        return -EFAULT;
    memcpy(name, fresh, sizeof(fresh));
    return 0;
}

struct sys_res sys_sethostname(struct task *t, const struct sys_args *a)
{
    return sys_ret(set_name(t, a, kernel.hostname));
}

struct sys_res sys_setdomainname(struct task *t, const struct sys_args *a)
{
    return sys_ret(set_name(t, a, kernel.domainname));
}

struct sys_res sys_sysinfo(struct task *t, const struct sys_args *a)
{
    struct lx_sysinfo si = {
        .uptime = (int64_t)(clock_monotonic() / NSEC_PER_SEC),
        .totalram = kernel.memory_limit,
        .freeram = kernel.memory_limit / 4 * 3,
        .procs = (uint16_t)limit_used(LIMIT_TASKS),
        .mem_unit = 1,
    };
    return sys_ret(put_user(t, sys_addr(a, 0), &si));
}

struct sys_res sys_getrusage(struct task *t, const struct sys_args *a)
{
    struct lx_rusage ru;
    uint64_t rss = MAX(t->group->maxrss, thread_group_rss(t->group));
    switch (sys_int(a, 0)) {
    case LX_RUSAGE_SELF:
        rusage_fill(&ru, thread_group_cputime(t->group), rss);
        break;
    case LX_RUSAGE_THREAD:
        rusage_fill(&ru, task_cputime(t), rss);
        break;
    case LX_RUSAGE_CHILDREN:
        rusage_fill(&ru, t->group->cpu_children, t->group->maxrss_children);
        break;
    default:
        return sys_ret(-EINVAL);
    }
    return sys_ret(put_user(t, sys_addr(a, 1), &ru));
}

/* -- rlimits ----------------------------------------------------------------------------------- */

/* What the caller of the run has set holds for its emulated root too, whatever the capabilities. */
static uint64_t rlimit_ceiling(uint32_t res)
{
    return res == LX_RLIMIT_NOFILE  ? kernel.start_files
           : res == LX_RLIMIT_FSIZE ? kernel.start_file_size
                                    : LX_RLIM_INFINITY;
}

static int rlimit_set(struct task *t, struct thread_group *tg, uint32_t res,
                      const struct lx_rlimit *new)
{
    struct lx_rlimit *cur = &tg->rlimit[res];
    if (new->rlim_cur > new->rlim_max)
        return -EINVAL;
    if (res == LX_RLIMIT_NOFILE && new->rlim_max > 1048576)
        return -EPERM;
    if (new->rlim_max > cur->rlim_max &&
        (!cred_capable(t->cred, LX_CAP_SYS_RESOURCE) || new->rlim_max > rlimit_ceiling(res)))
        return -EPERM;
    *cur = *new;
    if (res == LX_RLIMIT_CPU)
        cpu_limit_changed(tg);
    return 0;
}

struct sys_res sys_getrlimit(struct task *t, const struct sys_args *a)
{
    uint32_t res = sys_uint(a, 0);
    if (res >= LX_RLIM_NLIMITS)
        return sys_ret(-EINVAL);
    return sys_ret(put_user(t, sys_addr(a, 1), &t->group->rlimit[res]));
}

struct sys_res sys_setrlimit(struct task *t, const struct sys_args *a)
{
    struct lx_rlimit new;
    if (get_user(t, &new, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (sys_uint(a, 0) >= LX_RLIM_NLIMITS)
        return sys_ret(-EINVAL);
    return sys_ret(rlimit_set(t, t->group, sys_uint(a, 0), &new));
}

struct sys_res sys_prlimit64(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0);
    uint32_t res = sys_uint(a, 1);
    struct lx_rlimit new, old;
    bool set = !gaddr_is_null(sys_addr(a, 2));

    if (res >= LX_RLIM_NLIMITS)
        return sys_ret(-EINVAL);
    if (set && get_user(t, &new, sys_addr(a, 2)) < 0)
        return sys_ret(-EFAULT);
    struct task *other = pid == 0 ? t : pid > 0 ? task_by_pid((uint32_t)pid) : NULL;
    if (other == NULL)
        return sys_ret(-ESRCH);
    if (other->group != t->group && other->cred->uid != t->cred->uid &&
        !cred_capable(t->cred, LX_CAP_SYS_RESOURCE))
        return sys_ret(-EPERM);
    old = other->group->rlimit[res];
    if (set) {
        int r = rlimit_set(t, other->group, res, &new);
        if (r < 0)
            return sys_ret(r);
    }
    if (!gaddr_is_null(sys_addr(a, 3)))
        return sys_ret(put_user(t, sys_addr(a, 3), &old));
    return sys_ret(0);
}

/* -- adjtimex: readable, never changed --------------------------------------------------------- */

static struct sys_res do_adjtimex(struct task *t, gaddr_t addr)
{
    struct lx_timex tx;
    if (get_user(t, &tx, addr) < 0)
        return sys_ret(-EFAULT);
    if (tx.modes != 0 && tx.modes != 0xa001)
        return sys_ret(-EPERM);
    tx = (struct lx_timex){.status = LX_STA_UNSYNC, .tick = 10000, .precision = 1};
    tx.tolerance = 32768000;
    tx.time = timeval_from_ns(clock_realtime());
    if (put_user(t, addr, &tx) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(LX_TIME_ERROR);
}

struct sys_res sys_adjtimex(struct task *t, const struct sys_args *a)
{
    return do_adjtimex(t, sys_addr(a, 0));
}

struct sys_res sys_clock_adjtime(struct task *t, const struct sys_args *a)
{
    if (sys_int(a, 0) != LX_CLOCK_REALTIME)
        return sys_ret(-EOPNOTSUPP);
    return do_adjtimex(t, sys_addr(a, 1));
}
