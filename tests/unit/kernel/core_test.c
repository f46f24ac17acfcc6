/* Small objects of the kernel: wait queues, the timer queue, limits, credentials. */
#include "abi/errno.h"
#include "abi/prctl.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

/* -- wait queues ---------------------------------------------------------------------------------
 */

struct probe {
    struct wait_entry entry;
    int woken;
    uint32_t key;
    bool leave;
};

static void probe_wake(struct wait_entry *e, uint32_t key)
{
    struct probe *p = container_of(e, struct probe, entry);

    p->woken++;
    p->key = key;
    if (p->leave)
        wait_entry_remove(e);
}

static void probes_init(struct wait_queue *q, struct probe *p, size_t n, uint32_t mask)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (struct probe){0};
        wait_entry_init(&p[i].entry, mask, probe_wake);
        wait_queue_add(q, &p[i].entry);
    }
}

TEST(wake_by_mask)
{
    struct wait_queue q;
    struct probe in[2], any[1];

    wait_queue_init(&q);
    wait_queue_wake(&q, 1);
    probes_init(&q, in, 2, 1);
    probes_init(&q, any, 1, 0);
    wait_queue_wake(&q, 4);
    ck_assert_int_eq(in[0].woken + in[1].woken, 0);
    ck_assert_int_eq(any[0].woken, 1);
    ck_assert_uint_eq(any[0].key, 4);
    wait_queue_wake(&q, 5);
    wait_queue_wake(&q, 0);
    ck_assert_int_eq(in[0].woken, 2);
    in[0].leave = true;
    wait_queue_wake(&q, 1);
    wait_queue_wake(&q, 1);
    ck_assert_int_eq(in[0].woken, 3);
    ck_assert_int_eq(in[1].woken, 4);
    wait_entry_remove(&in[0].entry); /* harmless */
    wait_queue_done(&q);
    ck_assert_int_eq(in[1].woken, 5);
    ck_assert(list_empty(&in[1].entry.link));
}

TEST(wake_exclusive)
{
    struct wait_queue q;
    struct probe p[4];

    wait_queue_init(&q);
    for (int i = 0; i < 4; i++) {
        p[i] = (struct probe){.leave = true};
        wait_entry_init(&p[i].entry, 0, probe_wake);
        p[i].entry.exclusive = i < 3;
        wait_queue_add(&q, &p[i].entry);
    }
    wait_queue_wake_n(&q, 0, 1);
    ck_assert_int_eq(p[3].woken, 1); /* not exclusive: always, and first */
    ck_assert_int_eq(p[0].woken, 1);
    ck_assert_int_eq(p[1].woken + p[2].woken, 0);
    wait_queue_wake_n(&q, 0, 9);
    ck_assert_int_eq(p[1].woken + p[2].woken, 2);
    wait_queue_done(&q);
}

TEST(task_waits)
{
    struct wait_queue q;

    box_begin();
    wait_queue_init(&q);
    limit_set(LIMIT_WAITS, 2);
    ck_assert_int_eq(task_wait_on(box.task, &q, 1), 0);
    ck_assert_int_eq(task_wait_on_exclusive(box.task, &q, 1), 0);
    ck_assert_int_eq(task_wait_on(box.task, &q, 1), -ENOMEM);
    ck_assert_uint_eq(limit_used(LIMIT_WAITS), 2);
    wait_queue_done(&q); /* the object goes first */
    task_cancel_waits(box.task);
    ck_assert_uint_eq(limit_used(LIMIT_WAITS), 0);
    box_end();
}

/* -- timers ------------------------------------------------------------------------------------ */

static struct timer timers[5];
static int order[16], fired;

static void fire(struct timer *tm)
{
    ck_assert(!tm->armed);
    order[fired++] = (int)(tm - timers);
    if (tm == &timers[3] && fired < 6)
        timer_arm(tm, tm->expires); /* due at once */
    if (tm == &timers[0])
        timer_cancel(&timers[4]);
}

