/* From an event to the answer: parked calls, spurious wake-ups, deadlines, calls of the host,
 * kicks. */
#include "abi/errno.h"
#include "abi/futex.h"
#include "abi/mman.h"
#include "abi/prctl.h"
#include "abi/sched.h"
#include "abi/time.h"
#include "abi/wait.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/vma_tree.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define A       BOX_MEM
#define HANDLER 0x40001000ull

TEST(unknown_calls)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, 9999, 0), -ENOSYS);
    ck_assert_int_eq(box_call(box.th, ~0ull, 0), -ENOSYS);
    ck_assert_int_eq(box_call(box.th, 400, 0), -ENOSYS);
    ck_assert_int_eq(box_call(box.th, NR_mount, 0), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_io_uring_setup, 1), -ENOSYS);
    ck_assert_uint_eq(kernel.unsupported[NR_mount], 1);
    ck_assert_uint_eq(kernel.unsupported[400], 1);
    ck_assert_int_eq(box_call(box.th, NR_restart_syscall, 0), -EINTR);
    box_end();
}

/* A call that is woken for nothing waits on; its waits and deadline are its own. */
TEST(spurious_wakeups)
{
    box_begin();
    box_write(box.th, A, &(struct lx_timespec){5, 0}, 16);
    ck_assert_int_eq(box_call(box.th, NR_nanosleep, A, 0), FAKE_BLOCKED);
    for (int i = 0; i < 10; i++) {
        task_wake(box.task);
        task_wake(box.task); /* queued once */
        box_advance(NSEC_PER_SEC / 10);
        ck_assert_int_eq(box.task->state, TASK_BLOCKED);
    }
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    box_advance(5 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(box.th), 0);
    ck_assert(!box.task->restart.active && !task_has_deadline(box.task));
    task_wake(box.task); /* running: nothing */
    box_run();
    ck_assert_uint_eq(limit_used(LIMIT_WAITS), 0);
    box_end();
}

/* A second deadline while the first is armed moves it. */
TEST(deadline_moves)
{
    box_begin();
    box_write(box.th, A, &(struct lx_timespec){5, 0}, 16);
    ck_assert_int_eq(box_call(box.th, NR_nanosleep, A, 0), FAKE_BLOCKED);
    task_set_deadline(box.task, clock_monotonic() + NSEC_PER_SEC);
    task_wake(box.task);
    box_run();
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    box_advance(2 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(box.th), 0);
    box_end();
}

TEST(host_calls)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_arch_prctl, LX_ARCH_SET_FS, 0x7000), 0);
    ck_assert_uint_eq(fake_fs_base(box.th), 0x7000);
    ck_assert_int_eq(box_call(box.th, NR_arch_prctl, LX_ARCH_GET_FS, A), 0);
    ck_assert_uint_eq(box_get64(box.th, A), 0x7000);
    ck_assert_int_eq(box_call(box.th, NR_arch_prctl, LX_ARCH_SET_FS, ~0ull), -EPERM);
    ck_assert_int_eq(box_call(box.th, NR_munmap, BOX_MEM + 4096, 4096), 0);
    ck_assert_int_eq(fake_page_prot(plat_ops->thread_as(box.th), BOX_MEM + 4096), -1);
    /* A signal that came meanwhile is not forgotten. */
    box_action(box.th, LX_SIGUSR1, HANDLER, 0, 0);
    fake_raise_syscall(box.th, NR_munmap, (const uint64_t[6]){BOX_MEM + 8192, 4096});
    signal_send_kernel_task(box.task, LX_SIGUSR1);
    box_run();
    ck_assert_uint_eq(fake_regs(box.th)->rip, HANDLER);
    ck_assert_int_eq(box_sigreturn(box.th), 0);
    box_end();
}

/* Computing threads are interrupted, the registers they had come back. */
TEST(interrupted_computation)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
    fake_regs(child)->rax = 0x1234;
    fake_regs(child)->rip = 0x400500;
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGUSR1), 0);
    box_run();
    ck_assert_uint_eq(fake_regs(child)->rip, HANDLER);
    ck_assert_int_eq(box_sigreturn(child), 0x1234);
    ck_assert_uint_eq(fake_regs(child)->rip, 0x400500);
    box_end();
}

/* The signal comes when the thread's call is raised but not yet seen: the call runs, then the
 * handler. */
TEST(interrupt_meets_call)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    box_action(child, LX_SIGUSR1, HANDLER, LX_SA_RESTART, 0);
    fake_raise_syscall(child, NR_getpid, (const uint64_t[6]){0});
    signal_send_kernel_task(box_task(child), LX_SIGUSR1);
    box_run();
    ck_assert_uint_eq(fake_regs(child)->rip, HANDLER);
    ck_assert_int_eq(box_sigreturn(child), 2);
    fake_raise_syscall(child, NR_futex, (const uint64_t[6]){A, LX_FUTEX_WAIT, 0});
    signal_send_kernel_task(box_task(child), LX_SIGUSR1);
    box_run();
    ck_assert_uint_eq(fake_regs(child)->rip, HANDLER);
    ck_assert_int_eq(box_sigreturn(child), NR_futex);
    box_end();
}

