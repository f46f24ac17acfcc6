/*
 * Pipes.
 *
 * As on Linux, a pipe is a ring of slots of one page: a write fills the tail of the last slot if
 * all of its odd bytes fit, then takes fresh slots. So a write of at most PIPE_BUF bytes is whole
 * or not at all, POLLOUT means "a slot is free", and a slot can be a packet (O_DIRECT) of its own.
 * The pages of all slots are one block of memory in slot order, which lets one copy serve several
 * full slots; the block grows from 4 slots to the capacity as the pipe fills.
 */
#include <string.h>

#include "abi/ioctl.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/anon/pipe_private.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define SLOTS_FIRST   4u
#define SLOTS_DEFAULT 16u

/* A new pipe has 64 KiB, or what the setting leaves to the unprivileged. */
static uint32_t slots_default(void)
{
    uint64_t most = sysctl_number("fs.pipe-max-size", PIPE_MAX_SIZE) / SLOT_SIZE;

    if (kernel.current && cred_capable(kernel.current->cred, LX_CAP_SYS_RESOURCE))
        return SLOTS_DEFAULT;
    return (uint32_t)MIN(most, (uint64_t)SLOTS_DEFAULT);
}

struct pipe *pipe_alloc(void)
{
    uint32_t slots = slots_default();
    struct pipe *p;

    if (limit_charge(LIMIT_PIPE_BYTES, (uint64_t)slots * SLOT_SIZE) < 0)
        return NULL;
    p = kalloc(sizeof(*p));
    if (!p) {
        limit_release(LIMIT_PIPE_BYTES, (uint64_t)slots * SLOT_SIZE);
        return NULL;
    }
    wait_queue_init(&p->wait);
    p->max = slots;
    return p;
}

static void pipe_free(struct pipe *p)
{
    wait_queue_done(&p->wait);
    limit_release(LIMIT_PIPE_BYTES, (uint64_t)p->max * SLOT_SIZE);
    kfree(p->slots);
    kfree(p->pages);
    kfree(p);
}

int pipe_realloc(struct pipe *p, uint32_t n)
{
    struct pipe_slot *slots = kalloc_array(n, sizeof(*slots));
    uint8_t *pages = kalloc_array(n, SLOT_SIZE);

    if (!slots || !pages) {
        kfree(slots);
        kfree(pages);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < p->used; i++) {
        uint32_t from = (p->head + i) & (p->nalloc - 1);

        slots[i] = p->slots[from];
        memcpy(pages + (size_t)i * SLOT_SIZE + slots[i].off,
               p->pages + (size_t)from * SLOT_SIZE + slots[i].off, slots[i].len);
    }
    kfree(p->slots);
    kfree(p->pages);
    p->slots = slots;
    p->pages = pages;
    p->nalloc = n;
    p->head = 0;
    return 0;
}

/* -- the ring --------------------------------------------------------------------------------- */

uint32_t pipe_slot_index(const struct pipe *p, uint32_t i)
{
    return (p->head + i) & (p->nalloc - 1);
}

bool pipe_is_empty(const struct pipe *p)
{
    return p->used == 0;
}

bool pipe_is_full(const struct pipe *p)
{
    return p->used >= p->max;
}

static void slot_drop(struct pipe *p)
{
    p->head = pipe_slot_index(p, 1);
    p->used--;
    if (p->used == 0)
        p->head = 0;
}

size_t pipe_run(const struct pipe *p)
{
    const struct pipe_slot *s = &p->slots[p->head];
    size_t run = s->len;

    if (s->packet)
        return run;
    for (uint32_t i = 1; i < p->used && s->off + s->len == SLOT_SIZE; i++) {
        if (p->head + i >= p->nalloc)
            break;
        s = &p->slots[p->head + i];
        if (s->packet || s->off != 0)
            break;
        run += s->len;
    }
    return run;
}

void pipe_consume(struct pipe *p, size_t n)
{
    while (n > 0) {
        struct pipe_slot *s = &p->slots[p->head];
        uint16_t part = (uint16_t)MIN(n, (size_t)s->len);

        s->off = (uint16_t)(s->off + part);
        s->len = (uint16_t)(s->len - part);
        n -= part;
        if (s->len == 0)
            slot_drop(p);
    }
}

static int64_t pipe_do_read(struct pipe *p, struct uio *to)
{
    int64_t done = 0;
    bool was_full = pipe_is_full(p);

    while (to->left > 0 && p->used > 0) {
        struct pipe_slot *s = &p->slots[p->head];
        bool packet = s->packet;
        size_t run = MIN(pipe_run(p), to->left);
        int64_t n = uio_copy_to(to, p->pages + (size_t)p->head * SLOT_SIZE + s->off, run);

        if (n < 0) {
            if (done == 0)
                done = n;
            break;
        }
        done += n;
        if (packet) {
            slot_drop(p);
            break;
        }
        pipe_consume(p, (size_t)n);
        if ((size_t)n < run)
            break;
    }
    if (done > 0 && was_full && !pipe_is_full(p))
        wait_queue_wake(&p->wait, LX_POLLOUT | LX_POLLWRNORM);
    return done;
}

static int64_t pipe_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct pipe *p = f->priv;

    (void)pos;
    if (to->left == 0)
        return 0;
    if (p->used == 0)
        return p->writers > 0 ? -EAGAIN : 0;
    return pipe_do_read(p, to);
}

