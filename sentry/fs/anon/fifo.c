/*
 * FIFOs. A FIFO's pipe hangs at its inode while anybody has it open. Opening one end waits for the
 * other: fifo_open registers its end at once, and says -EAGAIN until a counterpart has been seen.
 */
#include "abi/errno.h"

#include "sentry/fs/anon/pipe_private.h"

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
