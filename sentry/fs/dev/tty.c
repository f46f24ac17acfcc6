/*
 * The slave side of a terminal: open, read with VMIN and VTIME, write, poll, hang-up, and who is
 * controlled by it.
 *
 * A read in character mode that must wait for more than the first byte notes what it needs in the
 * tty_file; poll then reports readiness for exactly that, so the generic wait loop does not spin.
 * VTIME runs on a timer of the tty_file, which marks it timed out and wakes the reader.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/poll.h"

#include "lib/alloc.h"
#include "sentry/fs/dev/tty_priv.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/session.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define VTIME_NS (NSEC_PER_SEC / 10)

/* -- control ----------------------------------------------------------------------------------- */

void tty_set_control(struct tty *tty, struct session *s, uint32_t foreground_pgid)
{
    if (s->tty == tty)
        return;
    tty_clear_control(tty);
    if (s->tty)
        tty_clear_control(s->tty);
    s->tty = tty_get(tty);
    s->foreground_pgid = foreground_pgid;
    tty->session = s;
}

void tty_clear_control(struct tty *tty)
{
    struct session *s = tty->session;

    if (!s)
        return;
    tty->session = NULL;
    s->tty = NULL;
    s->foreground_pgid = 0;
    tty_put(tty);
}

static bool signal_ignored(const struct task *t, int signo)
{
    return (t->blocked & sig_bit(signo)) || t->sighand->action[signo - 1].sa_handler == 1;
}

int tty_check_background(struct tty *tty, int signo)
{
    struct task *t = kernel.current;
    uint32_t pgid;

    if (!t || task_session(t)->tty != tty)
        return 0;
    pgid = t->group->pgrp->id;
    if (task_session(t)->foreground_pgid == 0 || task_session(t)->foreground_pgid == pgid)
        return 0;
    if (signal_ignored(t, signo))
        return signo == LX_SIGTTIN ? -EIO : 0;
    if (pgrp_is_orphaned(t->group->pgrp, NULL))
        return -EIO;
    signal_send_kernel_pgrp(pgid, signo);
    return -ERESTARTSYS;
}

void tty_hangup(struct tty *tty, bool session_exits)
{
    struct session *s = tty->session;
    struct tty_file *tf;

    list_for_each_entry (tf, &tty->files, link) {
        tf->hung = true;
        timer_cancel(&tf->timer);
    }
    if (s) {
        struct thread_group *leader = thread_group_by_pid(s->id);
        uint32_t foreground = s->foreground_pgid;

        tty_get(tty);
        tty_clear_control(tty);
        if (leader && !session_exits) {
            signal_send_kernel_group(leader, LX_SIGHUP);
            signal_send_kernel_group(leader, LX_SIGCONT);
        }
        if (session_exits && foreground) {
            signal_send_kernel_pgrp(foreground, LX_SIGHUP);
            signal_send_kernel_pgrp(foreground, LX_SIGCONT);
        }
        ldisc_flush_input(tty);
        tty->stopped = false;
        wait_queue_wake(&tty->slave_wait, 0);
        wait_queue_wake(&tty->master_wait, 0);
        tty_put(tty);
        return;
    }
    wait_queue_wake(&tty->slave_wait, 0);
    wait_queue_wake(&tty->master_wait, 0);
}

void tty_session_exit(struct session *s)
{
    if (s->tty)
        tty_hangup(s->tty, true);
}

/* -- open and close ---------------------------------------------------------------------------- */

static void vtime_fire(struct timer *tm)
{
    struct tty_file *tf = container_of(tm, struct tty_file, timer);

    tf->timed_out = true;
    wait_queue_wake(&tf->tty->slave_wait, LX_POLLIN | LX_POLLRDNORM);
}

int tty_file_attach(struct file *f, struct tty *tty, const struct file_ops *ops)
{
    struct tty_file *tf = kalloc(sizeof(*tf));

    if (!tf)
        return -ENOMEM;
    tf->tty = tty_get(tty);
    tf->file = f;
    tf->need = 1;
    list_init(&tf->link);
    timer_init(&tf->timer, vtime_fire);
    f->priv = tf;
    f->ops = ops;
    return 0;
}

void tty_file_detach(struct file *f)
{
    struct tty_file *tf = tty_file_of(f);

    timer_cancel(&tf->timer);
    list_del_init(&tf->link);
    f->priv = NULL;
    tty_put(tf->tty);
    kfree(tf);
}

