/* inotify and flock. */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"

#include "sentry/fs/file.h"
#include "sentry/fs/flock.h"
#include "sentry/fs/inotify.h"
#include "sentry/kernel/task.h"
#include "sentry/sys/install.h"
#include "sentry/sys/sys.h"

struct sys_res sys_flock(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    struct sys_res res;

    if (!f)
        return sys_ret(-EBADF);
    res = vfs_flock(t, f, sys_int(a, 1));
    file_put(f);
    return res;
}

static struct sys_res do_init(struct task *t, uint32_t flags)
{
    struct file *f = NULL;
    int r;

    if (flags & ~(uint32_t)(LX_IN_CLOEXEC | LX_IN_NONBLOCK))
        return sys_ret(-EINVAL);
    r = inotify_new(t, flags, &f);
    return sys_install(t, r, f, (flags & LX_IN_CLOEXEC) != 0);
}

struct sys_res sys_inotify_init(struct task *t, const struct sys_args *a)
{
    (void)a;
    return do_init(t, 0);
}

struct sys_res sys_inotify_init1(struct task *t, const struct sys_args *a)
{
    return do_init(t, sys_uint(a, 0));
}

struct sys_res sys_inotify_add_watch(struct task *t, const struct sys_args *a)
{
    uint32_t mask = sys_uint(a, 2), flags = mask & LX_IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW;
    struct file *f;
    struct path p;
    int r;

    if (!(mask & LX_IN_ALL_EVENTS) || ((mask & LX_IN_MASK_ADD) && (mask & LX_IN_MASK_CREATE)))
        return sys_ret(-EINVAL);
    f = fd_get(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    if (mask & LX_IN_ONLYDIR)
        flags |= LOOKUP_DIRECTORY;
    r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 1), flags, &p);
    if (r == 0) {
        r = inode_permission(p.dentry->inode, t->cred, LX_R_OK);
        if (r == 0)
            r = inotify_add(f, &p, mask);
        path_put(&p);
    }
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_inotify_rm_watch(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = inotify_remove(f, sys_int(a, 1));
    file_put(f);
    return sys_ret(r);
}
