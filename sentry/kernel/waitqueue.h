#pragma once
/*
 * Wait queues. An object that tasks (or epoll) can wait for embeds a wait_queue; wait_queue_wake
 * calls the wake function of every entry whose mask meets the key (poll bits; 0 key or mask:
 * always).
 *
 * A task waits by task_wait_on from inside a handler (entries come from a per-task pool, all are
 * dropped before the handler runs again). Objects that end while entries are queued call
 * wait_queue_done, which wakes and unlinks every entry.
 */
#include "lib/compiler.h"

#include "lib/list.h"

struct task;

struct wait_queue {
    struct list_head entries;
};

struct wait_entry {
    struct list_head link; /* in wait_queue.entries */
    uint32_t mask;         /* LX_POLL* bits of interest; 0: everything */
    /* Called by wait_queue_wake; may unlink this entry (and only this one). */
    void (*wake)(struct wait_entry *e, uint32_t key);
    bool exclusive; /* wait_queue_wake_n counts it; queued behind the non-exclusive ones */
    bool shares; /* (exclusive) of several such entries, those behind the first one that says so */
    bool took;   /* by setting this in wake are left alone */
};

void wait_queue_init(struct wait_queue *q);
void wait_queue_done(struct wait_queue *q);
void wait_queue_add(struct wait_queue *q, struct wait_entry *e);
/* Unlinks; harmless when not queued (an initialised entry). */
void wait_entry_remove(struct wait_entry *e);
void wait_entry_init(struct wait_entry *e, uint32_t mask,
                     void (*wake)(struct wait_entry *, uint32_t));
void wait_queue_wake(struct wait_queue *q, uint32_t key);
/* Wakes all non-exclusive entries and at most n exclusive ones. */
void wait_queue_wake_n(struct wait_queue *q, uint32_t key, unsigned n);

/* Registers the running task; 0 or -ENOMEM. */
int task_wait_on(struct task *t, struct wait_queue *q, uint32_t mask) MUST_CHECK;
int task_wait_on_exclusive(struct task *t, struct wait_queue *q, uint32_t mask) MUST_CHECK;
/* The call times out at this instant (guest CLOCK_MONOTONIC ns); kept over re-runs until the call
 * ends. */
void task_set_deadline(struct task *t, uint64_t monotonic_ns);
bool task_has_deadline(const struct task *t);
/* True in a re-run after the deadline passed. */
bool task_timed_out(const struct task *t);
