/*
 * signalfd. What can be read and polled is the pending set of whoever reads or polls, so the
 * current task decides; the queue is that of its thread group.
 */
#include "sentry/fs/anon/signalfd.h"

#include <inttypes.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

struct signalfd {
    uint64_t set;
    struct wait_queue changed; /* the set was replaced */
};

static void signalfd_fill(struct lx_signalfd_siginfo *out, const struct lx_siginfo *in)
{
    *out = (struct lx_signalfd_siginfo){
        .ssi_signo = (uint32_t)in->si_signo,
        .ssi_errno = in->si_errno,
        .ssi_code = in->si_code,
        .ssi_pid = (uint32_t)in->si_pid,
        .ssi_uid = in->si_uid,
    };
    if (in->si_code == LX_SI_TIMER) {
        out->ssi_pid = out->ssi_uid = 0;
        out->ssi_tid = (uint32_t)in->si_timerid;
        out->ssi_overrun = (uint32_t)in->si_overrun;
        out->ssi_ptr = in->timer_value.sival_ptr;
        out->ssi_int = in->timer_value.sival_int;
    } else if (in->si_signo == LX_SIGCHLD && in->si_code > 0) {
        out->ssi_status = in->si_status;
        out->ssi_utime = (uint64_t)in->si_utime;
        out->ssi_stime = (uint64_t)in->si_stime;
    } else if (in->si_code < 0 && in->si_code != LX_SI_TKILL) {
        out->ssi_ptr = in->si_value.sival_ptr;
        out->ssi_int = in->si_value.sival_int;
    } else if (in->si_code > 0 && in->si_code != LX_SI_KERNEL) {
        out->ssi_pid = out->ssi_uid = 0;
        out->ssi_addr = in->si_addr;
    }
}

static int64_t signalfd_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct signalfd *sfd = f->priv;
    struct task *t = kernel.current;
    int64_t done = 0;

    (void)pos;
    if (to->left < sizeof(struct lx_signalfd_siginfo) || !t)
        return -EINVAL;
    while (to->left >= sizeof(struct lx_signalfd_siginfo)) {
        struct lx_signalfd_siginfo out;
        struct lx_siginfo info;
        int64_t n;

        if (!signal_dequeue(t, sfd->set, &info))
            break;
        signalfd_fill(&out, &info);
        n = uio_copy_to(to, &out, sizeof(out));
        if (n != (int64_t)sizeof(out))
            return done ? done : -EFAULT;
        done += n;
    }
    return done ? done : -EAGAIN;
}

static uint32_t signalfd_poll(struct file *f, struct poll_table *pt)
{
    struct signalfd *sfd = f->priv;
    struct task *t = kernel.current;

    poll_wait(pt, &sfd->changed);
    if (!t)
        return 0;
    poll_wait(pt, signal_wait_queue(t));
    return signal_pending_set(t) & sfd->set ? LX_POLLIN | LX_POLLRDNORM : 0;
}

static void signalfd_release(struct file *f)
{
    struct signalfd *sfd = f->priv;

    wait_queue_done(&sfd->changed);
    kfree(sfd);
}

static int signalfd_show(struct file *f, struct buf *out)
{
    const struct signalfd *sfd = f->priv;

    return buf_printf(out, "sigmask:\t%016" PRIx64 "\n", sfd->set);
}

static const struct file_ops signalfd_ops = {
    .read = signalfd_read,
    .poll = signalfd_poll,
    .seek_ignored = true,
    .release = signalfd_release,
    .show_fdinfo = signalfd_show,
};

int signalfd_new(uint64_t set, uint32_t flags, struct file **ret_file)
{
    struct signalfd *sfd = kalloc(sizeof(*sfd));
    int r;

    if (!sfd)
        return -ENOMEM;
    wait_queue_init(&sfd->changed);
    sfd->set = set & ~LX_SIGSET_UNBLOCKABLE;
    r = anon_file_new("[signalfd]", &signalfd_ops, LX_O_RDWR | (flags & LX_SFD_NONBLOCK), sfd,
                      ret_file);
    if (r < 0)
        kfree(sfd);
    return r;
}

int signalfd_set_mask(struct file *f, uint64_t set)
{
    struct signalfd *sfd = f->priv;

    if (f->ops != &signalfd_ops)
        return -EINVAL;
    sfd->set = set & ~LX_SIGSET_UNBLOCKABLE;
    wait_queue_wake(&sfd->changed, 0);
    return 0;
}