/* fork asks for the registers first; a signal then goes before it, and the call starts over. */
TEST(kick_and_signal)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    box_action(child, LX_SIGUSR1, HANDLER, 0, 0);
    fake_raise_syscall(child, NR_fork, (const uint64_t[6]){0});
    signal_send_kernel_task(box_task(child), LX_SIGUSR1);
    box_run();
    ck_assert_uint_eq(fake_thread_count(box.p), 2);
    ck_assert_uint_eq(fake_regs(child)->rip, HANDLER);
    ck_assert_int_eq(box_sigreturn(child), NR_fork);
    box_end();
}

/* A task whose group is stopped waits at the point that it has reached: call, kick, answer. */
TEST(stopped_at_each_point)
{
    static const uint64_t calls[] = {NR_getpid, NR_fork, NR_munmap, NR_futex};

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        box_begin();
        struct plat_thread *child = box_fork(box.th);
        fake_raise_syscall(child, calls[i], (const uint64_t[6]){A, 4096});
        signal_send_kernel_group(box_task(child)->group, LX_SIGSTOP);
        box_run();
        ck_assert_int_eq(box_task(child)->group->stop, GROUP_STOPPED);
        if (calls[i] != NR_futex)
            ck_assert_int_ne(fake_state(child), FAKE_RUNNING);
        ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGCONT), 0);
        box_run();
        int64_t r = fake_result(child);
        if (calls[i] == NR_getpid)
            ck_assert_int_eq(r, 2);
        else if (calls[i] == NR_fork)
            ck_assert_int_eq(r, 3);
        else if (calls[i] == NR_munmap)
            ck_assert_int_eq(r, 0);
        else
            ck_assert(r == -EAGAIN || r == -ENOSYS || r == FAKE_BLOCKED || r == -EFAULT);
        box_end();
    }
}

/* SIGCONT from a task that is itself run from the queue, in the very pass that puts the other
 * aside. */
TEST(continue_within_a_pass)
{
    box_begin();
    struct plat_thread *child = box_fork(box.th);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    box_write(child, A, &(struct lx_timespec){1, 0}, 16);
    ck_assert_int_eq(box_call(child, NR_nanosleep, A, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(two, NR_nanosleep, A, 0), FAKE_BLOCKED);
    signal_send_kernel_group(box_task(child)->group, LX_SIGSTOP);
    box_run();
    kernel.boot_monotonic -= 2 * NSEC_PER_SEC;
    timer_run_expired();
    dispatch_run_queue();
    ck_assert_int_eq(fake_result(two), FAKE_BLOCKED);
    signal_send_kernel_group(box_task(child)->group, LX_SIGCONT);
    dispatch_run_queue();
    ck_assert_int_eq(fake_result(two), 0);
    ck_assert_int_eq(fake_result(child), 0);
    box_end();
}

TEST(fatal_platform)
{
    box_begin();
    struct plat_event ev = {.kind = PLAT_EV_FATAL, .text = "broken"};
    dispatch_event(&ev);
    ck_assert_str_eq(kernel.fatal, "broken");
    kernel.fatal = NULL;
    box_end();
}

/* -- exec by a thread that is not the leader --------------------------------------------------- */

TEST(exec_by_a_thread)
{
    int64_t err;

    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_program(child, "/x"), 0);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    struct plat_thread *three = box_thread(child, BOX_STACK_TOP - 12288);
    uint64_t ids[] = {fake_id(child), fake_id(two), fake_id(three)};
    ck_assert_int_eq(box_call(child, NR_pause, 0), FAKE_BLOCKED);
    box_action(two, LX_SIGUSR1, HANDLER, 0, 0);
    box_action(two, LX_SIGUSR2, LX_SIG_IGN, 0, 0);
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 4);
    ck_assert_ptr_null(box_exec(two, "/nothing", &err));
    ck_assert_int_eq(err, -ENOENT);
    struct plat_thread *fresh = box_exec(two, "/x", &err);
    ck_assert_ptr_nonnull(fresh);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ck_assert(!fake_alive(box.p, ids[i]));
    struct task *t = box_task(fresh);
    ck_assert_int_eq(box_call(fresh, NR_getpid, 0), 2);
    ck_assert_int_eq(box_call(fresh, NR_gettid, 0), 2);
    ck_assert_ptr_eq(t, t->group->leader);
    ck_assert_ptr_eq(task_by_pid(2), t);
    ck_assert_ptr_null(task_by_pid(3));
    ck_assert_uint_eq(t->group->nthreads, 1);
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 2);
    ck_assert_uint_eq(t->sighand->action[LX_SIGUSR1 - 1].sa_handler, LX_SIG_DFL);
    ck_assert_uint_eq(t->sighand->action[LX_SIGUSR2 - 1].sa_handler, LX_SIG_IGN);
    ck_assert_int_eq(box_call(fresh, NR_exit, 9), FAKE_GONE);
    ck_assert_int_eq(box_call(box.th, NR_wait4, ~0ull, A, 0, 0), 2);
    ck_assert_uint_eq(box_get32(box.th, A), 9 << 8);
    box_end();
}