/* Adds to the last slot the odd bytes of the write if all fit: bytes, 0, -EFAULT. */
static int64_t pipe_merge(struct pipe *p, struct uio *from)
{
    size_t odd = from->left & (SLOT_SIZE - 1);
    struct pipe_slot *s;
    uint32_t i, end;
    int64_t n;

    if (p->used == 0 || odd == 0)
        return 0;
    i = pipe_slot_index(p, p->used - 1);
    s = &p->slots[i];
    end = (uint32_t)s->off + s->len;
    if (s->packet || end + odd > SLOT_SIZE)
        return 0;
    n = uio_copy_from(from, p->pages + (size_t)i * SLOT_SIZE + end, odd);
    if (n < 0)
        return n;
    if ((size_t)n < odd)
        return -EFAULT;
    s->len = (uint16_t)(s->len + n);
    return n;
}

int64_t pipe_fill(struct pipe *p, struct uio *from, bool packet)
{
    uint32_t i, run;
    size_t want;
    int64_t n;

    if (p->used == p->nalloc) {
        uint32_t grown = p->nalloc ? p->nalloc * 4 : SLOTS_FIRST;
        int r = pipe_realloc(p, MIN(grown, p->max));

        if (r < 0)
            return r;
    }
    i = pipe_slot_index(p, p->used);
    run = MIN(p->nalloc - p->used, p->nalloc - i);
    run = MIN(run, p->max - p->used);
    want = MIN(from->left, packet ? (size_t)SLOT_SIZE : (size_t)run * SLOT_SIZE);
    n = uio_copy_from(from, p->pages + (size_t)i * SLOT_SIZE, want);
    if (n <= 0)
        return n < 0 ? n : -EFAULT;
    for (size_t left = (size_t)n; left > 0; i++) {
        uint16_t part = (uint16_t)MIN(left, (size_t)SLOT_SIZE);

        p->slots[i] = (struct pipe_slot){.off = 0, .len = part, .packet = packet};
        p->used++;
        left -= part;
    }
    return n;
}

static int64_t pipe_do_write(struct pipe *p, struct uio *from, bool packet)
{
    int64_t done = packet ? 0 : pipe_merge(p, from);

    if (done < 0)
        return done;
    while (from->left > 0 && !pipe_is_full(p)) {
        int64_t n = pipe_fill(p, from, packet);

        if (n < 0) {
            if (done == 0)
                done = n;
            break;
        }
        done += n;
    }
    if (done == 0)
        return -EAGAIN;
    /* Not only the first one: edge-triggered epoll hears of every write. */
    if (done > 0)
        wait_queue_wake(&p->wait, LX_POLLIN | LX_POLLRDNORM);
    return done;
}

static int64_t pipe_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct pipe *p = f->priv;

    (void)pos;
    if (from->left == 0)
        return 0;
    if (p->readers == 0)
        return -EPIPE;
    return pipe_do_write(p, from, (f->flags & LX_O_DIRECT) != 0);
}

static uint32_t pipe_poll(struct file *f, struct poll_table *pt)
{
    struct pipe *p = f->priv;
    uint32_t mask = 0;

    poll_wait(pt, &p->wait);
    if (file_readable(f)) {
        if (p->used > 0)
            mask |= LX_POLLIN | LX_POLLRDNORM;
        if (p->writers == 0 && (uint32_t)f->pos != p->w_counter)
            mask |= LX_POLLHUP;
    }
    if (file_writable(f)) {
        if (!pipe_is_full(p))
            mask |= LX_POLLOUT | LX_POLLWRNORM;
        if (p->readers == 0)
            mask |= LX_POLLERR;
    }
    return mask;
}

static struct sys_res pipe_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    struct pipe *p = f->priv;
    int32_t n = 0;

    if (cmd != LX_FIONREAD)
        return sys_ret(-ENOTTY);
    for (uint32_t i = 0; i < p->used; i++)
        n += p->slots[pipe_slot_index(p, i)].len;
    return sys_ret(put_user(t, GADDR(arg), &n));
}

static void pipe_release(struct file *f)
{
    struct pipe *p = f->priv;

    if (!p)
        return;
    if (file_readable(f))
        p->readers--;
    if (file_writable(f))
        p->writers--;
    if (--p->files == 0) {
        if (f->inode->pipe == p)
            f->inode->pipe = NULL;
        pipe_free(p);
        return;
    }
    if ((p->readers == 0) != (p->writers == 0))
        wait_queue_wake(&p->wait, LX_POLLIN | LX_POLLOUT | LX_POLLRDNORM | LX_POLLWRNORM |
                                      LX_POLLERR | LX_POLLHUP);
}

const struct file_ops pipe_ops = {
    .read = pipe_read,
    .write = pipe_write,
    .poll = pipe_poll,
    .async = true,
    .ioctl = pipe_ioctl,
    .release = pipe_release,
};

int pipe_new(uint32_t flags, struct file **ret_read, struct file **ret_write)
{
    struct pipe *p = pipe_alloc();
    struct file *r, *w;
    int err;

    if (!p)
        return -ENFILE;
    flags &= LX_O_NONBLOCK | LX_O_DIRECT;
    p->anonymous = true;
    p->readers = 1;
    p->files = 1;
    err = anon_inode_file_new("pipe", LX_S_IFIFO | 0600, &pipe_ops,
                              LX_O_RDONLY | (flags & LX_O_NONBLOCK), p, &r);
    if (err < 0) {
        pipe_free(p);
        return err;
    }
    r->inode->pipe = p;
    /* A pipe reports the hang-up from the start: only a FIFO can be opened before any writer. */
    r->pos = UINT32_MAX;
    err = anon_file_reopen(r, &pipe_ops, LX_O_WRONLY | flags, p, &w);
    if (err < 0) {
        file_put(r);
        return err;
    }
    p->writers = 1;
    p->files = 2;
    *ret_read = r;
    *ret_write = w;
    return 0;
}
