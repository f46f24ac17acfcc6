/* lib/list.h: order of insertion, removal, removal of what is not linked. */
#include "lib/list.h"
#include "tests/support/test.h"

struct item {
    int value;
    struct list_head link;
};

TEST(keeps_order)
{
    struct list_head head;
    struct item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    list_init(&head);
    ck_assert(list_empty(&head));
    list_add_tail(&head, &items[1].link);
    list_add_tail(&head, &items[2].link);
    list_add(&head, &items[0].link);
    int want = 1;
    struct item *it;
    list_for_each_entry (it, &head, link)
        ck_assert_int_eq(it->value, want++);
    ck_assert_int_eq(want, 4);
}

TEST(removal_is_idempotent)
{
    struct list_head head;
    struct item items[2] = {{.value = 1}, {.value = 2}};
    list_init(&head);
    list_add_tail(&head, &items[0].link);
    list_add_tail(&head, &items[1].link);
    struct item *it, *tmp;
    list_for_each_entry_safe (it, tmp, &head, link) {
        list_del_init(&it->link);
        list_del_init(&it->link);
    }
    ck_assert(list_empty(&head));
}

TEST_SUITE(list)
{
    TEST_ADD(keeps_order);
    TEST_ADD(removal_is_idempotent);
}
