#pragma once
/*
 * POSIX message queues (mq_overview(7)). A queue belongs to an inode and lives as long as that: its
 * name counts it, and every open description. Functions take host types; nothing blocks: -EAGAIN
 * means full or empty, and the caller waits on the queue's `senders` or `receivers`.
 */
#include "lib/compiler.h"

#include "abi/mqueue.h"
#include "abi/signal.h"

#include "lib/list.h"
#include "lib/rbtree.h"
#include "sentry/kernel/waitqueue.h"

struct cred;
struct file;
struct files;
struct inode;
struct task;
struct thread_group;

struct mq_message {
    struct rb_node node;
    uint32_t prio;
    size_t len;
    uint8_t data[];
};

/* Who is told when a message comes into the empty queue. */
struct mq_notify {
    struct thread_group *group; /* counted; NULL: nobody */
    const struct files *files;  /* the table it was asked through: an identity, never followed */
    int notify, signo;          /* LX_SIGEV_SIGNAL or NONE */
    union lx_sigval value;
};

struct mqueue {
    struct inode *inode;       /* borrowed */
    struct list_head all_link; /* every queue, with a name or without */
    struct rb_root messages;   /* the next one first */
    uint64_t max_messages, max_size, count, bytes;
    uint64_t reserved; /* what counts against RLIMIT_MSGQUEUE of owner_uid */
    uint32_t owner_uid;
    struct wait_queue senders, receivers; /* tasks, in order of their coming */
    struct wait_queue poll;
    struct mq_notify notify;
    uint32_t name_len;
    char name[256];
};

/* -- queue.c ----------------------------------------------------------------------------------- */
/* attr NULL: the defaults. -EINVAL, -EOVERFLOW, -EMFILE (RLIMIT_MSGQUEUE), -ENOSPC. */
int mqueue_new(struct task *t, const struct lx_mq_attr *attr, struct mqueue **ret_q) MUST_CHECK;
void mqueue_free(struct mqueue *q);
/* A message of len bytes, charged: fill data. -ENOMEM. */
int mq_message_new(size_t len, uint32_t prio, struct mq_message **ret_m) MUST_CHECK;
void mq_message_free(struct mq_message *m);
static inline bool mqueue_full(const struct mqueue *q)
{
    return q->count >= q->max_messages;
}
/* Not into a full queue. Wakes receivers, or notifies from t. */
void mqueue_put(struct mqueue *q, struct mq_message *m CONSUMES, const struct task *t);
/* Takes the next message out, the caller's to free; NULL: empty. */
struct mq_message *mqueue_take(struct mqueue *q);
/* -EBUSY: somebody else is registered already. */
int mqueue_notify_set(struct mqueue *q, struct task *t, const struct lx_sigevent *ev) MUST_CHECK;
/* Takes a registration of t's process back. */
void mqueue_notify_clear(struct mqueue *q, const struct task *t);
/* A descriptor of that table is closed. */
void mqueue_flush(struct mqueue *q, const struct files *files);

/* -- fs.c -------------------------------------------------------------------------------------- */
/* mq_open(2) without the descriptor; oflag and attr as there, the umask has been applied. */
int mqueue_open(struct task *t, const char *name, uint32_t oflag, uint32_t mode,
                const struct lx_mq_attr *attr, struct file **ret_file) MUST_CHECK;
int mqueue_unlink(const char *name, const struct cred *c) MUST_CHECK;
/* The queue of an open description, borrowed; NULL: it is something else. */
struct mqueue *file_mqueue(const struct file *f);
/* End of the sandbox, tests: nothing is open, nothing mounted. */
void mqueue_done(void);
