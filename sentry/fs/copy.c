/*
 * Moving bytes from file to file inside the kernel. Everything goes through one chunk of kernel
 * memory, except out of a pipe, whose own memory is written directly. A source never loses bytes
 * that the destination did not take: files are read at a position that only then moves, pipes are
 * looked into first, and what is read from a stream into a pipe is no more than fits.
 */
#include "lib/compiler.h"

#include "sentry/fs/anon/pipe.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

static uint8_t chunk[65536];

static int64_t copy_out(struct task *t, struct file *out, uint64_t *out_pos, const void *data,
                        size_t n)
{
    struct uio u;

    uio_init_kernel_const(&u, data, n);
    return vfs_write(t, out, &u, out_pos);
}

/* Copies at *at and moves it by what was written. */
static int64_t copy_at(struct task *t, struct file *in, uint64_t *at, struct file *out,
                       uint64_t *out_pos, uint64_t len)
{
    uint64_t done = 0;

    while (done < len) {
        size_t want = (size_t)MIN(len - done, (uint64_t)sizeof(chunk));
        uint64_t pos = *at;
        struct uio u;
        int64_t got, put;

        uio_init_kernel(&u, chunk, want);
        got = vfs_read(t, in, &u, &pos);
        if (got <= 0)
            return done ? (int64_t)done : got;
        put = copy_out(t, out, out_pos, chunk, (size_t)got);
        if (put < 0)
            return done ? (int64_t)done : put;
        *at += (uint64_t)put;
        done += (uint64_t)put;
        if (put < got)
            break;
    }
    return (int64_t)done;
}

int64_t vfs_copy(struct task *t, struct file *in, uint64_t *in_pos, struct file *out,
                 uint64_t *out_pos, uint64_t len)
{
    uint64_t at;
    int64_t n, pos;

    if (in_pos)
        return copy_at(t, in, in_pos, out, out_pos, len);
    /* The file's own position may live on the host (host_file.c): ask for it and set it. */
    pos = in->ops->seek ? in->ops->seek(in, 0, LX_SEEK_CUR) : -ESPIPE;
    if (pos < 0)
        return pos;
    at = (uint64_t)pos;
    n = copy_at(t, in, &at, out, out_pos, len);
    if (n > 0)
        (void)in->ops->seek(in, (int64_t)at, LX_SEEK_SET);
    return n;
}

static int64_t splice_from_pipe(struct task *t, struct pipe *p, struct file *out, uint64_t *out_pos,
                                uint64_t len, enum copy_wait *ret_wait)
{
    uint64_t done = 0;

    if (pipe_is_empty(p)) {
        *ret_wait = COPY_WAIT_IN;
        return pipe_has_writers(p) ? -EAGAIN : 0;
    }
    *ret_wait = COPY_WAIT_OUT;
    while (done < len) {
        const void *data;
        size_t run = pipe_peek(p, &data);
        int64_t n;

        if (run == 0)
            break;
        n = copy_out(t, out, out_pos, data, (size_t)MIN((uint64_t)run, len - done));
        if (n <= 0)
            return done ? (int64_t)done : n;
        pipe_skip(p, (size_t)n);
        done += (uint64_t)n;
    }
    return (int64_t)done;
}

static int64_t splice_to_pipe(struct task *t, struct file *in, uint64_t *in_pos, struct file *out,
                              struct pipe *p, uint64_t len, enum copy_wait *ret_wait)
{
    size_t want = MIN(pipe_room(p), sizeof(chunk));
    struct uio u;
    int64_t n;

    if (!pipe_has_readers(p))
        return -EPIPE;
    *ret_wait = COPY_WAIT_OUT;
    if (want == 0)
        return -EAGAIN;
    *ret_wait = COPY_WAIT_IN;
    uio_init_kernel(&u, chunk, (size_t)MIN((uint64_t)want, len));
    n = vfs_read(t, in, &u, in_pos);
    return n <= 0 ? n : copy_out(t, out, NULL, chunk, (size_t)n);
}

int64_t vfs_splice(struct task *t, struct file *in, uint64_t *in_pos, struct file *out,
                   uint64_t *out_pos, uint64_t len, enum copy_wait *ret_wait)
{
    struct pipe *from = file_pipe(in), *to = file_pipe(out);

    if (from)
        return splice_from_pipe(t, from, out, out_pos, len, ret_wait);
    return to ? splice_to_pipe(t, in, in_pos, out, to, len, ret_wait) : -EINVAL;
}
