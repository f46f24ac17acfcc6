/* Futexes and robust lists. */
#include "abi/errno.h"
#include "abi/futex.h"
#include "abi/mman.h"
#include "abi/time.h"

#include "sentry/kernel/limits.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define W1   BOX_MEM
#define W2   (BOX_MEM + 64)
#define TS   (BOX_MEM + 128)
#define LIST (BOX_MEM + 4096)
#define PRIV LX_FUTEX_PRIVATE_FLAG

enum {
    NTHREADS = 4
};
static struct plat_thread *th[NTHREADS]; /* of the first process, which is none of them */

static void begin(void)
{
    box_begin();
    for (int i = 0; i < NTHREADS; i++)
        th[i] = box_thread(box.th, BOX_STACK_TOP - 8192 - (uint64_t)i * 4096);
}

static void wait_all(uint64_t addr)
{
    for (int i = 0; i < NTHREADS; i++)
        ck_assert_int_eq(box_call(th[i], NR_futex, addr, LX_FUTEX_WAIT | PRIV, 0), FAKE_BLOCKED);
}

static int awake(void)
{
    int n = 0;

    for (int i = 0; i < NTHREADS; i++)
        n += fake_result(th[i]) != FAKE_BLOCKED;
    return n;
}

TEST(wait_and_wake)
{
    begin();
    box_put32(box.th, W1, 5);
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_WAIT | PRIV, 0), -EAGAIN);
    box_put32(box.th, W1, 0);
    wait_all(W1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W2, LX_FUTEX_WAKE | PRIV, 9), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE, 9), 0); /* another kind */
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 1), 1);
    ck_assert_int_eq(fake_result(th[0]), 0); /* first come, first served */
    ck_assert_int_eq(awake(), 1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, INT32_MAX), 3);
    ck_assert_int_eq(awake(), 4);
    box_end();
}

TEST(arguments)
{
    begin();
    ck_assert_int_eq(box_call(box.th, NR_futex, W1 + 1, LX_FUTEX_WAIT | PRIV, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_futex, 16, LX_FUTEX_WAIT | PRIV, 0), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_futex, ~3ull, LX_FUTEX_WAKE, 1), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT_REQUEUE_PI, 0), -ENOSYS);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, 99, 0), -ENOSYS);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | LX_FUTEX_CLOCK_REALTIME, 1),
                     -ENOSYS);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT_BITSET, 0, 0, 0, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_BITSET, 1, 0, 0, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT, 0, 8), -EFAULT);
    box_write(box.th, TS, &(struct lx_timespec){0, 1000000000}, 16);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT, 0, TS), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_REQUEUE, ~0ull, 1, W2), -EINVAL);
    box_end();
}

TEST(bitset)
{
    begin();
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_WAIT_BITSET | PRIV, 0, 0, 0, 1),
                     FAKE_BLOCKED);
    ck_assert_int_eq(box_call(th[1], NR_futex, W1, LX_FUTEX_WAIT_BITSET | PRIV, 0, 0, 0, 6),
                     FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_BITSET | PRIV, 9, 0, 0, 8), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_BITSET | PRIV, 9, 0, 0, 2), 1);
    ck_assert_int_eq(fake_result(th[1]), 0);
    ck_assert_int_eq(fake_result(th[0]), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 1), 1);
    box_end();
}

TEST(timeouts)
{
    static const struct {
        uint64_t op;
        bool absolute, realtime;
    } cases[] = {
        {LX_FUTEX_WAIT, false, false},
        {LX_FUTEX_WAIT_BITSET, true, false},
        {LX_FUTEX_WAIT_BITSET | LX_FUTEX_CLOCK_REALTIME, true, true},
    };
    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t at = 10 * NSEC_PER_SEC;
        if (cases[i].absolute)
            at += cases[i].realtime ? clock_realtime() : clock_monotonic();
        struct lx_timespec ts = {(int64_t)(at / NSEC_PER_SEC), (int64_t)(at % NSEC_PER_SEC)};
        box_write(box.th, TS, &ts, sizeof(ts));
        ck_assert_int_eq(box_call(th[0], NR_futex, W1, cases[i].op | PRIV, 0, TS, 0, 1),
                         FAKE_BLOCKED);
        box_advance(9 * NSEC_PER_SEC);
        ck_assert_int_eq(fake_result(th[0]), FAKE_BLOCKED);
        box_advance(2 * NSEC_PER_SEC);
        ck_assert_int_eq(fake_result(th[0]), -ETIMEDOUT);
        ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 9), 0);
    }
    /* The past is over at once. */
    box_write(box.th, TS, &(struct lx_timespec){0, 1}, 16);
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_WAIT_BITSET | PRIV, 0, TS, 0, 1),
                     -ETIMEDOUT);
    box_end();
}

