/* Life of processes and threads: clone, exit, wait, process groups, exec's change of leader. */
#include "abi/errno.h"
#include "abi/prctl.h"
#include "abi/sched.h"
#include "abi/wait.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/session.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define A   BOX_MEM
#define ANY ~0ull

static int64_t wait_any(struct plat_thread *th, uint64_t options)
{
    return box_call(th, NR_wait4, ANY, A, options, 0);
}

static uint64_t pid_of(struct plat_thread *th)
{
    return box_task(th)->group->pid;
}

TEST(fork_copies_memory)
{
    box_begin();
    box_put32(box.th, A, 1);
    struct plat_thread *child = box_fork(box.th);
    box_put32(child, A, 2);
    ck_assert_uint_eq(box_get32(box.th, A), 1);
    ck_assert_int_eq(box_call(child, NR_getpid, 0), 2);
    ck_assert_int_eq(box_call(child, NR_getppid, 0), 1);
    ck_assert_int_eq(box_call(child, NR_getpgrp, 0), 1);
    ck_assert_int_eq(box_call(child, NR_gettid, 0), 2);
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 2);
    ck_assert_int_eq(box_call(child, NR_exit, 0x1234), FAKE_GONE);
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 1);
    ck_assert_ptr_nonnull(task_by_pid(2)); /* a zombie */
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_uint_eq(box_get32(box.th, A), 0x3400);
    ck_assert_ptr_null(task_by_pid(2));
    ck_assert_int_eq(wait_any(box.th, 0), -ECHILD);
    box_end();
}

TEST(clone_arguments)
{
    static const struct {
        uint64_t flags;
        int64_t want;
    } cases[] = {
        {LX_CLONE_NEWNS | LX_SIGCHLD, -EPERM},
        {LX_CLONE_NEWUSER | LX_SIGCHLD, -EPERM},
        {LX_CLONE_SIGHAND | LX_SIGCHLD, -EINVAL},
        {LX_CLONE_THREAD | LX_CLONE_VM, -EINVAL},
        {LX_CLONE_PIDFD | LX_CLONE_THREAD | LX_CLONE_SIGHAND | LX_CLONE_VM, -EINVAL},
        {65, -EINVAL},
    };
    box_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_int_eq(box_call(box.th, NR_clone, cases[i].flags), cases[i].want);
    const struct lx_clone_args wrong[] = {
        {.exit_signal = 65},
        {.flags = LX_SIGCHLD},
        {.flags = LX_CLONE_DETACHED},
        {.flags = 1ull << 40},
        {.flags = LX_CLONE_VM | LX_CLONE_SIGHAND | LX_CLONE_CLEAR_SIGHAND},
        {.stack = A},
        {.stack_size = 4096},
        {.stack = ~0ull, .stack_size = 4096},
        {.set_tid_size = 1},
        {.set_tid = A, .set_tid_size = 33},
        {.flags = LX_CLONE_INTO_CGROUP, .cgroup = 1ull << 40},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        box_write(box.th, A, &wrong[i], sizeof(wrong[i]));
        ck_assert_int_eq(box_call(box.th, NR_clone3, A, sizeof(wrong[i])), -EINVAL);
    }
    ck_assert_int_eq(box_call(box.th, NR_clone3, A, 63), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_clone3, A, 4097), -E2BIG);
    box_write(box.th, A, &(struct lx_clone_args){.flags = LX_CLONE_PIDFD, .pidfd = 8}, 88);
    ck_assert_int_eq(box_call(box.th, NR_clone3, A, 88), -EFAULT);
    ck_assert_uint_eq(fake_thread_count(box.p), 1);
    box_end();
}

