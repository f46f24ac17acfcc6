/* The states of tracees: where they stop, how they go on, and what the end of either side does. */
#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/ptrace.h"
#include "abi/sched.h"
#include "abi/wait.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define A         BOX_MEM
#define REGS      (BOX_MEM + 4096)
#define ANY       ~0ull
#define SYSGOOD   (LX_SIGTRAP | 0x80)
#define EVENT(e)  (LX_SIGTRAP | (e) << 8)
#define STOP(sig) (uint32_t)((sig) << 8 | 0x7f)

static int64_t trace(int request, uint64_t pid, uint64_t addr, uint64_t data)
{
    return box_call(box.th, NR_ptrace, (uint64_t)request, pid, addr, data);
}

static int64_t wait_for(uint64_t pid)
{
    return box_call(box.th, NR_wait4, pid, A, LX_WNOHANG | LX___WALL, 0);
}

/* The next stop of pid, which is there. */
#define EXPECT_STOP(pid, code)                               \
    do {                                                     \
        ck_assert_int_eq(wait_for(pid), (int64_t)(pid));     \
        ck_assert_uint_eq(box_get32(box.th, A), STOP(code)); \
    } while (0)

/* A child of the first process that it has seized, running; its pid is 2. */
static struct plat_thread *seized(uint64_t options)
{
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(trace(LX_PTRACE_SEIZE, 2, 0, options), 0);
    return child;
}

/* The tracee 2 is sent a signal, and stops for it. */
static void stop_by(int signo)
{
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, (uint64_t)signo), 0);
    box_run();
    EXPECT_STOP(2, signo);
}

