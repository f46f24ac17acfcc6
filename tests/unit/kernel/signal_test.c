/* Signals: queues, actions, masks, restarts, job control; on a kernel with a fake platform. */
#include "abi/errno.h"
#include "abi/time.h"
#include "abi/wait.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define HANDLER 0x40001000ull
#define OTHER   0x40002000ull
#define A       BOX_MEM

static uint64_t rip(struct plat_thread *th)
{
    return fake_regs(th)->rip;
}

static int64_t kill_self(int signo)
{
    return box_call(box.th, NR_kill, (uint64_t)box.task->group->pid, (uint64_t)signo);
}

static void timespec(uint64_t addr, int64_t sec, int64_t nsec)
{
    struct lx_timespec ts = {sec, nsec};

    box_write(box.th, addr, &ts, sizeof(ts));
}

TEST(handler_and_return)
{
    box_begin();
    box_action(box.th, LX_SIGUSR1, HANDLER, 0, LX_SIGMASK(LX_SIGUSR2));
    struct plat_regs before = *fake_regs(box.th);
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    ck_assert_uint_eq(rip(box.th), HANDLER);
    ck_assert_uint_eq(fake_regs(box.th)->rdi, LX_SIGUSR1);
    ck_assert_uint_eq(fake_regs(box.th)->rsp % 16, 8);
    ck_assert_uint_lt(fake_regs(box.th)->rsp, before.rsp - 128);
    ck_assert_uint_eq(box.task->blocked, LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGUSR2));
    ck_assert_uint_eq(box_get64(box.th, fake_regs(box.th)->rsp), BOX_RESTORER);
    ck_assert_int_eq(box_sigreturn(box.th), 0); /* the result of kill */
    ck_assert_uint_eq(box.task->blocked, 0);
    ck_assert_uint_eq(fake_regs(box.th)->rsp, before.rsp);
    ck_assert_uint_eq(rip(box.th), before.rip + 2);
    box_end();
}

TEST(order_of_delivery)
{
    box_begin();
    uint64_t set = LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGTERM) | LX_SIGMASK(LX_SIGSEGV) |
                   LX_SIGMASK(40) | LX_SIGMASK(41);
    struct lx_siginfo info;

    box_mask(box.th, set);
    /* To the group, then to the task: the task's own go first, faults before all in a queue. */
    for (int signo = 41; signo >= 40; signo--) {
        ck_assert_int_eq(kill_self(signo), 0);
        ck_assert_int_eq(kill_self(signo), 0);
    }
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    ck_assert_int_eq(box_call(box.th, NR_tkill, 1, LX_SIGTERM), 0);
    ck_assert_int_eq(box_call(box.th, NR_tkill, 1, LX_SIGSEGV), 0);
    ck_assert_uint_eq(limit_used(LIMIT_SIGNALS), 7); /* SIGUSR1 once, real-time ones each */
    static const int want[] = {LX_SIGSEGV, LX_SIGTERM, LX_SIGUSR1, 40, 40, 41, 41, 0};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        ck_assert_int_eq(signal_dequeue(box.task, set, &info), want[i]);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    box_end();
}

/* A default action of the task's own queue is not lost behind a handler of the group's. */
TEST(default_behind_handler)
{
    box_begin();
    box_action(box.th, LX_SIGUSR1, HANDLER, 0, 0);
    struct plat_thread *child = box_fork(box.th);
    uint64_t pid = box_task(child)->pid, id = fake_id(child);
    box_mask(child, LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGTERM));
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGUSR1), 0);
    ck_assert_int_eq(box_call(box.th, NR_tkill, pid, LX_SIGTERM), 0);
    box_mask(child, 0);
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, A, 0, 0), (int64_t)pid);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGTERM);
    box_end();
}

TEST(ignored_and_default)
{
    box_begin();
    ck_assert_int_eq(kill_self(LX_SIGCHLD), 0);
    ck_assert_int_eq(kill_self(LX_SIGURG), 0);
    ck_assert_int_eq(kill_self(LX_SIGCONT), 0);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    /* Blocked ones stay, whatever the action, until the action is to ignore them. */
    box_mask(box.th, LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGCHLD));
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    ck_assert_int_eq(kill_self(LX_SIGCHLD), 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigpending, A, 8), 0);
    ck_assert_uint_eq(box_get64(box.th, A), LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGCHLD));
    box_action(box.th, LX_SIGUSR1, LX_SIG_IGN, 0, 0);
    ck_assert_uint_eq(signal_pending_set(box.task), LX_SIGMASK(LX_SIGCHLD));
    box_mask(box.th, 0);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    ck_assert_int_eq(box_call(box.th, NR_getpid, 0), 1);
    box_end();
}