TEST(thread_words)
{
    box_begin();
    uint64_t flags = LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND |
                     LX_CLONE_THREAD | LX_CLONE_SETTLS | LX_CLONE_PARENT_SETTID |
                     LX_CLONE_CHILD_SETTID | LX_CLONE_CHILD_CLEARTID;
    ck_assert_int_eq(box_call(box.th, NR_clone, flags, BOX_STACK_TOP - 8192, A, A + 8, 0x7000), 2);
    struct plat_thread *two = fake_thread(box.p, fake_newest(box.p));
    ck_assert_uint_eq(fake_fs_base(two), 0x7000);
    ck_assert_uint_eq(fake_regs(two)->rsp, BOX_STACK_TOP - 8192);
    ck_assert_uint_eq(box_get32(box.th, A), 2);
    ck_assert_uint_eq(box_get32(box.th, A + 8), 2);
    ck_assert_int_eq(box_call(two, NR_getpid, 0), 1);
    ck_assert_int_eq(box_call(two, NR_gettid, 0), 2);
    ck_assert_int_eq(wait_any(two, 0), -ECHILD);
    ck_assert_int_eq(box_call(two, NR_exit, 0), FAKE_GONE);
    ck_assert_uint_eq(box_get32(box.th, A + 8), 0);
    ck_assert_ptr_null(task_by_pid(2));
    ck_assert_uint_eq(box.task->group->nthreads, 1);
    box_end();
}

TEST(leader_ends_first)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    ck_assert_int_eq(box_call(child, NR_exit, 1), FAKE_GONE);
    ck_assert_int_eq(wait_any(box.th, LX_WNOHANG), 0);
    ck_assert_int_eq(box_call(two, NR_getpid, 0), 2);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_tgkill, 2, 2, LX_SIGTERM), 0); /* to a dead thread */
    ck_assert_int_eq(wait_any(box.th, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(two, NR_exit, 7), FAKE_GONE);
    ck_assert_int_eq(fake_result(box.th), 2);
    ck_assert_uint_eq(box_get32(box.th, A), 7 << 8);
    box_end();
}

TEST(exit_group_ends_all)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    struct plat_thread *three = box_thread(child, BOX_STACK_TOP - 12288);
    uint64_t id = fake_id(three);
    ck_assert_int_eq(box_call(three, NR_pause, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(two, NR_exit_group, 3), FAKE_GONE);
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_uint_eq(box_get32(box.th, A), 3 << 8);
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 1);
    box_end();
}

/* The host killed it behind our back. */
TEST(host_death)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(wait_any(box.th, 0), FAKE_BLOCKED);
    fake_raise_death(child);
    box_run();
    ck_assert_int_eq(fake_result(box.th), 2);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGKILL);
    box_end();
}

TEST(vfork_waits)
{
    box_begin();
    uint64_t id = fake_newest(box.p) + 1;
    ck_assert_int_eq(box_call(box.th, NR_vfork, 0), FAKE_BLOCKED);
    struct plat_thread *child = fake_thread(box.p, id);
    box_put32(child, A, 9); /* the same memory */
    ck_assert_uint_eq(box_get32(box.th, A), 9);
    /* A signal does not end the wait; it is taken afterwards. */
    box_call(child, NR_kill, 1, LX_SIGCHLD);
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(child, NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(fake_result(box.th), 2);
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    box_end();
}

TEST(vfork_killed)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    uint64_t id = fake_newest(box.p) + 1;
    ck_assert_int_eq(box_call(child, NR_vfork, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGKILL), 0); /* the parent dies first */
    ck_assert_int_eq(box_call(fake_thread(box.p, id), NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_int_eq(wait_any(box.th, 0), 3);
    box_end();
}

TEST(orphans)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *grand = box_fork(child);
    struct plat_thread *late = box_fork(child);
    ck_assert_int_eq(box_call(grand, NR_prctl, LX_PR_SET_PDEATHSIG, LX_SIGUSR1), 0);
    box_action(grand, LX_SIGUSR1, 0x40001000, 0, 0);
    ck_assert_int_eq(box_call(late, NR_exit, 5), FAKE_GONE); /* a zombie that is inherited */
    ck_assert_int_eq(box_call(child, NR_exit, 0), FAKE_GONE);
    box_run();
    ck_assert_uint_eq(fake_regs(grand)->rip, 0x40001000);
    ck_assert_int_eq(box_call(grand, NR_getppid, 0), 1);
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_int_eq(wait_any(box.th, 0), 4);
    ck_assert_int_eq(wait_any(box.th, LX_WNOHANG), 0);
    box_end();
}

TEST(subreaper)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_prctl, LX_PR_SET_CHILD_SUBREAPER, 1), 0);
    struct plat_thread *middle = box_fork(child);
    struct plat_thread *grand = box_fork(middle);
    ck_assert_int_eq(box_call(middle, NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(box_call(grand, NR_getppid, 0), 2);
    box_end();
}

TEST(ignored_children)
{
    static const uint64_t actions[][2] = {{LX_SIG_IGN, 0}, {LX_SIG_DFL, LX_SA_NOCLDWAIT}};
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        box_begin();
        struct plat_thread *child = box_fork(box.th);
        struct plat_thread *grand = box_fork(child);
        struct plat_thread *dead = box_fork(child);
        box_call(dead, NR_exit, 0);
        box_action(box.th, LX_SIGCHLD, actions[i][0], actions[i][1], 0);
        ck_assert_int_eq(wait_any(box.th, 0), FAKE_BLOCKED);
        box_call(child, NR_exit, 0);
        box_run();
        ck_assert_ptr_null(task_by_pid(2));
        ck_assert_ptr_null(task_by_pid(4)); /* inherited by one that does not wait */
        ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED); /* for the grandchild */
        box_call(grand, NR_exit, 0);
        ck_assert_int_eq(fake_result(box.th), -ECHILD);
        box_end();
    }
}

