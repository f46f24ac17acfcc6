/*
 * sendfile, copy_file_range, splice, tee, vmsplice. Offsets that the guest passes by address are
 * read in every run and written once, when the call returns; a blocking sendfile keeps its progress
 * in t->restart.
 */
#include "lib/compiler.h"

#include "sentry/fs/anon/pipe.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/file_io.h"
#include "sentry/sys/sys.h"

#define SPLICE_FLAGS (LX_SPLICE_F_MOVE | LX_SPLICE_F_NONBLOCK | LX_SPLICE_F_MORE | LX_SPLICE_F_GIFT)
/* One call moves at most this much, and one go of it COPY_STEP: the kernel has other calls to
 * answer. */
#define COPY_MAX  (64u << 20)
#define COPY_STEP ((uint64_t)8 << 20)

/* An optional offset argument: *ret_pos points at *storage, or is NULL for the file's own. */
static int get_offset(struct task *t, gaddr_t addr, uint64_t *storage, uint64_t **ret_pos)
{
    *ret_pos = NULL;
    if (gaddr_is_null(addr))
        return 0;
    if (get_user(t, storage, addr) < 0)
        return -EFAULT;
    if ((int64_t)*storage < 0)
        return -EINVAL;
    *ret_pos = storage;
    return 0;
}

/* Stores the new offset when the call ends with at least min. */
static struct sys_res put_offset(struct task *t, gaddr_t addr, const uint64_t *pos,
                                 struct sys_res res, int64_t min)
{
    if (pos && res.kind == SYS_RET && res.val >= min && put_user(t, addr, pos) < 0)
        return sys_ret(-EFAULT);
    return res;
}

/* -- sendfile --------------------------------------------------------------------------------- */

static int sendfile_check(const struct file *out, const struct file *in, const uint64_t *pos)
{
    if (!file_readable(in))
        return -EBADF;
    if (file_is_stream(in))
        return pos ? -ESPIPE : -EINVAL;
    if (!file_writable(out))
        return -EBADF;
    if (LX_S_ISDIR(in->inode->mode) || (out->flags & LX_O_APPEND))
        return -EINVAL;
    return 0;
}

static struct sys_res sendfile_run(struct task *t, struct file *out, struct file *in, uint64_t *pos,
                                   uint64_t len)
{
    if (pos)
        *pos += t->restart.progress;
    while (t->restart.progress < len) {
        int64_t n = vfs_copy(t, in, pos, out, NULL, MIN(len - t->restart.progress, COPY_STEP));

        if (n == -EPIPE)
            signal_send_kernel_task(t, LX_SIGPIPE);
        if (n == -EAGAIN && !file_nonblock(out) && out->ops->poll) {
            int64_t done = (int64_t)t->restart.progress;

            return file_block(t, out, LX_POLLOUT | LX_POLLWRNORM, done ? (int)done : -ERESTARTSYS);
        }
        if (n <= 0)
            return sys_ret(t->restart.progress ? (int64_t)t->restart.progress : n);
        t->restart.progress += (uint64_t)n;
        if (n == (int64_t)COPY_STEP && t->restart.progress < len)
            return task_yield(t, (int)t->restart.progress);
    }
    return sys_ret((int64_t)t->restart.progress);
}

struct sys_res sys_sendfile(struct task *t, const struct sys_args *a)
{
    uint64_t off, *pos, len = MIN(a->v[3], (uint64_t)COPY_MAX);
    struct file *out, *in;
    struct sys_res res;
    int r = get_offset(t, sys_addr(a, 2), &off, &pos);

    if (r < 0)
        return sys_ret(r);
    in = fd_get(t, sys_int(a, 1));
    out = in ? fd_get(t, sys_int(a, 0)) : NULL;
    r = out ? sendfile_check(out, in, pos) : -EBADF;
    res = r < 0 ? sys_ret(r) : sendfile_run(t, out, in, pos, len);
    file_put(in);
    file_put(out);
    return put_offset(t, sys_addr(a, 2), pos, res, INT64_MIN);
}

