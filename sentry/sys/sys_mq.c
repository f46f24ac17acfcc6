/*
 * sys_mq.c: POSIX message queues (mq_overview(7)): decode, then sentry/fs/mqueue.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/rlimit.h"
#include "abi/time.h"

#include "sentry/fs/file.h"
#include "sentry/fs/mqueue/mqueue.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/rusage.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/install.h"
#include "sentry/sys/sys.h"

struct sys_res sys_mq_open(struct task *t, const struct sys_args *a)
{
    uint32_t oflag = sys_uint(a, 1), mode = sys_uint(a, 2);
    bool given = !gaddr_is_null(sys_addr(a, 3));
    char name[LX_PATH_MAX];
    struct lx_mq_attr attr;
    struct file *f = NULL;

    if (given && get_user(t, &attr, sys_addr(a, 3)) < 0)
        return sys_ret(-EFAULT);
    int r = user_path_copy(t, sys_addr(a, 0), name);
    if (r < 0)
        return sys_ret(r);
    /* A descriptor must be free before a queue is made. */
    if (bitmap_first_zero(&t->files->used, 0) >= task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur)
        return sys_ret(-EMFILE);
    r = mqueue_open(t, name, oflag, mode & ~t->fs->umask, given ? &attr : NULL, &f);
    return sys_install(t, r, f, true);
}

struct sys_res sys_mq_unlink(struct task *t, const struct sys_args *a)
{
    char name[LX_PATH_MAX];
    int r = user_path_copy(t, sys_addr(a, 0), name);

    return sys_ret(r < 0 ? r : mqueue_unlink(name, t->cred));
}

/* The absolute CLOCK_REALTIME time at which the call gives up, if one is given. */
static int set_timeout(struct task *t, gaddr_t addr)
{
    struct lx_timespec ts;
    uint64_t ns;

    if (gaddr_is_null(addr) || task_has_deadline(t))
        return 0;
    if (get_user(t, &ts, addr) < 0)
        return -EFAULT;
    int r = timespec_to_ns(&ts, &ns);
    if (r == 0)
        task_set_deadline(t, clock_to_monotonic(LX_CLOCK_REALTIME, ns));
    return r;
}

/* The file of a queue, counted; NULL: none that is open for this. */
static struct file *queue_file(struct task *t, int fd, bool writing)
{
    struct file *f = fd_get_held(t, fd);

    if (f && file_mqueue(f) && (writing ? file_writable(f) : file_readable(f)))
        return f;
    file_put(f);
    return NULL;
}

/* Full, or empty. */
static struct sys_res wait_turn(struct task *t, struct file *f, struct wait_queue *q)
{
    if (file_nonblock(f))
        return sys_ret(-EAGAIN);
    if (task_timed_out(t))
        return sys_ret(-ETIMEDOUT);
    /* Exclusive entries stand in line; all of them are woken. */
    int r = task_wait_on_exclusive(t, q, 0);
    if (r < 0)
        return sys_ret(r);
    file_hold(t, f);
    return task_block(t, -ERESTARTSYS);
}

static int message_copy_in(struct task *t, const struct sys_args *a, struct mq_message **ret_m)
{
    size_t len = (size_t)a->v[2];
    int r = mq_message_new(len, sys_uint(a, 3), ret_m);

    if (r == 0 && copy_from_user(t, (*ret_m)->data, sys_addr(a, 1), len) < 0) {
        mq_message_free(*ret_m);
        r = -EFAULT;
    }
    return r;
}

static struct sys_res send_to(struct task *t, const struct sys_args *a, struct file *f)
{
    struct mqueue *q = file_mqueue(f);
    struct mq_message *m;

    if (a->v[2] > q->max_size)
        return sys_ret(-EMSGSIZE);
    int r = message_copy_in(t, a, &m);
    if (r < 0)
        return sys_ret(r);
    if (mqueue_full(q)) {
        mq_message_free(m);
        return wait_turn(t, f, &q->senders);
    }
    mqueue_put(q, m, t);
    inode_touch(f->inode, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
    return sys_ret(0);
}

struct sys_res sys_mq_timedsend(struct task *t, const struct sys_args *a)
{
    int r = set_timeout(t, sys_addr(a, 4));

    if (r < 0)
        return sys_ret(r);
    if (sys_uint(a, 3) >= LX_MQ_PRIO_MAX)
        return sys_ret(-EINVAL);
    struct file *f = queue_file(t, sys_int(a, 0), true);
    if (!f)
        return sys_ret(-EBADF);
    struct sys_res res = send_to(t, a, f);
    file_put(f);
    return res;
}

/* The message is gone even if the receiver has no memory there, as on Linux. */
static int64_t message_copy_out(struct task *t, const struct sys_args *a,
                                struct mq_message *m CONSUMES)
{
    gaddr_t prio = sys_addr(a, 3);
    int64_t n = (int64_t)m->len;

