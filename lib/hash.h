#pragma once
/*
 * Intrusive hash table keyed by 64-bit hashes, and the seeded hash function for keys that a guest
 * chose. The table compares hashes only; the user compares keys among the matches:
 *
 *      struct hash_node *n;
 *      hash_for_each_match(n, &table, hash)
 *          if (same(hash_entry(n, struct thing, node), key)) ...
 *
 * Inserting never fails: when a larger bucket array cannot be had, chains get longer.
 */
#include "lib/compiler.h"

struct hash_node {
    struct hash_node *next;
    uint64_t hash;
};

struct hash_table {
    struct hash_node **buckets; /* NULL: all nodes hang at `single` */
    struct hash_node *single;
    size_t nbuckets; /* power of two */
    size_t count;
};

#define hash_entry(ptr, type, member) container_of(ptr, type, member)

void hash_init(struct hash_table *t);
/* Frees the buckets; the nodes belong to the user, who takes them out before. */
void hash_done(struct hash_table *t);
/* A node is in at most one table. Duplicates are allowed. */
void hash_insert(struct hash_table *t, struct hash_node *node, uint64_t hash);
/* node is in t. */
void hash_remove(struct hash_table *t, struct hash_node *node);

/* First and further nodes with exactly this hash; NULL at the end. */
struct hash_node *hash_first_match(const struct hash_table *t, uint64_t hash);
struct hash_node *hash_next_match(const struct hash_node *node);
#define hash_for_each_match(pos, table, h) \
    for ((pos) = hash_first_match(table, h); (pos); (pos) = hash_next_match(pos))

/* All nodes in no order: hash_next(t, NULL) is the first. The table must not change meanwhile. */
struct hash_node *hash_next(const struct hash_table *t, const struct hash_node *node);
#define hash_for_each(pos, table) \
    for ((pos) = hash_next(table, NULL); (pos); (pos) = hash_next(table, pos))

/* Process-wide seed for the functions below, set once at start from the host's random source. */
void hash_set_seed(uint64_t seed);
uint64_t hash_seed(void);
/* XXH3 of n bytes; seed is hash_seed() or, say, the hash of a parent object. */
uint64_t hash_bytes(uint64_t seed, const void *p, size_t n);
uint64_t hash_u64(uint64_t seed, uint64_t v);
