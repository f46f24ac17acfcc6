/*
 * Tracers and tracees on a kernel without a host. Each step is six bytes: which thread, what it
 * does, and arguments: requests of ptrace, calls that make, stop, replace and end tasks, faults,
 * death behind the kernel's back. After each step every tracee is where its state says, and at the
 * end nothing is left.
 */
#include "abi/ptrace.h"

#include <stdlib.h>
#include <string.h>

#include "abi/mman.h"
#include "abi/sched.h"
#include "abi/wait.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "tests/support/box.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    STEP = 6,
    MAX_STEPS = 400,
    MAX_TASKS = 12
};

#define PATH   (BOX_MEM + 512)
#define ACTION (BOX_MEM + 1024)
#define REGS   (BOX_MEM + 4096)

static const int requests[] = {
    LX_PTRACE_TRACEME,     LX_PTRACE_ATTACH,
    LX_PTRACE_SEIZE,       LX_PTRACE_SEIZE,
    LX_PTRACE_CONT,        LX_PTRACE_CONT,
    LX_PTRACE_SYSCALL,     LX_PTRACE_SYSCALL,
    LX_PTRACE_SINGLESTEP,  LX_PTRACE_SYSEMU,
    LX_PTRACE_SETOPTIONS,  LX_PTRACE_GETREGS,
    LX_PTRACE_SETREGS,     LX_PTRACE_POKEUSR,
    LX_PTRACE_INTERRUPT,   LX_PTRACE_LISTEN,
    LX_PTRACE_DETACH,      LX_PTRACE_KILL,
    LX_PTRACE_SETSIGINFO,  LX_PTRACE_SETSIGMASK,
    LX_PTRACE_GETREGSET,   LX_PTRACE_GET_SYSCALL_INFO,
    LX_PTRACE_PEEKSIGINFO, LX_PTRACE_POKEDATA,
};

static const uint64_t flags[] = {
    LX_SIGCHLD,
    LX_CLONE_VM | LX_CLONE_VFORK | LX_SIGCHLD,
    LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND | LX_CLONE_THREAD,
    LX_CLONE_PTRACE | LX_SIGCHLD,
    LX_CLONE_PARENT | LX_SIGCHLD,
    LX_CLONE_UNTRACED | LX_SIGCHLD,
};

static const int signals[] = {0,          LX_SIGSTOP, LX_SIGCONT, LX_SIGTRAP,
                              LX_SIGUSR1, LX_SIGTSTP, LX_SIGCHLD, LX_SIGKILL};

static void request(struct plat_thread *th, const uint8_t *d)
{
    int nr = requests[d[1] % ARRAY_LEN(requests)];
    uint64_t addr = d[3], data = (uint64_t)signals[d[4] % ARRAY_LEN(signals)];

    if (nr == LX_PTRACE_SEIZE || nr == LX_PTRACE_SETOPTIONS) {
        addr = 0;
        data = d[4] | (d[5] & 1u) * LX_PTRACE_O_EXITKILL;
    } else if (nr == LX_PTRACE_POKEUSR) {
        addr = d[3] % 27 * 8u;
        data = d[5] & 1 ? d[4] : ~(uint64_t)d[4];
    } else if (nr != LX_PTRACE_CONT && nr != LX_PTRACE_SYSCALL && nr != LX_PTRACE_SINGLESTEP &&
               nr != LX_PTRACE_SYSEMU && nr != LX_PTRACE_DETACH) {
        addr = d[5] & 1 ? 8 : REGS;
        data = REGS;
    }
    (void)box_call(th, NR_ptrace, (uint64_t)nr, 2u + d[2] % MAX_TASKS, addr, data);
}

