/* The table of node ids. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gofer/nodes.h"
#include "gofer/proto.h"
#include "lib/alloc.h"
#include "tests/support/test.h"

static struct node *add(struct nodes *t, struct node *parent, const char *name)
{
    struct node *n;
    ck_assert_int_eq(nodes_add(t, parent, name, strlen(name), &n), 0);
    return n;
}

TEST(same_name_same_id)
{
    struct nodes t;
    ck_assert_int_eq(nodes_init(&t, 2), 0);
    struct node *a = add(&t, nodes_get(&t, 0), "a");
    struct node *other = add(&t, nodes_get(&t, 1), "a");
    ck_assert_ptr_eq(add(&t, nodes_get(&t, 0), "a"), a);
    ck_assert_ptr_ne(a, other);
    ck_assert_uint_eq(other->root, 1);
    ck_assert_uint_eq(a->id, 2);
    ck_assert_ptr_null(nodes_get(&t, 4));
    ck_assert_ptr_null(nodes_get(&t, UINT32_MAX));
    ck_assert(nodes_check(&t));
    nodes_done(&t);
}
END_TEST

TEST(forgotten_parent_stays_for_its_children)
{
    struct nodes t;
    ck_assert_int_eq(nodes_init(&t, 1), 0);
    struct node *a = add(&t, nodes_get(&t, 0), "a");
    struct node *b = add(&t, a, "b");
    struct node *c = add(&t, b, "c");
    uint32_t ids[] = {a->id, b->id, c->id};
    nodes_forget(&t, ids[0]);
    nodes_forget(&t, ids[1]);
    ck_assert_ptr_null(nodes_get(&t, ids[0]));
    ck_assert_ptr_nonnull(nodes_get(&t, ids[2]));
    ck_assert(nodes_check(&t));
    /* Looked up again, it is alive again under the same id. */
    ck_assert_uint_eq(add(&t, nodes_get(&t, 0), "a")->id, ids[0]);
    nodes_forget(&t, ids[2]);
    ck_assert_uint_eq(t.live, 2);
    ck_assert_ptr_nonnull(nodes_get(&t, ids[0]));
    ck_assert(nodes_check(&t));
    nodes_forget(&t, 0); /* a root stays */
    ck_assert_ptr_nonnull(nodes_get(&t, 0));
    nodes_done(&t);
}
END_TEST

TEST(ids_are_used_again)
{
    struct nodes t;
    char name[16];
    ck_assert_int_eq(nodes_init(&t, 1), 0);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        (void)add(&t, nodes_get(&t, 0), name);
    }
    nodes_forget(&t, 500);
    nodes_forget(&t, 100);
    ck_assert(nodes_check(&t));
    ck_assert_uint_eq(add(&t, nodes_get(&t, 0), "x")->id, 100);
    ck_assert_uint_eq(add(&t, nodes_get(&t, 0), "y")->id, 500);
    ck_assert(nodes_check(&t));
    nodes_done(&t);
}
END_TEST

TEST(too_deep)
{
    struct nodes t;
    struct node *n;
    ck_assert_int_eq(nodes_init(&t, 1), 0);
    struct node *at = nodes_get(&t, 0);
    for (unsigned i = 0; i < GOFER_DEPTH_MAX; i++)
        at = add(&t, at, "d");
    ck_assert_int_eq(nodes_add(&t, at, "d", 1, &n), -ENAMETOOLONG);
    ck_assert(nodes_check(&t));
    nodes_done(&t);
}
END_TEST

TEST(full_table)
{
    struct nodes t;
    struct node *n;
    char name[16];
    int rc = 0;
    uint32_t made = 1;
    ck_assert_int_eq(nodes_init(&t, 1), 0);
    for (; rc == 0; made += rc == 0) {
        (void)snprintf(name, sizeof(name), "%u", made);
        rc = nodes_add(&t, nodes_get(&t, 0), name, strlen(name), &n);
    }
    ck_assert_int_eq(rc, -ENOMEM);
    ck_assert_uint_eq(made, GOFER_NODES_MAX);
    nodes_forget(&t, 77);
    ck_assert_uint_eq(add(&t, nodes_get(&t, 0), "room")->id, 77);
    nodes_done(&t);
}
END_TEST

TEST(failing_allocations)
{
    for_each_failure {
        struct nodes t;
        if (nodes_init(&t, 3) == 0) {
            struct node *n;
            for (char name[2] = "a"; name[0] <= 'z'; name[0]++) {
                if (nodes_add(&t, nodes_get(&t, 0), name, 1, &n) == 0)
                    ck_assert_str_eq(n->name, name);
            }
            ck_assert(nodes_check(&t));
            nodes_done(&t);
        }
    }
}
END_TEST

TEST_SUITE(gofer_nodes)
{
    TEST_ADD(same_name_same_id);
    TEST_ADD(forgotten_parent_stays_for_its_children);
    TEST_ADD(ids_are_used_again);
    TEST_ADD(too_deep);
    TEST_ADD(full_table);
    TEST_ADD(failing_allocations);
}
