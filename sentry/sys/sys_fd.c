/*
 * Descriptors: close, dup, fcntl, and the part of ioctl that is the same for every file.
 */
#include "lib/compiler.h"

#include "abi/ioctl.h"
#include "abi/misc.h"

#include "sentry/fs/anon/memfd.h"
#include "sentry/fs/anon/pipe.h"
#include "sentry/fs/file.h"
#include "sentry/fs/flock.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

/* The status flags that F_SETFL changes. */
#define SETFL_MASK (LX_O_APPEND | LX_O_NONBLOCK | LX_O_DIRECT | LX_O_NOATIME)

struct sys_res sys_close(struct task *t, const struct sys_args *a)
{
    return sys_ret(fdtable_close(t, sys_int(a, 0)));
}

/* A copy of the shared table for t alone. */
static int files_unshare(struct task *t)
{
    struct files *fs;
    int r;

    if (t->files->ref == 1)
        return 0;
    r = files_dup(t->files, &fs);
    if (r < 0)
        return r;
    files_put(t->files);
    t->files = fs;
    return 0;
}

struct sys_res sys_close_range(struct task *t, const struct sys_args *a)
{
    uint32_t first = sys_uint(a, 0), last = sys_uint(a, 1), flags = sys_uint(a, 2);
    struct files *fs;
    int r;

    if (flags & ~(uint32_t)(LX_CLOSE_RANGE_UNSHARE | LX_CLOSE_RANGE_CLOEXEC))
        return sys_ret(-EINVAL);
    if (first > last)
        return sys_ret(-EINVAL);
    if (flags & LX_CLOSE_RANGE_UNSHARE) {
        r = files_unshare(t);
        if (r < 0)
            return sys_ret(r);
    }
    fs = t->files;
    for (size_t fd = bitmap_first_set(&fs->used, first); fd < fs->nslots && fd <= last;
         fd = bitmap_first_set(&fs->used, fd + 1)) {
        if (flags & LX_CLOSE_RANGE_CLOEXEC)
            fs->slots[fd].cloexec = true;
        else
            (void)fdtable_close(t, (int)fd);
    }
    return sys_ret(0);
}

static struct sys_res dup_from(struct task *t, struct file *f, bool cloexec, int min)
{
    int fd = fd_install(t, f, cloexec, min);

    if (fd < 0)
        file_put(f);
    return sys_ret(fd);
}

struct sys_res sys_dup(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_path_ok(t, sys_int(a, 0));

    return f ? dup_from(t, f, false, 0) : sys_ret(-EBADF);
}

static struct sys_res dup_to(struct task *t, int from, int to, bool cloexec)
{
    struct file *f;
    int r;

    if (to < 0 || (uint64_t)to >= task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur)
        return sys_ret(-EBADF);
    f = fd_get_path_ok(t, from);
    if (!f)
        return sys_ret(-EBADF);
    r = fd_replace(t, f, cloexec, to);
    if (r < 0)
        file_put(f);
    return sys_ret(r);
}

struct sys_res sys_dup2(struct task *t, const struct sys_args *a)
{
    int from = sys_int(a, 0), to = sys_int(a, 1);

    if (from == to) {
        struct file *f = fd_get_path_ok(t, from);

        if (!f)
            return sys_ret(-EBADF);
        file_put(f);
        return sys_ret(to);
    }
    return dup_to(t, from, to, false);
}

struct sys_res sys_dup3(struct task *t, const struct sys_args *a)
{
    int from = sys_int(a, 0), to = sys_int(a, 1);
    uint32_t flags = sys_uint(a, 2);

    if ((flags & ~(uint32_t)LX_O_CLOEXEC) || from == to)
        return sys_ret(-EINVAL);
    return dup_to(t, from, to, (flags & LX_O_CLOEXEC) != 0);
}

/* -- fcntl ------------------------------------------------------------------------------------ */

static int file_setfl(struct task *t, struct file *f, int fd, uint32_t flags)
{
    uint32_t async = flags & LX_O_ASYNC;

    flags &= SETFL_MASK;
    /* noatime is for the owner, as in open. */
    if ((flags & LX_O_NOATIME) && !(f->flags & LX_O_NOATIME) && !f->anon_name &&
        t->cred->fsuid != f->inode->uid && !cred_capable(t->cred, LX_CAP_FOWNER))
        return -EPERM;
    if (f->ops->setfl) {
        int r = f->ops->setfl(f, flags);

        if (r < 0)
            return r;
    }
    if (f->ops->async && async != (f->flags & LX_O_ASYNC)) {
        int r = file_set_async(f, fd, async != 0);

        if (r < 0)
            return r;
    }
    f->flags = (f->flags & ~(uint32_t)SETFL_MASK) | flags;
    return 0;
}