TEST(timer_queue)
{
    static const uint64_t at[] = {30, 10, 20, 20, 31};

    fired = 0;
    ck_assert_int_eq(kernel_init(NULL, NULL), 0);
    ck_assert_int_eq(timer_next_timeout(), -1);
    for (int i = 0; i < 5; i++) {
        timer_init(&timers[i], fire);
        timer_arm(&timers[i], at[i] * NSEC_PER_SEC);
    }
    timer_arm(&timers[2], 5 * NSEC_PER_SEC); /* again: moves it */
    int64_t left = timer_next_timeout();
    ck_assert(left > 4 * (int64_t)NSEC_PER_SEC && left <= 5 * (int64_t)NSEC_PER_SEC);
    timer_run_expired();
    ck_assert_int_eq(fired, 0);
    kernel.boot_monotonic -= 32 * NSEC_PER_SEC;
    ck_assert_int_eq(timer_next_timeout(), 0);
    timer_run_expired();
    static const int want[] = {2, 1, 3, 3, 3, 3, 0};
    ck_assert_int_eq(fired, 7);
    ck_assert_mem_eq(order, want, sizeof(want));
    ck_assert_int_eq(timer_next_timeout(), -1);
    timer_arm(&timers[0], UINT64_MAX);
    ck_assert_int_gt(timer_next_timeout(), 0);
    timer_cancel(&timers[0]);
    timer_cancel(&timers[0]);
}

/* -- limits ------------------------------------------------------------------------------------ */

TEST(limits)
{
    static const struct {
        enum limit_kind kind;
        int err;
    } errors[] = {
        {LIMIT_TASKS, -EAGAIN},   {LIMIT_FILES, -ENFILE},      {LIMIT_VMAS, -ENOMEM},
        {LIMIT_SIGNALS, -EAGAIN}, {LIMIT_DISK_BYTES, -ENOSPC}, {LIMIT_LOCKS, -ENOLCK},
        {LIMIT_IPC, -ENOSPC},     {LIMIT_EXEC_BYTES, -E2BIG},  {LIMIT_SOCK_BYTES, -ENOBUFS},
    };
    limits_init();
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        enum limit_kind k = errors[i].kind;
        limit_set(k, 10);
        ck_assert_int_eq(limit_charge(k, 10), 0);
        ck_assert_int_eq(limit_charge(k, 1), errors[i].err);
        ck_assert_int_eq(limit_charge(k, UINT64_MAX), errors[i].err);
        ck_assert_int_eq(limit_charge(k, 0), 0);
        ck_assert_uint_eq(limit_used(k), 10);
        limit_release(k, 4);
        ck_assert_uint_eq(limit_used(k), 6);
        ck_assert_uint_eq(limit_peak(k), 10);
        limit_set(k, 3); /* below what is used */
        ck_assert_int_eq(limit_charge(k, 1), errors[i].err);
        limit_release(k, 6);
        ck_assert_uint_eq(limit_max(k), 3);
    }
}

/* -- credentials ------------------------------------------------------------------------------- */

TEST(cred_objects)
{
    struct cred *c = cred_new(), *d;

    c->cap_effective = 1ull << 7;
    struct group_list *l = group_list_new(4);
    memcpy(l->gid, (uint32_t[]){99, 55, 7, 60}, 4 * sizeof(l->gid[0]));
    group_list_sort(l);
    cred_set_groups(c, l);
    c->fsgid = 44;
    d = cred_dup(c);
    ck_assert_uint_eq(d->ref, 1);
    ck_assert(cred_capable(d, 7) && !cred_capable(d, 8));
    ck_assert(cred_in_group(d, 55) && cred_in_group(d, 44) && !cred_in_group(d, 0));
    ck_assert(cred_in_group(d, 7) && cred_in_group(d, 99) && !cred_in_group(d, 100));
    cred_put(cred_get(c));
    cred_put(c);
    cred_put(d);
    cred_put(NULL);
}

static void check_ids(uint32_t uid, uint32_t euid, uint32_t suid)
{
    ck_assert_int_eq(box_call(box.th, NR_getresuid, BOX_MEM, BOX_MEM + 4, BOX_MEM + 8), 0);
    ck_assert_uint_eq(box_get32(box.th, BOX_MEM), uid);
    ck_assert_uint_eq(box_get32(box.th, BOX_MEM + 4), euid);
    ck_assert_uint_eq(box_get32(box.th, BOX_MEM + 8), suid);
}

