/*
 * read, write and their vectored and positioned relatives, lseek, and advice about access.
 */
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "sentry/sys/file_io.h"
#include "sentry/sys/sock_util.h"
#include "sentry/sys/sys.h"

#define RWF_SUPPORTED \
    (LX_RWF_HIPRI | LX_RWF_DSYNC | LX_RWF_SYNC | LX_RWF_NOWAIT | LX_RWF_APPEND | LX_RWF_NOAPPEND)

/* Sockets have timeouts of their own (SO_RCVTIMEO, SO_SNDTIMEO). */
static struct sys_res rw_block(struct task *t, struct file *f, bool out, int intr)
{
    uint32_t mask = out ? LX_POLLOUT | LX_POLLWRNORM : LX_POLLIN | LX_POLLRDNORM;
    const struct unix_sock *sk = file_socket(f);
    uint64_t timeo = !sk ? 0 : out ? sk->sndtimeo : sk->rcvtimeo;

    return timeo ? sock_block(t, f, mask, timeo) : file_block(t, f, mask, intr);
}

struct sys_res file_read_uio(struct task *t, struct file *f, struct uio *to, uint64_t *pos,
                             bool nonblock)
{
    uint64_t done = t->restart.progress;
    int64_t n;

    uio_advance(to, done);
    if (pos)
        *pos += done;
    n = vfs_read(t, f, to, pos);
    if (n > 0)
        done += (uint64_t)n;
    if (n > 0 && to->left && (n == (int64_t)VFS_READ_STEP || f->ops->endless)) {
        t->restart.progress = done;
        return task_yield(t, (int)done);
    }
    if (done)
        return sys_ret((int64_t)done);
    if (n != -EAGAIN || nonblock || !f->ops->poll)
        return sys_ret(n);
    return rw_block(t, f, false, -ERESTARTSYS);
}

static struct sys_res write_block(struct task *t, struct file *f)
{
    uint64_t done = t->restart.progress;
    struct sys_res res = rw_block(t, f, true, done ? (int)done : -ERESTARTSYS);

    if (res.kind == SYS_RET && res.val < 0 && done)
        res.val = (int64_t)done;
    return res;
}

struct sys_res file_write_uio(struct task *t, struct file *f, struct uio *from, uint64_t *pos,
                              bool nonblock)
{
    bool stream = file_is_stream(f) && f->ops->poll;

    if (!stream)
        return sys_ret(vfs_write(t, f, from, pos));
    if (t->restart.progress)
        uio_advance(from, t->restart.progress);
    for (;;) {
        int64_t n = vfs_write(t, f, from, pos);

        if (n > 0) {
            t->restart.progress += (uint64_t)n;
            if (from->left > 0 && !nonblock)
                continue;
        } else if (n == -EAGAIN && !nonblock) {
            return write_block(t, f);
        } else if (n == -EPIPE) {
            signal_send_kernel_task(t, LX_SIGPIPE);
        }
        return sys_ret(t->restart.progress ? (int64_t)t->restart.progress : n);
    }
}

struct sys_res sys_read(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_held(t, sys_int(a, 0));
    struct sys_res res;
    struct uio u;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = file_readable(f) ? uio_init_user(&u, t, sys_addr(a, 1), a->v[2]) : -EBADF;
    res = r < 0 ? sys_ret(r) : file_read_uio(t, f, &u, NULL, file_nonblock(f));
    file_put(f);
    return res;
}

struct sys_res sys_write(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_held(t, sys_int(a, 0));
    struct sys_res res;
    struct uio u;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    r = file_writable(f) ? uio_init_user(&u, t, sys_addr(a, 1), a->v[2]) : -EBADF;
    res = r < 0 ? sys_ret(r) : file_write_uio(t, f, &u, NULL, file_nonblock(f));
    file_put(f);
    return res;
}

struct sys_res sys_pread64(struct task *t, const struct sys_args *a)
{
    uint64_t pos = a->v[3];
    struct sys_res res;
    struct file *f;
    struct uio u;
    int r = 0;

    if ((int64_t)pos < 0)
        return sys_ret(-EINVAL);
    f = fd_get_held(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    if (file_is_stream(f))
        r = -ESPIPE;
    else if (!file_readable(f))
        r = -EBADF;
    else
        r = uio_init_user(&u, t, sys_addr(a, 1), a->v[2]);
    res = r < 0 ? sys_ret(r) : file_read_uio(t, f, &u, &pos, file_nonblock(f));
    file_put(f);
    return res;
}

struct sys_res sys_pwrite64(struct task *t, const struct sys_args *a)
{
    uint64_t pos = a->v[3];
    struct sys_res res;
    struct file *f;
    struct uio u;
    int r = 0;