TEST(requeue)
{
    begin();
    wait_all(W1);
    box_put32(box.th, W1, 3);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_CMP_REQUEUE | PRIV, 1, 2, W2, 4),
                     -EAGAIN);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_CMP_REQUEUE | PRIV, 1, 2, W2, 3), 3);
    ck_assert_int_eq(awake(), 1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 9), 1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W2, LX_FUTEX_REQUEUE | PRIV, 0, 9, W1), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W2, LX_FUTEX_WAKE | PRIV, 9), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_REQUEUE | PRIV, 0, 9, W1), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 9), 2);
    box_end();
}

static uint64_t wake_op(uint32_t op, uint32_t oparg, uint32_t cmp, uint32_t cmparg)
{
    return op << 28 | cmp << 24 | (oparg & 0xfff) << 12 | (cmparg & 0xfff);
}

TEST(wake_op_table)
{
    static const struct {
        uint32_t before, op, oparg, cmp, cmparg, after;
        int woken;
    } cases[] = {
        {7, LX_FUTEX_OP_SET, 1, LX_FUTEX_OP_CMP_EQ, 7, 1, 2},
        {7, LX_FUTEX_OP_ADD, 0xfff, LX_FUTEX_OP_CMP_NE, 7, 6, 1},
        {7, LX_FUTEX_OP_OR, 8, LX_FUTEX_OP_CMP_LT, 8, 15, 2},
        {7, LX_FUTEX_OP_ANDN, 3, LX_FUTEX_OP_CMP_GT, 7, 4, 1},
        {7, LX_FUTEX_OP_XOR, 5, LX_FUTEX_OP_CMP_GE, 0xfff, 2, 2},
        {0xffffffff, LX_FUTEX_OP_SET | LX_FUTEX_OP_OPARG_SHIFT, 31, LX_FUTEX_OP_CMP_LE, 0,
         0x80000000, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin();
        ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_WAIT | PRIV, 0), FAKE_BLOCKED);
        ck_assert_int_eq(box_call(th[1], NR_futex, W2, LX_FUTEX_WAIT | PRIV, 0), FAKE_BLOCKED);
        box_put32(box.th, W2, cases[i].before);
        int64_t r = box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_OP | PRIV, 1, 1, W2,
                             wake_op(cases[i].op, cases[i].oparg, cases[i].cmp, cases[i].cmparg));
        ck_assert_msg(r == cases[i].woken, "case %zu: %lld", i, (long long)r);
        ck_assert_uint_eq(box_get32(box.th, W2), cases[i].after);
        box_end();
    }
    begin();
    ck_assert_int_eq(
        box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_OP, 1, 1, W2, wake_op(7, 0, 0, 0)), -ENOSYS);
    ck_assert_int_eq(
        box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE_OP, 1, 1, W2, wake_op(0, 0, 9, 0)), -ENOSYS);
    ck_assert_uint_eq(box_get32(box.th, W2), 0);
    box_end();
}

static uint32_t tid_of(struct plat_thread *thread)
{
    return box_task(thread)->pid;
}

