/* POSIX timers, interval timers, clocks and sleeps. */
#include "abi/errno.h"
#include "abi/time.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/rusage.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define A   BOX_MEM
#define EV  (BOX_MEM + 256)
#define IT  (BOX_MEM + 512)
#define OUT (BOX_MEM + 1024)
#define RT  40

static int64_t create(uint64_t clock, int notify, int signo, int tid)
{
    struct lx_sigevent ev = {.sigev_signo = signo, .sigev_notify = notify};

    ev.sigev_value.sival_ptr = 0xabcdef;
    ev.sigev_notify_thread_id = tid;
    box_write(box.th, EV, &ev, sizeof(ev));
    return box_call(box.th, NR_timer_create, clock, EV, A);
}

static int64_t settime(uint64_t id, uint64_t flags, uint64_t value_ns, uint64_t interval_ns)
{
    struct lx_itimerspec its = {timespec_from_ns(interval_ns), timespec_from_ns(value_ns)};

    box_write(box.th, IT, &its, sizeof(its));
    return box_call(box.th, NR_timer_settime, id, flags, IT, 0);
}

static int take(struct task *t, struct lx_siginfo *info)
{
    return signal_dequeue(t, ~0ull, info);
}

TEST(one_shot_and_periodic)
{
    struct lx_siginfo info;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, RT, 0), 0);
    uint64_t id = box_get32(box.th, A);
    ck_assert_int_eq(settime(id, 0, NSEC_PER_SEC, 0), 0);
    box_advance(NSEC_PER_SEC / 2);
    ck_assert_int_eq(take(box.task, &info), 0);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), RT);
    ck_assert_int_eq(info.si_code, LX_SI_TIMER);
    ck_assert_int_eq(info.si_timerid, (int)id);
    ck_assert_int_eq(info.si_overrun, 0);
    ck_assert_uint_eq(info.timer_value.sival_ptr, 0xabcdef);
    box_advance(10 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), 0);
    /* Periodic: one signal, the rest are overruns. */
    ck_assert_int_eq(settime(id, 0, NSEC_PER_SEC, NSEC_PER_SEC), 0);
    box_advance(NSEC_PER_SEC + 1000);
    box_advance(NSEC_PER_SEC);
    box_advance(5 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), RT);
    ck_assert_int_eq(info.si_overrun, 6);
    ck_assert_int_eq(take(box.task, &info), 0);
    ck_assert_int_eq(box_call(box.th, NR_timer_getoverrun, id), 6);
    ck_assert_int_eq(box_call(box.th, NR_timer_gettime, id, OUT), 0);
    struct lx_itimerspec its;
    box_read(box.th, OUT, &its, sizeof(its));
    ck_assert_int_eq(its.it_interval.tv_sec, 1);
    ck_assert_int_eq(its.it_value.tv_sec, 0);
    ck_assert_int_gt(its.it_value.tv_nsec, 0);
    ck_assert_int_eq(box_call(box.th, NR_timer_delete, id), 0);
    ck_assert_int_eq(box_call(box.th, NR_timer_delete, id), -EINVAL);
    box_end();
}

/* A signal that is dropped or merged does not silence the timer for ever. */
TEST(dropped_signals)
{
    struct lx_siginfo info;

    box_begin();
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, LX_SIGUSR1, 0), 0);
    uint64_t id = box_get32(box.th, A);
    box_action(box.th, LX_SIGUSR1, LX_SIG_IGN, 0, 0);
    ck_assert_int_eq(settime(id, 0, NSEC_PER_SEC, NSEC_PER_SEC), 0);
    box_advance(3 * NSEC_PER_SEC);
    box_mask(box.th, LX_SIGMASK(LX_SIGUSR1));
    box_action(box.th, LX_SIGUSR1, 0x40001000, 0, 0);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGUSR1);
    ck_assert_int_eq(info.si_code, LX_SI_TIMER);
    /* Somebody else's is pending already. */
    ck_assert_int_eq(box_call(box.th, NR_kill, 1, LX_SIGUSR1), 0);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGUSR1);
    ck_assert_int_eq(info.si_code, LX_SI_USER);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGUSR1);
    ck_assert_int_eq(info.si_code, LX_SI_TIMER);
    /* Queued, then thrown away by the action. */
    box_advance(NSEC_PER_SEC);
    box_action(box.th, LX_SIGUSR1, LX_SIG_IGN, 0, 0);
    box_action(box.th, LX_SIGUSR1, 0x40001000, 0, 0);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGUSR1);
    box_end();
}

