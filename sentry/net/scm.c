/*
 * Descriptors in flight, and cycles of them.
 *
 * A file in a queued message has inflight counted up beside its reference count. A socket whose
 * file has no other references can only be reached through the queue of another socket; if that one
 * is in the same situation and so on round a circle, nobody can ever read any of them. scm_collect
 * finds such sockets as a garbage collector for reference counts does: candidates are the sockets
 * with ref == inflight; take away the references that the queues of candidates hold; who has some
 * left is reachable from outside, and so is what its queue holds; the queues of the rest are
 * emptied, which frees them. A connection that was not accepted yet belongs to its listener.
 *
 * A walk costs as much as there are sockets in flight, so it is made when a socket is closed only
 * if some file has lost its last reference from outside since the last walk (file_put tells), and
 * with many sockets in flight only when their number has doubled.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/net/socket.h"

static struct list_head inflight_socks = {&inflight_socks, &inflight_socks};
static uint32_t inflight_files, inflight_count, collect_at;
static bool suspected;

#define COLLECT_ALWAYS 256u

void scm_suspect(void)
{
    suspected = true;
}

void scm_collect_if_due(void)
{
    if (suspected && (inflight_count <= COLLECT_ALWAYS || inflight_count >= collect_at))
        scm_collect();
}

uint32_t scm_inflight(void)
{
    return inflight_files;
}

void scm_fds_attach(struct scm_fds *fds)
{
    for (uint32_t i = 0; i < fds->n; i++) {
        struct unix_sock *sk = file_socket(fds->files[i]);

        if (fds->files[i]->inflight++ == 0 && sk) {
            list_add_tail(&inflight_socks, &sk->gc_link);
            inflight_count++;
        }
        inflight_files++;
    }
}

void scm_fds_detach(struct scm_fds *fds)
{
    for (uint32_t i = 0; i < fds->n; i++) {
        struct unix_sock *sk = file_socket(fds->files[i]);

        KASSERT(fds->files[i]->inflight > 0);
        if (--fds->files[i]->inflight == 0 && sk) {
            list_del_init(&sk->gc_link);
            inflight_count--;
        }
        inflight_files--;
    }
}

void scm_fds_put(struct scm_fds *fds)
{
    if (!fds)
        return;
    for (uint32_t i = 0; i < fds->n; i++)
        file_put(fds->files[i]);
    kfree(fds);
}

static size_t scm_size(uint32_t n)
{
    return offsetof(struct scm_fds, files) + n * sizeof(struct file *);
}

int scm_fds_dup(const struct scm_fds *fds, struct scm_fds **ret_fds)
{
    struct scm_fds *copy = kmemdup(fds, scm_size(fds->n));

    if (!copy)
        return -ENOMEM;
    for (uint32_t i = 0; i < copy->n; i++)
        file_get(copy->files[i]);
    *ret_fds = copy;
    return 0;
}

/* -- collection ------------------------------------------------------------------------------- */

typedef void visit_fn(struct unix_sock *sk, struct list_head *todo);

/* Calls visit for every candidate that a message in sk's queue refers to. */
static void visit_queue(struct unix_sock *sk, visit_fn *visit, struct list_head *todo)
{
    struct unix_msg *m;

    list_for_each_entry (m, &sk->queue, link) {
        for (uint32_t i = 0; m->fds && i < m->fds->n; i++) {
            struct unix_sock *target = file_socket(m->fds->files[i]);

            if (target && target->gc_candidate)
                visit(target, todo);
        }
    }
}

static void visit_children(struct unix_sock *sk, visit_fn *visit, struct list_head *todo)
{
    struct unix_sock *embryo;

    visit_queue(sk, visit, todo);
    list_for_each_entry (embryo, &sk->accepting, accept_link)
        visit_queue(embryo, visit, todo);
}

static void drop_internal(struct unix_sock *sk, struct list_head *todo)
{
    (void)todo;
    sk->gc_refs--;
}

/* Reachable after all: not a candidate any more, and its children come next. */
static void rescue(struct unix_sock *sk, struct list_head *todo)
{
    sk->gc_candidate = false;
    list_del_init(&sk->gc_link);
    list_add_tail(todo, &sk->gc_link);
}

/* Moves the descriptors of sk's queue to hits; the messages themselves stay. */
static void take_fds(struct unix_sock *sk, struct list_head *hits)
{
    struct unix_msg *m, *tmp;

    list_for_each_entry_safe (m, tmp, &sk->queue, link) {
        if (!m->fds)
            continue;
        sk->qlen--;
        list_del_init(&m->link);
        list_add_tail(hits, &m->link);
    }
}

static void collect_garbage(struct list_head *garbage)
{
    struct list_head hits;
    struct unix_sock *sk, *embryo;

    list_init(&hits);
    list_for_each_entry (sk, garbage, gc_link) {
        sk->gc_candidate = false;
        take_fds(sk, &hits);
        list_for_each_entry (embryo, &sk->accepting, accept_link)
            take_fds(embryo, &hits);
    }
    /* Back on the list of all, from where scm_fds_detach takes them. */
    while (!list_empty(garbage)) {
        sk = list_first(garbage, struct unix_sock, gc_link);
        list_del_init(&sk->gc_link);
        list_add_tail(&inflight_socks, &sk->gc_link);
    }
    while (!list_empty(&hits)) {
        struct unix_msg *m = list_first(&hits, struct unix_msg, link);

        unix_msg_free(NULL, m);
    }
}

void scm_collect(void)
{
    static bool running;
    struct list_head candidates, todo, live;
    struct unix_sock *sk, *tmp;

    if (running || list_empty(&inflight_socks))
        return;
    running = true;
    suspected = false;
    list_init(&candidates);
    list_init(&todo);
    list_init(&live);
    list_for_each_entry_safe (sk, tmp, &inflight_socks, gc_link) {
        sk->gc_candidate = sk->file->ref == sk->file->inflight;
        sk->gc_refs = sk->file->inflight;
        if (!sk->gc_candidate)
            continue;
        list_del_init(&sk->gc_link);
        list_add_tail(&candidates, &sk->gc_link);
    }
    list_for_each_entry (sk, &candidates, gc_link)
        visit_children(sk, drop_internal, NULL);
    list_for_each_entry_safe (sk, tmp, &candidates, gc_link)
        if (sk->gc_refs > 0)
            rescue(sk, &todo);
    while (!list_empty(&todo)) {
        sk = list_first(&todo, struct unix_sock, gc_link);
        list_del_init(&sk->gc_link);
        list_add_tail(&live, &sk->gc_link);
        visit_children(sk, rescue, &todo);
    }
    while (!list_empty(&live)) {
        sk = list_first(&live, struct unix_sock, gc_link);
        list_del_init(&sk->gc_link);
        list_add_tail(&inflight_socks, &sk->gc_link);
    }
    if (!list_empty(&candidates))
        collect_garbage(&candidates);
    collect_at = inflight_count * 2;
    running = false;
}