/* The leader has ended before; the other thread executes. */
TEST(exec_after_the_leader)
{
    int64_t err;

    box_begin();
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_program(child, "/x"), 0);
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    ck_assert_int_eq(box_call(child, NR_set_tid_address, A), 2);
    ck_assert_int_eq(box_call(child, NR_exit, 0), FAKE_GONE);
    struct plat_thread *fresh = box_exec(two, "/x", &err);
    ck_assert_ptr_nonnull(fresh);
    ck_assert_int_eq(box_call(fresh, NR_gettid, 0), 2);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGKILL), 0);
    ck_assert_int_eq(box_call(box.th, NR_wait4, 2, A, 0, 0), 2);
    box_end();
}

TEST(vfork_and_exec)
{
    int64_t err;

    box_begin();
    ck_assert_int_eq(box_program(box.th, "/x"), 0);
    uint64_t id = fake_newest(box.p) + 1;
    ck_assert_int_eq(box_call(box.th, NR_vfork, 0), FAKE_BLOCKED);
    struct plat_thread *fresh = box_exec(fake_thread(box.p, id), "/x", &err);
    ck_assert_ptr_nonnull(fresh);
    ck_assert_int_eq(fake_result(box.th), 2);
    /* Memory is no longer shared: exit wakes nobody here. */
    ck_assert_int_eq(box_call(fresh, NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(box_call(box.th, NR_wait4, 2, A, 0, 0), 2);
    box_end();
}

TEST(exec_out_of_memory)
{
    for_each_failure {
        int64_t err = 0;
        if (box_try()) {
            struct plat_thread *two = NULL;
            if (box_program(box.th, "/x") == 0 &&
                box_call(box.th, NR_clone,
                         LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND |
                             LX_CLONE_THREAD,
                         BOX_STACK_TOP - 8192) > 0)
                two = fake_thread(box.p, fake_newest(box.p));
            if (two && fake_result(two) == 0 && !box_exec(two, "/x", &err))
                ck_assert_int_lt(err, 0);
            box_end();
        }
    }
}

/* A protection that another thread has still to perform keeps new mappings from its range. */
TEST(mprotect_by_a_late_thread)
{
    const uint64_t fixed = LX_MAP_PRIVATE | LX_MAP_ANONYMOUS | LX_MAP_FIXED, nofd = ~0ull;

    box_begin();
    struct mm *mm = box.task->mm;
    ck_assert_int_eq(box_call(box.th, NR_mprotect, A, 4096, LX_PROT_READ | LX_PROT_WRITE), 0);
    ck_assert_ptr_null(quarantine_find(mm, A, A + 4096)); /* alone */
    struct plat_thread *second = box_thread(box.th, BOX_STACK_TOP - 8192);
    ck_assert_int_eq(box_call(second, NR_mprotect, A, 4096, LX_PROT_READ), 0);
    ck_assert_ptr_null(quarantine_find(mm, A, A + 4096));
    ck_assert_int_eq(box_call(second, NR_mprotect, A, 4096, LX_PROT_READ | LX_PROT_WRITE), 0);
    ck_assert_ptr_nonnull(quarantine_find(mm, A, A + 4096));
    ck_assert_int_eq(box_call(box.th, NR_mmap, A, 4096, LX_PROT_READ, fixed, nofd, 0), (int64_t)A);
    ck_assert_ptr_null(quarantine_find(mm, A, A + 4096)); /* second was made to show itself */
    box_end();
}

TEST_SUITE(dispatch)
{
    TEST_ADD(unknown_calls);
    TEST_ADD(spurious_wakeups);
    TEST_ADD(deadline_moves);
    TEST_ADD(host_calls);
    TEST_ADD(interrupted_computation);
    TEST_ADD(interrupt_meets_call);
    TEST_ADD(kick_and_signal);
    TEST_ADD(stopped_at_each_point);
    TEST_ADD(continue_within_a_pass);
    TEST_ADD(fatal_platform);
    TEST_ADD(exec_by_a_thread);
    TEST_ADD(exec_after_the_leader);
    TEST_ADD(vfork_and_exec);
    TEST_ADD(exec_out_of_memory);
    TEST_ADD(mprotect_by_a_late_thread);
}
