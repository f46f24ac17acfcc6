/*
 * sys_ptrace.c: ptrace(2). Which requests there are, what they need, and their arguments; the rest
 * is sentry/kernel/ptrace*.c's.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/prctl.h"
#include "abi/ptrace.h"

#include "lib/alloc.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/force.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct request {
    struct task *caller, *tracee;
    int nr;
    uint64_t addr, data;
};

/* -- memory and registers -----------------------------------------------------------------------
 */

static int peek(const struct request *rq)
{
    uint64_t word;
    if (!ptrace_may_copy(rq->caller, rq->tracee) ||
        mm_force_copy(rq->tracee->mm, rq->addr, &word, sizeof(word), false) != sizeof(word))
        return -EIO;
    return put_user(rq->caller, GADDR(rq->data), &word);
}

static int poke(const struct request *rq)
{
    uint64_t word = rq->data;
    if (!ptrace_may_copy(rq->caller, rq->tracee))
        return -EIO;
    int64_t n = mm_force_copy(rq->tracee->mm, rq->addr, &word, sizeof(word), true);
    return n == sizeof(word) ? 0 : -EIO;
}

static int peek_user(const struct request *rq)
{
    struct lx_user_regs regs;
    uint64_t word = 0;

    if (rq->addr % sizeof(word) != 0 || rq->addr >= LX_USER_SIZE)
        return -EIO;
    if (rq->addr < sizeof(regs)) {
        ptrace_get_regs(rq->tracee, &regs);
        memcpy(&word, (const uint8_t *)&regs + rq->addr, sizeof(word));
    }
    return put_user(rq->caller, GADDR(rq->data), &word);
}

/* Debug registers can be cleared, which they are. */
static int poke_user(const struct request *rq)
{
    struct lx_user_regs regs;

    if (rq->addr % sizeof(uint64_t) != 0 || rq->addr >= LX_USER_SIZE)
        return -EIO;
    if (rq->addr >= LX_USER_DEBUGREGS && rq->addr < LX_USER_DEBUGREGS + 64)
        return rq->data == 0 ? 0 : -EIO;
    if (rq->addr >= sizeof(regs))
        return -EIO;
    ptrace_get_regs(rq->tracee, &regs);
    memcpy((uint8_t *)&regs + rq->addr, &rq->data, sizeof(rq->data));
    return ptrace_set_regs(rq->tracee, &regs);
}

static int get_set_regs(const struct request *rq)
{
    struct lx_user_regs regs;
    uint8_t fp[LX_FXSAVE_SIZE];
    int r;

    switch (rq->nr) {
    case LX_PTRACE_GETREGS:
        ptrace_get_regs(rq->tracee, &regs);
        return put_user(rq->caller, GADDR(rq->data), &regs);
    case LX_PTRACE_SETREGS:
        r = get_user(rq->caller, &regs, GADDR(rq->data));
        return r < 0 ? r : ptrace_set_regs(rq->tracee, &regs);
    case LX_PTRACE_GETFPREGS:
        r = ptrace_get_fpregs(rq->tracee, fp);
        return r < 0 ? r : copy_to_user(rq->caller, GADDR(rq->data), fp, sizeof(fp));
    default:
        r = copy_from_user(rq->caller, fp, GADDR(rq->data), sizeof(fp));
        return r < 0 ? r : ptrace_set_fpregs(rq->tracee, fp);
    }
}

/* -- register sets ------------------------------------------------------------------------------
 */

static int64_t regset_read(const struct request *rq, uint8_t *small, const void **ret_buf)
{
    *ret_buf = small;
    switch (rq->addr) {
    case LX_NT_PRSTATUS: {
        struct lx_user_regs regs;
        ptrace_get_regs(rq->tracee, &regs);
        memcpy(small, &regs, sizeof(regs));
        return sizeof(regs);
    }
    case LX_NT_PRFPREG: {
        int r = ptrace_get_fpregs(rq->tracee, small);
        return r < 0 ? r : (int64_t)LX_FXSAVE_SIZE;
    }
    case LX_NT_X86_XSTATE:
        return ptrace_get_xstate(rq->tracee, ret_buf);
    default:
        return -EINVAL;
    }
}