/* Timers of a nanosecond cost nothing while their signal waits, and little when it is ignored. */
TEST(a_waiting_signal_stops_the_timer)
{
    struct lx_siginfo info;
    struct lx_itimerspec its;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, RT, 0), 0);
    uint64_t id = box_get32(box.th, A);
    ck_assert_int_eq(settime(id, 0, 1, 1), 0);
    box_advance(1000);
    ck_assert_int_eq(timer_next_timeout(), -1);
    box_advance(1000);
    ck_assert_int_eq(take(box.task, &info), RT);
    ck_assert_int_ge(info.si_overrun, 1999);
    ck_assert_int_ge(timer_next_timeout(), 0);
    /* Thrown away while it waits: goes on, at a tick's pace. */
    box_advance(1000);
    box_action(box.th, RT, LX_SIG_IGN, 0, 0);
    box_mask(box.th, 0);
    ck_assert_int_gt(timer_next_timeout(), 1000000);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_gt(timer_next_timeout(), 1000000);
    ck_assert_int_eq(settime(id, 0, 0, 0), 0);
    /* SIGEV_NONE never fires, and its time is right all the same. */
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_NONE, RT, 0), 0);
    id = box_get32(box.th, A);
    ck_assert_int_eq(settime(id, 0, NSEC_PER_SEC, NSEC_PER_SEC), 0);
    ck_assert_int_eq(timer_next_timeout(), -1);
    box_advance(5 * NSEC_PER_SEC + NSEC_PER_SEC / 4);
    ck_assert_int_eq(box_call(box.th, NR_timer_gettime, id, OUT), 0);
    box_read(box.th, OUT, &its, sizeof(its));
    ck_assert_int_eq(its.it_value.tv_sec, 0);
    ck_assert_int_le(its.it_value.tv_nsec, (int64_t)NSEC_PER_SEC / 4 * 3);
    ck_assert_int_gt(its.it_value.tv_nsec, 0);
    box_end();
}

static int64_t setitimer_us(int64_t value, int64_t interval)
{
    struct lx_itimerval itv = {{0, interval}, {0, value}};

    box_write(box.th, IT, &itv, sizeof(itv));
    return box_call(box.th, NR_setitimer, LX_ITIMER_REAL, IT, OUT);
}

TEST(a_waiting_alarm_stops_the_interval_timer)
{
    struct lx_siginfo info;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(setitimer_us(1, 1), 0);
    box_advance(100000);
    ck_assert_int_eq(timer_next_timeout(), -1);
    ck_assert_int_eq(take(box.task, &info), LX_SIGALRM);
    ck_assert_int_ge(timer_next_timeout(), 0);
    box_advance(100000);
    ck_assert_int_eq(take(box.task, &info), LX_SIGALRM);
    box_action(box.th, LX_SIGALRM, LX_SIG_IGN, 0, 0);
    box_mask(box.th, 0);
    box_advance(100000);
    ck_assert_int_gt(timer_next_timeout(), 1000000);
    box_end();
}

TEST(absolute_and_past)
{
    struct lx_siginfo info;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(create(LX_CLOCK_REALTIME, LX_SIGEV_SIGNAL, RT, 0), 0);
    uint64_t id = box_get32(box.th, A);
    ck_assert_int_eq(settime(id, LX_TIMER_ABSTIME, clock_realtime() + 2 * NSEC_PER_SEC, 0), 0);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), 0);
    box_advance(2 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), RT);
    ck_assert_int_eq(settime(id, LX_TIMER_ABSTIME, 1, 0), 0);
    box_run();
    ck_assert_int_eq(take(box.task, &info), RT);
    ck_assert_int_eq(settime(id, 0, INT64_MAX, 0), 0); /* never */
    ck_assert_int_eq(settime(id, 0, 0, 0), 0);
    ck_assert_int_eq(timer_next_timeout(), -1);
    box_end();
}

