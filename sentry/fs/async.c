/*
 * async.c: O_ASYNC, and who owns a file (F_SETOWN, F_SETSIG): a signal when it becomes ready.
 *
 * While the flag is set the file stands on all queues that its poll op names, as an epoll item
 * does. A wake-up there sends the signal; nothing else happens inside of it.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/signal.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/poll_watch.h"
#include "sentry/kernel/task.h"

#define ASYNC_IN  (LX_POLLIN | LX_POLLRDNORM)
#define ASYNC_OUT (LX_POLLOUT | LX_POLLWRNORM | LX_POLLWRBAND)

struct file_async {
    struct list_head watches; /* poll_watch.link; the owner is the file */
    int fd;                   /* through which it was asked for: si_fd */
};

/* -- the owner --------------------------------------------------------------------------------- */

int file_set_owner(struct file *f, const struct task *t, int type, uint32_t id)
{
    bool known = type == LX_F_OWNER_PGRP ? pgrp_by_id(id) != NULL : task_by_pid(id) != NULL;

    if (id != 0 && !known)
        return -ESRCH;
    f->owner.type = type;
    f->owner.id = id;
    f->owner.uid = t->cred->uid;
    f->owner.euid = t->cred->euid;
    return 0;
}

int file_set_owner_number(struct file *f, const struct task *t, int32_t who)
{
    if (who == INT32_MIN)
        return -EINVAL;
    return who < 0 ? file_set_owner(f, t, LX_F_OWNER_PGRP, (uint32_t)-who)
                   : file_set_owner(f, t, LX_F_OWNER_PID, (uint32_t)who);
}

int32_t file_owner_number(const struct file *f)
{
    int32_t id = (int32_t)f->owner.id;

    return f->owner.type == LX_F_OWNER_PGRP ? -id : id;
}

/* The rule of kill(2), for whoever set the owner. */
static bool owner_may_signal(const struct file *f, const struct task *t)
{
    const struct cred *c = t->cred;
    uint32_t uid = f->owner.uid, euid = f->owner.euid;

    return euid == 0 || euid == c->suid || euid == c->uid || uid == c->suid || uid == c->uid;
}

static void send_to(const struct file *f, struct task *t, const struct lx_siginfo *info)
{
    int r;

    if (!owner_may_signal(f, t))
        return;
    r = f->owner.type == LX_F_OWNER_TID ? signal_send_task(t, info)
                                        : signal_send_group(t->group, info);
    if (r < 0) /* no room for a real-time signal: then the plain one */
        signal_send_kernel_group(t->group, LX_SIGIO);
}

static void send_signal(const struct file *f, int code, uint32_t band)
{
    struct lx_siginfo info = {.si_signo = LX_SIGIO, .si_code = LX_SI_KERNEL};
    struct thread_group *tg;
    struct task *t;

    if (f->owner.signal != 0) {
        info.si_signo = f->owner.signal;
        info.si_code = code;
        info.si_band = band;
        info.si_fd = f->async->fd;
    }
    if (f->owner.type != LX_F_OWNER_PGRP) {
        t = f->owner.id != 0 ? task_by_pid(f->owner.id) : NULL;
        if (t)
            send_to(f, t, &info);
        return;
    }
    for (tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        if (tg->pgrp && tg->pgrp->id == f->owner.id && tg->leader)
            send_to(f, tg->leader, &info);
    }
}

/* -- readiness --------------------------------------------------------------------------------- */

static uint32_t interest(const struct file *f)
{
    return (file_readable(f) ? ASYNC_IN | LX_POLLPRI : 0) | (file_writable(f) ? ASYNC_OUT : 0) |
           LX_POLLHUP | LX_POLLERR;
}

static void async_wake(struct wait_entry *e, uint32_t key)
{
    const struct file *f = poll_watch_owner(e);

    key = key ? key & interest(f) : file_readable(f) ? LX_POLLIN : LX_POLLOUT;
    /* Who names the hang-up means it: what it makes readable and writable comes second. */
    if (key & LX_POLLHUP)
        send_signal(f, LX_POLL_HUP, LX_POLLHUP | LX_POLLERR);
    else if (key & (ASYNC_IN | LX_POLLPRI))
        send_signal(f, LX_POLL_IN, ASYNC_IN);
    else if (key & ASYNC_OUT)
        send_signal(f, LX_POLL_OUT, ASYNC_OUT);
}

struct async_table {
    struct poll_table pt;
    struct file *file;
};

static int async_queue(struct poll_table *pt, struct wait_queue *q)
{
    struct file *f = container_of(pt, struct async_table, pt)->file;

    return poll_watch_add(&f->async->watches, f, q, &(struct wait_entry){.wake = async_wake});
}

void file_async_released(struct file *f)
{
    if (!f->async)
        return;
    poll_watches_drop(&f->async->watches);
    kfree(f->async);
    f->async = NULL;
    f->flags &= ~(uint32_t)LX_O_ASYNC;
}

int file_set_async(struct file *f, int fd, bool on)
{
    struct async_table table = {.pt = {.queue = async_queue}, .file = f};

    if (!f->ops->async)
        return -ENOTTY;
    if (!on) {
        file_async_released(f);
        return 0;
    }
    if (f->async) {
        f->async->fd = fd;
        return 0;
    }
    f->async = kalloc(sizeof(*f->async));
    if (!f->async)
        return -ENOMEM;
    list_init(&f->async->watches);
    f->async->fd = fd;
    table.pt.mask = interest(f);
    (void)vfs_poll(f, &table.pt);
    if (table.pt.error < 0) {
        file_async_released(f);
        return table.pt.error;
    }
    f->flags |= LX_O_ASYNC;
    return 0;
}
