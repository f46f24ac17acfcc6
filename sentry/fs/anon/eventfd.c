/*
 * eventfd: a counter. Reading takes all of it (or one, as a semaphore), writing adds.
 */
#include "sentry/fs/anon/eventfd.h"

#include <inttypes.h>

#include "abi/misc.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/mm/usercopy.h"

#define EVENTFD_MAX (UINT64_MAX - 1)

struct eventfd {
    struct wait_queue wait;
    uint64_t count;
    bool semaphore;
};

static int64_t eventfd_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct eventfd *ev = f->priv;
    uint64_t v;
    int64_t n;

    (void)pos;
    if (to->left < sizeof(v))
        return -EINVAL;
    if (ev->count == 0)
        return -EAGAIN;
    v = ev->semaphore ? 1 : ev->count;
    n = uio_copy_to(to, &v, sizeof(v));
    if (n != (int64_t)sizeof(v))
        return -EFAULT;
    ev->count -= v;
    wait_queue_wake(&ev->wait, LX_POLLOUT | LX_POLLWRNORM);
    return n;
}

static int64_t eventfd_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct eventfd *ev = f->priv;
    uint64_t v;
    struct uio start = *from;

    (void)pos;
    if (from->left < sizeof(v))
        return -EINVAL;
    if (uio_copy_from(from, &v, sizeof(v)) != (int64_t)sizeof(v))
        return -EFAULT;
    if (v == UINT64_MAX)
        return -EINVAL;
    if (v > EVENTFD_MAX - ev->count) {
        *from = start;
        return -EAGAIN;
    }
    ev->count += v;
    from->left = 0; /* the rest of a longer buffer is ignored */
    wait_queue_wake(&ev->wait, LX_POLLIN | LX_POLLRDNORM);
    return sizeof(v);
}

static uint32_t eventfd_poll(struct file *f, struct poll_table *pt)
{
    struct eventfd *ev = f->priv;
    uint32_t mask = 0;

    poll_wait(pt, &ev->wait);
    if (ev->count > 0)
        mask |= LX_POLLIN;
    if (ev->count < EVENTFD_MAX)
        mask |= LX_POLLOUT;
    return mask;
}

static void eventfd_release(struct file *f)
{
    struct eventfd *ev = f->priv;

    wait_queue_done(&ev->wait);
    kfree(ev);
}

static int eventfd_show(struct file *f, struct buf *out)
{
    const struct eventfd *ev = f->priv;

    return buf_printf(out, "eventfd-count: %16" PRIx64 "\n", ev->count);
}

static const struct file_ops eventfd_ops = {
    .read = eventfd_read,
    .write = eventfd_write,
    .poll = eventfd_poll,
    .seek_ignored = true,
    .release = eventfd_release,
    .show_fdinfo = eventfd_show,
};

int eventfd_new(uint32_t count, uint32_t flags, struct file **ret_file)
{
    struct eventfd *ev = kalloc(sizeof(*ev));
    int r;

    if (!ev)
        return -ENOMEM;
    wait_queue_init(&ev->wait);
    ev->count = count;
    ev->semaphore = (flags & LX_EFD_SEMAPHORE) != 0;
    r = anon_file_new("[eventfd]", &eventfd_ops, LX_O_RDWR | (flags & LX_EFD_NONBLOCK), ev,
                      ret_file);
    if (r < 0)
        kfree(ev);
    return r;
}