TEST(arguments)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_kill, 1, 65), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_kill, 77, 0), -ESRCH);
    ck_assert_int_eq(box_call(box.th, NR_kill, (uint64_t)INT32_MIN, 9), -ESRCH);
    ck_assert_int_eq(box_call(box.th, NR_kill, 1, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_tgkill, 2, 1, 0), -ESRCH);
    ck_assert_int_eq(box_call(box.th, NR_tgkill, 0, 1, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigaction, LX_SIGKILL, A, 0, 8), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigaction, LX_SIGKILL, 0, A, 8), 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigaction, 65, 0, A, 8), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigaction, 10, 0, A, 16), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigaction, 10, 8, 0, 8), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigprocmask, 3, A, 0, 8), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigprocmask, 0, 0, A, 4), -EINVAL);
    box_mask(box.th, ~0ull);
    ck_assert_uint_eq(box.task->blocked, ~LX_SIGSET_UNBLOCKABLE);
    box_end();
}

TEST(death_by_signal)
{
    box_begin();
    static const int fatal[] = {LX_SIGHUP, LX_SIGKILL, LX_SIGTERM, LX_SIGRTMIN, LX_SIGRTMAX};
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++) {
        struct plat_thread *child = box_fork(box.th);
        uint64_t pid = box_task(child)->pid, id = fake_id(child);
        ck_assert_int_eq(box_call(child, NR_pause, 0), FAKE_BLOCKED);
        ck_assert_int_eq(box_call(box.th, NR_kill, pid, (uint64_t)fatal[i]), 0);
        ck_assert(!fake_alive(box.p, id));
        ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, A, 0, 0), (int64_t)pid);
        ck_assert_uint_eq(box_get32(box.th, A), (uint32_t)fatal[i]);
    }
    /* SIGKILL cannot be blocked, and ends all threads. */
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *second = box_thread(child, BOX_STACK_TOP - 8192);
    uint64_t pid = box_task(child)->pid, id = fake_id(second);
    box_mask(child, ~0ull);
    box_mask(second, ~0ull);
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGKILL), 0);
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, 0, 0, 0), (int64_t)pid);
    box_end();
}

/* The group's signal goes to a thread that does not block it; the task's own only to that task. */
TEST(threads)
{
    box_begin();
    struct plat_thread *two = box_thread(box.th, BOX_STACK_TOP - 8192);
    box_action(box.th, LX_SIGUSR1, HANDLER, 0, 0);
    box_mask(box.th, LX_SIGMASK(LX_SIGUSR1));
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    box_run();
    ck_assert_uint_eq(rip(two), HANDLER);
    ck_assert_uint_ne(rip(box.th), HANDLER);
    box_sigreturn(two);
    uint64_t tid = box_task(two)->pid;
    box_mask(two, LX_SIGMASK(LX_SIGUSR1));
    box_mask(box.th, 0);
    ck_assert_int_eq(box_call(box.th, NR_tgkill, 1, tid, LX_SIGUSR1), 0);
    ck_assert_uint_ne(rip(box.th), HANDLER);
    /* While every thread blocks it the group's waits for whoever opens the mask first. */
    box_mask(box.th, LX_SIGMASK(LX_SIGUSR1));
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    box_mask(two, 0);
    ck_assert_uint_eq(rip(two), HANDLER);
    box_sigreturn(two); /* the second one */
    ck_assert_uint_eq(rip(two), HANDLER);
    box_sigreturn(two);
    ck_assert_uint_ne(rip(two), HANDLER);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    box_end();
}

struct restart_case {
    uint64_t nr, args[6];
    uint64_t sa_flags;
    bool restarts;
};