static void interrupt(uint64_t pid)
{
    ck_assert_int_eq(trace(LX_PTRACE_INTERRUPT, pid, 0, 0), 0);
    box_run();
    EXPECT_STOP(pid, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
}

static struct lx_user_regs regs(uint64_t pid)
{
    struct lx_user_regs r;
    ck_assert_int_eq(trace(LX_PTRACE_GETREGS, pid, 0, REGS), 0);
    box_read(box.th, REGS, &r, sizeof(r));
    return r;
}

static void set_regs(uint64_t pid, const struct lx_user_regs *r)
{
    box_write(box.th, REGS, r, sizeof(*r));
    ck_assert_int_eq(trace(LX_PTRACE_SETREGS, pid, 0, REGS), 0);
}

static void go(int request, uint64_t pid, uint64_t signo)
{
    ck_assert_int_eq(trace(request, pid, 0, signo), 0);
    box_run();
}

TEST(a_call_stops_twice)
{
    box_begin();
    struct plat_thread *child = seized(LX_PTRACE_O_TRACESYSGOOD);
    interrupt(2);
    go(LX_PTRACE_SYSCALL, 2, 0);
    ck_assert_int_eq(box_call(child, NR_getppid, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_task(child)->state, TASK_TRACED);
    EXPECT_STOP(2, SYSGOOD);
    struct lx_user_regs r = regs(2);
    ck_assert_uint_eq(r.orig_rax, NR_getppid);
    ck_assert_int_eq((int64_t)r.rax, -ENOSYS);
    r.orig_rax = NR_getpid;
    set_regs(2, &r);
    go(LX_PTRACE_SYSCALL, 2, 0);
    EXPECT_STOP(2, SYSGOOD);
    r = regs(2);
    ck_assert_uint_eq(r.rax, 2);
    ck_assert_uint_eq(r.orig_rax, NR_getpid);
    r.rax = 4711;
    set_regs(2, &r);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(fake_result(child), 4711);
    ck_assert_int_eq(box_call(child, NR_getpid, 0), 2);
    box_end();
}

/* What the host would execute in an untraced thread runs in its stub; a skipped call does not run.
 */
TEST(host_calls_and_skipped_ones)
{
    box_begin();
    struct plat_thread *child = seized(LX_PTRACE_O_TRACESYSGOOD);
    struct plat_as *as = plat_ops->thread_as(child);
    interrupt(2);
    go(LX_PTRACE_SYSCALL, 2, 0);
    ck_assert_int_eq(box_call(child, NR_munmap, A, 4096), FAKE_BLOCKED);
    EXPECT_STOP(2, SYSGOOD);
    ck_assert_int_ne(fake_page_prot(as, A), -1);
    go(LX_PTRACE_SYSCALL, 2, 0);
    EXPECT_STOP(2, SYSGOOD);
    ck_assert_int_eq(fake_page_prot(as, A), -1);
    ck_assert_uint_eq(regs(2).rax, 0);
    go(LX_PTRACE_SYSEMU, 2, 0);
    ck_assert_int_eq(fake_result(child), 0);
    ck_assert_int_eq(box_call(child, NR_munmap, A + 4096, 4096), FAKE_BLOCKED);
    EXPECT_STOP(2, SYSGOOD);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(fake_result(child), -ENOSYS);
    ck_assert_int_ne(fake_page_prot(as, A + 4096), -1);
    ck_assert_int_eq(box_call(child, NR_munmap, A + 4096, 4096), 0);
    ck_assert_int_eq(fake_page_prot(as, A + 4096), -1);
    box_end();
}

TEST(the_tracer_chooses_the_signal)
{
    box_begin();
    struct plat_thread *child = seized(0);
    stop_by(LX_SIGTERM);
    ck_assert_int_eq(trace(LX_PTRACE_CONT, 2, 0, 65), -EIO);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(fake_state(child), FAKE_RUNNING);
    /* Ignored ones too. */
    stop_by(LX_SIGWINCH);
    go(LX_PTRACE_CONT, 2, LX_SIGKILL);
    ck_assert_int_eq(wait_for(2), 2);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGKILL);
    ck_assert_int_eq(wait_for(2), -ECHILD);
    box_end();
}

TEST(a_blocked_call_is_interrupted_and_starts_over)
{
    box_begin();
    struct plat_thread *child = seized(0);
    ck_assert_int_eq(box_call(child, NR_pause, 0), FAKE_BLOCKED);
    interrupt(2);
    struct lx_user_regs r = regs(2);
    ck_assert_uint_eq(r.orig_rax, NR_pause);
    ck_assert_int_eq((int64_t)r.rax, -ERESTARTNOHAND);
    uint64_t ip = r.rip;
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(fake_state(child), FAKE_RUNNING);
    ck_assert_uint_eq(fake_regs(child)->rip, ip - 2);
    ck_assert_uint_eq(fake_regs(child)->rax, NR_pause);
    box_end();
}

TEST(killed_while_stopped)
{
    box_begin();
    struct plat_thread *child = seized(0);
    uint64_t id = fake_id(child);
    interrupt(2);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGKILL), 0);
    box_run();
    ck_assert(!fake_alive(box.p, id));
    ck_assert_int_eq(trace(LX_PTRACE_CONT, 2, 0, 0), -ESRCH);
    ck_assert_int_eq(wait_for(2), 2);
    ck_assert_uint_eq(box_get32(box.th, A), LX_SIGKILL);
    box_end();
}

TEST(children_are_traced)
{
    box_begin();
    struct plat_thread *child = seized(LX_PTRACE_O_TRACEFORK);
    ck_assert_int_eq(box_call(child, NR_fork, 0), FAKE_BLOCKED);
    struct plat_thread *grandchild = fake_thread(box.p, fake_newest(box.p));
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_FORK));
    ck_assert_int_eq(trace(LX_PTRACE_GETEVENTMSG, 2, 0, REGS), 0);
    ck_assert_uint_eq(box_get64(box.th, REGS), 3);
    EXPECT_STOP(3, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(fake_result(child), 3);
    /* Its tracer is told of its end before its parent. */
    go(LX_PTRACE_CONT, 3, 0);
    ck_assert_int_eq(box_call(grandchild, NR_exit_group, 7), FAKE_GONE);
    ck_assert_int_eq(box_call(child, NR_wait4, 3, A, LX_WNOHANG, 0), 0);
    ck_assert_int_eq(wait_for(3), 3);
    EXPECT_STOP(2, LX_SIGCHLD);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(box_call(child, NR_wait4, 3, A, LX_WNOHANG, 0), 3);
    box_end();
}

