/*
 * queue.c: a message queue: its limits, its messages, who is told of the first one.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/poll.h"
#include "abi/prctl.h"
#include "abi/rlimit.h"

#include "lib/alloc.h"
#include "sentry/fs/mqueue/mqueue.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

enum {
    /* What Linux counts for a message and for a priority beside the bytes. */
    MESSAGE_OVERHEAD = 48,
    PRIORITY_OVERHEAD = 48,
    /* However privileged the maker is. */
    QUEUES_HARD_MAX = 4096
};

static struct list_head queues = {&queues, &queues};
static uint64_t nqueues;

static bool may_exceed(const struct task *t)
{
    return cred_capable(t->cred, LX_CAP_SYS_RESOURCE);
}

/* Bytes that the queues of a user could hold. */
static uint64_t reserved_by(uint32_t uid)
{
    const struct mqueue *q;
    uint64_t n = 0;
    list_for_each_entry (q, &queues, all_link)
        n += q->owner_uid == uid ? q->reserved : 0;
    return n;
}

static int check_attr(const struct task *t, const struct lx_mq_attr *attr)
{
    uint64_t max = LX_MQ_HARD_MSGMAX, size = LX_MQ_HARD_SIZEMAX;

    if (attr->mq_maxmsg <= 0 || attr->mq_msgsize <= 0)
        return -EINVAL;
    if (!may_exceed(t)) {
        max = sysctl_number("fs.mqueue.msg_max", LX_MQ_MSG_MAX);
        size = sysctl_number("fs.mqueue.msgsize_max", LX_MQ_MSGSIZE_MAX);
    }
    if ((uint64_t)attr->mq_maxmsg > MIN(max, (uint64_t)LX_MQ_HARD_MSGMAX) ||
        (uint64_t)attr->mq_msgsize > MIN(size, (uint64_t)LX_MQ_HARD_SIZEMAX))
        return -EINVAL;
    return 0;
}

static struct lx_mq_attr default_attr(void)
{
    uint64_t max = MIN(sysctl_number("fs.mqueue.msg_max", LX_MQ_MSG_MAX),
                       sysctl_number("fs.mqueue.msg_default", LX_MQ_MSG_MAX));
    uint64_t size = MIN(sysctl_number("fs.mqueue.msgsize_max", LX_MQ_MSGSIZE_MAX),
                        sysctl_number("fs.mqueue.msgsize_default", LX_MQ_MSGSIZE_MAX));

    return (struct lx_mq_attr){
        .mq_maxmsg = (int64_t)MIN(max, (uint64_t)LX_MQ_HARD_MSGMAX),
        .mq_msgsize = (int64_t)MIN(size, (uint64_t)LX_MQ_HARD_SIZEMAX),
    };
}

/* No overflow: both are bounded by check_attr. */
static uint64_t reservation(const struct lx_mq_attr *attr)
{
    uint64_t n = (uint64_t)attr->mq_maxmsg;

    return n * ((uint64_t)attr->mq_msgsize + MESSAGE_OVERHEAD) +
           MIN(n, (uint64_t)LX_MQ_PRIO_MAX) * PRIORITY_OVERHEAD;
}

int mqueue_new(struct task *t, const struct lx_mq_attr *attr, struct mqueue **ret_q)
{
    const struct lx_mq_attr usual = default_attr();
    uint32_t uid = t->cred->uid;
    struct mqueue *q;

    if (nqueues >= QUEUES_HARD_MAX ||
        (nqueues >= sysctl_number("fs.mqueue.queues_max", LX_MQ_QUEUES_MAX) && !may_exceed(t)))
        return -ENOSPC;
    if (!attr)
        attr = &usual;
    int r = check_attr(t, attr);
    if (r < 0)
        return r;
    uint64_t bytes = reservation(attr), held = reserved_by(uid);
    uint64_t limit = task_rlimit(t, LX_RLIMIT_MSGQUEUE)->rlim_cur;
    if (bytes > limit || held > limit - bytes)
        return -EMFILE;
    if (limit_charge(LIMIT_IPC, 1) < 0)
        return -ENOSPC;
    q = kalloc(sizeof(*q));
    if (!q) {
        limit_release(LIMIT_IPC, 1);
        return -ENOMEM;
    }
    q->max_messages = (uint64_t)attr->mq_maxmsg;
    q->max_size = (uint64_t)attr->mq_msgsize;
    q->reserved = bytes;
    q->owner_uid = uid;
    rb_init(&q->messages, NULL);
    wait_queue_init(&q->senders);
    wait_queue_init(&q->receivers);
    wait_queue_init(&q->poll);
    list_add_tail(&queues, &q->all_link);
    nqueues++;
    *ret_q = q;
    return 0;
}

