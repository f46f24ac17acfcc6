/*
 * Readiness. A file's poll op tells what is ready now and names, through poll_wait, the queues that
 * will be woken when that changes. The table decides who waits there: a task (poll, select,
 * blocking reads) or an epoll item.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/poll_watch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

void poll_wait(struct poll_table *pt, struct wait_queue *q)
{
    int r;

    if (!pt || pt->error < 0)
        return;
    if (pt->task)
        r = task_wait_on(pt->task, q, pt->mask);
    else
        r = pt->queue(pt, q);
    if (r < 0)
        pt->error = r;
}

uint32_t vfs_poll(struct file *f, struct poll_table *pt)
{
    return f->ops->poll ? f->ops->poll(f, pt) : POLL_DEFAULT;
}

int poll_watch_add(struct list_head *watches, void *owner, struct wait_queue *q,
                   const struct wait_entry *like)
{
    struct poll_watch *w;
    int r = limit_charge(LIMIT_WAITS, 1);

    if (r < 0)
        return r;
    w = kalloc(sizeof(*w));
    if (!w) {
        limit_release(LIMIT_WAITS, 1);
        return -ENOMEM;
    }
    w->entry = *like;
    list_init(&w->entry.link);
    w->owner = owner;
    list_add_tail(watches, &w->link);
    wait_queue_add(q, &w->entry);
    return 0;
}

void poll_watches_drop(struct list_head *watches)
{
    while (!list_empty(watches)) {
        struct poll_watch *w = list_first(watches, struct poll_watch, link);

        list_del_init(&w->link);
        wait_entry_remove(&w->entry);
        kfree(w);
        limit_release(LIMIT_WAITS, 1);
    }
}

static void held_file_put(void *p)
{
    file_put(p);
}

struct file *fd_get_held(struct task *t, int fd)
{
    if (t->restart.active && t->restart.ptr && t->restart.free_ptr == held_file_put)
        return file_get(t->restart.ptr);
    return fd_get(t, fd);
}

void file_hold(struct task *t, struct file *f)
{
    if (t->restart.ptr)
        return;
    t->restart.ptr = file_get(f);
    t->restart.free_ptr = held_file_put;
}

struct sys_res file_block(struct task *t, struct file *f, uint32_t mask, int intr)
{
    struct poll_table pt = {.task = t, .mask = mask | LX_POLLERR | LX_POLLHUP | LX_POLLNVAL};

    /* What poll says now does not matter: the operation has just said -EAGAIN, and only a wake-up
     * can change that. */
    (void)vfs_poll(f, &pt);
    if (pt.error < 0)
        return sys_ret(pt.error);
    file_hold(t, f);
    return task_block(t, intr);
}