/* signal(7): what a handler does to each kind of blocked call. */
TEST(restart_with_handler)
{
    static const struct restart_case cases[] = {
        {NR_wait4, {~0ull}, 0, false},
        {NR_wait4, {~0ull}, LX_SA_RESTART, true},
        {NR_pause, {0}, LX_SA_RESTART, false},
        {NR_nanosleep, {A, A + 64}, LX_SA_RESTART, false},
        {NR_clock_nanosleep, {1, 1, A}, LX_SA_RESTART, false},
        {NR_futex, {A + 128, 0, 0}, LX_SA_RESTART, true},
        {NR_futex, {A + 128, 0, 0}, 0, false},
        {NR_futex, {A + 128, 0, 0, A}, LX_SA_RESTART, false},
        {NR_rt_sigsuspend, {A + 256, 8}, LX_SA_RESTART, false},
        {NR_rt_sigtimedwait, {A + 256, 0, A, 8}, LX_SA_RESTART, false},
    };
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    timespec(A, 3600, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct restart_case *c = &cases[i];
        box_action(box.th, LX_SIGUSR1, HANDLER, c->sa_flags, 0);
        ck_assert_int_eq(box_call6(box.th, c->nr, c->args), FAKE_BLOCKED);
        uint64_t after = rip(box.th);
        ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGUSR1), 0);
        box_run();
        ck_assert_msg(rip(box.th) == HANDLER, "case %zu", i);
        int64_t r = box_sigreturn(box.th);
        if (c->restarts) {
            ck_assert_msg(r == (int64_t)c->nr, "case %zu: %lld", i, (long long)r);
            ck_assert_uint_eq(rip(box.th), after - 2);
        } else {
            ck_assert_msg(r == -EINTR, "case %zu: %lld", i, (long long)r);
            ck_assert_uint_eq(rip(box.th), after);
        }
        ck_assert_uint_eq(box.task->blocked, 0);
        ck_assert(!task_has_deadline(box.task));
    }
    /* What was left of the sleep. */
    struct lx_timespec left;
    box_read(box.th, A + 64, &left, sizeof(left));
    ck_assert_int_ge(left.tv_sec, 3590);
    ck_assert_int_lt(left.tv_sec, 3600);
    box_end();
}

/* Without a handler a stop and continue is not seen by the call, and its deadline stays. */
TEST(restart_without_handler)
{
    static const struct restart_case cases[] = {
        {NR_nanosleep, {A}, 0, true},
        {NR_clock_nanosleep, {1, 0, A}, 0, true},
        {NR_futex, {A + 128, 0, 0, A}, 0, true},
    };
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        timespec(A, 10, 0);
        ck_assert_int_eq(box_call6(box.th, cases[i].nr, cases[i].args), FAKE_BLOCKED);
        box_advance(6 * NSEC_PER_SEC);
        ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGSTOP), 0);
        box_run();
        ck_assert_int_eq(box.task->group->stop, GROUP_STOPPED);
        ck_assert_int_eq(task_state_letter(box.task), 'T');
        ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGCONT), 0);
        box_run();
        ck_assert_int_eq(box.task->state, TASK_BLOCKED);
        box_advance(3 * NSEC_PER_SEC);
        ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
        box_advance(2 * NSEC_PER_SEC);
        ck_assert_int_eq(fake_result(box.th), cases[i].nr == NR_futex ? -ETIMEDOUT : 0);
    }
    box_end();
}

TEST(suspend_restores_the_mask)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    box_action(box.th, LX_SIGUSR1, HANDLER, 0, LX_SIGMASK(LX_SIGHUP));
    box_action(box.th, LX_SIGUSR2, OTHER, 0, 0);
    uint64_t own = LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGUSR2);
    box_mask(box.th, own);
    box_put64(box.th, A, LX_SIGMASK(LX_SIGUSR2));
    ck_assert_int_eq(box_call(box.th, NR_rt_sigsuspend, A, 8), FAKE_BLOCKED);
    ck_assert_uint_eq(box.task->blocked, LX_SIGMASK(LX_SIGUSR2));
    box_call(child, NR_kill, 1, LX_SIGUSR2);
    box_run();
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    box_call(child, NR_kill, 1, LX_SIGUSR1);
    box_run();
    ck_assert_uint_eq(rip(box.th), HANDLER);
    ck_assert_uint_eq(box.task->blocked,
                      LX_SIGMASK(LX_SIGUSR2) | LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGHUP));
    ck_assert_int_eq(box_sigreturn(box.th), -EINTR);
    ck_assert_uint_eq(box.task->blocked, own);
    box_end();
}