    if ((int64_t)pos < 0)
        return sys_ret(-EINVAL);
    f = fd_get_held(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    if (file_is_stream(f))
        r = -ESPIPE;
    else if (!file_writable(f))
        r = -EBADF;
    else
        r = uio_init_user(&u, t, sys_addr(a, 1), a->v[2]);
    res = r < 0 ? sys_ret(r) : file_write_uio(t, f, &u, &pos, file_nonblock(f));
    file_put(f);
    return res;
}

/* pos -1: the file's own position. */
static struct sys_res readv_at(struct task *t, const struct sys_args *a, int64_t pos,
                               uint32_t flags)
{
    struct file *f = fd_get_held(t, sys_int(a, 0));
    bool own = pos == -1;
    uint64_t at = (uint64_t)pos;
    struct sys_res res;
    struct uio u;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    if (!own && file_is_stream(f))
        r = -ESPIPE;
    else if (!file_readable(f))
        r = -EBADF;
    else if (flags & ~(uint32_t)RWF_SUPPORTED)
        r = -EOPNOTSUPP;
    else
        r = uio_init_iovec(&u, t, sys_addr(a, 1), a->v[2]);
    if (r < 0) {
        file_put(f);
        return sys_ret(r);
    }
    res = file_read_uio(t, f, &u, own ? NULL : &at, file_nonblock(f) || (flags & LX_RWF_NOWAIT));
    uio_done(&u);
    file_put(f);
    return res;
}

static struct sys_res writev_at(struct task *t, const struct sys_args *a, int64_t pos,
                                uint32_t flags)
{
    struct file *f = fd_get_held(t, sys_int(a, 0));
    bool own = pos == -1;
    uint64_t at = (uint64_t)pos;
    uint32_t saved;
    struct sys_res res;
    struct uio u;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    if (!own && file_is_stream(f))
        r = -ESPIPE;
    else if (!file_writable(f))
        r = -EBADF;
    else if (flags & ~(uint32_t)RWF_SUPPORTED)
        r = -EOPNOTSUPP;
    else if ((flags & LX_RWF_APPEND) && (flags & LX_RWF_NOAPPEND))
        r = -EINVAL;
    else
        r = uio_init_iovec(&u, t, sys_addr(a, 1), a->v[2]);
    if (r < 0) {
        file_put(f);
        return sys_ret(r);
    }
    saved = f->flags;
    if (flags & LX_RWF_APPEND)
        f->flags |= LX_O_APPEND;
    if (flags & LX_RWF_NOAPPEND)
        f->flags &= ~(uint32_t)LX_O_APPEND;
    res = file_write_uio(t, f, &u, own ? NULL : &at, file_nonblock(f) || (flags & LX_RWF_NOWAIT));
    f->flags = saved;
    uio_done(&u);
    file_put(f);
    return res;
}

struct sys_res sys_readv(struct task *t, const struct sys_args *a)
{
    return readv_at(t, a, -1, 0);
}

struct sys_res sys_writev(struct task *t, const struct sys_args *a)
{
    return writev_at(t, a, -1, 0);
}

struct sys_res sys_preadv(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < 0 ? sys_ret(-EINVAL) : readv_at(t, a, pos, 0);
}

struct sys_res sys_pwritev(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < 0 ? sys_ret(-EINVAL) : writev_at(t, a, pos, 0);
}

struct sys_res sys_preadv2(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < -1 ? sys_ret(-EINVAL) : readv_at(t, a, pos, sys_uint(a, 5));
}

struct sys_res sys_pwritev2(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < -1 ? sys_ret(-EINVAL) : writev_at(t, a, pos, sys_uint(a, 5));
}

struct sys_res sys_lseek(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    uint32_t whence = sys_uint(a, 2);
    int64_t r;

    if (!f)
        return sys_ret(-EBADF);
    if (whence > LX_SEEK_HOLE)
        r = -EINVAL;
    else if (f->ops->seek)
        r = f->ops->seek(f, (int64_t)a->v[1], (int)whence);
    else
        r = f->ops->seek_ignored ? (int64_t)f->pos : -ESPIPE;
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_readahead(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    int r = 0;

    if (!f)
        return sys_ret(-EBADF);
    if (!file_readable(f))
        r = -EBADF;
    else if (!LX_S_ISREG(f->inode->mode) && !LX_S_ISBLK(f->inode->mode))
        r = -EINVAL;
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_fadvise64(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    int r = 0;

    if (!f)
        return sys_ret(-EBADF);
    if (LX_S_ISFIFO(f->inode->mode))
        r = -ESPIPE;
    else if ((int64_t)a->v[2] < 0 || sys_uint(a, 3) > LX_POSIX_FADV_NOREUSE)
        r = -EINVAL;
    file_put(f);
    return sys_ret(r);
}