TEST(pi_lock)
{
    begin();
    box_put32(box.th, W1, tid_of(box.th));
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_LOCK_PI | PRIV, 0), -EDEADLK);
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_TRYLOCK_PI | PRIV, 0), -EAGAIN);
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_UNLOCK_PI | PRIV, 0), -EPERM);
    ck_assert_uint_eq(box_get32(box.th, W1), tid_of(box.th));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(box_call(th[i], NR_futex, W1, LX_FUTEX_LOCK_PI | PRIV, 0), FAKE_BLOCKED);
    ck_assert_uint_eq(box_get32(box.th, W1), tid_of(box.th) | LX_FUTEX_WAITERS);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 9), -EINVAL);
    /* The highest priority, then who came first. */
    box_task(th[1])->rt_priority = 5;
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_UNLOCK_PI | PRIV, 0), 0);
    ck_assert_int_eq(fake_result(th[1]), 0);
    ck_assert_uint_eq(box_get32(box.th, W1), tid_of(th[1]) | LX_FUTEX_WAITERS);
    /* It dies with the lock. */
    ck_assert_int_eq(box_call(th[1], NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(fake_result(th[0]), 0);
    ck_assert_uint_eq(box_get32(box.th, W1),
                      tid_of(th[0]) | LX_FUTEX_WAITERS | LX_FUTEX_OWNER_DIED);
    ck_assert_int_eq(box_call(th[0], NR_futex, W1, LX_FUTEX_UNLOCK_PI | PRIV, 0), 0);
    ck_assert_int_eq(fake_result(th[2]), 0);
    ck_assert_int_eq(box_call(th[2], NR_futex, W1, LX_FUTEX_UNLOCK_PI | PRIV, 0), 0);
    ck_assert_uint_eq(box_get32(box.th, W1), 0);
    box_end();
}

TEST(pi_circle_and_time)
{
    begin();
    box_put32(box.th, W1, tid_of(th[0]));
    box_put32(box.th, W2, tid_of(th[1]));
    ck_assert_int_eq(box_call(th[0], NR_futex, W2, LX_FUTEX_LOCK_PI | PRIV, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(th[1], NR_futex, W1, LX_FUTEX_LOCK_PI | PRIV, 0), -EDEADLK);
    uint64_t at = clock_realtime() + 5 * NSEC_PER_SEC;
    struct lx_timespec ts = {(int64_t)(at / NSEC_PER_SEC), (int64_t)(at % NSEC_PER_SEC)};
    box_write(box.th, TS, &ts, sizeof(ts));
    ck_assert_int_eq(box_call(th[2], NR_futex, W1, LX_FUTEX_LOCK_PI | PRIV, 0, TS), FAKE_BLOCKED);
    box_advance(6 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(th[2]), -ETIMEDOUT);
    box_put32(box.th, W1, 0x3ffffff0);
    ck_assert_int_eq(box_call(th[2], NR_futex, W1, LX_FUTEX_LOCK_PI | PRIV, 0), -ESRCH);
    box_end();
}

TEST(waits_for_several)
{
    struct lx_futex_waitv v[2] = {{0, W1, LX_FUTEX_32 | PRIV, 0}, {0, W2, LX_FUTEX_32 | PRIV, 0}};
    begin();
    box_write(box.th, TS, v, sizeof(v));
    ck_assert_int_eq(box_call(th[0], NR_futex_waitv, TS, 2, 0, 0, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(th[1], NR_futex_waitv, TS, 1, 0, 0, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_futex, W2, LX_FUTEX_WAKE | PRIV, 9), 1);
    ck_assert_int_eq(fake_result(th[0]), 1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE | PRIV, 9), 1);
    ck_assert_int_eq(fake_result(th[1]), 0);
    box_end();
}

/* Shared memory: the word is the same in both processes; private memory after fork is not. */
TEST(between_processes)
{
    box_begin();
    int64_t shared = box_call(box.th, NR_mmap, 0, 4096, LX_PROT_READ | LX_PROT_WRITE,
                              LX_MAP_SHARED | LX_MAP_ANONYMOUS, ~0ull, 0);
    ck_assert_int_gt(shared, 0);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_futex, (uint64_t)shared, LX_FUTEX_WAIT, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_futex, (uint64_t)shared, LX_FUTEX_WAKE, 1), 1);
    ck_assert_int_eq(fake_result(child), 0);
    ck_assert_int_eq(box_call(child, NR_futex, W1, LX_FUTEX_WAIT, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE, 1), 0);
    box_end();
}

/* -- ends of threads ----------------------------------------------------------------------------
 */

static void robust_entry(uint64_t at, uint64_t next, uint32_t word)
{
    box_put64(box.th, at, next);
    box_put32(box.th, at + 8, word);
}

static void robust_head(uint64_t first, uint64_t pending)
{
    struct lx_robust_list_head head = {
        .list = {first}, .futex_offset = 8, .list_op_pending = pending};

    box_write(box.th, LIST, &head, sizeof(head));
}

