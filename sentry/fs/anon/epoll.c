/*
 * epoll.
 *
 * An item waits on all queues that the file's poll op names. A wake-up puts the item on the ready
 * list of its instance and wakes the instance's own queue; whether the file is really ready is
 * asked when events are collected. Level-triggered items go back to the end of the ready list after
 * each report and leave it when they are found not ready; edge-triggered ones leave it with the
 * report.
 *
 * An item on the ready list means that the instance has been woken since it was last found empty,
 * so a further wake-up of a ready item need not be passed on. That keeps nested instances cheap.
 * Their nesting is bounded and free of cycles: epoll_add checks before the item exists.
 */
#include "sentry/fs/anon/epoll.h"

#include <inttypes.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/rbtree.h"
#include "sentry/fs/file.h"
#include "sentry/fs/poll_watch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/waitqueue.h"

#define EP_MAX_NESTS 4
#define EP_PRIVATE   (LX_EPOLLWAKEUP | LX_EPOLLONESHOT | LX_EPOLLET | LX_EPOLLEXCLUSIVE)
#define EP_EXCLUSIVE_OK                                                                   \
    (LX_EPOLLIN | LX_EPOLLOUT | LX_EPOLLERR | LX_EPOLLHUP | LX_EPOLLWAKEUP | LX_EPOLLET | \
     LX_EPOLLEXCLUSIVE)

struct epoll {
    struct wait_queue wait;
    struct rb_root items;   /* by file and descriptor */
    struct list_head ready; /* epitem.ready_link, oldest first */
    struct file *file;      /* borrowed: its own */
    uint64_t visit;         /* mark of the last walk that saw it */
    int height;             /* found by that walk */
};

struct epitem {
    struct rb_node node;
    struct epoll *ep;
    struct file *file; /* borrowed: the item goes before the file does */
    int fd;
    uint32_t events;
    uint64_t data;
    struct list_head ready_link;
    struct list_head file_link; /* file.epoll_items */
    struct list_head watches;   /* poll_watch.link; the owner is the item */
};

static const struct file_ops epoll_ops;

bool file_is_epoll(const struct file *f)
{
    return f->ops == &epoll_ops;
}

/* -- readiness -------------------------------------------------------------------------------- */

static void item_make_ready(struct epitem *it)
{
    if (!list_empty(&it->ready_link))
        return;
    list_add_tail(&it->ep->ready, &it->ready_link);
    /* One event wakes one of the tasks in epoll_wait, and everybody who polls the instance. */
    wait_queue_wake_n(&it->ep->wait, LX_POLLIN | LX_POLLRDNORM, 1);
}

static void epwait_wake(struct wait_entry *e, uint32_t key)
{
    struct epitem *it = poll_watch_owner(e);
    uint32_t want = it->events & ~EP_PRIVATE;

    if (!want || (key != 0 && (key & want) == 0))
        return;
    /* EPOLLEXCLUSIVE: an instance in which somebody waits takes the event for all such instances,
     * unless it has taken an earlier one that he has not come for yet. */
    e->took = !list_empty(&it->ep->wait.entries) && list_empty(&it->ready_link);
    item_make_ready(it);
}

struct item_table {
    struct poll_table pt;
    struct epitem *item;
};

static int item_queue(struct poll_table *pt, struct wait_queue *q)
{
    struct epitem *it = container_of(pt, struct item_table, pt)->item;
    bool exclusive = (it->events & LX_EPOLLEXCLUSIVE) != 0;
    struct wait_entry like = {.wake = epwait_wake, .exclusive = exclusive, .shares = exclusive};

    return poll_watch_add(&it->watches, it, q, &like);
}

static uint32_t item_poll(const struct epitem *it, struct poll_table *pt)
{
    return vfs_poll(it->file, pt) & it->events;
}

/* -- items ------------------------------------------------------------------------------------ */

static const struct epitem *item_of(const struct rb_node *n)
{
    return (const struct epitem *)(const void *)((const char *)n - offsetof(struct epitem, node));
}

static int item_cmp(const struct rb_node *a, const struct rb_node *b)
{
    const struct epitem *x = item_of(a), *y = item_of(b);
    uintptr_t fx = (uintptr_t)x->file, fy = (uintptr_t)y->file;

    if (fx != fy)
        return fx < fy ? -1 : 1;
    return x->fd < y->fd ? -1 : x->fd > y->fd;
}

static int item_key_cmp(const void *key, const struct rb_node *node)
{
    const struct epitem *k = key;

    return item_cmp(&k->node, node);
}

static struct epitem *item_find(struct epoll *ep, struct file *f, int fd)
{
    struct epitem key = {.file = f, .fd = fd};
    struct rb_node *n = rb_find(&ep->items, &key, item_key_cmp);

    return n ? rb_entry(n, struct epitem, node) : NULL;
}