/* New bytes over the set as it is: size bytes at old. */
static int regset_write(const struct request *rq, const void *old, size_t size, gaddr_t from,
                        size_t n)
{
    uint8_t *buf = kmemdup(old, size);
    if (buf == NULL)
        return -ENOMEM;
    int r = copy_from_user(rq->caller, buf, from, n);
    if (r == 0 && rq->addr == LX_NT_PRSTATUS) {
        struct lx_user_regs regs;
        memcpy(&regs, buf, sizeof(regs));
        r = ptrace_set_regs(rq->tracee, &regs);
    } else if (r == 0 && rq->addr == LX_NT_PRFPREG) {
        r = ptrace_set_fpregs(rq->tracee, buf);
    } else if (r == 0) {
        r = ptrace_set_xstate(rq->tracee, buf, n);
    }
    kfree(buf);
    return r;
}

static int regset(const struct request *rq)
{
    uint8_t small[LX_FXSAVE_SIZE];
    struct lx_iovec iov;
    const void *buf;
    int r = get_user(rq->caller, &iov, GADDR(rq->data));
    if (r < 0)
        return r;
    int64_t size = regset_read(rq, small, &buf);
    if (size < 0)
        return (int)size;
    if (iov.iov_len % 8 != 0)
        return -EINVAL;
    uint64_t n = MIN(iov.iov_len, (uint64_t)size);
    if (rq->nr == LX_PTRACE_GETREGSET)
        r = copy_to_user(rq->caller, iov.iov_base, buf, n);
    else
        r = regset_write(rq, buf, (size_t)size, iov.iov_base, n);
    if (r < 0)
        return r;
    return copy_to_user(rq->caller, GADDR(rq->data + offsetof(struct lx_iovec, iov_len)), &n,
                        sizeof(n));
}

/* -- signals ------------------------------------------------------------------------------------
 */

static int siginfo(const struct request *rq)
{
    struct ptrace *p = rq->tracee->ptrace;
    struct lx_siginfo info;
    if (rq->nr == LX_PTRACE_GETSIGINFO)
        return p->has_info ? put_user(rq->caller, GADDR(rq->data), &p->info) : -EINVAL;
    int r = get_user(rq->caller, &info, GADDR(rq->data));
    if (r < 0)
        return r;
    if (!p->has_info)
        return -EINVAL;
    p->info = info;
    return 0;
}

static int sigmask(const struct request *rq)
{
    struct task *t = rq->tracee;
    uint64_t set;
    if (rq->addr != sizeof(set))
        return -EINVAL;
    if (rq->nr == LX_PTRACE_GETSIGMASK) {
        set = t->restore_blocked ? t->saved_blocked : t->blocked;
        return put_user(rq->caller, GADDR(rq->data), &set);
    }
    if (get_user(rq->caller, &set, GADDR(rq->data)) < 0)
        return -EFAULT;
    t->restore_blocked = false;
    signal_set_blocked(t, set);
    return 0;
}

static int peek_siginfo(const struct request *rq)
{
    struct lx_ptrace_peeksiginfo_args args;
    const struct sigqueue *q;
    uint64_t at = 0;
    int done = 0;

    if (get_user(rq->caller, &args, GADDR(rq->addr)) < 0)
        return -EFAULT;
    if ((args.flags & ~LX_PTRACE_PEEKSIGINFO_SHARED) != 0 || args.nr < 0)
        return -EINVAL;
    const struct sigpending *from = args.flags & LX_PTRACE_PEEKSIGINFO_SHARED
                                        ? &rq->tracee->group->shared_pending
                                        : &rq->tracee->pending;
    list_for_each_entry (q, &from->list, link) {
        if (at++ < args.off)
            continue;
        if (done >= args.nr)
            break;
        gaddr_t to = GADDR(rq->data + (uint64_t)done * sizeof(q->info));
        if (put_user(rq->caller, to, &q->info) < 0)
            return done > 0 ? done : -EFAULT;
        done++;
    }
    return done;
}

/* -- the stop itself ----------------------------------------------------------------------------
 */

static int check_options(uint64_t options)
{
    if (options & ~(uint64_t)LX_PTRACE_O_MASK)
        return -EINVAL;
    /* Only for the host's root. */
    return options & LX_PTRACE_O_SUSPEND_SECCOMP ? -EPERM : 0;
}