static void notify_drop(struct mqueue *q)
{
    thread_group_put(q->notify.group);
    q->notify = (struct mq_notify){0};
}

void mqueue_free(struct mqueue *q)
{
    struct mq_message *m;

    while ((m = mqueue_take(q)) != NULL)
        mq_message_free(m);
    if (q->notify.group)
        notify_drop(q);
    wait_queue_done(&q->senders);
    wait_queue_done(&q->receivers);
    wait_queue_done(&q->poll);
    list_del_init(&q->all_link);
    nqueues--;
    kfree(q);
    limit_release(LIMIT_IPC, 1);
}

/* -- messages ---------------------------------------------------------------------------------- */

int mq_message_new(size_t len, uint32_t prio, struct mq_message **ret_m)
{
    struct mq_message *m;

    if (limit_charge(LIMIT_IPC, len + sizeof(*m)) < 0)
        return -ENOMEM;
    m = kalloc(sizeof(*m) + len);
    if (!m) {
        limit_release(LIMIT_IPC, len + sizeof(*m));
        return -ENOMEM;
    }
    m->prio = prio;
    m->len = len;
    *ret_m = m;
    return 0;
}

void mq_message_free(struct mq_message *m)
{
    limit_release(LIMIT_IPC, m->len + sizeof(*m));
    kfree(m);
}

static uint32_t prio_of(const struct rb_node *n)
{
    const struct mq_message *m =
        (const void *)((const char *)n - offsetof(struct mq_message, node));

    return m->prio;
}

/* The highest priority first; equal ones keep their order. */
static int by_priority(const struct rb_node *a, const struct rb_node *b)
{
    uint32_t x = prio_of(a), y = prio_of(b);

    return x > y ? -1 : x < y;
}

static void notify_send(struct mqueue *q, const struct task *t)
{
    struct thread_group *tg = q->notify.group;
    struct lx_siginfo info = {
        .si_signo = q->notify.signo,
        .si_code = LX_SI_MESGQ,
        .si_pid = (int32_t)t->group->pid,
        .si_uid = t->cred->uid,
        .si_value = q->notify.value,
    };

    if (q->notify.notify == LX_SIGEV_SIGNAL && info.si_signo != 0 && !tg->zombie)
        (void)signal_send_group(tg, &info); /* a full signal queue loses it, as on Linux */
    notify_drop(q);
}

void mqueue_put(struct mqueue *q, struct mq_message *m, const struct task *t)
{
    bool awaited = !list_empty(&q->receivers.entries);

    rb_insert(&q->messages, &m->node, by_priority);
    q->count++;
    q->bytes += m->len;
    if (q->notify.group && q->count == 1 && !awaited)
        notify_send(q, t);
    wait_queue_wake(&q->receivers, 0);
    wait_queue_wake(&q->poll, LX_POLLIN | LX_POLLRDNORM);
}

struct mq_message *mqueue_take(struct mqueue *q)
{
    struct rb_node *n = rb_first(&q->messages);
    struct mq_message *m;

    if (!n)
        return NULL;
    m = rb_entry(n, struct mq_message, node);
    rb_erase(&q->messages, n);
    q->count--;
    q->bytes -= m->len;
    wait_queue_wake(&q->senders, 0);
    wait_queue_wake(&q->poll, LX_POLLOUT | LX_POLLWRNORM);
    return m;
}

/* -- notification ------------------------------------------------------------------------------ */

int mqueue_notify_set(struct mqueue *q, struct task *t, const struct lx_sigevent *ev)
{
    if (q->notify.group)
        return -EBUSY;
    q->notify = (struct mq_notify){
        .group = thread_group_get(t->group),
        .files = t->files,
        .notify = ev->sigev_notify,
        .signo = ev->sigev_signo,
        .value = ev->sigev_value,
    };
    return 0;
}

void mqueue_notify_clear(struct mqueue *q, const struct task *t)
{
    if (q->notify.group == t->group)
        notify_drop(q);
}

void mqueue_flush(struct mqueue *q, const struct files *files)
{
    if (q->notify.group && q->notify.files == files)
        notify_drop(q);
}
