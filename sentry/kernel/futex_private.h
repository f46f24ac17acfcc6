#pragma once
/* What the files about futexes share. */
#include "lib/compiler.h"

#include "lib/list.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"

/* How often a word that guest threads change is tried before everybody else has a turn. */
#define FUTEX_TRIES 32

struct futex_waiter {
    struct list_head link; /* bucket */
    struct futex_key key;
    uint32_t bitset;
    uint32_t owner;    /* of a PI lock, its thread id: what the waiter waits for; 0: no PI lock */
    gaddr_t word;      /* PI: where the waiter has it mapped */
    struct task *task; /* borrowed: the waiter goes with its call */
    bool woken;
};

static inline bool futex_key_equal(const struct futex_key *a, const struct futex_key *b)
{
    return a->obj == b->obj && a->off == b->off;
}

struct list_head *futex_bucket(const struct futex_key *key);
/* The i-th bucket, NULL behind the last one. */
struct list_head *futex_bucket_at(unsigned i);
int futex_key_at(struct task *t, gaddr_t addr, bool shared, struct futex_key *ret_key) MUST_CHECK;

/* deadline: guest monotonic ns, or NULL. */
struct sys_res futex_lock_pi(struct task *t, gaddr_t addr, bool shared, bool try,
                             const uint64_t *deadline);
int futex_unlock_pi(struct task *t, gaddr_t addr, bool shared) MUST_CHECK;
