/* Readiness of host descriptors: what a ready function may do to the other watches. */
#include <unistd.h>

#include "abi/poll.h"

#include "sentry/host/host.h"
#include "tests/support/test.h"

static struct pair {
    struct host_watch watch;
    int fd[2];
    unsigned called;
} pairs[3];

static bool end_others;

static void ready(struct host_watch *w, uint32_t events)
{
    char byte;
    struct pair *self = (struct pair *)(void *)w;
    ck_assert(events & LX_POLLIN);
    ck_assert_int_eq(read(w->fd, &byte, 1), 1);
    self->called++;
    for (size_t i = 0; i < ARRAY_LEN(pairs) && end_others; i++)
        host_watch_done(&pairs[i].watch);
}

static void begin(void)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct pair *p = &pairs[i];
        *p = (struct pair){.called = 0};
        ck_assert_int_eq(pipe(p->fd), 0);
        ck_assert_int_eq(host_watch_init(&p->watch, p->fd[0], ready), 0);
        ck_assert_int_eq(host_watch_arm(&p->watch, LX_POLLIN), 0);
        ck_assert_int_eq(write(p->fd[1], "x", 1), 1);
    }
}

static unsigned total(void)
{
    unsigned n = 0;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        n += pairs[i].called;
    return n;
}

static void end(void)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        host_watch_done(&pairs[i].watch);
        (void)close(pairs[i].fd[0]);
        (void)close(pairs[i].fd[1]);
    }
    (void)close(host_poll_fd());
}

TEST(all_are_called_once)
{
    end_others = false;
    begin();
    host_poll_dispatch();
    ck_assert_uint_eq(total(), 3);
    /* Disarmed: nothing more, although there is something to read. */
    ck_assert_int_eq(write(pairs[0].fd[1], "x", 1), 1);
    host_poll_dispatch();
    ck_assert_uint_eq(total(), 3);
    ck_assert_int_eq(host_watch_arm(&pairs[0].watch, LX_POLLIN), 0);
    host_poll_wait();
    ck_assert_uint_eq(total(), 4);
    end();
}

/* All were ready in one look, but whoever is first ends the others. */
TEST(ended_by_another)
{
    end_others = true;
    begin();
    host_poll_dispatch();
    ck_assert_uint_eq(total(), 1);
    end();
}

TEST_SUITE(watch)
{
    TEST_ADD(all_are_called_once);
    TEST_ADD(ended_by_another);
}