TEST(timedwait)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct lx_siginfo info;
    box_mask(box.th, LX_SIGMASK(LX_SIGUSR1));
    box_put64(box.th, A, LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGKILL));
    timespec(A + 16, 5, 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigtimedwait, A, A + 64, A + 16, 8), FAKE_BLOCKED);
    box_advance(6 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(box.th), -EAGAIN);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigtimedwait, A, A + 64, 0, 8), FAKE_BLOCKED);
    box_call(child, NR_kill, 1, LX_SIGUSR1);
    ck_assert_int_eq(fake_result(box.th), LX_SIGUSR1);
    box_read(box.th, A + 64, &info, sizeof(info));
    ck_assert_int_eq(info.si_signo, LX_SIGUSR1);
    ck_assert_int_eq(info.si_code, LX_SI_USER);
    ck_assert_int_eq(info.si_pid, (int)box_task(child)->pid);
    timespec(A + 16, 0, 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigtimedwait, A, 0, A + 16, 8), -EAGAIN);
    timespec(A + 16, 0, -1);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigtimedwait, A, 0, A + 16, 8), -EINVAL);
    box_end();
}

TEST(queueinfo)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t pid = box_task(child)->pid;
    struct lx_siginfo info = {.si_signo = 3, .si_code = LX_SI_QUEUE};
    info.si_value.sival_ptr = 0x1234567890ull;
    box_write(box.th, A, &info, sizeof(info));
    box_mask(child, ~0ull);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, pid, 34, A), 0);
    ck_assert_int_eq(signal_dequeue(box_task(child), ~0ull, &info), 34);
    ck_assert_int_eq(info.si_signo, 34);
    ck_assert_uint_eq(info.si_value.sival_ptr, 0x1234567890ull);
    /* The kernel's own codes only to oneself. */
    info.si_code = LX_SI_KERNEL;
    box_write(box.th, A, &info, sizeof(info));
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, pid, 34, A), -EPERM);
    box_mask(box.th, ~0ull);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 34, A), 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 65, A), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 34, 8), -EFAULT);
    box_end();
}

/* Real-time signals say when they are too many, standard ones lose their details only. */
TEST(queue_limit)
{
    box_begin();
    struct lx_siginfo info = {.si_code = LX_SI_QUEUE};
    box_mask(box.th, ~0ull);
    box_write(box.th, A, &info, sizeof(info));
    limit_set(LIMIT_SIGNALS, 2);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 34, A), 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 34, A), 0);
    ck_assert_int_eq(box_call(box.th, NR_rt_sigqueueinfo, 1, 34, A), -EAGAIN);
    ck_assert_int_eq(kill_self(LX_SIGUSR1), 0);
    ck_assert_int_eq(signal_dequeue(box.task, LX_SIGMASK(LX_SIGUSR1), &info), LX_SIGUSR1);
    ck_assert_int_eq(info.si_code, LX_SI_USER);
    box_end();
}

TEST(job_control)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t pid = box_task(child)->pid, id = fake_id(child);
    uint64_t opts = LX_WUNTRACED | LX_WCONTINUED | LX_WNOHANG;
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGSTOP), 0);
    box_run();
    ck_assert_int_eq(box_call(box.th, NR_wait4, pid, A, LX_WNOHANG, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_wait4, pid, A, opts, 0), (int64_t)pid);
    ck_assert_uint_eq(box_get32(box.th, A), LX_W_STOPCODE(LX_SIGSTOP));
    ck_assert_int_eq(box_call(box.th, NR_wait4, pid, A, opts, 0), 0);
    /* A fatal signal waits until the group goes on; SIGCONT takes a waiting stop away. */
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGTSTP), 0);
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGTERM), 0);
    box_run();
    ck_assert(fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGCONT), 0);
    box_run();
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, pid, A, opts, 0), (int64_t)pid);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGTERM);
    box_end();
}

/* SIGCONT's handler runs once the group goes on; a blocked call of a stopped group does not finish.
 */
TEST(stopped_in_a_call)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t pid = box_task(child)->pid;
    box_action(child, LX_SIGCONT, HANDLER, LX_SA_RESTART, 0);
    ck_assert_int_eq(box_call(child, NR_futex, A + 128, 0, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGSTOP), 0);
    box_run();
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGCONT), 0);
    box_run();
    ck_assert_uint_eq(rip(child), HANDLER);
    ck_assert_int_eq(box_sigreturn(child), NR_futex);
    /* Two threads, one asleep: it ends its sleep only when the group goes on. */
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    timespec(A, 1, 0);
    box_write(two, A, &(struct lx_timespec){1, 0}, sizeof(struct lx_timespec));
    ck_assert_int_eq(box_call(two, NR_nanosleep, A, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGSTOP), 0);
    box_advance(2 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(two), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_kill, pid, LX_SIGCONT), 0);
    box_run();
    ck_assert_int_eq(fake_result(two), 0);
    box_end();
}

