/*
 * waitqueue.c: wait queues, and how a task waits on them.
 *
 * A task's entries are allocated, charged to LIMIT_WAITS, and linked into t->waits as well, so
 * that everything is dropped when the handler runs again. Waking a task only puts it on the run
 * queue: no handler ever runs inside wait_queue_wake.
 */
#include "lib/compiler.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

struct task_wait {
    struct wait_entry entry;
    struct list_head task_link; /* task.waits */
    struct task *task;          /* borrowed: the task drops its entries before it goes */
};

void wait_queue_init(struct wait_queue *q)
{
    list_init(&q->entries);
}

void wait_entry_init(struct wait_entry *e, uint32_t mask,
                     void (*wake)(struct wait_entry *, uint32_t))
{
    *e = (struct wait_entry){.mask = mask, .wake = wake};
    list_init(&e->link);
}

void wait_queue_add(struct wait_queue *q, struct wait_entry *e)
{
    if (e->exclusive)
        list_add_tail(&q->entries, &e->link);
    else
        list_add(&q->entries, &e->link);
}

void wait_entry_remove(struct wait_entry *e)
{
    list_del_init(&e->link);
}

void wait_queue_wake_n(struct wait_queue *q, uint32_t key, unsigned n)
{
    struct wait_entry *e, *tmp;
    bool taken = false;

    if (list_empty(&q->entries))
        return;
    list_for_each_entry_safe (e, tmp, &q->entries, link) {
        if (e->mask != 0 && key != 0 && (e->mask & key) == 0)
            continue;
        bool exclusive = e->exclusive, shares = e->shares;
        if (shares && taken)
            continue;
        e->took = false;
        e->wake(e, key);
        if (shares) /* its wake unlinks nothing */
            taken = e->took;
        if (exclusive && --n == 0)
            break;
    }
}

void wait_queue_wake(struct wait_queue *q, uint32_t key)
{
    wait_queue_wake_n(q, key, UINT32_MAX);
}

void wait_queue_done(struct wait_queue *q)
{
    while (!list_empty(&q->entries)) {
        struct wait_entry *e = list_first(&q->entries, struct wait_entry, link);
        list_del_init(&e->link);
        e->wake(e, 0);
    }
}

static void task_wait_wake(struct wait_entry *e, uint32_t key)
{
    struct task_wait *w = container_of(e, struct task_wait, entry);
    (void)key;
    /* One wake-up is enough; the entry itself is freed when the handler runs again. */
    list_del_init(&e->link);
    task_wake(w->task);
}

static int task_wait_add(struct task *t, struct wait_queue *q, uint32_t mask, bool exclusive)
{
    int r = limit_charge(LIMIT_WAITS, 1);
    if (r < 0)
        return r;
    struct task_wait *w = kalloc(sizeof(*w));
    if (w == NULL) {
        limit_release(LIMIT_WAITS, 1);
        return -ENOMEM;
    }
    wait_entry_init(&w->entry, mask, task_wait_wake);
    w->entry.exclusive = exclusive;
    w->task = t;
    list_add_tail(&t->waits, &w->task_link);
    wait_queue_add(q, &w->entry);
    return 0;
}

int task_wait_on(struct task *t, struct wait_queue *q, uint32_t mask)
{
    return task_wait_add(t, q, mask, false);
}

int task_wait_on_exclusive(struct task *t, struct wait_queue *q, uint32_t mask)
{
    return task_wait_add(t, q, mask, true);
}

void task_cancel_waits(struct task *t)
{
    while (!list_empty(&t->waits)) {
        struct task_wait *w = list_first(&t->waits, struct task_wait, task_link);
        wait_entry_remove(&w->entry);
        list_del_init(&w->task_link);
        kfree(w);
        limit_release(LIMIT_WAITS, 1);
    }
}

void task_set_deadline(struct task *t, uint64_t monotonic_ns)
{
    timer_cancel(&t->deadline);
    t->has_deadline = true;
    t->deadline.expires = monotonic_ns;
}

bool task_has_deadline(const struct task *t)
{
    return t->has_deadline;
}

bool task_timed_out(const struct task *t)
{
    return t->timed_out || (t->has_deadline && clock_monotonic() >= t->deadline.expires);
}