static struct sys_res fcntl_dupfd(struct task *t, struct file *f, uint64_t arg, bool cloexec)
{
    if (arg >= task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur || arg > INT32_MAX)
        return sys_ret(-EINVAL);
    return dup_from(t, file_get(f), cloexec, (int)arg);
}

static struct sys_res fcntl_pipe_size(struct task *t, struct file *f, int cmd, uint64_t arg)
{
    struct pipe *p = file_pipe(f);

    if (!p)
        return sys_ret(-EBADF);
    if (cmd == LX_F_GETPIPE_SZ)
        return sys_ret(pipe_size(p));
    return sys_ret(pipe_set_size(p, (uint32_t)arg, cred_capable(t->cred, LX_CAP_SYS_RESOURCE)));
}

static struct sys_res fcntl_owner(struct task *t, struct file *f, int cmd, uint64_t arg)
{
    struct lx_f_owner_ex ex;
    int r;

    switch (cmd) {
    case LX_F_GETOWN:
        return sys_ret(file_owner_number(f));
    case LX_F_SETOWN:
        return sys_ret(file_set_owner_number(f, t, (int32_t)(uint32_t)arg));
    case LX_F_GETOWN_EX:
        ex.type = f->owner.type;
        ex.pid = (int32_t)f->owner.id;
        return sys_ret(put_user(t, GADDR(arg), &ex));
    case LX_F_SETOWN_EX:
        r = get_user(t, &ex, GADDR(arg));
        if (r < 0)
            return sys_ret(r);
        if (ex.type < LX_F_OWNER_TID || ex.type > LX_F_OWNER_PGRP || ex.pid < 0)
            return sys_ret(-EINVAL);
        return sys_ret(file_set_owner(f, t, ex.type, (uint32_t)ex.pid));
    case LX_F_GETSIG:
        return sys_ret(f->owner.signal);
    default: /* F_SETSIG */
        if (arg > LX_NSIG)
            return sys_ret(-EINVAL);
        f->owner.signal = (int)arg;
        return sys_ret(0);
    }
}

static struct sys_res fcntl_seals(struct file *f, int cmd, uint64_t arg)
{
    int old;

    if (cmd == LX_F_GET_SEALS)
        return sys_ret(tmpfs_get_seals(f->inode));
    if (!file_writable(f))
        return sys_ret(-EPERM);
    old = tmpfs_get_seals(f->inode);
    if (old >= 0 && !(old & (LX_F_SEAL_SEAL | LX_F_SEAL_WRITE)) && (arg & LX_F_SEAL_WRITE) &&
        memfd_mapped_writable(f->inode))
        return sys_ret(-EBUSY);
    return sys_ret(tmpfs_add_seals(f->inode, (uint32_t)arg));
}

static struct sys_res fcntl_flags(struct task *t, struct file *f, int fd, int cmd, uint64_t arg)
{
    struct fd_slot *slot = &t->files->slots[fd];

    switch (cmd) {
    case LX_F_GETFD:
        return sys_ret(slot->cloexec ? LX_FD_CLOEXEC : 0);
    case LX_F_SETFD:
        slot->cloexec = (arg & LX_FD_CLOEXEC) != 0;
        return sys_ret(0);
    case LX_F_GETFL:
        /* 64-bit Linux always shows O_LARGEFILE for files that open made. */
        return sys_ret(f->flags & ~(uint32_t)(LX_O_CREAT | LX_O_EXCL | LX_O_NOCTTY | LX_O_TRUNC |
                                              LX_O_CLOEXEC));
    default: /* F_SETFL */
        return sys_ret(file_setfl(t, f, fd, (uint32_t)arg));
    }
}