TEST(wait_selects)
{
    box_begin();
    struct plat_thread *c2 = box_fork(box.th), *c3 = box_fork(box.th);
    struct plat_thread *odd = box_clone(box.th, LX_SIGUSR2, 0);
    box_action(box.th, LX_SIGUSR2, LX_SIG_IGN, 0, 0);
    ck_assert_int_eq(box_call(c3, NR_setpgid, 0, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_wait4, 99, A, 0, 0), -ECHILD);
    ck_assert_int_eq(box_call(box.th, NR_wait4, (uint64_t)-99, A, 0, 0), -ECHILD);
    ck_assert_int_eq(box_call(box.th, NR_wait4, (uint64_t)INT32_MIN, A, 0, 0), -ESRCH);
    ck_assert_int_eq(box_call(box.th, NR_wait4, ANY, A, 16, 0), -EINVAL);
    uint64_t p2 = pid_of(c2), p3 = pid_of(c3), p4 = pid_of(odd);
    box_call(odd, NR_exit, 0);
    ck_assert_int_eq(wait_any(box.th, LX_WNOHANG), 0); /* a clone child */
    ck_assert_int_eq(wait_any(box.th, LX_WNOHANG | LX___WCLONE), (int64_t)p4);
    box_call(c2, NR_exit, 0);
    box_call(c3, NR_exit, 0);
    ck_assert_int_eq(box_call(box.th, NR_wait4, (uint64_t) - (int64_t)p3, A, 0, 0), (int64_t)p3);
    ck_assert_int_eq(box_call(box.th, NR_wait4, 0, A, 0, 0), (int64_t)p2);
    box_end();
}

TEST(waitid_reports)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct lx_siginfo info;
    ck_assert_int_eq(box_call(box.th, NR_waitid, LX_P_ALL, 0, A, 0, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_waitid, LX_P_PID, 0, A, LX_WEXITED, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_waitid, 9, 0, A, LX_WEXITED, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_waitid, LX_P_PID, 2, A, LX_WEXITED | LX_WNOHANG, 0), 0);
    box_read(box.th, A, &info, sizeof(info));
    ck_assert_int_eq(info.si_signo, 0);
    ck_assert_int_eq(info.si_pid, 0);
    box_call(child, NR_exit, 6);
    for (int keep = 1; keep >= 0; keep--) {
        uint64_t options = LX_WEXITED | (keep ? LX_WNOWAIT : 0u);
        ck_assert_int_eq(box_call(box.th, NR_waitid, LX_P_ALL, 0, A, options, A + 256), 0);
        box_read(box.th, A, &info, sizeof(info));
        ck_assert_int_eq(info.si_signo, LX_SIGCHLD);
        ck_assert_int_eq(info.si_code, LX_CLD_EXITED);
        ck_assert_int_eq(info.si_pid, 2);
        ck_assert_int_eq(info.si_status, 6);
    }
    ck_assert_int_eq(box_call(box.th, NR_waitid, LX_P_ALL, 0, A, LX_WEXITED, 0), -ECHILD);
    box_end();
}

