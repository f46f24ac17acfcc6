/*
 * sigframe.c: entering and leaving signal handlers (arch/x86 signal frames, sigaltstack(2),
 * sigreturn(2)).
 *
 * The thread is in its context: t->regs are what the guest will continue with. A frame is built on
 * the guest's stack exactly as Linux builds it: return address, ucontext, siginfo, then the
 * extended state on a 64-byte boundary. rt_sigreturn reads it back; every byte of it is hostile:
 * segment selectors and flags are sanitised, the mask is cut, and bad extended state makes the
 * host raise SIGSEGV when the thread resumes.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/strace.h"
#include "sentry/sys/sys.h"
#include "sentry/sys/table.h"

enum {
    RED_ZONE = 128,
    USER_CS = 0x33,
    USER_SS = 0x2b,
    EFLAGS_TF = 0x100,
    EFLAGS_DF = 0x400,
    EFLAGS_RF = 0x10000,
    EFLAGS_USER = 0x50dd5, /* AC RF OF DF TF SF ZF AF PF CF: what a frame may set */
    FP_MAX = 16384,
};

static uint8_t fp_buf[FP_MAX]; /* one worker, one buffer */

static bool on_altstack(const struct lx_stack *ss, uint64_t sp)
{
    if ((uint32_t)ss->ss_flags & LX_SS_AUTODISARM)
        return false;
    return sp > ss->ss_sp && sp - ss->ss_sp <= ss->ss_size;
}

static uint64_t frame_place(const struct task *t, const struct lx_sigaction *act, size_t fp_len,
                            uint64_t *ret_fp, bool *ret_overflow)
{
    const struct lx_stack *ss = &t->altstack;
    uint64_t sp = t->regs.rsp;
    bool nested = on_altstack(ss, sp);
    bool entering = false;

    sp -= RED_ZONE;
    if ((act->sa_flags & LX_SA_ONSTACK) && !nested && ss->ss_size != 0) {
        sp = ss->ss_sp + ss->ss_size;
        entering = true;
    }
    sp = (sp - fp_len) & ~63ull;
    *ret_fp = sp;
    sp = ((sp - sizeof(struct lx_rt_sigframe)) & ~15ull) - 8;
    *ret_overflow = (entering || nested) && (sp < ss->ss_sp || sp > ss->ss_sp + ss->ss_size);
    return sp;
}

static void regs_to_sigcontext(const struct plat_regs *r, struct lx_sigcontext *sc)
{
    memcpy(sc, r, offsetof(struct plat_regs, cs));
    sc->cs = r->cs;
    sc->gs = r->gs;
    sc->fs = r->fs;
    sc->ss = r->ss;
    sc->err = r->err;
    sc->trapno = r->trapno;
    sc->oldmask = 0;
    sc->cr2 = r->cr2;
}

_Static_assert(offsetof(struct plat_regs, cs) == offsetof(struct lx_sigcontext, cs),
               "registers in the same order");

bool sigframe_push(struct task *t, const struct lx_sigaction *act, const struct lx_siginfo *info)
{
    struct lx_rt_sigframe frame = {.pretcode = act->sa_restorer, .info = *info};
    int64_t fp_len = plat_ops->get_fp(t->pth, fp_buf, sizeof(fp_buf));
    uint64_t fp_addr = 0;
    bool overflow;

    if (fp_len < 0)
        return false;
    uint64_t sp = frame_place(t, act, (size_t)fp_len, &fp_addr, &overflow);
    if (overflow || (act->sa_flags & LX_SA_RESTORER) == 0)
        return false;
    frame.uc.uc_flags = LX_UC_SIGCONTEXT_SS | LX_UC_STRICT_RESTORE_SS;
    if (kernel.layout.xsave_size > LX_FXSAVE_SIZE)
        frame.uc.uc_flags |= LX_UC_FP_XSTATE;
    frame.uc.uc_stack = t->altstack;
    regs_to_sigcontext(&t->regs, &frame.uc.uc_mcontext);
    frame.uc.uc_mcontext.fpstate = fp_len > 0 ? fp_addr : 0;
    frame.uc.uc_sigmask = t->restore_blocked ? t->saved_blocked : t->blocked;
    if (fp_len > 0 && copy_to_user(t, GADDR(fp_addr), fp_buf, (size_t)fp_len) < 0)
        return false;
    if (copy_to_user(t, GADDR(sp), &frame, sizeof(frame)) < 0)
        return false;
    t->regs.rdi = (uint64_t)info->si_signo;
    t->regs.rsi = sp + offsetof(struct lx_rt_sigframe, info);
    t->regs.rdx = sp + offsetof(struct lx_rt_sigframe, uc);
    t->regs.rax = 0;
    t->regs.rip = act->sa_handler;
    t->regs.rsp = sp;
    t->regs.cs = USER_CS;
    t->regs.ss = USER_SS;
    t->regs.eflags &= ~(uint64_t)(EFLAGS_TF | EFLAGS_DF | EFLAGS_RF);
    return true;
}

