/* lib/hash.h: growth, duplicates, iteration, and insertion without memory. */
#include "lib/alloc.h"
#include "lib/hash.h"
#include "tests/support/test.h"

enum {
    ITEMS = 500
};

struct item {
    struct hash_node node;
    uint64_t key;
};

static struct item *find(const struct hash_table *t, uint64_t key)
{
    struct hash_node *n;

    hash_for_each_match (n, t, hash_u64(0, key)) {
        struct item *it = hash_entry(n, struct item, node);
        if (it->key == key)
            return it;
    }
    return NULL;
}

static size_t count_all(const struct hash_table *t)
{
    size_t seen = 0;
    struct hash_node *n;

    hash_for_each (n, t)
        seen++;
    return seen;
}

TEST(finds_what_is_there)
{
    for_each_failure {
        static struct item items[ITEMS];
        struct hash_table t;
        hash_init(&t);
        ck_assert_ptr_null(hash_next(&t, NULL));
        for (uint64_t i = 0; i < ITEMS; i++) {
            items[i].key = i;
            hash_insert(&t, &items[i].node, hash_u64(0, i));
        }
        ck_assert_uint_eq(count_all(&t), ITEMS);
        for (uint64_t i = 0; i < ITEMS; i += 2)
            hash_remove(&t, &items[i].node);
        for (uint64_t i = 0; i < ITEMS; i++)
            ck_assert_ptr_eq(find(&t, i), i % 2 ? &items[i] : NULL);
        ck_assert_uint_eq(t.count, ITEMS / 2);
        ck_assert_uint_eq(count_all(&t), ITEMS / 2);
        hash_done(&t);
    }
}

TEST(equal_hashes)
{
    struct item items[3] = {{.key = 1}, {.key = 2}, {.key = 3}};
    struct hash_table t;
    struct hash_node *n;
    size_t seen = 0;

    hash_init(&t);
    for (size_t i = 0; i < 3; i++)
        hash_insert(&t, &items[i].node, 42);
    hash_for_each_match (n, &t, 42)
        seen++;
    ck_assert_uint_eq(seen, 3);
    hash_remove(&t, &items[1].node);
    ck_assert_ptr_null(hash_first_match(&t, 43));
    ck_assert_uint_eq(count_all(&t), 2);
    hash_done(&t);
}

TEST(seed_matters)
{
    ck_assert_uint_eq(hash_bytes(1, "abc", 3), hash_bytes(1, "abc", 3));
    ck_assert_uint_ne(hash_bytes(1, "abc", 3), hash_bytes(2, "abc", 3));
    hash_set_seed(9);
    ck_assert_uint_eq(hash_seed(), 9);
}

TEST_SUITE(hash)
{
    TEST_ADD(finds_what_is_there);
    TEST_ADD(equal_hashes);
    TEST_ADD(seed_matters);
}