/* The first process stays: its end would be that of all. */
static void call(struct plat_thread *th, const uint8_t *d)
{
    uint64_t pid = 2u + d[2] % MAX_TASKS;
    uint64_t signo = (uint64_t)signals[d[3] % ARRAY_LEN(signals)];

    switch (d[1] % 16) {
    case 0:
    case 1:
    case 2:
        (void)box_call(th, NR_clone, flags[d[2] % ARRAY_LEN(flags)], BOX_MEM + 0x8000);
        break;
    case 3:
        if (th != box.th)
            (void)box_call(th, d[2] & 1 ? NR_exit : NR_exit_group, d[3]);
        break;
    case 4:
        if (th != box.th)
            (void)box_call(th, NR_execve, PATH, 0, 0);
        break;
    case 5:
        (void)box_call(th, NR_kill, pid, signo);
        break;
    case 6:
        (void)box_call(th, NR_tkill, pid, signo);
        break;
    case 7:
        if (th != box.th)
            (void)box_call(th, NR_pause, 0);
        break;
    case 8:
        (void)box_call(th, NR_munmap, BOX_MEM + 0x10000, 4096);
        break;
    case 9:
        (void)box_call(th, NR_mprotect, BOX_MEM + 0x20000, 4096, LX_PROT_READ);
        break;
    case 10:
        if (th != box.th)
            (void)box_call(th, NR_rt_sigreturn, 0);
        break;
    case 11:
        (void)box_call(th, NR_rt_sigaction, LX_SIGUSR1, d[2] & 1 ? ACTION : 0, 0, 8);
        break;
    case 12:
        (void)box_call(th, NR_setpgid, 0, d[2] % 4);
        break;
    default:
        (void)box_call(th, NR_wait4, d[2] & 1 ? pid : ~0ull, BOX_MEM,
                       LX_WNOHANG | LX___WALL | (d[3] & 1 ? LX_WUNTRACED : 0), 0);
    }
}

/* What ptrace.h says of a task and its tracer. */
static void check_task(const struct task *t)
{
    const struct ptrace *p = t->ptrace;

    KASSERT(t->state != TASK_TRACED || (p != NULL && t->in_context && t->pth != NULL));
    KASSERT(t->state != TASK_TRACED || p->tracer != NULL || p->resumed);
    KASSERT(p == NULL || p->task == t);
    KASSERT(p == NULL || (p->tracer != NULL) == !list_empty(&p->link));
    KASSERT(p == NULL || p->tracer == NULL || p->tracer->pth != NULL);
    KASSERT(t->pth != NULL || list_empty(&t->tracees));
}

static void check(void)
{
    for (uint32_t pid = 1; pid < 400; pid++) {
        const struct task *t = task_by_pid(pid);
        if (t != NULL)
            check_task(t);
    }
}

static void step(const uint8_t *d)
{
    struct plat_thread *th = box_pick(d[0] / 8);

    if (th == NULL || d[0] % 32 == 31)
        box_advance(NSEC_PER_SEC);
    else if (d[0] % 8 < 4)
        request(th, d);
    else if (d[0] % 32 == 30 && th != box.th)
        fake_raise_death(th);
    else if (d[0] % 8 == 5 && th != box.th)
        fake_raise_fault(th, d[1] & 1 ? LX_SIGTRAP : LX_SIGSEGV, LX_TRAP_TRACE, 8);
    else
        call(th, d);
    box_run();
    check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct lx_sigaction action = {
        .sa_handler = 0x40000000, .sa_flags = LX_SA_RESTORER, .sa_restorer = BOX_RESTORER};
    uint64_t balance = kalloc_balance();

    box_begin();
    limit_set(LIMIT_TASKS, MAX_TASKS);
    (void)box_program(box.th, "/x");
    box_write(box.th, PATH, "/x", 3);
    box_write(box.th, ACTION, &action, sizeof(action));
    (void)box_call(box.th, NR_clone, LX_SIGCHLD);
    (void)box_call(box.th, NR_clone, LX_SIGCHLD);
    for (size_t i = 0; i + STEP <= size && i / STEP < MAX_STEPS && !kernel.ended; i += STEP)
        step(data + i);
    KASSERT(kernel.fatal == NULL);
    box_end();
    KASSERT(kalloc_balance() == balance);
    return 0;
}
