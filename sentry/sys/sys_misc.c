/*
 * sys_misc.c: calls without a family: getrandom, kcmp, unshare, membarrier.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

#define MEMBARRIER_CMDS                                                                   \
    (LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED | LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | \
     LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |                                      \
     LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)
#define GETRANDOM_STEP (1u << 20)

struct sys_res sys_getrandom(struct task *t, const struct sys_args *a)
{
    uint8_t chunk[1024];
    uint32_t flags = sys_uint(a, 2);
    uint64_t len = MIN(a->v[1], 1ull << 25), done = t->restart.progress;
    uint64_t step = MIN(len, done + GETRANDOM_STEP);

    if (flags & ~(uint32_t)(LX_GRND_NONBLOCK | LX_GRND_RANDOM | LX_GRND_INSECURE))
        return sys_ret(-EINVAL);
    if ((flags & (LX_GRND_RANDOM | LX_GRND_INSECURE)) == (LX_GRND_RANDOM | LX_GRND_INSECURE))
        return sys_ret(-EINVAL);
    while (done < step) {
        size_t n = (size_t)MIN(step - done, (uint64_t)sizeof(chunk));
        host_random(chunk, n);
        if (copy_to_user(t, gaddr_add(sys_addr(a, 0), done), chunk, n) < 0)
            return sys_ret(done > 0 ? (int64_t)done : -EFAULT);
        done += n;
    }
    t->restart.progress = done;
    return done < len ? task_yield(t, (int)done) : sys_ret((int64_t)done);
}

/* Order of two kernel objects without giving their addresses away. */
static int64_t kcmp_order(const void *x, const void *y)
{
    uintptr_t a = ((uintptr_t)x ^ kernel.seed) * 2654435761u,
              b = ((uintptr_t)y ^ kernel.seed) * 2654435761u;
    return x == y ? 0 : a < b ? 1 : 2;
}

static int64_t kcmp_files(struct task *x, struct task *y, const struct sys_args *a)
{
    struct file *f = x->files != NULL ? fd_get_path_ok(x, (int)(uint32_t)a->v[3]) : NULL;
    struct file *g = y->files != NULL ? fd_get_path_ok(y, (int)(uint32_t)a->v[4]) : NULL;
    int64_t r = f == NULL || g == NULL ? -EBADF : kcmp_order(f, g);
    file_put(f);
    file_put(g);
    return r;
}

struct sys_res sys_kcmp(struct task *t, const struct sys_args *a)
{
    struct task *x = task_by_pid(sys_uint(a, 0)), *y = task_by_pid(sys_uint(a, 1));
    if (x == NULL || y == NULL)
        return sys_ret(-ESRCH);
    if ((x->cred->uid != t->cred->euid || y->cred->uid != t->cred->euid) &&
        !cred_capable(t->cred, LX_CAP_SYS_PTRACE))
        return sys_ret(-EPERM);
    switch (sys_int(a, 2)) {
    case LX_KCMP_FILE:
        return sys_ret(kcmp_files(x, y, a));
    case LX_KCMP_VM:
        return sys_ret(kcmp_order(x->mm, y->mm));
    case LX_KCMP_FILES:
        return sys_ret(kcmp_order(x->files, y->files));
    case LX_KCMP_FS:
        return sys_ret(kcmp_order(x->fs, y->fs));
    case LX_KCMP_SIGHAND:
        return sys_ret(kcmp_order(x->sighand, y->sighand));
    case LX_KCMP_IO:
        return sys_ret(0); /* nobody has an I/O context of his own */
    case LX_KCMP_SYSVSEM:
        return sys_ret(!ipc_has_undo(x->group) && !ipc_has_undo(y->group)
                           ? 0
                           : kcmp_order(x->group, y->group));
    default:
        return sys_ret(-EINVAL);
    }
}

static int unshare_files(struct task *t)
{
    struct files *fresh;
    if (t->files->ref <= 1)
        return 0;
    int r = files_dup(t->files, &fresh);
    if (r < 0)
        return r;
    files_put(t->files);
    t->files = fresh;
    return 0;
}

static int unshare_fs(struct task *t)
{
    struct fs_info *fresh;
    if (t->fs->ref <= 1)
        return 0;
    int r = fs_info_dup(t->fs, &fresh);
    if (r < 0)
        return r;
    fs_info_put(t->fs);
    t->fs = fresh;
    return 0;
}

/* Namespaces need a privilege that nobody has here; what a task shares with others it may stop
 * sharing. */
struct sys_res sys_unshare(struct task *t, const struct sys_args *a)
{
    uint64_t flags = a->v[0];
    if (flags & ~(uint64_t)(LX_CLONE_NS_FLAGS | LX_CLONE_NEWTIME | LX_CLONE_FS | LX_CLONE_FILES |
                            LX_CLONE_SYSVSEM | LX_CLONE_THREAD | LX_CLONE_SIGHAND | LX_CLONE_VM))
        return sys_ret(-EINVAL);
    if (flags & (LX_CLONE_NS_FLAGS | LX_CLONE_NEWTIME))
        return sys_ret(-EPERM);
    if ((flags & (LX_CLONE_THREAD | LX_CLONE_SIGHAND | LX_CLONE_VM)) && t->group->nthreads > 1)
        return sys_ret(-EINVAL);
    int r = 0;
    if (flags & LX_CLONE_FS)
        r = unshare_fs(t);
    if (r == 0 && (flags & LX_CLONE_FILES))
        r = unshare_files(t);
    return sys_ret(r);
}

/* The commands about the caller's own threads are the host's to do; its others concern processes
 * that are nobody's business here. */
struct sys_res sys_membarrier(struct task *t, const struct sys_args *a)
{
    struct host_call call;
    int r;

    if (sys_int(a, 0) == LX_MEMBARRIER_CMD_QUERY)
        return sys_ret(sys_uint(a, 1) != 0 ? -EINVAL : MEMBARRIER_CMDS);
    r = host_call_membarrier(a->v[0], a->v[1], &call);
    return r < 0 ? sys_ret(r) : sys_host(t, &call);
}
