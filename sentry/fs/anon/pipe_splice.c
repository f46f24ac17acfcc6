/*
 * What looks inside a pipe: fcntl (F_SETPIPE_SZ), splice and tee.
 */
#include "abi/errno.h"

#include "sentry/fs/anon/pipe_private.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"

#define PIPE_SIZE_TOP (1u << 31)

struct pipe *file_pipe(const struct file *f)
{
    return f->ops == &pipe_ops ? f->priv : NULL;
}

size_t pipe_peek(const struct pipe *p, const void **ret_data)
{
    if (p->used == 0)
        return 0;
    *ret_data = p->pages + (size_t)p->head * SLOT_SIZE + p->slots[p->head].off;
    return pipe_run(p);
}

void pipe_skip(struct pipe *p, size_t n)
{
    bool was_full = pipe_is_full(p);

    pipe_consume(p, n);
    if (was_full && !pipe_is_full(p))
        wait_queue_wake(&p->wait, LX_POLLOUT | LX_POLLWRNORM);
}

bool pipe_has_writers(const struct pipe *p)
{
    return p->writers > 0;
}

bool pipe_has_readers(const struct pipe *p)
{
    return p->readers > 0;
}

size_t pipe_room(const struct pipe *p)
{
    return (size_t)(p->max - MIN(p->used, p->max)) * SLOT_SIZE;
}

uint32_t pipe_size(const struct pipe *p)
{
    return p->max * SLOT_SIZE;
}

int64_t pipe_set_size(struct pipe *p, uint64_t size, bool privileged)
{
    uint32_t n = 1;
    int r;

    if (size > PIPE_SIZE_TOP)
        return -EINVAL;
    while ((uint64_t)n * SLOT_SIZE < size)
        n *= 2;
    if (n > p->max && !privileged &&
        (uint64_t)n * SLOT_SIZE > sysctl_number("fs.pipe-max-size", PIPE_MAX_SIZE))
        return -EPERM;
    if (n < p->used)
        return -EBUSY;
    if (n > p->max) {
        if (limit_charge(LIMIT_PIPE_BYTES, (uint64_t)(n - p->max) * SLOT_SIZE) < 0)
            return -EPERM;
    } else if (n < p->nalloc) {
        r = pipe_realloc(p, n);
        if (r < 0)
            return r;
    }
    if (n < p->max)
        limit_release(LIMIT_PIPE_BYTES, (uint64_t)(p->max - n) * SLOT_SIZE);
    if (n > p->max && pipe_is_full(p)) {
        p->max = n;
        wait_queue_wake(&p->wait, LX_POLLOUT | LX_POLLWRNORM);
    }
    p->max = n;
    return (int64_t)n * SLOT_SIZE;
}

int64_t pipe_tee(struct pipe *in, struct pipe *out, size_t len, bool *ret_out)
{
    int64_t done = 0;

    *ret_out = false;
    if (out->readers == 0)
        return -EPIPE;
    if (in->used == 0)
        return in->writers > 0 ? -EAGAIN : 0;
    for (uint32_t i = 0; i < in->used && len > 0 && !pipe_is_full(out); i++) {
        uint32_t at = pipe_slot_index(in, i);
        const struct pipe_slot *s = &in->slots[at];
        struct uio u;
        int64_t n;

        uio_init_kernel(&u, in->pages + (size_t)at * SLOT_SIZE + s->off, MIN(len, (size_t)s->len));
        n = pipe_fill(out, &u, s->packet);
        if (n < 0)
            return done ? done : n;
        done += n;
        len -= (size_t)n;
    }
    if (done == 0) {
        *ret_out = true;
        return -EAGAIN;
    }
    wait_queue_wake(&out->wait, LX_POLLIN | LX_POLLRDNORM);
    return done;
}