static void item_free(struct epitem *it)
{
    poll_watches_drop(&it->watches);
    list_del_init(&it->ready_link);
    list_del_init(&it->file_link);
    rb_erase(&it->ep->items, &it->node);
    kfree(it);
    limit_release(LIMIT_EPOLL_ITEMS, 1);
}

void epoll_file_released(struct file *f)
{
    while (!list_empty(&f->epoll_items))
        item_free(list_first(&f->epoll_items, struct epitem, file_link));
}

/* -- nesting ---------------------------------------------------------------------------------- */

static uint64_t visit_mark;

/* NOLINTBEGIN(misc-no-recursion): no chain of instances is longer than EP_MAX_NESTS */

/* Levels of instances below ep, or -1 when top is among them. Each instance is looked at once. */
static int epoll_height(struct epoll *ep, const struct epoll *top, int depth)
{
    struct rb_node *n;
    int height = 0;

    if (ep == top || depth > EP_MAX_NESTS)
        return -1;
    if (ep->visit == visit_mark)
        return ep->height;
    rb_for_each (n, &ep->items) {
        const struct epitem *it = rb_entry(n, struct epitem, node);
        int h;

        if (!file_is_epoll(it->file))
            continue;
        h = epoll_height(it->file->priv, top, depth + 1);
        if (h < 0)
            return -1;
        height = MAX(height, h + 1);
    }
    ep->visit = visit_mark;
    ep->height = height;
    return height;
}

/* Levels of instances above ep. */
static int epoll_depth(struct epoll *ep)
{
    struct epitem *it;
    int depth = 0;

    if (ep->visit == visit_mark)
        return ep->height;
    list_for_each_entry (it, &ep->file->epoll_items, file_link)
        depth = MAX(depth, epoll_depth(it->ep) + 1);
    ep->visit = visit_mark;
    ep->height = depth;
    return depth;
}

/* NOLINTEND(misc-no-recursion) */

static int epoll_check_nesting(struct epoll *ep, struct file *f)
{
    int below, above;

    if (!file_is_epoll(f))
        return 0;
    visit_mark++;
    below = epoll_height(f->priv, ep, 0);
    if (below < 0)
        return -ELOOP;
    visit_mark++;
    above = epoll_depth(ep);
    return below + 1 + above > EP_MAX_NESTS ? -ELOOP : 0;
}

/* -- the operations --------------------------------------------------------------------------- */

int epoll_add(struct file *epf, struct file *f, int fd, const struct lx_epoll_event *ev)
{
    struct epoll *ep = epf->priv;
    struct item_table table = {.pt = {.queue = item_queue}};
    struct epitem *it;
    uint32_t got;
    int r;

    if ((ev->events & LX_EPOLLEXCLUSIVE) && (file_is_epoll(f) || (ev->events & ~EP_EXCLUSIVE_OK)))
        return -EINVAL;
    r = epoll_check_nesting(ep, f);
    if (r < 0)
        return r;
    if (item_find(ep, f, fd))
        return -EEXIST;
    r = limit_charge(LIMIT_EPOLL_ITEMS, 1);
    if (r < 0)
        return r;
    it = kalloc(sizeof(*it));
    if (!it) {
        limit_release(LIMIT_EPOLL_ITEMS, 1);
        return -ENOMEM;
    }
    it->ep = ep;
    it->file = f;
    it->fd = fd;
    it->events = ev->events | LX_EPOLLERR | LX_EPOLLHUP;
    it->data = ev->data;
    list_init(&it->ready_link);
    list_init(&it->watches);
    list_add_tail(&f->epoll_items, &it->file_link);
    rb_insert(&ep->items, &it->node, item_cmp);
    table.item = it;
    table.pt.mask = it->events & ~EP_PRIVATE;
    got = item_poll(it, &table.pt);
    if (table.pt.error < 0) {
        item_free(it);
        return table.pt.error;
    }
    if (got)
        item_make_ready(it);
    return 0;
}

int epoll_mod(struct file *epf, struct file *f, int fd, const struct lx_epoll_event *ev)
{
    struct epitem *it;

    if (ev->events & LX_EPOLLEXCLUSIVE)
        return -EINVAL;
    it = item_find(epf->priv, f, fd);
    if (!it)
        return -ENOENT;
    if (it->events & LX_EPOLLEXCLUSIVE)
        return -EINVAL;
    it->events = ev->events | LX_EPOLLERR | LX_EPOLLHUP;
    it->data = ev->data;
    if (item_poll(it, NULL))
        item_make_ready(it);
    return 0;
}

int epoll_del(struct file *epf, struct file *f, int fd)
{
    struct epitem *it = item_find(epf->priv, f, fd);

    if (!it)
        return -ENOENT;
    item_free(it);
    return 0;
}

typedef int put_events_fn(void *arg, const struct lx_epoll_event *ev, uint32_t n);