TEST(user_ids)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_setuid, UINT32_MAX), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_setresuid, UINT32_MAX, 1000, UINT32_MAX), 0);
    check_ids(0, 1000, 0);
    ck_assert_uint_eq(box.task->cred->cap_effective, 0); /* still permitted */
    ck_assert_uint_eq(box.task->cred->cap_permitted, LX_CAP_FULL_SET);
    ck_assert_uint_eq(box.task->cred->fsuid, 1000);
    ck_assert_int_eq(box_call(box.th, NR_setresuid, 5, UINT32_MAX, UINT32_MAX), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_setreuid, UINT32_MAX, 0), 0);
    ck_assert_uint_eq(box.task->cred->cap_effective, LX_CAP_FULL_SET);
    ck_assert_int_eq(box_call(box.th, NR_setuid, 1000), 0);
    check_ids(1000, 1000, 1000);
    ck_assert_uint_eq(box.task->cred->cap_permitted, 0);
    ck_assert_int_eq(box_call(box.th, NR_setuid, 0), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_setfsuid, 0), 1000);
    ck_assert_uint_eq(box.task->cred->fsuid, 1000);
    ck_assert_int_eq(box_call(box.th, NR_setgroups, 0, 0), -EPERM);
    box_end();
}

TEST(keep_capabilities)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_prctl, LX_PR_SET_KEEPCAPS, 1), 0);
    ck_assert_int_eq(box_call(box.th, NR_setuid, 1000), 0);
    ck_assert_uint_eq(box.task->cred->cap_permitted, LX_CAP_FULL_SET);
    ck_assert_uint_eq(box.task->cred->cap_effective, 0);
    ck_assert_int_eq(box_call(box.th, NR_setgid, 7), -EPERM);
    box_end();
}

TEST(capset_only_drops)
{
    struct lx_cap_user_header h = {LX_LINUX_CAPABILITY_VERSION_3, 0};
    struct lx_cap_user_data d[2] = {{0x80, 0x81, 0}, {0, 0, 0}};

    box_begin();
    box_write(box.th, BOX_MEM, &h, sizeof(h));
    box_write(box.th, BOX_MEM + 64, d, sizeof(d));
    ck_assert_int_eq(box_call(box.th, NR_capset, BOX_MEM, BOX_MEM + 64), 0);
    ck_assert_uint_eq(box.task->cred->cap_effective, 0x80);
    d[0].permitted = 0x83;
    box_write(box.th, BOX_MEM + 64, d, sizeof(d));
    ck_assert_int_eq(box_call(box.th, NR_capset, BOX_MEM, BOX_MEM + 64), -EPERM);
    d[0].permitted = 0x80;
    d[0].effective = 0x81;
    box_write(box.th, BOX_MEM + 64, d, sizeof(d));
    ck_assert_int_eq(box_call(box.th, NR_capset, BOX_MEM, BOX_MEM + 64), -EPERM);
    h.version = 1;
    box_write(box.th, BOX_MEM, &h, sizeof(h));
    ck_assert_int_eq(box_call(box.th, NR_capget, BOX_MEM, BOX_MEM + 64), -EINVAL);
    ck_assert_uint_eq(box_get32(box.th, BOX_MEM), LX_LINUX_CAPABILITY_VERSION_3);
    box_end();
}

TEST(cred_out_of_memory)
{
    static const uint64_t calls[] = {NR_setuid, NR_setgid, NR_setreuid, NR_setresgid, NR_setfsuid};

    for_each_failure {
        if (box_try()) {
            for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
                int64_t r = box_call(box.th, calls[i], 0, 0, 0);
                ck_assert(r == 0 || r == -ENOMEM);
            }
            box_end();
        }
    }
}

TEST_SUITE(core)
{
    TEST_ADD(wake_by_mask);
    TEST_ADD(wake_exclusive);
    TEST_ADD(task_waits);
    TEST_ADD(timer_queue);
    TEST_ADD(limits);
    TEST_ADD(cred_objects);
    TEST_ADD(user_ids);
    TEST_ADD(keep_capabilities);
    TEST_ADD(capset_only_drops);
    TEST_ADD(cred_out_of_memory);
}
