/*
 * sys_msg.c: System V message queues (msgget(2), msgop(2), msgctl(2)).
 */
#include "lib/compiler.h"

#include <inttypes.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/list.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

/* The configuration's settings, as far as a queue may grow here. */
static uint64_t msgmax(void)
{
    return MIN(sysctl_number("kernel.msgmax", LX_MSGMAX), 1ull << 20);
}

static uint64_t msgmnb(void)
{
    return MIN(sysctl_number("kernel.msgmnb", LX_MSGMNB), 1ull << 20);
}

struct message {
    struct list_head link;
    int64_t type;
    size_t len;
    uint8_t data[];
};

struct msg_queue {
    struct ipc_object ipc;
    struct list_head messages;
    struct wait_queue wait; /* anything changed */
    uint64_t bytes, count, max_bytes;
    int64_t stime, rtime, ctime;
    uint32_t lspid, lrpid;
};

static struct ipc_table queues = {.setting = "kernel.msgmni"};

static struct msg_queue *queue_of(int32_t id)
{
    return (struct msg_queue *)(void *)ipc_find(&queues, id);
}

static void message_free(struct message *m)
{
    list_del_init(&m->link);
    limit_release(LIMIT_IPC, m->len + sizeof(*m));
    kfree(m);
}

struct sys_res sys_msgget(struct task *t, const struct sys_args *a)
{
    struct ipc_object *o;
    int r = ipc_lookup_key(&queues, t, sys_int(a, 0), sys_int(a, 1), &o);
    if (r <= 0)
        return sys_ret(r < 0 ? r : o->id);
    if (limit_charge(LIMIT_IPC, 1) < 0)
        return sys_ret(-ENOSPC);
    struct msg_queue *q = kalloc(sizeof(*q));
    r = q == NULL ? -ENOMEM : ipc_add(&queues, t, sys_int(a, 0), sys_int(a, 1), &q->ipc);
    if (r < 0) {
        kfree(q);
        limit_release(LIMIT_IPC, 1);
        return sys_ret(r);
    }
    list_init(&q->messages);
    wait_queue_init(&q->wait);
    q->max_bytes = msgmnb();
    q->ctime = ipc_seconds();
    return sys_ret(q->ipc.id);
}

static void queue_remove(struct msg_queue *q)
{
    struct message *m, *tmp;
    ipc_remove(&queues, &q->ipc);
    wait_queue_done(&q->wait);
    list_for_each_entry_safe (m, tmp, &q->messages, link)
        message_free(m);
    limit_release(LIMIT_IPC, 1);
    kfree(q);
}

static int message_copy_in(struct task *t, const struct sys_args *a, struct message **ret_m)
{
    size_t len = (size_t)a->v[2];
    int64_t type;
    if (get_user(t, &type, sys_addr(a, 1)) < 0)
        return -EFAULT;
    if (type < 1)
        return -EINVAL;
    int r = limit_charge(LIMIT_IPC, len + sizeof(struct message));
    if (r < 0)
        return -ENOMEM;
    struct message *m = kalloc(sizeof(*m) + len);
    if (m == NULL) {
        limit_release(LIMIT_IPC, len + sizeof(struct message));
        return -ENOMEM;
    }
    list_init(&m->link);
    m->type = type;
    m->len = len;
    if (copy_from_user(t, m->data, gaddr_add(sys_addr(a, 1), 8), len) < 0) {
        message_free(m);
        return -EFAULT;
    }
    *ret_m = m;
    return 0;
}

struct sys_res sys_msgsnd(struct task *t, const struct sys_args *a)
{
    struct message *m;
    if (a->v[2] > msgmax() || sys_int(a, 0) < 0)
        return sys_ret(-EINVAL);
    struct msg_queue *q = queue_of(sys_int(a, 0));
    if (q == NULL)
        return sys_ret(t->restart.active ? -EIDRM : -EINVAL);
    int r = ipc_permission(t, &q->ipc.perm, 2);
    if (r < 0)
        return sys_ret(r);
    if (q->bytes + a->v[2] > q->max_bytes || q->count + 1 > q->max_bytes) {
        if (sys_int(a, 3) & LX_IPC_NOWAIT)
            return sys_ret(-EAGAIN);
        r = task_wait_on(t, &q->wait, 0);
        return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTNOHAND);
    }
    r = message_copy_in(t, a, &m);
    if (r < 0)
        return sys_ret(r);
    list_add_tail(&q->messages, &m->link);
    q->bytes += m->len;
    q->count++;
    q->stime = ipc_seconds();
    q->lspid = t->group->pid;
    wait_queue_wake(&q->wait, 0);
    return sys_ret(0);
}