TEST(vfork_events)
{
    box_begin();
    struct plat_thread *child = seized(LX_PTRACE_O_TRACEVFORK | LX_PTRACE_O_TRACEVFORKDONE);
    ck_assert_int_eq(box_call(child, NR_vfork, 0), FAKE_BLOCKED);
    struct plat_thread *grandchild = fake_thread(box.p, fake_newest(box.p));
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_VFORK));
    EXPECT_STOP(3, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(wait_for(2), 0);
    go(LX_PTRACE_CONT, 3, 0);
    ck_assert_int_eq(box_call(grandchild, NR_exit, 0), FAKE_GONE);
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_VFORK_DONE));
    ck_assert_int_eq(wait_for(3), 3);
    go(LX_PTRACE_CONT, 2, 0);
    EXPECT_STOP(2, LX_SIGCHLD);
    box_end();
}

/* A traced thread that ended keeps its pid until it is waited for; the leader comes last. */
TEST(zombies_of_threads)
{
    box_begin();
    struct plat_thread *child = seized(LX_PTRACE_O_TRACECLONE);
    uint64_t flags =
        LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND | LX_CLONE_THREAD;
    ck_assert_int_eq(box_call(child, NR_clone, flags, A + 65536), FAKE_BLOCKED);
    struct plat_thread *thread = fake_thread(box.p, fake_newest(box.p));
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_CLONE));
    EXPECT_STOP(3, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
    go(LX_PTRACE_CONT, 2, 0);
    go(LX_PTRACE_CONT, 3, 0);
    ck_assert_int_eq(box_call(thread, NR_exit, 5), FAKE_GONE);
    ck_assert_int_eq(box_call(child, NR_exit_group, 6), FAKE_GONE);
    ck_assert_int_eq(wait_for(2), 0);
    ck_assert_ptr_nonnull(task_by_pid(3));
    ck_assert_int_eq(wait_for(3), 3);
    ck_assert_uint_eq(box_get32(box.th, A), LX_W_EXITCODE(6)); /* of the group by now */
    ck_assert_ptr_null(task_by_pid(3));
    ck_assert_int_eq(wait_for(2), 2);
    ck_assert_int_eq(wait_for(ANY), -ECHILD);
    box_end();
}

/* A thread that executes takes the place of the leader, traced or not. */
TEST(exec_by_a_thread)
{
    int64_t err;
    box_begin();
    ck_assert_int_eq(box_program(box.th, "/prog"), 0);
    struct plat_thread *child = seized(LX_PTRACE_O_TRACECLONE | LX_PTRACE_O_TRACEEXEC);
    uint64_t flags =
        LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND | LX_CLONE_THREAD;
    ck_assert_int_eq(box_call(child, NR_clone, flags, A + 65536), FAKE_BLOCKED);
    struct plat_thread *thread = fake_thread(box.p, fake_newest(box.p));
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_CLONE));
    EXPECT_STOP(3, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
    go(LX_PTRACE_CONT, 3, 0);
    ck_assert_ptr_nonnull(box_exec(thread, "/prog", &err));
    EXPECT_STOP(2, EVENT(LX_PTRACE_EVENT_EXEC));
    ck_assert_int_eq(trace(LX_PTRACE_GETEVENTMSG, 2, 0, REGS), 0);
    ck_assert_uint_eq(box_get64(box.th, REGS), 3);
    ck_assert_uint_eq(regs(2).rip, BOX_ENTRY);
    ck_assert_int_eq(trace(LX_PTRACE_CONT, 3, 0, 0), -ESRCH);
    go(LX_PTRACE_CONT, 2, 0);
    ck_assert_int_eq(task_by_pid(2)->state, TASK_RUNNING);
    box_end();
}