static size_t fill_call(struct lx_ptrace_syscall_info *si, const struct lx_user_regs *u)
{
    si->entry.nr = u->orig_rax;
    si->entry.args[0] = u->rdi;
    si->entry.args[1] = u->rsi;
    si->entry.args[2] = u->rdx;
    si->entry.args[3] = u->r10;
    si->entry.args[4] = u->r8;
    si->entry.args[5] = u->r9;
    return offsetof(struct lx_ptrace_syscall_info, entry.args) + sizeof(si->entry.args);
}

static size_t fill_syscall_info(const struct task *t, struct lx_ptrace_syscall_info *si)
{
    const struct ptrace *p = t->ptrace;
    struct lx_user_regs u;
    int code = p->has_info ? p->info.si_code : 0;

    ptrace_get_regs(t, &u);
    *si = (struct lx_ptrace_syscall_info){.op = LX_PTRACE_SYSCALL_INFO_NONE,
                                          .arch = LX_AUDIT_ARCH_X86_64,
                                          .instruction_pointer = u.rip,
                                          .stack_pointer = u.rsp};
    if (code == (LX_SIGTRAP | 0x80) && p->message == LX_PTRACE_EVENTMSG_SYSCALL_ENTRY) {
        si->op = LX_PTRACE_SYSCALL_INFO_ENTRY;
        return fill_call(si, &u);
    }
    if (code == (LX_SIGTRAP | 0x80) && p->message == LX_PTRACE_EVENTMSG_SYSCALL_EXIT) {
        si->op = LX_PTRACE_SYSCALL_INFO_EXIT;
        si->exit.rval = (int64_t)u.rax;
        si->exit.is_error = u.rax >= (uint64_t)-LX_MAX_ERRNO;
        return offsetof(struct lx_ptrace_syscall_info, exit.is_error) + 1;
    }
    if (code == (LX_SIGTRAP | LX_PTRACE_EVENT_SECCOMP << 8)) {
        si->op = LX_PTRACE_SYSCALL_INFO_SECCOMP;
        (void)fill_call(si, &u);
        si->seccomp.ret_data = (uint32_t)p->message;
        return offsetof(struct lx_ptrace_syscall_info, seccomp.ret_data) + 4;
    }
    return offsetof(struct lx_ptrace_syscall_info, entry);
}

static int64_t syscall_info(const struct request *rq)
{
    struct lx_ptrace_syscall_info si;
    size_t n = fill_syscall_info(rq->tracee, &si);
    size_t part = (size_t)MIN((uint64_t)n, rq->addr);
    return copy_to_user(rq->caller, GADDR(rq->data), &si, part) < 0 ? -EFAULT : (int64_t)n;
}

static int resume(const struct request *rq)
{
    if (rq->data > LX_NSIG)
        return -EIO;
    if (rq->nr == LX_PTRACE_DETACH)
        ptrace_detach(rq->tracee, (int)rq->data);
    else
        ptrace_resume(rq->tracee, rq->nr, (int)rq->data);
    return 0;
}

static int arch_prctl(const struct request *rq)
{
    struct task *t = rq->tracee;
    switch (rq->data) {
    case LX_ARCH_GET_FS:
        return put_user(rq->caller, GADDR(rq->addr), &t->tls.v);
    case LX_ARCH_GET_GS:
        return put_user(rq->caller, GADDR(rq->addr), &t->gs_base.v);
    case LX_ARCH_SET_FS:
    case LX_ARCH_SET_GS:
        return rq->addr >= LX_TASK_SIZE ? -EPERM : ptrace_set_base(t, (int)rq->data, rq->addr);
    default:
        return -EINVAL;
    }
}