static struct message *message_pick(struct msg_queue *q, int64_t type, int flags)
{
    struct message *m, *best = NULL;
    int64_t nth = 0;
    list_for_each_entry (m, &q->messages, link) {
        if (flags & LX_MSG_COPY) {
            if (nth++ == type)
                return m;
            continue;
        }
        if (type == 0)
            return m;
        if (type > 0 && ((flags & LX_MSG_EXCEPT) ? m->type != type : m->type == type))
            return m;
        if (type < 0 && m->type <= -type && (best == NULL || m->type < best->type))
            best = m;
    }
    return best;
}

static int64_t message_take(struct task *t, struct msg_queue *q, struct message *m,
                            const struct sys_args *a)
{
    size_t cap = (size_t)a->v[2], n = MIN(cap, m->len);
    int flags = sys_int(a, 4);
    if (m->len > cap && !(flags & LX_MSG_NOERROR))
        return -E2BIG;
    int64_t r = (int64_t)n;
    if (put_user(t, sys_addr(a, 1), &m->type) < 0 ||
        copy_to_user(t, gaddr_add(sys_addr(a, 1), 8), m->data, n) < 0)
        r = -EFAULT;
    if (flags & LX_MSG_COPY)
        return r;
    /* As on Linux it is gone, whether or not it could be stored. */
    q->bytes -= m->len;
    q->count--;
    q->rtime = ipc_seconds();
    q->lrpid = t->group->pid;
    message_free(m);
    wait_queue_wake(&q->wait, 0);
    return r;
}

struct sys_res sys_msgrcv(struct task *t, const struct sys_args *a)
{
    int flags = sys_int(a, 4);
    int64_t type = (int64_t)a->v[3];

    if (sys_int(a, 0) < 0 || (int64_t)a->v[2] < 0)
        return sys_ret(-EINVAL);
    if ((flags & LX_MSG_COPY) && ((flags & LX_MSG_EXCEPT) || !(flags & LX_IPC_NOWAIT)))
        return sys_ret(-EINVAL);
    struct msg_queue *q = queue_of(sys_int(a, 0));
    if (q == NULL)
        return sys_ret(t->restart.active ? -EIDRM : -EINVAL);
    int r = ipc_permission(t, &q->ipc.perm, 4);
    if (r < 0)
        return sys_ret(r);
    struct message *m = message_pick(q, type, flags);
    if (m != NULL)
        return sys_ret(message_take(t, q, m, a));
    if (flags & LX_IPC_NOWAIT)
        return sys_ret(-ENOMSG);
    r = task_wait_on(t, &q->wait, 0);
    return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTNOHAND);
}

static int64_t msg_stat(struct task *t, struct msg_queue *q, gaddr_t out, int cmd)
{
    int r = cmd == LX_MSG_STAT_ANY ? 0 : ipc_permission(t, &q->ipc.perm, 4);
    if (r < 0)
        return r;
    struct lx_msqid_ds ds = {
        .msg_perm = q->ipc.perm,
        .msg_stime = q->stime,
        .msg_rtime = q->rtime,
        .msg_ctime = q->ctime,
        .msg_cbytes = q->bytes,
        .msg_qnum = q->count,
        .msg_qbytes = q->max_bytes,
        .msg_lspid = (int32_t)q->lspid,
        .msg_lrpid = (int32_t)q->lrpid,
    };
    r = put_user(t, out, &ds);
    return r < 0 ? r : cmd == LX_IPC_STAT ? 0 : q->ipc.id;
}

