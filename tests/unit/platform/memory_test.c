/*
 * Operations of the user-notify platform with each of their allocations failing in turn: they fail
 * or succeed, nothing is left behind (the fixture looks), and the platform goes on working.
 */
#include "lib/alloc.h"
#include "tests/support/test.h"
#include "tests/unit/platform/world.h"

typedef int operation_fn(struct world *w);

static int new_space(struct world *w)
{
    struct plat_as *as;
    int r = plat_ops->as_new(w->p, &as);

    if (r == 0)
        plat_ops->as_drop(as);
    return r;
}

static int new_space_with_thread(struct world *w)
{
    struct plat_thread *th;
    struct plat_as *as;
    int r = plat_ops->as_new(w->p, &as);

    if (r < 0)
        return r;
    r = plat_ops->thread_first(as, NULL, &th);
    if (r == 0)
        plat_ops->process_kill(th);
    else
        plat_ops->as_drop(as);
    return r;
}

static int fork_child(struct world *w, bool share)
{
    struct plat_thread *child;
    struct plat_as *as;
    int r = plat_ops->fork(w->th, share, false, 0, NULL, &as, &child);

    if (r == 0)
        plat_ops->process_kill(child);
    return r;
}

static int fork_copy(struct world *w)
{
    return fork_child(w, false);
}

static int fork_shared(struct world *w)
{
    return fork_child(w, true);
}

static int fork_and_map(struct world *w)
{
    struct plat_thread *child;
    struct plat_as *as;
    int r = plat_ops->fork(w->th, false, false, 0, NULL, &as, &child);

    if (r < 0)
        return r;
    /* The third operation makes a helper, or does without. */
    for (uint64_t i = 0; i < 4 && r == 0; i++)
        r = map_anon(as, FREE_ADDR + i * 4096, 4096, 1);
    plat_ops->process_kill(child);
    return r;
}

static int clone_thread(struct world *w)
{
    struct plat_thread *child;
    int r = plat_ops->thread_clone(w->th, true, 0x1000, NULL, &child);

    if (r == 0)
        plat_ops->thread_exit(child);
    return r;
}

static int extended_state(struct world *w)
{
    uint8_t state[64] = {0};
    int64_t r = plat_ops->get_fp(w->th, state, sizeof(state));

    return r < 0 ? (int)r : plat_ops->set_fp(w->th, state, sizeof(state));
}

TEST(operations_without_memory)
{
    static operation_fn *const operations[] = {
        new_space,    new_space_with_thread, fork_copy,      fork_shared,
        fork_and_map, clone_thread,          extended_state,
    };
    struct world w;

    if (!world_start(&w, false))
        return;
    enter_context(&w, w.th, 0);
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        bool failed = true;

        for (uint64_t n = 1; failed; n++) {
            kalloc_fail_after(n);
            int r = operations[i](&w);
            failed = kalloc_failed();
            kalloc_fail_after(0);
            ck_assert_msg(r == 0 || (failed && r < 0), "operation %zu: %d", i, r);
        }
        ck_assert_int_eq(operations[i](&w), 0);
    }
    start_at(&w, w.th, 0, 602);
    ck_assert_int_eq(map_anon(w.as, FREE_ADDR, 4096, 1), 0);
    world_stop(&w);
}

TEST_SUITE(platform_memory)
{
    TEST_ADD(operations_without_memory);
}