TEST(the_tracer_ends)
{
    box_begin();
    struct plat_thread *tracee = box_fork(box.th), *tracer = box_fork(box.th);
    ck_assert_int_eq(box_call(tracer, NR_ptrace, LX_PTRACE_SEIZE, 2, 0, 0), 0);
    ck_assert_int_eq(trace(LX_PTRACE_SEIZE, 2, 0, 0), -EPERM);
    ck_assert_int_eq(box_call(tracer, NR_ptrace, LX_PTRACE_INTERRUPT, 2, 0, 0), 0);
    box_run();
    ck_assert_int_eq(box_task(tracee)->state, TASK_TRACED);
    ck_assert_int_eq(box_call(tracer, NR_exit_group, 0), FAKE_GONE);
    ck_assert_int_eq(fake_state(tracee), FAKE_RUNNING);
    ck_assert_ptr_null(box_task(tracee)->ptrace);
    /* With EXITKILL it goes too. */
    uint64_t id = fake_id(tracee);
    tracer = box_fork(box.th);
    ck_assert_int_eq(box_call(tracer, NR_ptrace, LX_PTRACE_SEIZE, 2, 0, LX_PTRACE_O_EXITKILL), 0);
    ck_assert_int_eq(box_call(tracer, NR_exit_group, 0), FAKE_GONE);
    ck_assert(!fake_alive(box.p, id));
    box_end();
}

TEST(group_stops_of_a_seized_tracee)
{
    box_begin();
    struct plat_thread *child = seized(0);
    stop_by(LX_SIGSTOP);
    ck_assert_int_eq(trace(LX_PTRACE_LISTEN, 2, 0, 0), -EIO);
    go(LX_PTRACE_CONT, 2, LX_SIGSTOP);
    EXPECT_STOP(2, LX_SIGSTOP | LX_PTRACE_EVENT_STOP << 8);
    ck_assert_int_eq(box_task(child)->group->stop, GROUP_STOPPED);
    go(LX_PTRACE_LISTEN, 2, 0);
    ck_assert_int_eq(trace(LX_PTRACE_CONT, 2, 0, 0), -ESRCH);
    ck_assert_int_eq(wait_for(2), 0);
    ck_assert_int_eq(box_call(box.th, NR_kill, 2, LX_SIGCONT), 0);
    box_run();
    EXPECT_STOP(2, LX_SIGTRAP | LX_PTRACE_EVENT_STOP << 8);
    go(LX_PTRACE_CONT, 2, 0);
    EXPECT_STOP(2, LX_SIGCONT);
    go(LX_PTRACE_DETACH, 2, 0);
    ck_assert_int_eq(fake_state(child), FAKE_RUNNING);
    box_end();
}

TEST(steps)
{
    box_begin();
    struct plat_thread *child = seized(0);
    interrupt(2);
    go(LX_PTRACE_SINGLESTEP, 2, 0);
    ck_assert_uint_ne(fake_regs(child)->eflags & 0x100, 0);
    fake_raise_fault(child, LX_SIGTRAP, LX_TRAP_TRACE, 0x1234);
    box_run();
    EXPECT_STOP(2, LX_SIGTRAP);
    ck_assert_uint_eq(regs(2).eflags & 0x100, 0);
    /* Over a call, of which only the end is told. */
    go(LX_PTRACE_SINGLESTEP, 2, 0);
    ck_assert_int_eq(box_call(child, NR_getpid, 0), FAKE_BLOCKED);
    EXPECT_STOP(2, LX_SIGTRAP);
    ck_assert_uint_eq(regs(2).rax, 2);
    /* The trap of a step whose tracer has gone is nobody's. */
    go(LX_PTRACE_SINGLESTEP, 2, 0);
    ptrace_tracer_exit(box.task);
    fake_raise_fault(child, LX_SIGTRAP, LX_TRAP_TRACE, 0x1234);
    box_run();
    ck_assert_int_eq(fake_state(child), FAKE_RUNNING);
    ck_assert_uint_eq(fake_regs(child)->eflags & 0x100, 0);
    box_end();
}