static struct sys_res fcntl_dispatch(struct task *t, struct file *f, int fd, int cmd, uint64_t arg)
{
    switch (cmd) {
    case LX_F_DUPFD:
    case LX_F_DUPFD_CLOEXEC:
        return fcntl_dupfd(t, f, (uint32_t)arg, cmd == LX_F_DUPFD_CLOEXEC);
    case LX_F_GETFD:
    case LX_F_SETFD:
    case LX_F_GETFL:
    case LX_F_SETFL:
        return fcntl_flags(t, f, fd, cmd, arg);
    case LX_F_GETLK:
    case LX_F_OFD_GETLK:
        return fcntl_getlk(t, f, cmd, GADDR(arg));
    case LX_F_SETLK:
    case LX_F_SETLKW:
    case LX_F_OFD_SETLK:
    case LX_F_OFD_SETLKW:
        return fcntl_setlk(t, f, cmd, GADDR(arg));
    case LX_F_SETOWN:
    case LX_F_GETOWN:
    case LX_F_SETSIG:
    case LX_F_GETSIG:
    case LX_F_SETOWN_EX:
    case LX_F_GETOWN_EX:
        return fcntl_owner(t, f, cmd, arg);
    case LX_F_SETPIPE_SZ:
    case LX_F_GETPIPE_SZ:
        return fcntl_pipe_size(t, f, cmd, arg);
    case LX_F_ADD_SEALS:
    case LX_F_GET_SEALS:
        return fcntl_seals(f, cmd, arg);
    case LX_F_GETLEASE:
        return sys_ret(LX_F_UNLCK);
    case LX_F_CREATED_QUERY:
        return sys_ret(f->created);
    case LX_F_DUPFD_QUERY: {
        struct file *other = fd_get_path_ok(t, (int)(uint32_t)arg);
        bool same = other == f;

        if (!other)
            return sys_ret(-EBADF);
        file_put(other);
        return sys_ret(same);
    }
    default:
        return sys_ret(-EINVAL);
    }
}

/* What an O_PATH descriptor still answers. */
static bool fcntl_path_ok(int cmd)
{
    return cmd == LX_F_DUPFD || cmd == LX_F_DUPFD_CLOEXEC || cmd == LX_F_GETFD ||
           cmd == LX_F_SETFD || cmd == LX_F_GETFL || cmd == LX_F_DUPFD_QUERY;
}

struct sys_res sys_fcntl(struct task *t, const struct sys_args *a)
{
    int fd = sys_int(a, 0), cmd = sys_int(a, 1);
    struct file *f = fd_get_path_ok(t, fd);
    struct sys_res res;

    if (!f)
        return sys_ret(-EBADF);
    if ((f->flags & LX_O_PATH) && !fcntl_path_ok(cmd))
        res = sys_ret(-EBADF);
    else
        res = fcntl_dispatch(t, f, fd, cmd, a->v[2]);
    file_put(f);
    return res;
}

/* -- ioctl ------------------------------------------------------------------------------------ */

static struct sys_res ioctl_setfl(struct task *t, struct file *f, gaddr_t arg, uint32_t flag)
{
    int32_t on;
    int r = get_user(t, &on, arg);

    if (r < 0)
        return sys_ret(r);
    if (on)
        f->flags |= flag;
    else
        f->flags &= ~flag;
    return sys_ret(0);
}

static struct sys_res ioctl_async(struct task *t, struct file *f, int fd, gaddr_t arg)
{
    int32_t on;
    int r = get_user(t, &on, arg);

    if (r == 0 && (on != 0) != ((f->flags & LX_O_ASYNC) != 0))
        r = file_set_async(f, fd, on != 0);
    return sys_ret(r);
}

static struct sys_res ioctl_fionread(struct task *t, struct file *f, gaddr_t arg)
{
    inode_refresh(f->inode);
    uint64_t left = f->inode->size > f->pos ? f->inode->size - f->pos : 0;
    int32_t n = (int32_t)(uint32_t)left;

    return sys_ret(put_user(t, arg, &n));
}

static struct sys_res ioctl_dispatch(struct task *t, struct file *f, int fd, uint32_t cmd,
                                     uint64_t arg)
{
    switch (cmd) {
    case LX_FIOCLEX:
    case LX_FIONCLEX:
        t->files->slots[fd].cloexec = cmd == LX_FIOCLEX;
        return sys_ret(0);
    case LX_FIONBIO:
        return ioctl_setfl(t, f, GADDR(arg), LX_O_NONBLOCK);
    case LX_FIOASYNC:
        return ioctl_async(t, f, fd, GADDR(arg));
    case LX_FIOQSIZE:
        if (!LX_S_ISREG(f->inode->mode) && !LX_S_ISDIR(f->inode->mode))
            return sys_ret(-ENOTTY);
        return sys_ret(put_user(t, GADDR(arg), &f->inode->size));
    case LX_FIONREAD:
        if (LX_S_ISREG(f->inode->mode))
            return ioctl_fionread(t, f, GADDR(arg));
        break;
    case LX_FIGETBSZ: {
        int32_t size = (int32_t)f->inode->super->blksize;

        return sys_ret(put_user(t, GADDR(arg), &size));
    }
    default:
        break;
    }
    return f->ops->ioctl ? f->ops->ioctl(f, t, cmd, arg) : sys_ret(-ENOTTY);
}

struct sys_res sys_ioctl(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    struct sys_res res;

    if (!f)
        return sys_ret(-EBADF);
    res = ioctl_dispatch(t, f, sys_int(a, 0), sys_uint(a, 1), a->v[2]);
    file_put(f);
    return res;
}
