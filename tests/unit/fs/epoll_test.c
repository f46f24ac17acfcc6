/* epoll, eventfd, timerfd: modes, nesting, items that vanish with their file. */
#include <errno.h>
#include <string.h>

#include "abi/misc.h"

#include "sentry/fs/anon/anon.h"
#include "sentry/fs/anon/epoll.h"
#include "sentry/fs/anon/eventfd.h"
#include "sentry/fs/anon/timerfd.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/timer.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct file *ep, *ev;
static struct lx_epoll_event got[EPOLL_BATCH];
static int fail_put;

static int keep(void *arg, const struct lx_epoll_event *e, uint32_t n)
{
    (void)arg;
    memcpy(got, e, n * sizeof(*e));
    return fail_put;
}

static int collect(uint32_t max)
{
    return epoll_collect(ep, max, keep, NULL);
}

static int add(struct file *to, struct file *f, int fd, uint32_t events)
{
    struct lx_epoll_event e = {.events = events, .data = (uint64_t)fd};

    return epoll_add(to, f, fd, &e);
}

static int mod(struct file *f, int fd, uint32_t events)
{
    struct lx_epoll_event e = {.events = events, .data = (uint64_t)fd};

    return epoll_mod(ep, f, fd, &e);
}

static void bump(struct file *f)
{
    uint64_t one = 1;
    struct uio u;

    uio_init_kernel(&u, &one, sizeof(one));
    ck_assert_int_eq(f->ops->write(f, &u, NULL), 8);
}

static int64_t drain(struct file *f)
{
    uint64_t v = 0;
    struct uio u;
    int64_t r;

    uio_init_kernel(&u, &v, sizeof(v));
    r = f->ops->read(f, &u, NULL);
    return r < 0 ? r : (int64_t)v;
}

static void begin(void)
{
    limits_init();
    fail_put = 0;
    ck_assert_int_eq(epoll_new(&ep), 0);
    ck_assert_int_eq(eventfd_new(0, 0, &ev), 0);
}

static void end(void)
{
    file_put(ep);
    file_put(ev);
    ck_assert_uint_eq(limit_used(LIMIT_EPOLL_ITEMS), 0);
    ck_assert_uint_eq(limit_used(LIMIT_WAITS), 0);
    ck_assert_uint_eq(limit_used(LIMIT_TIMERS), 0);
    anon_super_done();
}

TEST(level_triggered_stays_until_drained)
{
    begin();
    ck_assert_int_eq(add(ep, ev, 5, LX_EPOLLIN), 0);
    ck_assert_int_eq(add(ep, ev, 5, LX_EPOLLIN), -EEXIST);
    ck_assert_int_eq(collect(10), 0);
    bump(ev);
    ck_assert_int_eq(collect(10), 1);
    ck_assert_uint_eq(got[0].data, 5);
    ck_assert_uint_eq(got[0].events, LX_EPOLLIN);
    ck_assert_int_eq(collect(10), 1);
    ck_assert_uint_eq(vfs_poll(ep, NULL), LX_POLLIN | LX_POLLRDNORM);
    ck_assert_int_eq(drain(ev), 1);
    ck_assert_int_eq(collect(10), 0);
    ck_assert_uint_eq(vfs_poll(ep, NULL), 0);
    ck_assert_int_eq(epoll_del(ep, ev, 5), 0);
    ck_assert_int_eq(epoll_del(ep, ev, 5), -ENOENT);
    bump(ev);
    ck_assert_int_eq(collect(10), 0);
    end();
}

TEST(edge_triggered_tells_once_per_event)
{
    begin();
    ck_assert_int_eq(add(ep, ev, 5, LX_EPOLLIN | LX_EPOLLET), 0);
    bump(ev);
    bump(ev);
    ck_assert_int_eq(collect(10), 1);
    ck_assert_int_eq(collect(10), 0);
    bump(ev);
    ck_assert_int_eq(collect(10), 1);
    ck_assert_int_eq(mod(ev, 5, LX_EPOLLIN | LX_EPOLLET), 0);
    ck_assert_int_eq(collect(10), 1);
    end();
}