TEST(forced_memory)
{
    box_begin();
    struct plat_thread *child = seized(0);
    struct plat_as *as = plat_ops->thread_as(child);
    ck_assert_int_eq(box_call(child, NR_mprotect, A, 4096, LX_PROT_NONE), 0);
    interrupt(2);
    ck_assert_int_eq(trace(LX_PTRACE_POKEDATA, 2, A + 8, 0x1122334455667788), 0);
    ck_assert_int_eq(fake_page_prot(as, A), LX_PROT_NONE);
    ck_assert_int_eq(trace(LX_PTRACE_PEEKDATA, 2, A + 8, REGS), 0);
    ck_assert_uint_eq(box_get64(box.th, REGS), 0x1122334455667788);
    ck_assert_int_eq(trace(LX_PTRACE_PEEKDATA, 2, 8, REGS), -EIO);
    ck_assert_int_eq(trace(LX_PTRACE_PEEKDATA, 2, kernel.layout.stub_start, REGS), -EIO);
    box_end();
}

TEST(permission)
{
    box_begin();
    struct plat_thread *other = box_fork(box.th);
    struct task *t = box_task(other);
    ck_assert_int_eq(trace(LX_PTRACE_ATTACH, 1, 0, 0), -EPERM);
    ck_assert_int_eq(box_call(other, NR_ptrace, LX_PTRACE_ATTACH, 1, 0, 0), 0);
    ck_assert_int_eq(box_call(other, NR_ptrace, LX_PTRACE_KILL, 1, 0, 0), 0);
    struct cred *c = cred_dup(box.task->cred);
    ck_assert_ptr_nonnull(c);
    cred_put(box.task->cred);
    box.task->cred = c;
    c->cap_effective = c->cap_permitted = 0;
    ck_assert(!ptrace_may_access(box.task, t, PTRACE_MODE_REALCREDS)); /* it can do more */
    ck_assert_int_eq(box_call(other, NR_ptrace, LX_PTRACE_TRACEME, 0, 0, 0), -EPERM);
    c->cap_permitted = t->cred->cap_permitted;
    ck_assert(ptrace_may_access(box.task, t, PTRACE_MODE_REALCREDS));
    ck_assert(!ptrace_may_access(box.task, t, PTRACE_MODE_FSCREDS));
    t->group->dumpable = false;
    ck_assert(!ptrace_may_access(box.task, t, PTRACE_MODE_REALCREDS));
    t->group->dumpable = true;
    c->gid = 4;
    ck_assert(!ptrace_may_access(box.task, t, PTRACE_MODE_REALCREDS));
    c->cap_effective = 1ull << LX_CAP_SYS_PTRACE;
    ck_assert(ptrace_may_access(box.task, t, PTRACE_MODE_REALCREDS));
    box_end();
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            struct plat_thread *child = NULL;
            if (box_call(box.th, NR_fork, 0) > 0)
                child = fake_thread(box.p, fake_newest(box.p));
            int64_t r = child != NULL ? trace(LX_PTRACE_SEIZE, 2, 0, LX_PTRACE_O_TRACEFORK) : -1;
            if (r == 0)
                (void)box_call(child, NR_fork, 0);
            else
                ck_assert(child == NULL || r == -ENOMEM);
            (void)wait_for(ANY);
            box_end();
        }
    }
}

TEST_SUITE(ptrace)
{
    TEST_ADD(a_call_stops_twice);
    TEST_ADD(host_calls_and_skipped_ones);
    TEST_ADD(the_tracer_chooses_the_signal);
    TEST_ADD(a_blocked_call_is_interrupted_and_starts_over);
    TEST_ADD(killed_while_stopped);
    TEST_ADD(children_are_traced);
    TEST_ADD(vfork_events);
    TEST_ADD(zombies_of_threads);
    TEST_ADD(exec_by_a_thread);
    TEST_ADD(the_tracer_ends);
    TEST_ADD(group_stops_of_a_seized_tracee);
    TEST_ADD(steps);
    TEST_ADD(forced_memory);
    TEST_ADD(permission);
    TEST_ADD(out_of_memory);
}