/* A stop signal that waits behind one with a handler: the frame is built, then the group stops. */
TEST(stop_behind_handler)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t pid = box_task(child)->pid;
    uint64_t set = LX_SIGMASK(LX_SIGUSR1) | LX_SIGMASK(LX_SIGTSTP);
    box_call(child, NR_setpgid, 0, 0);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
    box_mask(child, set);
    box_call(box.th, NR_kill, pid, LX_SIGUSR1);
    box_call(box.th, NR_kill, pid, LX_SIGTSTP);
    box_mask(child, 0);
    box_run();
    ck_assert_int_eq(box_task(child)->group->stop, GROUP_STOPPED);
    ck_assert_int_eq(fake_state(child), FAKE_IN_CONTEXT);
    box_call(box.th, NR_kill, pid, LX_SIGCONT);
    box_run();
    ck_assert_int_eq(fake_state(child), FAKE_RUNNING);
    ck_assert_uint_eq(rip(child), HANDLER);
    ck_assert_int_eq(box_sigreturn(child), 0);
    box_end();
}

TEST(faults)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    box_action(child, LX_SIGSEGV, HANDLER, LX_SA_SIGINFO, 0);
    fake_raise_fault(child, LX_SIGSEGV, LX_SEGV_MAPERR, 0x5000);
    box_run();
    ck_assert_uint_eq(rip(child), HANDLER);
    struct lx_siginfo info;
    box_read(child, fake_regs(child)->rsi, &info, sizeof(info));
    ck_assert_int_eq(info.si_signo, LX_SIGSEGV);
    ck_assert_int_eq(info.si_code, LX_SEGV_MAPERR);
    ck_assert_uint_eq(info.si_addr, 0x5000);
    /* Blocked now (we are in the handler): the second one ends it. */
    uint64_t id = fake_id(child);
    fake_raise_fault(child, LX_SIGSEGV, LX_SEGV_MAPERR, 0x5000);
    box_run();
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, A, 0, 0), 2);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGSEGV);
    box_end();
}

/* No room for a frame: SIGSEGV, and its end is safe for whoever holds the task, even reaped at
 * once. */
TEST(no_stack)
{
    box_begin();
    box_action(box.th, LX_SIGCHLD, LX_SIG_IGN, 0, 0);
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *two = box_thread(child, 0x1000);
    uint64_t id = fake_id(child);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
    ck_assert_int_eq(box_call(box.th, NR_tkill, box_task(two)->pid, LX_SIGUSR1), 0);
    box_run();
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, 0, 0, 0), -ECHILD);
    box_end();
}

TEST(permission)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_setresuid, 1000, 1000, 1000), 0);
    ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGTERM), -EPERM);
    ck_assert_int_eq(box_call(child, NR_kill, 1, 0), -EPERM);
    ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGCONT), 0); /* same session */
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, 0), 0);
    ck_assert_int_eq(box_call(child, NR_kill, ~0ull, 0), -ESRCH);
    box_end();
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            struct lx_siginfo info = {.si_code = LX_SI_QUEUE};
            box_write(box.th, A, &info, sizeof(info));
            box_mask(box.th, ~0ull);
            (void)box_call(box.th, NR_rt_sigqueueinfo, 1, 34, A);
            (void)kill_self(LX_SIGUSR1);
            (void)box_call(box.th, NR_rt_sigtimedwait, A + 4096, 0, 0, 8);
            box_end();
        }
    }
}

TEST_SUITE(signal)
{
    TEST_ADD(handler_and_return);
    TEST_ADD(order_of_delivery);
    TEST_ADD(default_behind_handler);
    TEST_ADD(ignored_and_default);
    TEST_ADD(arguments);
    TEST_ADD(death_by_signal);
    TEST_ADD(threads);
    TEST_ADD(restart_with_handler);
    TEST_ADD(restart_without_handler);
    TEST_ADD(suspend_restores_the_mask);
    TEST_ADD(timedwait);
    TEST_ADD(queueinfo);
    TEST_ADD(queue_limit);
    TEST_ADD(job_control);
    TEST_ADD(stopped_in_a_call);
    TEST_ADD(stop_behind_handler);
    TEST_ADD(faults);
    TEST_ADD(no_stack);
    TEST_ADD(permission);
    TEST_ADD(out_of_memory);
}
