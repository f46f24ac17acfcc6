/*
 * pidfds. Readable once the process has ended, whether or not somebody has waited for it.
 */
#include "sentry/fs/anon/pidfd.h"

#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"

static uint32_t pidfd_poll(struct file *f, struct poll_table *pt)
{
    struct thread_group *tg = f->priv;

    poll_wait(pt, &tg->exit_wait);
    return tg->zombie ? LX_POLLIN | LX_POLLRDNORM : 0;
}

static void pidfd_release(struct file *f)
{
    thread_group_put(f->priv);
}

static int pidfd_show(struct file *f, struct buf *out)
{
    const struct thread_group *tg = f->priv;
    int pid = tg->zombie && !thread_group_by_pid(tg->pid) ? -1 : (int)tg->pid;

    return buf_printf(out, "Pid:\t%d\nNSpid:\t%d\n", pid, pid);
}

static const struct file_ops pidfd_ops = {
    .poll = pidfd_poll,
    .release = pidfd_release,
    .show_fdinfo = pidfd_show,
};

int pidfd_new(struct thread_group *tg, uint32_t flags, struct file **ret_file)
{
    int r = anon_file_new("[pidfd]", &pidfd_ops, LX_O_RDWR | (flags & LX_O_NONBLOCK), tg, ret_file);

    if (r == 0)
        thread_group_get(tg);
    return r;
}

struct thread_group *pidfd_group(const struct file *f)
{
    return f->ops == &pidfd_ops ? f->priv : NULL;
}
