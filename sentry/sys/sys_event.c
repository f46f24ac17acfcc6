/*
 * Descriptors that stand for something else than bytes: eventfd, timerfd, signalfd, memfd, pidfd.
 */
#include "lib/compiler.h"

#include "abi/misc.h"
#include "abi/mman.h"

#include "sentry/fs/anon/eventfd.h"
#include "sentry/fs/anon/memfd.h"
#include "sentry/fs/anon/pidfd.h"
#include "sentry/fs/anon/signalfd.h"
#include "sentry/fs/anon/timerfd.h"
#include "sentry/fs/file.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/install.h"
#include "sentry/sys/sys.h"

#define MEMFD_NAME_MAX 249

struct sys_res sys_install(struct task *t, int r, struct file *f, bool cloexec)
{
    int fd;

    if (r < 0)
        return sys_ret(r);
    fd = fd_install(t, f, cloexec, 0);
    if (fd < 0)
        file_put(f);
    return sys_ret(fd);
}

/* -- eventfd ---------------------------------------------------------------------------------- */

static struct sys_res do_eventfd(struct task *t, uint32_t count, uint32_t flags)
{
    struct file *f = NULL;
    int r;

    if (flags & ~(uint32_t)(LX_EFD_SEMAPHORE | LX_EFD_CLOEXEC | LX_EFD_NONBLOCK))
        return sys_ret(-EINVAL);
    r = eventfd_new(count, flags, &f);
    return sys_install(t, r, f, (flags & LX_EFD_CLOEXEC) != 0);
}

struct sys_res sys_eventfd(struct task *t, const struct sys_args *a)
{
    return do_eventfd(t, sys_uint(a, 0), 0);
}

struct sys_res sys_eventfd2(struct task *t, const struct sys_args *a)
{
    return do_eventfd(t, sys_uint(a, 0), sys_uint(a, 1));
}

/* -- timerfd ---------------------------------------------------------------------------------- */

struct sys_res sys_timerfd_create(struct task *t, const struct sys_args *a)
{
    int clock = sys_int(a, 0), r;
    uint32_t flags = sys_uint(a, 1);
    struct file *f = NULL;

    if (flags & ~(uint32_t)(LX_TFD_CLOEXEC | LX_TFD_NONBLOCK))
        return sys_ret(-EINVAL);
    if (clock == LX_CLOCK_REALTIME_ALARM || clock == LX_CLOCK_BOOTTIME_ALARM)
        return sys_ret(-EPERM);
    if (clock != LX_CLOCK_REALTIME && clock != LX_CLOCK_MONOTONIC && clock != LX_CLOCK_BOOTTIME)
        return sys_ret(-EINVAL);
    r = timerfd_new(clock, flags, &f);
    return sys_install(t, r, f, (flags & LX_TFD_CLOEXEC) != 0);
}

static int timerfd_from_guest(const struct lx_itimerspec *its, struct timerfd_value *ret_value)
{
    int r = timespec_to_ns(&its->it_interval, &ret_value->interval);

    return r < 0 ? r : timespec_to_ns(&its->it_value, &ret_value->value);
}

static int timerfd_to_guest(struct task *t, gaddr_t addr, const struct timerfd_value *v)
{
    struct lx_itimerspec its = {timespec_from_ns(v->interval), timespec_from_ns(v->value)};

    return put_user(t, addr, &its);
}