/* -- copy_file_range -------------------------------------------------------------------------- */

static int copy_range_check(const struct file *in, uint64_t in_pos, const struct file *out,
                            uint64_t out_pos, uint64_t *len)
{
    if (LX_S_ISDIR(in->inode->mode) || LX_S_ISDIR(out->inode->mode))
        return -EISDIR;
    if (!LX_S_ISREG(in->inode->mode) || !LX_S_ISREG(out->inode->mode))
        return -EINVAL;
    if (!file_readable(in) || !file_writable(out) || (out->flags & LX_O_APPEND))
        return -EBADF;
    if (in_pos + *len < in_pos || out_pos + *len < out_pos)
        return -EOVERFLOW;
    *len = MIN(*len, COPY_STEP);
    if (in->inode == out->inode && out_pos + *len > in_pos && out_pos < in_pos + *len)
        return -EINVAL;
    return 0;
}

struct sys_res sys_copy_file_range(struct task *t, const struct sys_args *a)
{
    uint64_t in_off, out_off, *in_pos, *out_pos, len = a->v[4];
    struct file *in = fd_get(t, sys_int(a, 0));
    struct file *out = in ? fd_get(t, sys_int(a, 2)) : NULL;
    struct sys_res res;
    int r = out ? 0 : -EBADF;

    if (r == 0)
        r = get_offset(t, sys_addr(a, 1), &in_off, &in_pos);
    if (r == 0)
        r = get_offset(t, sys_addr(a, 3), &out_off, &out_pos);
    if (r == 0 && sys_uint(a, 5))
        r = -EINVAL;
    if (r == 0)
        r = copy_range_check(in, in_pos ? in_off : in->pos, out, out_pos ? out_off : out->pos,
                             &len);
    if (r < 0) {
        file_put(in);
        file_put(out);
        return sys_ret(r);
    }
    res = sys_ret(vfs_copy(t, in, in_pos, out, out_pos, len));
    file_put(in);
    file_put(out);
    res = put_offset(t, sys_addr(a, 1), in_pos, res, 1);
    return put_offset(t, sys_addr(a, 3), out_pos, res, 1);
}

/* -- splice, tee, vmsplice -------------------------------------------------------------------- */

static int splice_check(const struct file *in, const struct file *out, bool has_in_off,
                        bool has_out_off)
{
    const struct pipe *from = file_pipe(in), *to = file_pipe(out);

    if (!file_readable(in) || !file_writable(out))
        return -EBADF;
    if ((from && has_in_off) || (to && has_out_off))
        return -ESPIPE;
    if (!from && !to)
        return -EINVAL;
    if (from == to)
        return -EINVAL;
    if ((has_in_off && file_is_stream(in)) || (has_out_off && file_is_stream(out)))
        return -EINVAL;
    if (!to && (out->flags & LX_O_APPEND))
        return -EINVAL;
    if (LX_S_ISDIR(in->inode->mode))
        return -EINVAL;
    return 0;
}

static struct sys_res splice_run(struct task *t, struct file *in, uint64_t *in_pos,
                                 struct file *out, uint64_t *out_pos, uint64_t len, bool nonblock)
{
    enum copy_wait wait = COPY_WAIT_IN;
    int64_t n = vfs_splice(t, in, in_pos, out, out_pos, len, &wait);
    struct file *f = wait == COPY_WAIT_IN ? in : out;

    if (n == -EPIPE)
        signal_send_kernel_task(t, LX_SIGPIPE);
    if (n != -EAGAIN || file_nonblock(f) || (nonblock && file_pipe(f)) || !f->ops->poll)
        return sys_ret(n);
    return file_block(t, f,
                      wait == COPY_WAIT_IN ? LX_POLLIN | LX_POLLRDNORM : LX_POLLOUT | LX_POLLWRNORM,
                      -ERESTARTSYS);
}