/* Up to EPOLL_BATCH events from the front of scan, handed to put. */
static int collect_some(struct epoll *ep, struct list_head *scan, uint32_t max, put_events_fn *put,
                        void *arg)
{
    struct lx_epoll_event ev[EPOLL_BATCH];
    struct epitem *items[EPOLL_BATCH];
    uint32_t n = 0;
    int r;

    max = MIN(max, (uint32_t)EPOLL_BATCH);
    while (n < max && !list_empty(scan)) {
        struct epitem *it = list_first(scan, struct epitem, ready_link);
        uint32_t got = item_poll(it, NULL);

        list_del_init(&it->ready_link);
        if (!got)
            continue;
        ev[n] = (struct lx_epoll_event){.events = got, .data = it->data};
        items[n++] = it;
    }
    r = n ? put(arg, ev, n) : 0;
    for (uint32_t i = n; i-- > 0 && r < 0;)
        list_add(scan, &items[i]->ready_link);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n; i++) {
        if (items[i]->events & LX_EPOLLONESHOT)
            items[i]->events &= EP_PRIVATE;
        else if (!(items[i]->events & LX_EPOLLET))
            list_add_tail(&ep->ready, &items[i]->ready_link);
    }
    return (int)n;
}

int epoll_collect(struct file *epf, uint32_t max, put_events_fn *put, void *arg)
{
    struct epoll *ep = epf->priv;
    struct list_head scan;
    uint32_t total = 0;
    int n;

    /* Those that are ready now: what is put back on the list meanwhile has had its turn. */
    list_init(&scan);
    while (!list_empty(&ep->ready)) {
        struct epitem *it = list_first(&ep->ready, struct epitem, ready_link);

        list_del_init(&it->ready_link);
        list_add_tail(&scan, &it->ready_link);
    }
    max = MIN(max, (uint32_t)EPOLL_MOST);
    do {
        n = collect_some(ep, &scan, max - total, put, arg);
        total += n > 0 ? (uint32_t)n : 0;
    } while (n > 0 && total < max);
    while (!list_empty(&scan)) {
        struct epitem *it = list_entry(scan.prev, struct epitem, ready_link);

        list_del_init(&it->ready_link);
        list_add(&ep->ready, &it->ready_link);
    }
    /* What is left is for the next one who waits: this wake-up was ours alone. */
    if (n >= 0 && !list_empty(&ep->ready))
        wait_queue_wake_n(&ep->wait, LX_POLLIN | LX_POLLRDNORM, 1);
    return total ? (int)total : n;
}

int epoll_wait_on(struct task *t, struct file *epf)
{
    struct epoll *ep = epf->priv;

    return task_wait_on_exclusive(t, &ep->wait, LX_POLLIN | LX_POLLRDNORM);
}

/* -- the file --------------------------------------------------------------------------------- */

static uint32_t epoll_poll(struct file *f, struct poll_table *pt)
{
    struct epoll *ep = f->priv;

    poll_wait(pt, &ep->wait);
    while (!list_empty(&ep->ready)) {
        struct epitem *it = list_first(&ep->ready, struct epitem, ready_link);

        if (item_poll(it, NULL))
            return LX_POLLIN | LX_POLLRDNORM;
        list_del_init(&it->ready_link);
    }
    return 0;
}

static void epoll_release(struct file *f)
{
    struct epoll *ep = f->priv;
    struct rb_node *n;

    while ((n = rb_first(&ep->items)) != NULL)
        item_free(rb_entry(n, struct epitem, node));
    wait_queue_done(&ep->wait);
    kfree(ep);
}

static int epoll_show(struct file *f, struct buf *out)
{
    const struct epoll *ep = f->priv;
    struct rb_node *n;

    rb_for_each (n, &ep->items) {
        const struct epitem *it = rb_entry(n, struct epitem, node);
        int r = buf_printf(out,
                           "tfd: %8d events: %8x data: %16" PRIx64 "  pos:%" PRIu64 " ino:%" PRIx64
                           " sdev:%" PRIx64 "\n",
                           it->fd, it->events, it->data, it->file->pos, it->file->inode->ino,
                           it->file->inode->super->dev);

        if (r < 0)
            return r;
    }
    return 0;
}

static const struct file_ops epoll_ops = {
    .poll = epoll_poll,
    .seek_ignored = true,
    .release = epoll_release,
    .show_fdinfo = epoll_show,
};

int epoll_new(struct file **ret_file)
{
    struct epoll *ep = kalloc(sizeof(*ep));
    int r;

    if (!ep)
        return -ENOMEM;
    wait_queue_init(&ep->wait);
    list_init(&ep->ready);
    rb_init(&ep->items, NULL);
    r = anon_file_new("[eventpoll]", &epoll_ops, LX_O_RDWR, ep, ret_file);
    if (r < 0) {
        kfree(ep);
        return r;
    }
    ep->file = *ret_file;
    return 0;
}