TEST(to_a_thread)
{
    struct lx_siginfo info;

    box_begin();
    struct plat_thread *two = box_thread(box.th, BOX_STACK_TOP - 8192);
    struct task *t2 = box_task(two);
    box_mask(box.th, ~0ull);
    box_mask(two, ~0ull);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_THREAD_ID, RT, 99), -EINVAL);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_THREAD_ID, RT, (int)t2->pid), 0);
    uint64_t id = box_get32(box.th, A);
    ck_assert_int_eq(settime(id, 0, NSEC_PER_SEC, NSEC_PER_SEC), 0);
    box_advance(NSEC_PER_SEC + 1000);
    ck_assert_int_eq(take(box.task, &info), 0);
    ck_assert_int_eq(take(t2, &info), RT);
    /* Queued for a thread that ends; then nobody is there to take it. */
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(box_call(two, NR_exit, 0), FAKE_GONE);
    box_advance(3 * NSEC_PER_SEC);
    ck_assert_int_eq(box_call(box.th, NR_timer_delete, id), 0);
    box_end();
}

TEST(create_arguments)
{
    box_begin();
    ck_assert_int_eq(create(77, LX_SIGEV_SIGNAL, RT, 0), -EINVAL);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, 9, RT, 0), -EINVAL);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, 65, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_timer_create, LX_CLOCK_MONOTONIC, 8, A), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_timer_create, LX_CLOCK_MONOTONIC, 0, 8), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_timer_create, LX_CLOCK_MONOTONIC, 0, A), 0);
    ck_assert_int_eq(settime(99, 0, 1, 0), -EINVAL);
    struct lx_itimerspec bad = {{0, 1000000000}, {1, 0}};
    box_write(box.th, IT, &bad, sizeof(bad));
    ck_assert_int_eq(box_call(box.th, NR_timer_settime, box_get32(box.th, A), 0, IT, 0), -EINVAL);
    limit_set(LIMIT_TIMERS, 1);
    ck_assert_int_eq(create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, RT, 0), -EAGAIN);
    box_end();
}

TEST(cpu_timers)
{
    struct lx_siginfo info;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(create(LX_CLOCK_PROCESS_CPUTIME_ID, LX_SIGEV_SIGNAL, RT, 0), 0);
    ck_assert_int_eq(settime(box_get32(box.th, A), 0, NSEC_PER_SEC, 0), 0);
    box_advance(10 * NSEC_PER_SEC); /* wall time is nothing to it */
    ck_assert_int_eq(take(box.task, &info), 0);
    fake_set_cputime(box.th, 2 * NSEC_PER_SEC);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), RT);
    box_end();
}

static int64_t setitimer(uint64_t which, int64_t sec, int64_t interval)
{
    struct lx_itimerval itv = {{interval, 0}, {sec, 0}};

    box_write(box.th, IT, &itv, sizeof(itv));
    return box_call(box.th, NR_setitimer, which, IT, OUT);
}