TEST(oneshot_waits_for_mod)
{
    begin();
    ck_assert_int_eq(add(ep, ev, 5, LX_EPOLLIN | LX_EPOLLONESHOT), 0);
    bump(ev);
    ck_assert_int_eq(collect(10), 1);
    bump(ev);
    ck_assert_int_eq(collect(10), 0);
    ck_assert_int_eq(mod(ev, 5, LX_EPOLLIN | LX_EPOLLONESHOT), 0);
    ck_assert_int_eq(collect(10), 1);
    ck_assert_int_eq(mod(ev, 6, 0), -ENOENT);
    end();
}

TEST(a_failed_copy_loses_no_event)
{
    begin();
    ck_assert_int_eq(add(ep, ev, 5, LX_EPOLLIN | LX_EPOLLET | LX_EPOLLONESHOT), 0);
    bump(ev);
    fail_put = -EFAULT;
    ck_assert_int_eq(collect(10), -EFAULT);
    fail_put = 0;
    ck_assert_int_eq(collect(10), 1);
    ck_assert_int_eq(collect(10), 0);
    end();
}

TEST(items_go_with_their_file)
{
    struct file *other;

    begin();
    ck_assert_int_eq(eventfd_new(1, 0, &other), 0);
    ck_assert_int_eq(add(ep, other, 7, LX_EPOLLIN), 0);
    ck_assert_int_eq(add(ep, other, 8, LX_EPOLLIN), 0);
    ck_assert_int_eq(collect(10), 2);
    file_put(other);
    ck_assert_int_eq(collect(10), 0);
    ck_assert_uint_eq(limit_used(LIMIT_EPOLL_ITEMS), 0);
    end();
}

TEST(turns_are_fair)
{
    struct file *f[4];
    unsigned seen[4] = {0};

    begin();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(eventfd_new(1, 0, &f[i]), 0);
        ck_assert_int_eq(add(ep, f[i], i, LX_EPOLLIN), 0);
    }
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(collect(1), 1);
        seen[got[0].data]++;
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(seen[i], 2);
        file_put(f[i]);
    }
    end();
}

TEST(nested_instances_and_loops)
{
    struct file *e[6];

    begin();
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(epoll_new(&e[i]), 0);
    ck_assert_int_eq(add(e[0], ev, 1, LX_EPOLLIN), 0);
    for (int i = 1; i < 5; i++)
        ck_assert_int_eq(add(e[i], e[i - 1], i, LX_EPOLLIN), 0);
    ck_assert_int_eq(add(e[5], e[4], 9, LX_EPOLLIN), -ELOOP);
    ck_assert_int_eq(add(e[0], e[3], 9, LX_EPOLLIN), -ELOOP);
    ck_assert_int_eq(add(e[0], e[5], 9, LX_EPOLLIN), -ELOOP);
    ck_assert_uint_eq(vfs_poll(e[4], NULL), 0);
    bump(ev);
    ck_assert_uint_eq(vfs_poll(e[4], NULL), LX_POLLIN | LX_POLLRDNORM);
    drain(ev);
    ck_assert_uint_eq(vfs_poll(e[4], NULL), 0);
    bump(ev);
    ck_assert_uint_eq(vfs_poll(e[4], NULL), LX_POLLIN | LX_POLLRDNORM);
    ck_assert_int_eq(add(ep, ev, 1, LX_EPOLLIN | LX_EPOLLEXCLUSIVE), 0);
    ck_assert_int_eq(mod(ev, 1, LX_EPOLLIN), -EINVAL);
    ck_assert_int_eq(add(ep, ev, 2, LX_EPOLLIN | LX_EPOLLEXCLUSIVE | LX_EPOLLONESHOT), -EINVAL);
    for (int i = 0; i < 6; i++)
        file_put(e[i]);
    end();
}

