/* POSIX message queues: order, waiting in line, the end of a name, failing allocations. */
#include <string.h>

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/mqueue.h"
#include "abi/signal.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define NAME BOX_MEM
#define ATTR (BOX_MEM + 256)
#define DATA (BOX_MEM + 4096)
#define RDWR ((uint64_t)(LX_O_RDWR | LX_O_CREAT))

static int64_t mq_open_as(const char *name, uint64_t oflag, int64_t max)
{
    struct lx_mq_attr attr = {.mq_maxmsg = max, .mq_msgsize = 64};

    box_write(box.th, NAME, name, strlen(name) + 1);
    box_write(box.th, ATTR, &attr, sizeof(attr));
    return box_call(box.th, NR_mq_open, NAME, oflag, 0600, ATTR);
}

static int64_t put(struct plat_thread *th, uint64_t q, const char *text, uint64_t prio)
{
    box_write(th, DATA, text, strlen(text));
    return box_call(th, NR_mq_timedsend, q, DATA, strlen(text), prio, 0);
}

static int64_t get(struct plat_thread *th, uint64_t q, char *ret_text)
{
    int64_t n = box_call(th, NR_mq_timedreceive, q, DATA, 64, 0, 0);

    if (n >= 0) {
        box_read(th, DATA, ret_text, (size_t)n);
        ret_text[n] = 0;
    }
    return n;
}

TEST(order)
{
    char text[65];

    box_begin();
    uint64_t q = (uint64_t)mq_open_as("q", RDWR | LX_O_NONBLOCK, 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(put(box.th, q, (char[]){(char)('a' + i), 0}, (uint64_t)i % 3), 0);
    ck_assert_int_eq(put(box.th, q, "x", 31), -EAGAIN);
    for (const char *want = "cfbehadg"; *want; want++) {
        /* Two, one, nought; each in order of arrival: c f | b e h | a d g. */
        ck_assert_int_eq(get(box.th, q, text), 1);
        ck_assert_int_eq(text[0], *want);
    }
    ck_assert_int_eq(get(box.th, q, text), -EAGAIN);
    box_end();
}

TEST(receivers_stand_in_line)
{
    char text[65];

    box_begin();
    uint64_t q = (uint64_t)mq_open_as("q", RDWR, 2);
    struct plat_thread *a = box_fork(box.th), *b = box_fork(box.th);
    ck_assert_int_eq(get(a, q, text), FAKE_BLOCKED);
    ck_assert_int_eq(get(b, q, text), FAKE_BLOCKED);
    ck_assert_int_eq(put(box.th, q, "first", 0), 0);
    box_run();
    ck_assert_int_eq(fake_result(a), 5);
    ck_assert_int_eq(fake_result(b), FAKE_BLOCKED);
    ck_assert_int_eq(put(box.th, q, "second", 0), 0);
    box_run();
    ck_assert_int_eq(fake_result(b), 6);
    box_end();
}

TEST(a_queue_outlives_its_name)
{
    char text[65];

    box_begin();
    uint64_t q = (uint64_t)mq_open_as("q", RDWR | LX_O_NONBLOCK, 2);
    ck_assert_int_eq(put(box.th, q, "kept", 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_mq_unlink, NAME), 0);
    ck_assert_int_eq(mq_open_as("q", LX_O_RDWR, 2), -ENOENT);
    ck_assert_int_eq(get(box.th, q, text), 4);
    uint64_t again = (uint64_t)mq_open_as("q", RDWR | LX_O_NONBLOCK, 2);
    ck_assert_int_eq(get(box.th, again, text), -EAGAIN);
    ck_assert_int_eq(put(box.th, again, "left behind", 0), 0);
    box_end();
    ck_assert_uint_eq(limit_used(LIMIT_IPC), 0);
}

TEST(limits_of_the_configuration)
{
    box_begin();
    ck_assert_int_eq(sysctl_set("fs.mqueue.queues_max", "1"), 0);
    ck_assert_int_ge(mq_open_as("a", RDWR, 2), 0);
    struct cred *c = cred_dup(box.task->cred);
    c->cap_effective = 0;
    cred_put(box.task->cred);
    box.task->cred = c;
    ck_assert_int_eq(mq_open_as("b", RDWR, 2), -ENOSPC);
    ck_assert_int_eq(sysctl_set("fs.mqueue.queues_max", "2"), 0);
    ck_assert_int_eq(mq_open_as("b", RDWR, 11), -EINVAL);
    ck_assert_int_eq(sysctl_set("fs.mqueue.msg_max", "11"), 0);
    ck_assert_int_ge(mq_open_as("b", RDWR, 11), 0);
    box_end();
}

TEST(failing_allocations)
{
    for_each_failure {
        if (box_try()) {
            int64_t q = mq_open_as("q", RDWR | LX_O_NONBLOCK, 2);
            struct lx_sigevent ev = {.sigev_notify = LX_SIGEV_SIGNAL, .sigev_signo = LX_SIGCHLD};
            box_write(box.th, ATTR, &ev, sizeof(ev));
            if (q >= 0) {
                (void)box_call(box.th, NR_mq_notify, (uint64_t)q, ATTR);
                (void)put(box.th, (uint64_t)q, "text", 1);
                (void)put(box.th, (uint64_t)q, "more", 1);
            }
            box_end();
        }
        ck_assert_uint_eq(limit_used(LIMIT_IPC), 0);
    }
}

TEST_SUITE(mqueue)
{
    TEST_ADD(order);
    TEST_ADD(receivers_stand_in_line);
    TEST_ADD(a_queue_outlives_its_name);
    TEST_ADD(limits_of_the_configuration);
    TEST_ADD(failing_allocations);
}