void signal_enter_handler(struct task *t, int signo, const struct lx_siginfo *info)
{
    struct lx_sigaction *slot = &t->sighand->action[signo - 1];
    struct lx_sigaction act = *slot;

    if (act.sa_flags & LX_SA_RESETHAND)
        slot->sa_handler = LX_SIG_DFL;
    if (!sigframe_push(t, &act, info)) {
        struct lx_siginfo segv = {.si_signo = LX_SIGSEGV, .si_code = LX_SI_KERNEL};
        if (signo == LX_SIGSEGV)
            t->sighand->action[LX_SIGSEGV - 1].sa_handler = LX_SIG_DFL;
        signal_force(t, &segv);
        return;
    }
    if ((uint32_t)t->altstack.ss_flags & LX_SS_AUTODISARM)
        t->altstack = (struct lx_stack){.ss_flags = LX_SS_DISABLE};
    uint64_t mask = t->blocked | act.sa_mask;
    if ((act.sa_flags & LX_SA_NODEFER) == 0)
        mask |= sig_bit(signo);
    t->restore_blocked = false;
    signal_set_blocked(t, mask);
}

static void restart_at(struct task *t, uint64_t nr)
{
    t->regs.rax = nr;
    t->regs.rip = t->call.ip - 2;
}

/* What the interrupted call returns when a handler with these flags runs. */
void signal_call_result_with_handler(struct task *t, int64_t val, uint64_t sa_flags)
{
    switch (val) {
    case -ERESTARTNOINTR:
        restart_at(t, t->call.nr);
        break;
    case -ERESTARTSYS:
        if (sa_flags & LX_SA_RESTART)
            restart_at(t, t->call.nr);
        else
            t->regs.rax = (uint64_t)-EINTR;
        break;
    case -ERESTARTNOHAND:
    case -ERESTART_RESTARTBLOCK:
        t->regs.rax = (uint64_t)-EINTR;
        break;
    default:
        t->regs.rax = (uint64_t)val;
        break;
    }
}

void signal_call_result(struct task *t, int64_t val)
{
    if (val == -ERESTART_RESTARTBLOCK)
        restart_at(t, SYS_NR_RESTART_SYSCALL);
    else if (val == -ERESTARTNOINTR || val == -ERESTARTSYS || val == -ERESTARTNOHAND)
        restart_at(t, t->call.nr);
    else
        t->regs.rax = (uint64_t)val;
}

void signal_deliver(struct task *t, bool from_call, int64_t val)
{
    bool first = from_call;
    struct lx_siginfo info;

    while (t->pth != NULL && signal_resolve(t) == SIGNAL_HANDLER) {
        uint64_t ready = signal_pending_set(t) & ~t->blocked;
        int signo = signal_dequeue(t, ready, &info);
        if (signo == 0)
            break;
        uint64_t h = t->sighand->action[signo - 1].sa_handler;
        if (h == LX_SIG_DFL || h == LX_SIG_IGN)
            continue;
        if (first)
            signal_call_result_with_handler(t, val, t->sighand->action[signo - 1].sa_flags);
        first = false;
        if (kernel.strace)
            strace_signal(t, &info);
        signal_enter_handler(t, signo, &info);
        signal_run_fatal();
    }
    if (first && t->pth != NULL)
        signal_call_result(t, val);
}