struct sys_res sys_splice(struct task *t, const struct sys_args *a)
{
    uint64_t in_off, out_off, *in_pos = NULL, *out_pos = NULL;
    uint64_t len = MIN(a->v[4], (uint64_t)COPY_MAX);
    bool nonblock = (a->v[5] & LX_SPLICE_F_NONBLOCK) != 0;
    struct file *in, *out;
    struct sys_res res;
    int r;

    if (len == 0)
        return sys_ret(0);
    if (sys_uint(a, 5) & ~(uint32_t)SPLICE_FLAGS)
        return sys_ret(-EINVAL);
    in = fd_get(t, sys_int(a, 0));
    out = in ? fd_get(t, sys_int(a, 2)) : NULL;
    r = out ? splice_check(in, out, a->v[1] != 0, a->v[3] != 0) : -EBADF;
    if (r == 0)
        r = get_offset(t, sys_addr(a, 1), &in_off, &in_pos);
    if (r == 0)
        r = get_offset(t, sys_addr(a, 3), &out_off, &out_pos);
    res = r < 0 ? sys_ret(r) : splice_run(t, in, in_pos, out, out_pos, len, nonblock);
    file_put(in);
    file_put(out);
    res = put_offset(t, sys_addr(a, 1), in_pos, res, 0);
    return put_offset(t, sys_addr(a, 3), out_pos, res, 0);
}

struct sys_res sys_tee(struct task *t, const struct sys_args *a)
{
    struct file *in, *out, *f;
    bool full = false;
    int64_t n = -EBADF;
    struct sys_res res;

    if (sys_uint(a, 3) & ~(uint32_t)SPLICE_FLAGS)
        return sys_ret(-EINVAL);
    if (a->v[2] == 0)
        return sys_ret(0);
    in = fd_get(t, sys_int(a, 0));
    out = in ? fd_get(t, sys_int(a, 1)) : NULL;
    if (out && file_readable(in) && file_writable(out)) {
        if (!file_pipe(in) || !file_pipe(out) || file_pipe(in) == file_pipe(out))
            n = -EINVAL;
        else
            n = pipe_tee(file_pipe(in), file_pipe(out), a->v[2], &full);
    }
    if (n == -EPIPE)
        signal_send_kernel_task(t, LX_SIGPIPE);
    f = full ? out : in;
    if (n == -EAGAIN && !file_nonblock(f) && !(a->v[3] & LX_SPLICE_F_NONBLOCK))
        res = file_block(t, f, full ? LX_POLLOUT | LX_POLLWRNORM : LX_POLLIN | LX_POLLRDNORM,
                         -ERESTARTSYS);
    else
        res = sys_ret(n);
    file_put(in);
    file_put(out);
    return res;
}

/* Unlike writev it is content with what fits. */
static struct sys_res vmsplice_in(struct task *t, struct file *f, struct uio *u, bool nonblock)
{
    int64_t n = vfs_write(t, f, u, NULL);

    if (n == -EAGAIN && !nonblock)
        return file_block(t, f, LX_POLLOUT | LX_POLLWRNORM, -ERESTARTSYS);
    if (n == -EPIPE)
        signal_send_kernel_task(t, LX_SIGPIPE);
    return sys_ret(n);
}

struct sys_res sys_vmsplice(struct task *t, const struct sys_args *a)
{
    struct file *f;
    struct sys_res res;
    struct uio u;
    bool nonblock;
    int r;

    if (sys_uint(a, 3) & ~(uint32_t)SPLICE_FLAGS)
        return sys_ret(-EINVAL);
    f = fd_get_held(t, sys_int(a, 0));
    if (!f)
        return sys_ret(-EBADF);
    r = file_pipe(f) ? uio_init_iovec(&u, t, sys_addr(a, 1), a->v[2]) : -EBADF;
    if (r < 0) {
        file_put(f);
        return sys_ret(r);
    }
    nonblock = file_nonblock(f) || (a->v[3] & LX_SPLICE_F_NONBLOCK);
    res = file_writable(f) ? vmsplice_in(t, f, &u, nonblock)
                           : file_read_uio(t, f, &u, NULL, nonblock);
    uio_done(&u);
    file_put(f);
    return res;
}
