/*
 * Readiness. A file's poll op tells what is ready now and names, through poll_wait, the queues that
 * will be woken when that changes. The table decides who waits there: a task (poll, select,
 * blocking reads) or an epoll item.
 */
#include "lib/compiler.h"

#include "sentry/fs/file.h"
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