/* -- sigreturn --------------------------------------------------------------------------------- */

static int restore_fp(struct task *t, uint64_t addr)
{
    if (addr == 0)
        return plat_ops->set_fp(t->pth, NULL, 0);
    if (addr % (kernel.layout.xsave_size > LX_FXSAVE_SIZE ? 64 : 16) != 0)
        return -EFAULT;
    if (copy_from_user(t, fp_buf, GADDR(addr), LX_FXSAVE_SIZE) < 0)
        return -EFAULT;
    size_t len = LX_FXSAVE_SIZE;
    struct lx_fpx_sw_bytes sw;
    memcpy(&sw, fp_buf + LX_FP_SW_OFFSET, sizeof(sw));
    if (sw.magic1 == LX_FP_XSTATE_MAGIC1 && sw.extended_size > LX_FXSAVE_SIZE &&
        sw.extended_size <= kernel.layout.xsave_size && sw.extended_size <= FP_MAX) {
        len = sw.extended_size;
        if (copy_from_user(t, fp_buf + LX_FXSAVE_SIZE, GADDR(addr + LX_FXSAVE_SIZE),
                           len - LX_FXSAVE_SIZE) < 0)
            return -EFAULT;
    }
    return plat_ops->set_fp(t->pth, fp_buf, len);
}

/* Selectors that the host would refuse: the return to user mode faults. */
static bool selectors_ok(const struct lx_sigcontext *sc)
{
    return (sc->cs | 3) == USER_CS && (sc->ss | 3) == USER_SS;
}

static void sigcontext_to_regs(const struct lx_sigcontext *sc, struct plat_regs *r)
{
    uint64_t flags = r->eflags;
    memcpy(r, sc, offsetof(struct plat_regs, cs));
    r->eflags = (flags & ~(uint64_t)EFLAGS_USER) | (sc->eflags & EFLAGS_USER);
    r->cs = USER_CS;
    r->ss = USER_SS;
}

/* As sigaltstack(2) would; what it would refuse changes nothing. */
static void altstack_restore(struct task *t, const struct lx_stack *ss)
{
    uint32_t flags = (uint32_t)ss->ss_flags & ~LX_SS_AUTODISARM;
    if (flags == LX_SS_DISABLE)
        t->altstack = (struct lx_stack){.ss_flags = ss->ss_flags};
    else if ((flags == 0 || flags == LX_SS_ONSTACK) && ss->ss_size >= LX_MINSIGSTKSZ)
        t->altstack = (struct lx_stack){ss->ss_sp, ss->ss_flags, 0, ss->ss_size};
}

static int sigframe_pop(struct task *t)
{
    struct lx_ucontext uc;
    uint64_t frame = t->regs.rsp - 8;

    if (copy_from_user(t, &uc, GADDR(frame + offsetof(struct lx_rt_sigframe, uc)), sizeof(uc)) < 0)
        return -EFAULT;
    if (!selectors_ok(&uc.uc_mcontext) || restore_fp(t, uc.uc_mcontext.fpstate) < 0)
        return -EFAULT;
    sigcontext_to_regs(&uc.uc_mcontext, &t->regs);
    signal_set_blocked(t, uc.uc_sigmask);
    altstack_restore(t, &uc.uc_stack);
    return 0;
}

struct sys_res sys_rt_sigreturn(struct task *t, const struct sys_args *a)
{
    (void)a;
    if (!t->in_context)
        return (struct sys_res){SYS_KICK, 0};
    if (sigframe_pop(t) < 0) {
        struct lx_siginfo segv = {.si_signo = LX_SIGSEGV, .si_code = LX_SI_KERNEL};
        signal_force(t, &segv);
    }
    return (struct sys_res){SYS_RESUME, 0};
}