/* A session leader without a terminal gets this one, unless it asked not to. */
static void maybe_control(struct tty *tty, const struct file *f)
{
    struct task *t = kernel.current;

    if (!t || !t->group->pgrp || (f->flags & LX_O_NOCTTY) || !file_readable(f))
        return;
    if (task_is_session_leader(t) && !task_session(t)->tty && !tty->session)
        tty_set_control(tty, task_session(t), t->group->pgrp->id);
}

int tty_slave_open(struct tty *tty, struct file *f)
{
    int r;

    if (tty->locked || tty->master_closed)
        return -EIO;
    if (tty->exclusive && kernel.current && !cred_capable(kernel.current->cred, LX_CAP_SYS_ADMIN))
        return -EBUSY;
    r = tty_file_attach(f, tty, &tty_slave_ops);
    if (r < 0)
        return r;
    list_add_tail(&tty->files, &tty_file_of(f)->link);
    tty->nslaves++;
    tty->slave_closed = false;
    maybe_control(tty, f);
    wait_queue_wake(&tty->master_wait, LX_POLLOUT);
    return 0;
}

void tty_slave_release(struct file *f)
{
    struct tty *tty;

    if (!f->priv)
        return;
    tty = tty_file_of(f)->tty;
    if (--tty->nslaves == 0) {
        tty->slave_closed = true;
        tty->exclusive = false;
        wait_queue_wake(&tty->master_wait, 0);
    }
    tty_file_detach(f);
}

/* -- reading ----------------------------------------------------------------------------------- */

static int64_t take(struct tty *tty, struct uio *to)
{
    uint8_t chunk[1024];
    int64_t done = 0;
    bool ended;

    do {
        size_t n = ldisc_read(tty, chunk, MIN(to->left, sizeof(chunk)), &ended);
        int64_t c;

        if (n == 0)
            break;
        c = uio_copy_to(to, chunk, n);
        if (c < 0)
            return done ? done : c;
        done += c;
        if ((size_t)c < n)
            break;
    } while (!ended && to->left && ldisc_available(tty));
    return done;
}

/* How many bytes a waiting read in character mode still needs before it may return; 0: return now.
 */
static uint32_t raw_need(struct tty_file *tf, size_t avail, size_t want)
{
    struct tty *tty = tf->tty;
    uint32_t min = tty->termios.c_cc[LX_VMIN], time = tty->termios.c_cc[LX_VTIME];
    uint64_t now;

    if (want < min)
        min = (uint32_t)want;
    if (avail >= min && (avail > 0 || time == 0))
        return 0;
    if (time == 0)
        return min;
    if (min > 0 && avail == 0)
        return 1;
    if (tf->timed_out)
        return 0;
    now = clock_monotonic();
    if (min > 0)
        timer_arm(&tf->timer, MAX(tty->last_input, 1u) + time * VTIME_NS);
    else if (!tf->timer.armed)
        timer_arm(&tf->timer, now + time * VTIME_NS);
    return min > 0 ? (uint32_t)avail + 1 : 1;
}

/* 0: there is something to take. Else how the read ends, or waits. *ret_end: at once, with 0. */
static int read_wait(struct file *f, size_t left, bool *ret_end)
{
    struct tty_file *tf = tty_file_of(f);
    struct tty *tty = tf->tty;
    size_t avail;
    uint32_t need;

    tf->need = 1;
    if (TTY_L(tty, LX_ICANON) && !TTY_L(tty, LX_EXTPROC)) {
        if (ldisc_line_ready(tty))
            return 0;
        return tty->master_closed ? -EIO : -EAGAIN;
    }
    avail = ldisc_available(tty);
    if (avail == 0 && tty->master_closed)
        return -EIO;
    if (f->flags & LX_O_NONBLOCK) {
        bool waits = tty->termios.c_cc[LX_VMIN] || tty->termios.c_cc[LX_VTIME];

        *ret_end = avail == 0 && !waits;
        return avail == 0 && waits ? -EAGAIN : 0;
    }
    need = raw_need(tf, avail, left);
    if (need == 0)
        return 0;
    tf->need = need;
    return -EAGAIN;
}