static int64_t msg_set(struct task *t, struct msg_queue *q, gaddr_t in)
{
    struct lx_msqid_ds ds;
    if (get_user(t, &ds, in) < 0)
        return -EFAULT;
    if (ipc_owner(t, &q->ipc.perm) < 0)
        return -EPERM;
    uint32_t bytes = (uint32_t)ds.msg_qbytes; /* Linux takes an int of it */
    if (bytes > msgmnb() && bytes > q->max_bytes)
        return -EPERM;
    ipc_set(&q->ipc.perm, &ds.msg_perm);
    q->max_bytes = bytes;
    q->ctime = ipc_seconds();
    wait_queue_wake(&q->wait, 0);
    return 0;
}

static int64_t msg_info(struct task *t, int cmd, gaddr_t out)
{
    struct lx_msginfo mi = {
        .msgmax = (int32_t)msgmax(),
        .msgmnb = (int32_t)msgmnb(),
        .msgmni = (int32_t)MIN(sysctl_number("kernel.msgmni", IPC_SLOTS), (uint64_t)INT32_MAX)};
    int64_t top = 0;
    for (int i = 0; i < IPC_SLOTS; i++) {
        struct msg_queue *q = (struct msg_queue *)(void *)queues.slots[i];
        if (q == NULL)
            continue;
        top = i;
        if (cmd == LX_MSG_INFO) {
            mi.msgmap += (int32_t)q->count;
            mi.msgtql += (int32_t)q->bytes;
        }
    }
    if (cmd == LX_MSG_INFO)
        mi.msgpool = (int32_t)queues.count;
    int r = put_user(t, out, &mi);
    return r < 0 ? r : top;
}

struct sys_res sys_msgctl(struct task *t, const struct sys_args *a)
{
    int cmd = sys_int(a, 1);
    if (sys_int(a, 0) < 0 || cmd < 0)
        return sys_ret(-EINVAL);
    if (cmd == LX_IPC_INFO || cmd == LX_MSG_INFO)
        return sys_ret(msg_info(t, cmd, sys_addr(a, 2)));
    bool by_index = cmd == LX_MSG_STAT || cmd == LX_MSG_STAT_ANY;
    struct msg_queue *q = by_index
                              ? (struct msg_queue *)(void *)queues.slots[sys_int(a, 0) % IPC_SLOTS]
                              : queue_of(sys_int(a, 0));
    if (q == NULL)
        return sys_ret(-EINVAL);
    switch (cmd) {
    case LX_IPC_STAT:
    case LX_MSG_STAT:
    case LX_MSG_STAT_ANY:
        return sys_ret(msg_stat(t, q, sys_addr(a, 2), cmd));
    case LX_IPC_SET:
        return sys_ret(msg_set(t, q, sys_addr(a, 2)));
    case LX_IPC_RMID:
        if (ipc_owner(t, &q->ipc.perm) < 0)
            return sys_ret(-EPERM);
        queue_remove(q);
        return sys_ret(0);
    default:
        return sys_ret(-EINVAL);
    }
}

int msg_show(struct buf *out)
{
    int r =
        buf_puts(out, "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid"
                      "  cuid  cgid      stime      rtime      ctime\n");
    for (int i = 0; i < IPC_SLOTS && r == 0; i++) {
        const struct msg_queue *q = (struct msg_queue *)(void *)queues.slots[i];
        if (q == NULL)
            continue;
        const struct lx_ipc_perm *p = &q->ipc.perm;
        r = buf_printf(out,
                       "%10d %10d  %4o  %10" PRIu64 " %10" PRIu64
                       " %5u %5u %5u %5u %5u %5u %10" PRId64 " %10" PRId64 " %10" PRId64 "\n",
                       p->key, q->ipc.id, p->mode, q->bytes, q->count, q->lspid, q->lrpid, p->uid,
                       p->gid, p->cuid, p->cgid, q->stime, q->rtime, q->ctime);
    }
    return r;
}

void msg_done(void)
{
    for (int i = 0; i < IPC_SLOTS; i++) {
        if (queues.slots[i] != NULL)
            queue_remove((struct msg_queue *)(void *)queues.slots[i]);
    }
}