TEST(stop_and_continue_reports)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct lx_siginfo info;
    box_mask(box.th, LX_SIGMASK(LX_SIGCHLD));
    box_action(box.th, LX_SIGCHLD, 0x40001000, 0, 0);
    box_call(box.th, NR_kill, 2, LX_SIGSTOP);
    box_run();
    ck_assert_int_eq(signal_dequeue(box.task, ~0ull, &info), LX_SIGCHLD);
    ck_assert_int_eq(info.si_code, LX_CLD_STOPPED);
    ck_assert_int_eq(info.si_status, LX_SIGSTOP);
    box_call(box.th, NR_kill, 2, LX_SIGCONT);
    box_run();
    ck_assert_int_eq(signal_dequeue(box.task, ~0ull, &info), LX_SIGCHLD);
    ck_assert_int_eq(info.si_code, LX_CLD_CONTINUED);
    ck_assert_int_eq(wait_any(box.th, LX_WCONTINUED), 2);
    ck_assert_uint_eq(box_get32(box.th, A), LX_W_CONTINUED);
    /* SA_NOCLDSTOP: no signal, but wait reports it. */
    box_action(box.th, LX_SIGCHLD, 0x40001000, LX_SA_NOCLDSTOP, 0);
    box_call(box.th, NR_kill, 2, LX_SIGSTOP);
    box_run();
    ck_assert_int_eq(signal_dequeue(box.task, ~0ull, &info), 0);
    ck_assert_int_eq(wait_any(box.th, LX_WUNTRACED), 2);
    (void)child;
    box_end();
}

TEST(groups_and_sessions)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(box.th, NR_setsid, 0), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 0, 0), -EPERM); /* session leader */
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 2, 77), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 2, ANY), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 9, 0), -ESRCH);
    ck_assert_int_eq(box_call(child, NR_setpgid, 1, 0), -ESRCH); /* not a child */
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 2, 2), 0);
    ck_assert_int_eq(box_call(box.th, NR_getpgid, 2), 2);
    ck_assert_int_eq(box_call(child, NR_setpgid, 0, 1), 0);
    ck_assert_int_eq(box_call(child, NR_setsid, 0), 2);
    ck_assert_int_eq(box_call(box.th, NR_getsid, 2), 2);
    ck_assert_int_eq(box_call(box.th, NR_setpgid, 2, 1), -EPERM); /* another session */
    ck_assert_int_eq(box_call(box.th, NR_getsid, 9), -ESRCH);
    box_end();
}

/* A stopped group whose last tie to its session ends gets SIGHUP and goes on. */
TEST(orphaned_group)
{
    box_begin();
    struct plat_thread *shell = box_fork(box.th);
    ck_assert_int_eq(box_call(shell, NR_setsid, 0), 2);
    struct plat_thread *job = box_fork(shell);
    uint64_t id = fake_id(job);
    ck_assert_int_eq(box_call(shell, NR_setpgid, 3, 3), 0);
    ck_assert_int_eq(box_call(shell, NR_kill, 3, LX_SIGTSTP), 0);
    box_run();
    ck_assert_int_eq(box_task(job)->group->stop, GROUP_STOPPED);
    ck_assert_int_eq(box_call(shell, NR_exit, 0), FAKE_GONE);
    box_run();
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_int_eq(wait_any(box.th, 0), 3);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGHUP);
    box_end();
}

/* Pids are not handed out again while a group or session bears the number. */
TEST(pids)
{
    box_begin();
    struct plat_thread *leader = box_fork(box.th);
    box_call(leader, NR_setpgid, 0, 0);
    struct plat_thread *member = box_fork(leader);
    box_call(leader, NR_exit, 0);
    ck_assert_int_eq(wait_any(box.th, 0), 2);
    ck_assert_int_eq(box_call(member, NR_getpgrp, 0), 2);
    ck_assert_int_eq(box_call(box.th, NR_kill, (uint64_t)-2, 0), 0);
    ck_assert_ptr_null(task_by_pid(2));
    ck_assert_ptr_null(thread_group_by_pid(40000));
    ck_assert_ptr_null(task_by_pid(UINT32_MAX));
    for (int i = 0; i < 33000; i++) {
        struct task *t;
        struct thread_group *tg;
        ck_assert_int_eq(thread_group_new(&tg), 0);
        ck_assert_int_eq(task_new(tg, &t), 0);
        ck_assert_int_eq(pid_alloc(t), 0);
        ck_assert_uint_ne(t->pid, 2);
        ck_assert(i < 32764 || t->pid >= 300);
        pid_free(t->pid);
        task_put(t);
        thread_group_put(tg);
    }
    box_end();
}