static int64_t stopped_request(const struct request *rq)
{
    switch (rq->nr) {
    case LX_PTRACE_PEEKTEXT:
    case LX_PTRACE_PEEKDATA:
        return peek(rq);
    case LX_PTRACE_POKETEXT:
    case LX_PTRACE_POKEDATA:
        return poke(rq);
    case LX_PTRACE_PEEKUSR:
        return peek_user(rq);
    case LX_PTRACE_POKEUSR:
        return poke_user(rq);
    case LX_PTRACE_GETREGS:
    case LX_PTRACE_SETREGS:
    case LX_PTRACE_GETFPREGS:
    case LX_PTRACE_SETFPREGS:
        return get_set_regs(rq);
    case LX_PTRACE_GETREGSET:
    case LX_PTRACE_SETREGSET:
        return regset(rq);
    case LX_PTRACE_GETSIGINFO:
    case LX_PTRACE_SETSIGINFO:
        return siginfo(rq);
    case LX_PTRACE_GETSIGMASK:
    case LX_PTRACE_SETSIGMASK:
        return sigmask(rq);
    case LX_PTRACE_PEEKSIGINFO:
        return peek_siginfo(rq);
    case LX_PTRACE_GETEVENTMSG:
        return put_user(rq->caller, GADDR(rq->data), &rq->tracee->ptrace->message);
    case LX_PTRACE_GET_SYSCALL_INFO:
        return syscall_info(rq);
    case LX_PTRACE_ARCH_PRCTL:
        return arch_prctl(rq);
    case LX_PTRACE_SETOPTIONS: {
        int r = check_options(rq->data);
        if (r == 0)
            rq->tracee->ptrace->options = (uint32_t)rq->data;
        return r;
    }
    case LX_PTRACE_LISTEN:
        return rq->tracee->ptrace->seized && ptrace_listen(rq->tracee) ? 0 : -EIO;
    case LX_PTRACE_SECCOMP_GET_FILTER:
    case LX_PTRACE_SECCOMP_GET_METADATA:
        return -EACCES;
    case LX_PTRACE_CONT:
    case LX_PTRACE_SYSCALL:
    case LX_PTRACE_SINGLESTEP:
    case LX_PTRACE_SYSEMU:
    case LX_PTRACE_SYSEMU_SINGLESTEP:
    case LX_PTRACE_DETACH:
        return resume(rq);
    default:
        return -EIO;
    }
}

static int kill_tracee(const struct request *rq)
{
    struct lx_siginfo info;
    signal_info_user(&info, LX_SIGKILL, LX_SI_USER, rq->caller);
    (void)signal_send_task(rq->tracee, &info);
    return 0;
}

static int64_t attach(struct task *t, struct task *other, const struct request *rq)
{
    bool seize = rq->nr == LX_PTRACE_SEIZE;
    if (seize && (rq->addr != 0 || (rq->data & ~(uint64_t)LX_PTRACE_O_MASK) != 0))
        return -EIO;
    if (seize && check_options(rq->data) < 0)
        return check_options(rq->data);
    return ptrace_attach(t, other, seize, seize ? (uint32_t)rq->data : 0);
}

static int interrupt(const struct request *rq)
{
    if (!rq->tracee->ptrace->seized || rq->tracee->pth == NULL)
        return -EIO;
    ptrace_interrupt(rq->tracee);
    return 0;
}

struct sys_res sys_ptrace(struct task *t, const struct sys_args *a)
{
    struct request rq = {.caller = t,
                         .nr = a->v[0] > INT32_MAX ? -1 : (int)a->v[0],
                         .addr = a->v[2],
                         .data = a->v[3]};

    if (rq.nr == LX_PTRACE_TRACEME)
        return sys_ret(ptrace_traceme(t));
    rq.tracee = sys_int(a, 1) > 0 ? task_by_pid(sys_uint(a, 1)) : NULL;
    if (rq.tracee == NULL)
        return sys_ret(-ESRCH);
    if (rq.nr == LX_PTRACE_ATTACH || rq.nr == LX_PTRACE_SEIZE)
        return sys_ret(attach(t, rq.tracee, &rq));
    if (!task_traced(rq.tracee) || rq.tracee->ptrace->tracer != t)
        return sys_ret(-ESRCH);
    if (rq.nr == LX_PTRACE_KILL)
        return sys_ret(kill_tracee(&rq));
    if (rq.nr == LX_PTRACE_INTERRUPT)
        return sys_ret(interrupt(&rq));
    if (!ptrace_is_stopped(rq.tracee))
        return sys_ret(-ESRCH);
    return sys_ret(stopped_request(&rq));
}
