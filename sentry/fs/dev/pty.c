/*
 * Pseudo-terminals: the table of ttys and the master side. A master is a guest's /dev/ptmx file or
 * the boot code's console (console.c). Closing the master hangs the terminal up; closing the last
 * slave makes the master read EIO until a slave is opened again.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/poll.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/dev/tty_priv.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define TTY_MAX 256u
#define TTY_GID 5u

static struct tty *ttys[TTY_MAX];

struct tty *tty_get(struct tty *tty)
{
    tty->ref++;
    return tty;
}

void tty_put(struct tty *tty)
{
    if (!tty || --tty->ref > 0)
        return;
    ttys[tty->index] = NULL;
    wait_queue_done(&tty->slave_wait);
    wait_queue_done(&tty->master_wait);
    kfree(tty);
}

struct tty *tty_by_index(uint32_t index)
{
    struct tty *tty = index < TTY_MAX ? ttys[index] : NULL;

    return tty && !tty->master_closed ? tty : NULL;
}

int tty_new(struct tty **ret_tty)
{
    const struct cred *c = kernel.current ? kernel.current->cred : NULL;
    struct tty *tty;
    uint32_t i = 0;

    while (i < TTY_MAX && ttys[i])
        i++;
    if (i == TTY_MAX)
        return -ENOSPC;
    tty = kalloc(sizeof(*tty));
    if (!tty)
        return -ENOMEM;
    tty->ref = 1;
    tty->index = i;
    tty->master_open = true;
    tty->locked = true;
    tty->mode = 0620;
    tty->uid = c ? c->fsuid : 0;
    tty->gid = TTY_GID;
    list_init(&tty->files);
    wait_queue_init(&tty->slave_wait);
    wait_queue_init(&tty->master_wait);
    ldisc_init(tty);
    ttys[i] = tty;
    *ret_tty = tty;
    return 0;
}

void tty_master_close(struct tty *tty)
{
    tty->master_open = false;
    tty->master_closed = true;
    tty_hangup(tty, false);
    tty_put(tty);
}

uint64_t tty_dev(const struct tty *tty)
{
    return lx_makedev(LX_UNIX98_PTY_SLAVE_MAJOR, tty->index);
}

int tty_pts_next(uint32_t from)
{
    for (uint32_t i = from; i < TTY_MAX; i++) {
        if (tty_by_index(i))
            return (int)i;
    }
    return -1;
}

bool tty_pts_attr(uint32_t index, struct tty_pts_attr *ret)
{
    const struct tty *tty = tty_by_index(index);

    if (!tty)
        return false;
    *ret = (struct tty_pts_attr){tty->mode, tty->uid, tty->gid};
    return true;
}

int tty_pts_setattr(uint32_t index, const struct iattr *attr)
{
    struct tty *tty = tty_by_index(index);

    if (!tty)
        return -EIO;
    if (attr->valid & ATTR_MODE)
        tty->mode = attr->mode & LX_S_IALLUGO;
    if (attr->valid & ATTR_UID)
        tty->uid = attr->uid;
    if (attr->valid & ATTR_GID)
        tty->gid = attr->gid;
    return 0;
}

/* -- the master as a file ---------------------------------------------------------------------- */

static int64_t master_read_packet(struct tty *tty, struct uio *to)
{
    uint8_t status = tty->packet_status;

    tty->packet_status = 0;
    return uio_copy_to(to, &status, 1);
}

static int64_t master_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct tty *tty = tty_file_of(f)->tty;
    int64_t done = 0;

    (void)pos;
    if (to->left == 0)
        return 0;
    if (tty->packet && tty->packet_status)
        return master_read_packet(tty, to);
    if (tty->out_head == tty->out_tail)
        return tty->slave_closed ? -EIO : -EAGAIN;
    if (tty->packet) {
        static const uint8_t data = LX_TIOCPKT_DATA;

        done = uio_copy_to(to, &data, 1);
        if (done < 0)
            return done;
    }
    while (to->left && tty->out_head != tty->out_tail) {
        uint32_t at = tty->out_tail % TTY_OUTPUT,
                 n = MIN(tty->out_head - tty->out_tail, TTY_OUTPUT - at);
        int64_t c = uio_copy_to(to, tty->output + at, MIN(to->left, (size_t)n));

        if (c < 0)
            return done ? done : c;
        tty->out_tail += (uint32_t)c;
        done += c;
        if (c < (int64_t)n)
            break;
    }
    wait_queue_wake(&tty->slave_wait, LX_POLLOUT | LX_POLLWRNORM);
    return done;
}

static int64_t master_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct tty *tty = tty_file_of(f)->tty;
    int64_t done = 0;

    (void)pos;
    if (tty->slave_closed)
        return -EIO;
    while (from->left && ldisc_accepts(tty)) {
        uint8_t chunk[256];
        /* What is copied in must be taken: one by one where the input ring is nearly full. */
        bool near = tty->head - tty->tail > TTY_INPUT - 2 * sizeof(chunk) - 4;
        size_t n = near ? 1 : MIN(from->left, sizeof(chunk));
        int64_t c = uio_copy_from(from, chunk, n);

        if (c < 0)
            return done ? done : c;
        done += (int64_t)ldisc_receive(tty, chunk, (size_t)c);
        if ((size_t)c < n)
            break;
    }
    return done || !from->left ? done : -EAGAIN;
}

static uint32_t master_poll(struct file *f, struct poll_table *pt)
{
    struct tty *tty = tty_file_of(f)->tty;
    uint32_t mask = 0;

    poll_wait(pt, &tty->master_wait);
    if (tty->out_head != tty->out_tail)
        mask |= LX_POLLIN | LX_POLLRDNORM;
    if (tty->packet && tty->packet_status)
        mask |= LX_POLLPRI | LX_POLLIN | LX_POLLRDNORM;
    if (tty->slave_closed)
        mask |= LX_POLLHUP;
    if (ldisc_accepts(tty))
        mask |= LX_POLLOUT | LX_POLLWRNORM;
    return mask;
}

static struct sys_res master_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    return tty_ioctl(tty_file_of(f)->tty, true, f, t, cmd, arg);
}

static void master_release(struct file *f)
{
    struct tty *tty;

    if (!f->priv)
        return;
    tty = tty_get(tty_file_of(f)->tty);
    tty_file_detach(f);
    tty_master_close(tty); /* drops the reference just taken */
}

const struct file_ops tty_master_ops = {
    .read = master_read,
    .write = master_write,
    .poll = master_poll,
    .async = true,
    .ioctl = master_ioctl,
    .release = master_release,
};

int tty_open_ptmx(struct inode *ino, struct file *f)
{
    struct tty *tty;
    int r;

    (void)ino;
    r = tty_new(&tty);
    if (r < 0)
        return r;
    r = tty_file_attach(f, tty, &tty_master_ops);
    /* From here on the file holds the master's reference. */
    tty_put(tty);
    return r;
}