    if ((!gaddr_is_null(prio) && put_user(t, prio, &m->prio) < 0) ||
        copy_to_user(t, sys_addr(a, 1), m->data, m->len) < 0)
        n = -EFAULT;
    mq_message_free(m);
    return n;
}

static struct sys_res receive_from(struct task *t, const struct sys_args *a, struct file *f)
{
    struct mqueue *q = file_mqueue(f);

    if (a->v[2] < q->max_size)
        return sys_ret(-EMSGSIZE);
    struct mq_message *m = mqueue_take(q);
    if (!m)
        return wait_turn(t, f, &q->receivers);
    inode_touch(f->inode, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
    return sys_ret(message_copy_out(t, a, m));
}

struct sys_res sys_mq_timedreceive(struct task *t, const struct sys_args *a)
{
    int r = set_timeout(t, sys_addr(a, 4));

    if (r < 0)
        return sys_ret(r);
    struct file *f = queue_file(t, sys_int(a, 0), false);
    if (!f)
        return sys_ret(-EBADF);
    struct sys_res res = receive_from(t, a, f);
    file_put(f);
    return res;
}

/* SIGEV_THREAD comes through a netlink socket, and those cannot exist here. */
static int check_thread_event(struct task *t, const struct lx_sigevent *ev)
{
    uint8_t cookie[LX_MQ_COOKIE_LEN];

    if (copy_from_user(t, cookie, GADDR(ev->sigev_value.sival_ptr), sizeof(cookie)) < 0)
        return -EFAULT;
    struct file *f = fd_get(t, ev->sigev_signo);
    if (!f)
        return -EBADF;
    bool socket = LX_S_ISSOCK(f->inode->mode);
    file_put(f);
    return socket ? -EINVAL : -ENOTSOCK;
}

static int check_event(struct task *t, const struct lx_sigevent *ev)
{
    switch (ev->sigev_notify) {
    case LX_SIGEV_NONE:
        return 0;
    case LX_SIGEV_SIGNAL:
        return ev->sigev_signo < 0 || ev->sigev_signo > LX_NSIG ? -EINVAL : 0;
    case LX_SIGEV_THREAD:
        return check_thread_event(t, ev);
    default:
        return -EINVAL;
    }
}

struct sys_res sys_mq_notify(struct task *t, const struct sys_args *a)
{
    bool given = !gaddr_is_null(sys_addr(a, 1));
    struct lx_sigevent ev;
    int r = 0;

    if (given && get_user(t, &ev, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (given)
        r = check_event(t, &ev);
    if (r < 0)
        return sys_ret(r);
    struct file *f = fd_get(t, sys_int(a, 0));
    struct mqueue *q = f ? file_mqueue(f) : NULL;
    if (!q)
        r = -EBADF;
    else if (given)
        r = mqueue_notify_set(q, t, &ev);
    else
        mqueue_notify_clear(q, t);
    if (r == 0)
        inode_touch(f->inode, ATTR_ATIME | ATTR_CTIME);
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_mq_getsetattr(struct task *t, const struct sys_args *a)
{
    bool set = !gaddr_is_null(sys_addr(a, 1));
    struct lx_mq_attr new, old;

    if (set && get_user(t, &new, sys_addr(a, 1)) < 0)
        return sys_ret(-EFAULT);
    if (set && (new.mq_flags & ~(int64_t)LX_O_NONBLOCK))
        return sys_ret(-EINVAL);
    struct file *f = fd_get(t, sys_int(a, 0));
    const struct mqueue *q = f ? file_mqueue(f) : NULL;
    if (!q) {
        file_put(f);
        return sys_ret(-EBADF);
    }
    old = (struct lx_mq_attr){
        .mq_flags = f->flags & LX_O_NONBLOCK,
        .mq_maxmsg = (int64_t)q->max_messages,
        .mq_msgsize = (int64_t)q->max_size,
        .mq_curmsgs = (int64_t)q->count,
    };
    if (set) {
        f->flags = (f->flags & ~(uint32_t)LX_O_NONBLOCK) | (uint32_t) new.mq_flags;
        inode_touch(f->inode, ATTR_ATIME | ATTR_CTIME);
    }
    file_put(f);
    if (!gaddr_is_null(sys_addr(a, 2)))
        return sys_ret(put_user(t, sys_addr(a, 2), &old));
    return sys_ret(0);
}
