/*
 * lib/rbtree.h against an array: random insertions and removals, with the tree's own rules and the
 * summaries (here the sum of all values below a node) checked after every step.
 */
#include <stdlib.h>

#include "lib/rbtree.h"
#include "tests/support/test.h"

enum {
    ITEMS = 300,
    STEPS = 6000
};

struct item {
    struct rb_node node;
    int value;
    int sum;
    bool linked;
};

static struct item *item_of(const struct rb_node *n)
{
    return rb_entry((uintptr_t)n, struct item, node);
}

static int sum_of(const struct rb_node *n)
{
    return n ? item_of(n)->sum : 0;
}

static void update_sum(struct rb_node *n)
{
    item_of(n)->sum = item_of(n)->value + sum_of(n->left) + sum_of(n->right);
}

static int by_value(const struct rb_node *a, const struct rb_node *b)
{
    return item_of(a)->value - item_of(b)->value;
}

static int key_cmp(const void *key, const struct rb_node *n)
{
    return *(const int *)key - item_of(n)->value;
}

static void check_tree(const struct rb_root *root, const struct item *items)
{
    size_t linked = 0, seen = 0;
    int total = 0, last = -1;
    struct rb_node *n, *prev = NULL;

    ck_assert_int_ge(rb_check(root), 0);
    for (size_t i = 0; i < ITEMS; i++) {
        linked += items[i].linked;
        total += items[i].linked ? items[i].value : 0;
    }
    rb_for_each (n, root) {
        ck_assert_int_le(last, item_of(n)->value);
        ck_assert_int_eq(item_of(n)->sum, item_of(n)->value + sum_of(n->left) + sum_of(n->right));
        ck_assert_ptr_eq(rb_prev(n), prev);
        last = item_of(n)->value;
        prev = n;
        seen++;
    }
    ck_assert_ptr_eq(prev, rb_last(root));
    ck_assert_uint_eq(seen, linked);
    ck_assert_int_eq(sum_of(root->top), total);
}

TEST(random_steps)
{
    static struct item items[ITEMS];
    struct rb_root root;

    srand(7);
    rb_init(&root, update_sum);
    for (int step = 0; step < STEPS; step++) {
        struct item *it = &items[rand() % ITEMS];
        if (it->linked) {
            rb_erase(&root, &it->node);
            it->linked = false;
        } else {
            it->value = rand() % 1000;
            rb_insert(&root, &it->node, by_value);
            it->linked = true;
        }
        if (step % 7 == 0 || step > STEPS - 100)
            check_tree(&root, items);
    }
    struct rb_node *n;
    while ((n = rb_first(&root))) {
        rb_erase(&root, n);
        item_of(n)->linked = false;
        check_tree(&root, items);
    }
    ck_assert(rb_empty(&root));
}

TEST(lookup)
{
    static struct item items[10];
    struct rb_root root;

    rb_init(&root, NULL);
    for (int i = 0; i < 10; i++) {
        items[i].value = i * 10;
        rb_insert(&root, &items[i].node, by_value);
    }
    int key = 35;
    ck_assert_ptr_null(rb_find(&root, &key, key_cmp));
    ck_assert_ptr_eq(rb_lower_bound(&root, &key, key_cmp), &items[4].node);
    key = 40;
    ck_assert_ptr_eq(rb_find(&root, &key, key_cmp), &items[4].node);
    ck_assert_ptr_eq(rb_lower_bound(&root, &key, key_cmp), &items[4].node);
    key = 91;
    ck_assert_ptr_null(rb_lower_bound(&root, &key, key_cmp));
}

TEST(replace_keeps_place)
{
    static struct item items[5], fresh;
    struct rb_root root;

    rb_init(&root, update_sum);
    for (int i = 0; i < 5; i++) {
        items[i].value = i;
        rb_insert(&root, &items[i].node, by_value);
    }
    fresh.value = 2;
    rb_replace(&root, &items[2].node, &fresh.node);
    ck_assert_int_ge(rb_check(&root), 0);
    ck_assert_ptr_eq(rb_next(&items[1].node), &fresh.node);
    fresh.value = 7;
    rb_update_path(&root, &fresh.node);
    ck_assert_int_eq(sum_of(root.top), 0 + 1 + 7 + 3 + 4);
}

TEST_SUITE(rbtree)
{
    TEST_ADD(random_steps);
    TEST_ADD(lookup);
    TEST_ADD(replace_keeps_place);
}
