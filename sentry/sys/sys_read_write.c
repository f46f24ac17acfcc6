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

/* Regular files are read and written to the end: only death comes in between. */
static struct sys_res rw_yield(struct task *t, struct file *f, uint64_t done)
{
    t->restart.progress = done;
    return f->ops->endless ? task_yield(t, (int)done) : task_yield_killable(t);
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
    if (n > 0 && to->left && (n == (int64_t)VFS_STEP || f->ops->endless))
        return rw_yield(t, f, done);
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

/* A write that has come to RLIMIT_FSIZE is short; only one that begins there raises SIGXFSZ. */
static bool at_size_limit(const struct task *t, const struct file *f, const uint64_t *pos)
{
    uint64_t at = f->flags & LX_O_APPEND ? f->inode->size : pos ? *pos : f->pos;

    return LX_S_ISREG(f->inode->mode) && at >= task_rlimit(t, LX_RLIMIT_FSIZE)->rlim_cur;
}

/* Others do not write to the same file between the steps of one write. */
static struct sys_res write_steps(struct task *t, struct file *f, struct uio *from, uint64_t *pos)
{
    struct wait_queue *turn = write_turn_of_other(f->inode, t->restart.ptr);
    uint64_t done = t->restart.progress;
    int64_t n;

    if (turn) {
        int r = task_wait_on(t, turn, 0);

        return r < 0 ? sys_ret(r) : task_block_killable(t);
    }
    uio_advance(from, done);
    if (pos)
        *pos += done;
    n = done && at_size_limit(t, f, pos) ? 0 : vfs_write(t, f, from, pos);
    if (n > 0)
        done += (uint64_t)n;
    if (n == (int64_t)VFS_STEP && from->left && !t->restart.ptr) {
        t->restart.ptr = write_turn_new(f->inode);
        t->restart.free_ptr = write_turn_free;
    }
    if (n == (int64_t)VFS_STEP && from->left && t->restart.ptr)
        return rw_yield(t, f, done);
    return sys_ret(done ? (int64_t)done : n);
}

struct sys_res file_write_uio(struct task *t, struct file *f, struct uio *from, uint64_t *pos,
                              bool nonblock)
{
    bool stream = file_is_stream(f) && f->ops->poll;

    if (!stream)
        return write_steps(t, f, from, pos);
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

static bool file_open_for(const struct file *f, bool write)
{
    return write ? file_writable(f) : file_readable(f);
}

static struct sys_res rw_uio(struct task *t, struct file *f, struct uio *u, uint64_t *pos,
                             bool nonblock, bool write)
{
    return write ? file_write_uio(t, f, u, pos, nonblock) : file_read_uio(t, f, u, pos, nonblock);
}

/* One buffer; pos NULL: at the file's own position. */
static struct sys_res rw_buffer(struct task *t, const struct sys_args *a, uint64_t *pos, bool write)
{
    struct file *f = fd_get_held(t, sys_int(a, 0));
    struct sys_res res;
    struct uio u;
    int r;

    if (!f)
        return sys_ret(-EBADF);
    if (pos && file_is_stream(f))
        r = -ESPIPE;
    else if (!file_open_for(f, write))
        r = -EBADF;
    else
        r = uio_init_user(&u, t, sys_addr(a, 1), a->v[2]);
    res = r < 0 ? sys_ret(r) : rw_uio(t, f, &u, pos, file_nonblock(f), write);
    file_put(f);
    return res;
}

struct sys_res sys_read(struct task *t, const struct sys_args *a)
{
    return rw_buffer(t, a, NULL, false);
}

struct sys_res sys_write(struct task *t, const struct sys_args *a)
{
    return rw_buffer(t, a, NULL, true);
}

struct sys_res sys_pread64(struct task *t, const struct sys_args *a)
{
    uint64_t pos = a->v[3];

    return (int64_t)pos < 0 ? sys_ret(-EINVAL) : rw_buffer(t, a, &pos, false);
}

struct sys_res sys_pwrite64(struct task *t, const struct sys_args *a)
{
    uint64_t pos = a->v[3];

    return (int64_t)pos < 0 ? sys_ret(-EINVAL) : rw_buffer(t, a, &pos, true);
}

static int rwf_check(uint32_t flags)
{
    if (flags & ~(uint32_t)RWF_SUPPORTED)
        return -EOPNOTSUPP;
    return (flags & LX_RWF_APPEND) && (flags & LX_RWF_NOAPPEND) ? -EINVAL : 0;
}

/* The transfer of a vector, with what flags say about this one call. */
static struct sys_res rw_flagged(struct task *t, struct file *f, struct uio *u, uint64_t *pos,
                                 uint32_t flags, bool write)
{
    bool nonblock = file_nonblock(f) || (flags & LX_RWF_NOWAIT);
    uint32_t saved = f->flags;
    struct sys_res res;

    if (flags & LX_RWF_APPEND)
        f->flags |= LX_O_APPEND;
    if (flags & LX_RWF_NOAPPEND)
        f->flags &= ~(uint32_t)LX_O_APPEND;
    res = rw_uio(t, f, u, pos, nonblock, write);
    f->flags = saved;
    return res;
}

/* A vector; pos -1: at the file's own position. */
static struct sys_res rw_vector(struct task *t, const struct sys_args *a, int64_t pos,
                                uint32_t flags, bool write)
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
    else if (!file_open_for(f, write))
        r = -EBADF;
    else
        r = uio_init_iovec(&u, t, sys_addr(a, 1), a->v[2]);
    if (r < 0) {
        file_put(f);
        return sys_ret(r);
    }
    /* The flags count only when there is something to do. */
    r = u.left ? rwf_check(flags) : 0;
    res = r < 0 ? sys_ret(r) : rw_flagged(t, f, &u, own ? NULL : &at, flags, write);
    uio_done(&u);
    file_put(f);
    return res;
}

struct sys_res sys_readv(struct task *t, const struct sys_args *a)
{
    return rw_vector(t, a, -1, 0, false);
}

struct sys_res sys_writev(struct task *t, const struct sys_args *a)
{
    return rw_vector(t, a, -1, 0, true);
}

struct sys_res sys_preadv(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < 0 ? sys_ret(-EINVAL) : rw_vector(t, a, pos, 0, false);
}

struct sys_res sys_pwritev(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < 0 ? sys_ret(-EINVAL) : rw_vector(t, a, pos, 0, true);
}

struct sys_res sys_preadv2(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < -1 ? sys_ret(-EINVAL) : rw_vector(t, a, pos, sys_uint(a, 5), false);
}

struct sys_res sys_pwritev2(struct task *t, const struct sys_args *a)
{
    int64_t pos = (int64_t)a->v[3];

    return pos < -1 ? sys_ret(-EINVAL) : rw_vector(t, a, pos, sys_uint(a, 5), true);
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
