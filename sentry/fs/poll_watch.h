#pragma once
/*
 * Who is told of a file's readiness as long as he wishes (an epoll item, O_ASYNC), and not only
 * while a call waits: entries on all queues that the file's poll op names, each charged
 * (LIMIT_WAITS).
 */
#include "lib/compiler.h"

#include "lib/list.h"
#include "sentry/kernel/waitqueue.h"

struct poll_watch {
    struct wait_entry entry;
    struct list_head link;
    void *owner; /* borrowed: he drops his watches before he ends */
};

/* like: mask, wake and what else the entry should have. 0, or -errno and nothing was added. */
int poll_watch_add(struct list_head *watches, void *owner, struct wait_queue *q,
                   const struct wait_entry *like) MUST_CHECK;
void poll_watches_drop(struct list_head *watches);
/* In a wake function. */
static inline void *poll_watch_owner(struct wait_entry *e)
{
    return container_of(e, struct poll_watch, entry)->owner;
}
