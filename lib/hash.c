/* Intrusive hash table and seeded hash; see hash.h. */
#include "lib/hash.h"

#include <xxhash.h>

#include "lib/alloc.h"
#include "lib/assert.h"

enum {
    FIRST_BUCKETS = 16
};

static uint64_t process_seed;

void hash_init(struct hash_table *t)
{
    *t = (struct hash_table){.nbuckets = 1};
}

void hash_done(struct hash_table *t)
{
    kfree(t->buckets);
    hash_init(t);
}

static struct hash_node **bucket_of(struct hash_table *t, uint64_t hash)
{
    return t->buckets ? &t->buckets[hash & (t->nbuckets - 1)] : &t->single;
}

static void push(struct hash_node **bucket, struct hash_node *node)
{
    node->next = *bucket;
    *bucket = node;
}

/* Doubles the buckets; without memory everything stays as it is. */
static void grow(struct hash_table *t)
{
    size_t old_n = t->nbuckets;
    size_t n = MAX(old_n * 2, (size_t)FIRST_BUCKETS);
    struct hash_node **old = t->buckets, **fresh = kalloc_array(n, sizeof(struct hash_node *));

    if (!fresh)
        return;
    for (size_t i = 0; i < old_n; i++) {
        struct hash_node *node = old ? old[i] : t->single;
        while (node) {
            struct hash_node *next = node->next;
            push(&fresh[node->hash & (n - 1)], node);
            node = next;
        }
    }
    kfree(old);
    t->single = NULL;
    t->buckets = fresh;
    t->nbuckets = n;
}

void hash_insert(struct hash_table *t, struct hash_node *node, uint64_t hash)
{
    if (t->count >= t->nbuckets)
        grow(t);
    node->hash = hash;
    push(bucket_of(t, hash), node);
    t->count++;
}

void hash_remove(struct hash_table *t, struct hash_node *node)
{
    struct hash_node **at = bucket_of(t, node->hash);

    while (*at && *at != node)
        at = &(*at)->next;
    KASSERT(*at == node);
    *at = node->next;
    node->next = NULL;
    t->count--;
}

static struct hash_node *match_from(struct hash_node *node, uint64_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct hash_node *hash_first_match(const struct hash_table *t, uint64_t hash)
{
    return match_from(t->buckets ? t->buckets[hash & (t->nbuckets - 1)] : t->single, hash);
}

struct hash_node *hash_next_match(const struct hash_node *node)
{
    return match_from(node->next, node->hash);
}

struct hash_node *hash_next(const struct hash_table *t, const struct hash_node *node)
{
    if (node && node->next)
        return node->next;
    if (!t->buckets)
        return node ? NULL : t->single;
    for (size_t i = node ? (node->hash & (t->nbuckets - 1)) + 1 : 0; i < t->nbuckets; i++) {
        if (t->buckets[i])
            return t->buckets[i];
    }
    return NULL;
}

void hash_set_seed(uint64_t seed)
{
    process_seed = seed;
}

uint64_t hash_seed(void)
{
    return process_seed;
}

uint64_t hash_bytes(uint64_t seed, const void *p, size_t n)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

uint64_t hash_u64(uint64_t seed, uint64_t v)
{
    return XXH3_64bits_withSeed(&v, sizeof(v), seed);
}