TEST(interval_timers)
{
    struct lx_siginfo info;
    struct lx_itimerval itv;

    box_begin();
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(setitimer(3, 1, 0), -EINVAL);
    ck_assert_int_eq(setitimer(LX_ITIMER_REAL, 10, 10), 0);
    box_advance(4 * NSEC_PER_SEC);
    ck_assert_int_eq(box_call(box.th, NR_getitimer, LX_ITIMER_REAL, OUT), 0);
    box_read(box.th, OUT, &itv, sizeof(itv));
    ck_assert_int_eq(itv.it_value.tv_sec, 5);
    ck_assert_int_eq(itv.it_interval.tv_sec, 10);
    box_advance(7 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGALRM);
    box_advance(10 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box.task, &info), LX_SIGALRM);
    ck_assert_int_eq(box_call(box.th, NR_alarm, 3), 9); /* rounded, the same timer */
    ck_assert_int_eq(box_call(box.th, NR_alarm, 0), 3);
    ck_assert_int_eq(timer_next_timeout(), -1);
    static const int cpu[][2] = {{LX_ITIMER_VIRTUAL, LX_SIGVTALRM}, {LX_ITIMER_PROF, LX_SIGPROF}};
    for (size_t i = 0; i < ARRAY_LEN(cpu); i++) {
        fake_set_cputime(box.th, 0);
        ck_assert_int_eq(setitimer((uint64_t)cpu[i][0], 1, 0), 0);
        fake_set_cputime(box.th, 2 * NSEC_PER_SEC);
        box_advance(2 * NSEC_PER_SEC);
        ck_assert_int_eq(take(box.task, &info), cpu[i][1]);
    }
    /* fork inherits none of them, exec keeps these. */
    ck_assert_int_eq(setitimer(LX_ITIMER_REAL, 5, 0), 0);
    struct plat_thread *child = box_fork(box.th);
    box_advance(6 * NSEC_PER_SEC);
    ck_assert_int_eq(take(box_task(child), &info), 0);
    box_end();
}

TEST(exec_keeps_interval_timers)
{
    int64_t err;

    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_program(child, "/x"), 0);
    struct lx_itimerval itv = {{0, 0}, {1, 0}};
    box_write(child, IT, &itv, sizeof(itv));
    ck_assert_int_eq(box_call(child, NR_setitimer, LX_ITIMER_PROF, IT, 0), 0);
    ck_assert_int_eq(box_call(child, NR_timer_create, LX_CLOCK_MONOTONIC, 0, A), 0);
    ck_assert_uint_eq(limit_used(LIMIT_TIMERS), 2);
    struct plat_thread *fresh = box_exec(child, "/x", &err);
    ck_assert_ptr_nonnull(fresh);
    ck_assert_uint_eq(limit_used(LIMIT_TIMERS), 1);
    box_end();
}

TEST(sleeps)
{
    static const struct lx_timespec bad[] = {{-1, 0}, {0, -1}, {0, 1000000000}};

    box_begin();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        box_write(box.th, A, &bad[i], sizeof(bad[i]));
        ck_assert_int_eq(box_call(box.th, NR_nanosleep, A, 0), -EINVAL);
    }
    ck_assert_int_eq(box_call(box.th, NR_nanosleep, 8, 0), -EFAULT);
    box_write(box.th, A, &(struct lx_timespec){0, 0}, 16);
    ck_assert_int_eq(box_call(box.th, NR_nanosleep, A, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_clock_nanosleep, 1, 1, A, 0), 0); /* the past */
    ck_assert_int_eq(box_call(box.th, NR_clock_nanosleep, 3, 0, A, 0), -EOPNOTSUPP);
    ck_assert_int_eq(box_call(box.th, NR_clock_nanosleep, 99, 0, A, 0), -EINVAL);
    box_write(box.th, A, &(struct lx_timespec){INT64_MAX, 0}, 16);
    ck_assert_int_eq(box_call(box.th, NR_nanosleep, A, 0), FAKE_BLOCKED);
    box_advance(NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    box_end();
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            (void)create(LX_CLOCK_MONOTONIC, LX_SIGEV_SIGNAL, RT, 0);
            (void)setitimer(LX_ITIMER_PROF, 1, 1);
            box_end();
        }
    }
}

TEST_SUITE(posix_timer)
{
    TEST_ADD(one_shot_and_periodic);
    TEST_ADD(dropped_signals);
    TEST_ADD(a_waiting_signal_stops_the_timer);
    TEST_ADD(a_waiting_alarm_stops_the_interval_timer);
    TEST_ADD(absolute_and_past);
    TEST_ADD(to_a_thread);
    TEST_ADD(create_arguments);
    TEST_ADD(cpu_timers);
    TEST_ADD(interval_timers);
    TEST_ADD(exec_keeps_interval_timers);
    TEST_ADD(sleeps);
    TEST_ADD(out_of_memory);
}