TEST(eventfd_counts)
{
    struct file *sem;
    uint64_t v = UINT64_MAX;
    struct uio u;

    begin();
    ck_assert_int_eq(drain(ev), -EAGAIN);
    bump(ev);
    bump(ev);
    ck_assert_int_eq(drain(ev), 2);
    uio_init_kernel(&u, &v, 8);
    ck_assert_int_eq(ev->ops->write(ev, &u, NULL), -EINVAL);
    v--;
    uio_init_kernel(&u, &v, 8);
    ck_assert_int_eq(ev->ops->write(ev, &u, NULL), 8);
    v = 1;
    uio_init_kernel(&u, &v, 8);
    ck_assert_int_eq(ev->ops->write(ev, &u, NULL), -EAGAIN);
    ck_assert_uint_eq(u.left, 8);
    ck_assert_uint_eq(vfs_poll(ev, NULL), LX_POLLIN);
    ck_assert_int_eq(eventfd_new(3, LX_EFD_SEMAPHORE, &sem), 0);
    ck_assert_int_eq(drain(sem), 1);
    ck_assert_int_eq(drain(sem), 1);
    ck_assert_int_eq(drain(sem), 1);
    ck_assert_int_eq(drain(sem), -EAGAIN);
    file_put(sem);
    end();
}

static void wait_ns(uint64_t ns)
{
    uint64_t until = clock_monotonic() + ns;

    while (clock_monotonic() < until)
        ;
    timer_run_expired();
}

TEST(timerfd_counts_periods)
{
    struct timerfd_value v = {.interval = 1000000, .value = 1000000}, now;
    struct file *f;
    int64_t n;

    begin();
    ck_assert_int_eq(timerfd_new(LX_CLOCK_MONOTONIC, 0, &f), 0);
    ck_assert_int_eq(drain(f), -EAGAIN);
    timerfd_set(f, false, &v);
    ck_assert_int_eq(add(ep, f, 3, LX_EPOLLIN), 0);
    ck_assert_int_eq(collect(1), 0);
    wait_ns(5500000);
    ck_assert_int_eq(collect(1), 1);
    n = drain(f);
    ck_assert_int_ge(n, 5);
    ck_assert_int_eq(drain(f), -EAGAIN);
    timerfd_get(f, &now);
    ck_assert(now.value > 0 && now.value <= 1000000 && now.interval == 1000000);
    v = (struct timerfd_value){.interval = 0, .value = 1};
    timerfd_set(f, true, &v); /* long past */
    wait_ns(1000);
    ck_assert_int_eq(drain(f), 1);
    timerfd_get(f, &now);
    ck_assert_uint_eq(now.value, 0);
    v.value = 0;
    timerfd_set(f, false, &v);
    file_put(f);
    end();
}

TEST(memory_may_run_out)
{
    limits_init();
    for_each_failure {
        int r = epoll_new(&ep);

        if (r == 0) {
            r = eventfd_new(1, 0, &ev);
            if (r == 0) {
                r = add(ep, ev, 1, LX_EPOLLIN);
                if (r == 0)
                    ck_assert_int_eq(collect(4), 1);
                file_put(ev);
            }
            file_put(ep);
        }
        ck_assert(r == 0 || r == -ENOMEM);
        ck_assert_uint_eq(limit_used(LIMIT_EPOLL_ITEMS), 0);
        ck_assert_uint_eq(limit_used(LIMIT_WAITS), 0);
        anon_super_done();
    }
}

TEST_SUITE(epoll)
{
    TEST_ADD(level_triggered_stays_until_drained);
    TEST_ADD(edge_triggered_tells_once_per_event);
    TEST_ADD(oneshot_waits_for_mod);
    TEST_ADD(a_failed_copy_loses_no_event);
    TEST_ADD(items_go_with_their_file);
    TEST_ADD(turns_are_fair);
    TEST_ADD(nested_instances_and_loops);
    TEST_ADD(eventfd_counts);
    TEST_ADD(timerfd_counts_periods);
    TEST_ADD(memory_may_run_out);
}
