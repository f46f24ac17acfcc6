#pragma once
/*
 * Intrusive doubly linked list with a sentinel head. An entry is on at most one list per link
 * field; an initialised, unlinked entry points at itself, so list_del_init is idempotent.
 */
#include "lib/compiler.h"

struct list_head {
    struct list_head *next, *prev;
};

static inline void list_init(struct list_head *l)
{
    l->next = l;
    l->prev = l;
}

static inline bool list_empty(const struct list_head *l)
{
    return l->next == l;
}

static inline void list_insert_between(struct list_head *e, struct list_head *prev,
                                       struct list_head *next)
{
    e->prev = prev;
    e->next = next;
    prev->next = e;
    next->prev = e;
}

/* Adds e right after the head (LIFO). */
static inline void list_add(struct list_head *head, struct list_head *e)
{
    list_insert_between(e, head, head->next);
}

/* Adds e before the head (FIFO). */
static inline void list_add_tail(struct list_head *head, struct list_head *e)
{
    list_insert_between(e, head->prev, head);
}

/* Unlinks e and leaves it initialised; harmless on an entry that is not linked. */
static inline void list_del_init(struct list_head *e)
{
    e->prev->next = e->next;
    e->next->prev = e->prev;
    list_init(e);
}

#define list_entry(ptr, type, member)  container_of(ptr, type, member)
#define list_first(head, type, member) list_entry((head)->next, type, member)

#define list_for_each_entry(pos, head, member)                                                   \
    for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member); &(pos)->member != (head); \
         (pos) = list_entry((pos)->member.next, __typeof__(*(pos)), member))

/* Safe against removal of pos itself, not of its successor. */
#define list_for_each_entry_safe(pos, tmp, head, member)                    \
    for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member),      \
        (tmp) = list_entry((pos)->member.next, __typeof__(*(pos)), member); \
         &(pos)->member != (head);                                          \
         (pos) = (tmp), (tmp) = list_entry((tmp)->member.next, __typeof__(*(tmp)), member))