struct sys_res sys_timerfd_settime(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 1);
    struct timerfd_value value, old;
    struct lx_itimerspec its;
    struct file *f;
    int r = get_user(t, &its, sys_addr(a, 2));

    if (r < 0)
        return sys_ret(r);
    r = timerfd_from_guest(&its, &value);
    if (r < 0 || (flags & ~(uint32_t)(LX_TFD_TIMER_ABSTIME | LX_TFD_TIMER_CANCEL_ON_SET)))
        return sys_ret(-EINVAL);
    f = fd_get(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    r = -EINVAL;
    if (file_is_timerfd(f)) {
        timerfd_get(f, &old);
        timerfd_set(f, (flags & LX_TFD_TIMER_ABSTIME) != 0, &value);
        r = a->v[3] ? timerfd_to_guest(t, sys_addr(a, 3), &old) : 0;
    }
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_timerfd_gettime(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    struct timerfd_value value;
    int r = -EINVAL;

    if (!f)
        return sys_ret(-EBADF);
    if (file_is_timerfd(f)) {
        timerfd_get(f, &value);
        r = timerfd_to_guest(t, sys_addr(a, 1), &value);
    }
    file_put(f);
    return sys_ret(r);
}

/* -- signalfd --------------------------------------------------------------------------------- */

static struct sys_res do_signalfd(struct task *t, const struct sys_args *a, uint32_t flags)
{
    int fd = sys_int(a, 0), r;
    struct file *f = NULL;
    uint64_t set;

    if (a->v[2] != sizeof(set))
        return sys_ret(-EINVAL);
    if (get_user(t, &set, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (flags & ~(uint32_t)(LX_SFD_CLOEXEC | LX_SFD_NONBLOCK))
        return sys_ret(-EINVAL);
    if (fd == -1) {
        r = signalfd_new(set, flags, &f);
        return sys_install(t, r, f, (flags & LX_SFD_CLOEXEC) != 0);
    }
    f = fd_get(t, fd);
    if (!f)
        return sys_ret(-EBADF);
    r = signalfd_set_mask(f, set);
    file_put(f);
    return sys_ret(r < 0 ? r : fd);
}

struct sys_res sys_signalfd(struct task *t, const struct sys_args *a)
{
    return do_signalfd(t, a, 0);
}

struct sys_res sys_signalfd4(struct task *t, const struct sys_args *a)
{
    return do_signalfd(t, a, sys_uint(a, 3));
}

/* -- memfd ------------------------------------------------------------------------------------ */

struct sys_res sys_memfd_create(struct task *t, const struct sys_args *a)
{
    const uint32_t known = LX_MFD_CLOEXEC | LX_MFD_ALLOW_SEALING | LX_MFD_NOEXEC_SEAL | LX_MFD_EXEC;
    uint32_t flags = sys_uint(a, 1);
    char name[MEMFD_NAME_MAX + 1];
    struct file *f = NULL;
    int64_t len;
    int r;

    /* As a kernel without huge pages has it. */
    if ((flags & LX_MFD_HUGETLB) && !(flags & ~(known | LX_MFD_HUGETLB | LX_MFD_HUGE_MASK)))
        return sys_ret(-ENOSYS);
    if ((flags & ~known) || ((flags & LX_MFD_EXEC) && (flags & LX_MFD_NOEXEC_SEAL)))
        return sys_ret(-EINVAL);
    len = strncpy_from_user(t, name, sys_addr(a, 0), sizeof(name));
    if (len < 0)
        return sys_ret(len == -ENAMETOOLONG ? -EINVAL : len);
    r = memfd_new(name, flags, t->cred, &f);
    return sys_install(t, r, f, (flags & LX_MFD_CLOEXEC) != 0);
}

/* -- pidfd ------------------------------------------------------------------------------------ */

struct sys_res sys_pidfd_open(struct task *t, const struct sys_args *a)
{
    int pid = sys_int(a, 0), r;
    uint32_t flags = sys_uint(a, 1);
    struct thread_group *tg;
    struct file *f = NULL;

    if ((flags & ~(uint32_t)(LX_PIDFD_NONBLOCK | LX_PIDFD_THREAD)) || pid <= 0)
        return sys_ret(-EINVAL);
    tg = thread_group_by_pid((uint32_t)pid);
    if (!tg)
        return sys_ret(task_by_pid((uint32_t)pid) ? -ENOENT : -ESRCH);
    r = pidfd_new(tg, flags, &f);
    return sys_install(t, r, f, true);
}

/* The process of a descriptor, counted; *ret_err is set when there is none. dir_ok: or of its
 * directory in proc. */
static struct thread_group *pidfd_lookup(struct task *t, int fd, bool dir_ok, int *ret_err)
{
    struct file *f = fd_get(t, fd);
    struct thread_group *tg = f ? pidfd_group(f) : NULL;

    if (f && !tg && dir_ok)
        tg = proc_dir_group(f);

    if (tg)
        thread_group_get(tg);
    else
        *ret_err = -EBADF;
    file_put(f);
    return tg;
}

static int pidfd_signal(struct task *t, struct thread_group *tg, int signo, gaddr_t uinfo)
{
    struct lx_siginfo info;

    if (gaddr_is_null(uinfo)) {
        signal_info_user(&info, signo, LX_SI_USER, t);
    } else {
        if (get_user(t, &info, uinfo) < 0)
            return -EFAULT;
        if (info.si_signo != signo)
            return -EINVAL;
        if (tg != t->group && (info.si_code >= 0 || info.si_code == LX_SI_TKILL))
            return -EPERM;
    }
    if (signo < 0 || signo > LX_NSIG)
        return -EINVAL;
    if (thread_group_by_pid(tg->pid) != tg)
        return -ESRCH;
    if (!signal_may_send(t, tg, signo))
        return -EPERM;
    return signo == 0 ? 0 : signal_send_group(tg, &info);
}

struct sys_res sys_pidfd_send_signal(struct task *t, const struct sys_args *a)
{
    struct thread_group *tg;
    int r = 0;

    if (sys_uint(a, 3))
        return sys_ret(-EINVAL);
    tg = pidfd_lookup(t, sys_int(a, 0), true, &r);
    if (tg) {
        r = pidfd_signal(t, tg, sys_int(a, 1), sys_addr(a, 2));
        thread_group_put(tg);
    }
    return sys_ret(r);
}

struct sys_res sys_pidfd_getfd(struct task *t, const struct sys_args *a)
{
    struct thread_group *tg;
    struct file *f = NULL;
    struct task *other;
    int r = 0;

    if (sys_uint(a, 2))
        return sys_ret(-EINVAL);
    tg = pidfd_lookup(t, sys_int(a, 0), false, &r);
    if (!tg)
        return sys_ret(r);
    other = tg->leader;
    if (thread_group_by_pid(tg->pid) != tg || !other || !other->files)
        r = -ESRCH;
    else if (!ptrace_may_access(t, other, PTRACE_MODE_REALCREDS))
        r = -EPERM;
    else if ((f = fd_get_path_ok(other, sys_int(a, 1))) == NULL)
        r = -EBADF;
    thread_group_put(tg);
    return sys_install(t, r, f, true);
}