TEST(task_limit)
{
    box_begin();
    limit_set(LIMIT_TASKS, 2);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(box.th, NR_fork, 0), -EAGAIN);
    ck_assert_int_eq(box_call(child, NR_fork, 0), -EAGAIN);
    box_call(child, NR_exit, 0);
    ck_assert_int_eq(box_call(box.th, NR_fork, 0), 3);
    box_end();
}

/* The end of the first process is the end of the run, whatever else lives. */
TEST(end_of_run)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_pause, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_exit_group, 4), FAKE_GONE);
    ck_assert(kernel.ended);
    ck_assert_int_eq(kernel.exit_status, 4 << 8);
    box_end();
}

TEST(host_refuses)
{
    for (uint64_t n = 1; n < 8; n++) {
        box_begin();
        fake_fail_after(box.p, n, -ENOMEM);
        int64_t r = box_call(box.th, NR_fork, 0);
        ck_assert(r == -ENOMEM || r == 2);
        fake_fail_after(box.p, 0, 0);
        ck_assert_uint_eq(limit_used(LIMIT_TASKS), r > 0 ? 2 : 1);
        box_end();
    }
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            int64_t r = box_call(box.th, NR_fork, 0);
            if (r > 0) {
                struct plat_thread *child = fake_thread(box.p, fake_newest(box.p));
                (void)box_call(child, NR_setsid, 0);
                (void)box_call(child, NR_setpgid, 0, 0);
                (void)box_call(child, NR_exit, 0);
            } else {
                ck_assert(r == -ENOMEM || r == -EAGAIN);
            }
            (void)wait_any(box.th, 0);
            (void)box_call(box.th, NR_vfork, 0);
            box_end();
        }
    }
}

/* Init has no parent that could have another child. */
TEST(brother_of_init)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_clone, LX_CLONE_PARENT | LX_SIGCHLD, 0), -EINVAL);
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *brother = box_clone(child, LX_CLONE_PARENT | LX_SIGUSR1, 0);
    ck_assert_ptr_eq(box_task(brother)->group->parent, box.task->group);
    ck_assert_int_eq(box_task(brother)->group->exit_signal, LX_SIGCHLD);
    box_end();
}

static int64_t set_rlimit(uint64_t res, uint64_t cur, uint64_t max)
{
    struct lx_rlimit rl = {cur, max};

    box_write(box.th, BOX_MEM, &rl, sizeof(rl));
    return box_call(box.th, NR_setrlimit, res, BOX_MEM);
}

/* With all capabilities: others may be raised again, those of the run only as far as it goes. */
TEST(root_does_not_outgrow_the_run)
{
    box_begin();
    kernel.start_files = 100;
    kernel.start_file_size = 1u << 20;
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_NOFILE, 50, 50), 0);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_NOFILE, 100, 100), 0);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_NOFILE, 100, 101), -EPERM);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_FSIZE, 4096, 4096), 0);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_FSIZE, LX_RLIM_INFINITY, LX_RLIM_INFINITY), -EPERM);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_FSIZE, 1u << 20, 1u << 20), 0);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_DATA, 4096, 4096), 0);
    ck_assert_int_eq(set_rlimit(LX_RLIMIT_DATA, LX_RLIM_INFINITY, LX_RLIM_INFINITY), 0);
    box_end();
}

TEST_SUITE(process)
{
    TEST_ADD(brother_of_init);
    TEST_ADD(fork_copies_memory);
    TEST_ADD(clone_arguments);
    TEST_ADD(thread_words);
    TEST_ADD(leader_ends_first);
    TEST_ADD(exit_group_ends_all);
    TEST_ADD(host_death);
    TEST_ADD(vfork_waits);
    TEST_ADD(vfork_killed);
    TEST_ADD(orphans);
    TEST_ADD(subreaper);
    TEST_ADD(ignored_children);
    TEST_ADD(wait_selects);
    TEST_ADD(waitid_reports);
    TEST_ADD(stop_and_continue_reports);
    TEST_ADD(groups_and_sessions);
    TEST_ADD(orphaned_group);
    TEST_ADD(pids);
    TEST_ADD(task_limit);
    TEST_ADD(end_of_run);
    TEST_ADD(host_refuses);
    TEST_ADD(out_of_memory);
    TEST_ADD(root_does_not_outgrow_the_run);
}