TEST(robust_list)
{
    begin();
    uint32_t tid = box_task(th[0])->pid;
    robust_entry(LIST + 64, LIST + 128, tid | LX_FUTEX_WAITERS);
    robust_entry(LIST + 128, LIST, tid + 1); /* not ours */
    robust_entry(LIST + 192, 0, tid);
    robust_head(LIST + 64, LIST + 192);
    ck_assert_int_eq(box_call(th[0], NR_set_robust_list, LIST, 23), -EINVAL);
    ck_assert_int_eq(box_call(th[0], NR_set_robust_list, LIST, 24), 0);
    ck_assert_int_eq(box_call(box.th, NR_get_robust_list, tid, W1, W2), 0);
    ck_assert_uint_eq(box_get64(box.th, W1), LIST);
    ck_assert_uint_eq(box_get64(box.th, W2), 24);
    ck_assert_int_eq(box_call(th[1], NR_futex, LIST + 72, LX_FUTEX_WAIT, tid | LX_FUTEX_WAITERS),
                     FAKE_BLOCKED);
    ck_assert_int_eq(box_call(th[0], NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(fake_result(th[1]), 0);
    ck_assert_uint_eq(box_get32(box.th, LIST + 72), LX_FUTEX_WAITERS | LX_FUTEX_OWNER_DIED);
    ck_assert_uint_eq(box_get32(box.th, LIST + 136), tid + 1);
    ck_assert_uint_eq(box_get32(box.th, LIST + 200), LX_FUTEX_OWNER_DIED);
    box_end();
}

/* Lists that a hostile program makes: cycles, bad addresses, offsets that wrap. */
TEST(robust_hostile)
{
    static const struct lx_robust_list_head heads[] = {
        {{LIST + 64}, 8, 0},
        {{LIST + 64}, INT64_MAX, LIST + 64},
        {{LIST + 64}, INT64_MIN, 0},
        {{0}, 0, 0},
        {{8}, 0, 8},
        {{~0ull}, 0, ~0ull},
        {{0x7ffffffffff8ull}, 8, 16},
        {{LIST + 65}, 9, LIST + 67},
    };
    begin();
    robust_entry(LIST + 64, LIST + 64, 1);
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct plat_thread *t = box_thread(box.th, BOX_STACK_TOP - 4096);
        box_write(box.th, LIST, &heads[i], sizeof(heads[i]));
        ck_assert_int_eq(box_call(t, NR_set_robust_list, LIST, 24), 0);
        ck_assert_int_eq(box_call(t, NR_exit, 0), FAKE_GONE);
    }
    struct plat_thread *t = box_thread(box.th, BOX_STACK_TOP - 4096);
    ck_assert_int_eq(box_call(t, NR_set_robust_list, 0x123, 24), 0);
    ck_assert_int_eq(box_call(t, NR_exit, 0), FAKE_GONE);
    box_end();
}

/* pthread_join: the word is cleared and its waiters woken. */
TEST(clear_child_tid)
{
    begin();
    box_put32(box.th, W1, 77);
    ck_assert_int_gt(box_call(th[0], NR_set_tid_address, W1), 1);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT, 77), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(th[0], NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(fake_result(box.th), 0);
    ck_assert_uint_eq(box_get32(box.th, W1), 0);
    box_end();
}

/* A waiter goes with its call, however that ends. */
TEST(killed_waiters)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    ck_assert_int_eq(box_call(child, NR_futex, W1, LX_FUTEX_WAIT, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(two, NR_futex, W1, LX_FUTEX_WAIT | PRIV, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGKILL), 0);
    ck_assert_int_eq(box_call(box.th, NR_futex, W1, LX_FUTEX_WAKE, 9), 0);
    box_end();
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            int64_t r = box_call(box.th, NR_futex, W1, LX_FUTEX_WAIT, 0);
            ck_assert(r == FAKE_BLOCKED || r == -ENOMEM);
            box_end();
        }
    }
}

TEST_SUITE(futex)
{
    TEST_ADD(wait_and_wake);
    TEST_ADD(arguments);
    TEST_ADD(bitset);
    TEST_ADD(timeouts);
    TEST_ADD(requeue);
    TEST_ADD(wake_op_table);
    TEST_ADD(pi_lock);
    TEST_ADD(pi_circle_and_time);
    TEST_ADD(waits_for_several);
    TEST_ADD(between_processes);
    TEST_ADD(robust_list);
    TEST_ADD(robust_hostile);
    TEST_ADD(clear_child_tid);
    TEST_ADD(killed_waiters);
    TEST_ADD(out_of_memory);
}