static int64_t slave_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct tty_file *tf = tty_file_of(f);
    bool end = false;
    int r;

    (void)pos;
    if (tf->hung)
        return 0;
    r = tty_check_background(tf->tty, LX_SIGTTIN);
    if (r < 0)
        return r;
    if (to->left == 0)
        return 0;
    r = read_wait(f, to->left, &end);
    if (r < 0 || end)
        return r;
    timer_cancel(&tf->timer);
    tf->timed_out = false;
    return take(tf->tty, to);
}

/* -- writing ----------------------------------------------------------------------------------- */

static int64_t slave_write(struct file *f, struct uio *from, uint64_t *pos)
{
    struct tty_file *tf = tty_file_of(f);
    struct tty *tty = tf->tty;
    uint8_t chunk[1024];
    int64_t done = 0;

    (void)pos;
    if (tf->hung || tty->master_closed)
        return -EIO;
    if (TTY_L(tty, LX_TOSTOP)) {
        int r = tty_check_background(tty, LX_SIGTTOU);

        if (r < 0)
            return r;
    }
    while (from->left) {
        size_t room = ldisc_output_room(tty), n = MIN(from->left, sizeof(chunk));
        int64_t c;

        n = MIN(n, room);
        if (n == 0)
            break;
        c = uio_copy_from(from, chunk, n);
        if (c < 0)
            return done ? done : c;
        for (int64_t i = 0; i < c; i++)
            ldisc_output(tty, chunk[i]);
        done += c;
        if ((size_t)c < n)
            break;
    }
    if (done)
        wait_queue_wake(&tty->master_wait, LX_POLLIN | LX_POLLRDNORM);
    return done || !from->left ? done : -EAGAIN;
}

static bool read_ready(const struct tty_file *tf)
{
    const struct tty *tty = tf->tty;
    uint32_t min = tty->termios.c_cc[LX_VMIN], need = tf->need;

    if (tf->timed_out)
        return true;
    if (TTY_L(tty, LX_ICANON) && !TTY_L(tty, LX_EXTPROC))
        return ldisc_line_ready(tty);
    if (tty->termios.c_cc[LX_VTIME] == 0 && min > need && !(tf->file->flags & LX_O_NONBLOCK))
        need = min;
    return ldisc_available(tty) >= MAX(need, 1u);
}

static uint32_t slave_poll(struct file *f, struct poll_table *pt)
{
    struct tty_file *tf = tty_file_of(f);
    uint32_t mask = 0;

    poll_wait(pt, &tf->tty->slave_wait);
    if (tf->hung)
        return LX_POLLIN | LX_POLLOUT | LX_POLLERR | LX_POLLHUP | LX_POLLRDNORM | LX_POLLWRNORM;
    if (read_ready(tf))
        mask |= LX_POLLIN | LX_POLLRDNORM;
    if (tf->tty->master_closed)
        mask |= LX_POLLHUP | LX_POLLIN;
    if (ldisc_output_room(tf->tty) > 0)
        mask |= LX_POLLOUT | LX_POLLWRNORM;
    return mask;
}

static struct sys_res slave_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    struct tty_file *tf = tty_file_of(f);

    if (tf->hung)
        return sys_ret(cmd == LX_TIOCSPGRP ? -ENOTTY : -EIO);
    return tty_ioctl(tf->tty, false, f, t, cmd, arg);
}

const struct file_ops tty_slave_ops = {
    .read = slave_read,
    .write = slave_write,
    .poll = slave_poll,
    .async = true,
    .ioctl = slave_ioctl,
    .release = tty_slave_release,
};

/* -- opens by number --------------------------------------------------------------------------- */

int tty_open_pts(uint32_t index, struct file *f)
{
    struct tty *tty = tty_by_index(index);

    return tty ? tty_slave_open(tty, f) : -EIO;
}

int tty_open_current(struct file *f)
{
    struct task *t = kernel.current;
    struct session *s = t && t->group->pgrp ? task_session(t) : NULL;
    bool locked;
    int r;

    if (!s || !s->tty)
        return -ENXIO;
    locked = s->tty->locked;
    s->tty->locked = false;
    r = tty_slave_open(s->tty, f);
    s->tty->locked = locked;
    return r;
}

int tty_open_console(struct file *f)
{
    struct tty *tty = tty_console_tty();

    return tty ? tty_slave_open(tty, f) : -ENXIO;
}
