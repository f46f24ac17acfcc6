/*
 * Pipes and FIFOs.
 *
 * As on Linux, a pipe is a ring of slots of one page: a write fills the tail of the last slot if
 * all of its odd bytes fit, then takes fresh slots. So a write of at most PIPE_BUF bytes is whole
 * or not at all, POLLOUT means "a slot is free", and a slot can be a packet (O_DIRECT) of its own.
 * The pages of all slots are one block of memory in slot order, which lets one copy serve several
 * full slots; the block grows from 4 slots to the capacity as the pipe fills.
 *
 * A FIFO's pipe hangs at its inode while anybody has it open. Opening one end waits for the other:
 * fifo_open registers its end at once, and says -EAGAIN until a counterpart has been seen.
 */
#include "sentry/fs/anon/pipe.h"

#include <string.h>

#include "abi/ioctl.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define SLOT_SIZE     4096u
#define SLOTS_FIRST   4u
#define SLOTS_DEFAULT 16u
#define PIPE_MAX_SIZE (1u << 20)
#define PIPE_SIZE_TOP (1u << 31)

struct pipe_slot {
    uint16_t off, len;
    bool packet;
};

struct pipe {
    struct wait_queue wait;
    struct pipe_slot *slots; /* nalloc of them, with the pages behind it */
    uint8_t *pages;          /* nalloc * SLOT_SIZE */
    uint32_t nalloc;         /* power of two */
    uint32_t max;            /* capacity in slots, power of two */
    uint32_t head, used;     /* oldest slot, slots in use */
    uint32_t readers, writers, files;
    uint32_t r_counter, w_counter; /* opens so far: a FIFO's open waits for a change */
    bool anonymous; /* made by pipe(2): opening it through /proc/self/fd never waits */
};

/* A new pipe has 64 KiB, or what the setting leaves to the unprivileged. */
static uint32_t slots_default(void)
{
    uint64_t most = sysctl_number("fs.pipe-max-size", PIPE_MAX_SIZE) / SLOT_SIZE;

    if (kernel.current && cred_capable(kernel.current->cred, LX_CAP_SYS_RESOURCE))
        return SLOTS_DEFAULT;
    return (uint32_t)MIN(most, (uint64_t)SLOTS_DEFAULT);
}

static struct pipe *pipe_alloc(void)
{
    uint32_t slots = slots_default();
    struct pipe *p;

    if (limit_charge(LIMIT_PIPE_BYTES, slots * SLOT_SIZE) < 0)
        return NULL;
    p = kalloc(sizeof(*p));
    if (!p) {
        limit_release(LIMIT_PIPE_BYTES, slots * SLOT_SIZE);
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

/* Moves the ring into blocks of n slots (n >= used). */
static int pipe_realloc(struct pipe *p, uint32_t n)
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

static uint32_t slot_index(const struct pipe *p, uint32_t i)
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
    p->head = slot_index(p, 1);
    p->used--;
    if (p->used == 0)
        p->head = 0;
}

/* How many bytes from the oldest slot on lie side by side in memory. */
static size_t pipe_run(const struct pipe *p)
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

static void pipe_consume(struct pipe *p, size_t n)
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
    i = slot_index(p, p->used - 1);
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

/* Fills free slots that lie side by side with one copy: bytes or -EFAULT, -ENOMEM. */
static int64_t pipe_fill(struct pipe *p, struct uio *from, bool packet)
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
    i = slot_index(p, p->used);
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
        n += p->slots[slot_index(p, i)].len;
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

static const struct file_ops pipe_ops = {
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

/* -- FIFOs ------------------------------------------------------------------------------------ */

struct wait_queue *fifo_wait_queue(struct inode *ino)
{
    struct pipe *p = ino->pipe;

    return p ? &p->wait : NULL;
}

static int fifo_join(struct inode *ino, struct file *f)
{
    struct pipe *p = ino->pipe;
    uint32_t acc = f->flags & LX_O_ACCMODE;

    if (acc > LX_O_RDWR)
        return -EINVAL;
    /* A non-blocking writer is refused before it counts as one. */
    if (acc == LX_O_WRONLY && file_nonblock(f) && (!p || (p->readers == 0 && !p->anonymous)))
        return -ENXIO;
    if (!p) {
        p = pipe_alloc();
        if (!p)
            return -ENOMEM;
        ino->pipe = p;
    }
    f->ops = &pipe_ops;
    f->priv = p;
    p->files++;
    if (file_readable(f)) {
        p->readers++;
        p->r_counter++;
    }
    if (file_writable(f)) {
        p->writers++;
        p->w_counter++;
    }
    wait_queue_wake(&p->wait, 0);
    /* What the other side's counter was when we came: a later open, even if closed again, lets us
     * go. */
    f->pos = UINT32_MAX;
    if (p->anonymous)
        return 0;
    if (acc == LX_O_RDONLY && p->writers == 0)
        f->pos = p->w_counter;
    else if (acc == LX_O_WRONLY && p->readers == 0)
        f->pos = p->r_counter;
    return 0;
}

int fifo_open(struct inode *ino, struct file *f)
{
    uint32_t acc = f->flags & LX_O_ACCMODE;
    const struct pipe *p;
    int r;

    if (f->priv == NULL) {
        r = fifo_join(ino, f);
        if (r < 0)
            return r;
    }
    p = f->priv;
    if (f->pos == UINT32_MAX || file_nonblock(f))
        return 0;
    if (acc == LX_O_RDONLY && (uint32_t)f->pos == p->w_counter)
        return -EAGAIN;
    if (acc == LX_O_WRONLY && (uint32_t)f->pos == p->r_counter)
        return -EAGAIN;
    f->pos = UINT32_MAX;
    return 0;
}

/* -- for fcntl, splice and tee ---------------------------------------------------------------- */

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
        uint32_t at = slot_index(in, i);
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
