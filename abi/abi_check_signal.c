/*
 * Compile-time comparison of our definitions with the kernel's UAPI headers: signals. Offsets of
 * siginfo members are taken before the headers come in, because they are macros there. No code.
 */

#include "abi/abi_check.h"
#include "abi/signal.h"

enum {
    OUR_SI_SIGNO = offsetof(struct lx_siginfo, si_signo),
    OUR_SI_ERRNO = offsetof(struct lx_siginfo, si_errno),
    OUR_SI_CODE = offsetof(struct lx_siginfo, si_code),
    OUR_SI_PID = offsetof(struct lx_siginfo, si_pid),
    OUR_SI_UID = offsetof(struct lx_siginfo, si_uid),
    OUR_SI_VALUE = offsetof(struct lx_siginfo, si_value),
    OUR_SI_STATUS = offsetof(struct lx_siginfo, si_status),
    OUR_SI_UTIME = offsetof(struct lx_siginfo, si_utime),
    OUR_SI_STIME = offsetof(struct lx_siginfo, si_stime),
    OUR_SI_TIMERID = offsetof(struct lx_siginfo, si_timerid),
    OUR_SI_OVERRUN = offsetof(struct lx_siginfo, si_overrun),
    OUR_SI_ADDR = offsetof(struct lx_siginfo, si_addr),
    OUR_SI_ADDR_LSB = offsetof(struct lx_siginfo, si_addr_lsb),
    OUR_SI_BAND = offsetof(struct lx_siginfo, si_band),
    OUR_SI_FD = offsetof(struct lx_siginfo, si_fd),
    OUR_SI_CALL_ADDR = offsetof(struct lx_siginfo, si_call_addr),
    OUR_SI_SYSCALL = offsetof(struct lx_siginfo, si_syscall),
    OUR_SI_ARCH = offsetof(struct lx_siginfo, si_arch),
    OUR_SA_HANDLER = offsetof(struct lx_sigaction, sa_handler),
    OUR_SIGEV_NOTIFY_THREAD_ID = offsetof(struct lx_sigevent, sigev_notify_thread_id),
};

/* clang-format off */
#include <linux/signal.h>
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/ucontext.h>
#include <linux/signalfd.h>
/* clang-format on */

_Static_assert(OUR_SI_SIGNO == offsetof(siginfo_t, si_signo), "si_signo");
_Static_assert(OUR_SI_ERRNO == offsetof(siginfo_t, si_errno), "si_errno");
_Static_assert(OUR_SI_CODE == offsetof(siginfo_t, si_code), "si_code");
_Static_assert(OUR_SI_PID == offsetof(siginfo_t, si_pid), "si_pid");
_Static_assert(OUR_SI_UID == offsetof(siginfo_t, si_uid), "si_uid");
_Static_assert(OUR_SI_VALUE == offsetof(siginfo_t, si_value), "si_value");
_Static_assert(OUR_SI_STATUS == offsetof(siginfo_t, si_status), "si_status");
_Static_assert(OUR_SI_UTIME == offsetof(siginfo_t, si_utime), "si_utime");
_Static_assert(OUR_SI_STIME == offsetof(siginfo_t, si_stime), "si_stime");
_Static_assert(OUR_SI_TIMERID == offsetof(siginfo_t, si_tid), "si_timerid:si_tid");
_Static_assert(OUR_SI_OVERRUN == offsetof(siginfo_t, si_overrun), "si_overrun");
_Static_assert(OUR_SI_ADDR == offsetof(siginfo_t, si_addr), "si_addr");
_Static_assert(OUR_SI_ADDR_LSB == offsetof(siginfo_t, si_addr_lsb), "si_addr_lsb");
_Static_assert(OUR_SI_BAND == offsetof(siginfo_t, si_band), "si_band");
_Static_assert(OUR_SI_FD == offsetof(siginfo_t, si_fd), "si_fd");
_Static_assert(OUR_SI_CALL_ADDR == offsetof(siginfo_t, si_call_addr), "si_call_addr");
_Static_assert(OUR_SI_SYSCALL == offsetof(siginfo_t, si_syscall), "si_syscall");
_Static_assert(OUR_SI_ARCH == offsetof(siginfo_t, si_arch), "si_arch");
_Static_assert(OUR_SA_HANDLER == offsetof(struct sigaction, sa_handler), "sa_handler");
_Static_assert(OUR_SIGEV_NOTIFY_THREAD_ID == offsetof(struct sigevent, sigev_notify_thread_id),
               "tid");
_Static_assert(offsetof(struct lx_siginfo, timer_value) == OUR_SI_VALUE, "timer value");

SIZE(struct lx_siginfo, siginfo_t);

SIZE(struct lx_sigaction, struct sigaction);
OFFSET(struct lx_sigaction, sa_flags, struct sigaction, sa_flags);
OFFSET(struct lx_sigaction, sa_restorer, struct sigaction, sa_restorer);
OFFSET(struct lx_sigaction, sa_mask, struct sigaction, sa_mask);

SIZE(struct lx_stack, stack_t);
OFFSET(struct lx_stack, ss_sp, stack_t, ss_sp);
OFFSET(struct lx_stack, ss_flags, stack_t, ss_flags);
OFFSET(struct lx_stack, ss_size, stack_t, ss_size);

SIZE(struct lx_sigevent, struct sigevent);
OFFSET(struct lx_sigevent, sigev_value, struct sigevent, sigev_value);
OFFSET(struct lx_sigevent, sigev_signo, struct sigevent, sigev_signo);
OFFSET(struct lx_sigevent, sigev_notify, struct sigevent, sigev_notify);

SIZE(struct lx_sigcontext, struct sigcontext_64);
OFFSET(struct lx_sigcontext, r8, struct sigcontext_64, r8);
OFFSET(struct lx_sigcontext, r15, struct sigcontext_64, r15);
OFFSET(struct lx_sigcontext, rdi, struct sigcontext_64, di);
OFFSET(struct lx_sigcontext, rsi, struct sigcontext_64, si);
OFFSET(struct lx_sigcontext, rsp, struct sigcontext_64, sp);
OFFSET(struct lx_sigcontext, rip, struct sigcontext_64, ip);
OFFSET(struct lx_sigcontext, eflags, struct sigcontext_64, flags);
OFFSET(struct lx_sigcontext, cs, struct sigcontext_64, cs);
OFFSET(struct lx_sigcontext, gs, struct sigcontext_64, gs);
OFFSET(struct lx_sigcontext, fs, struct sigcontext_64, fs);
OFFSET(struct lx_sigcontext, err, struct sigcontext_64, err);
OFFSET(struct lx_sigcontext, trapno, struct sigcontext_64, trapno);
OFFSET(struct lx_sigcontext, oldmask, struct sigcontext_64, oldmask);
OFFSET(struct lx_sigcontext, cr2, struct sigcontext_64, cr2);
OFFSET(struct lx_sigcontext, fpstate, struct sigcontext_64, fpstate);

SIZE(struct lx_ucontext, struct ucontext);
OFFSET(struct lx_ucontext, uc_flags, struct ucontext, uc_flags);
OFFSET(struct lx_ucontext, uc_link, struct ucontext, uc_link);
OFFSET(struct lx_ucontext, uc_stack, struct ucontext, uc_stack);
OFFSET(struct lx_ucontext, uc_mcontext, struct ucontext, uc_mcontext);
OFFSET(struct lx_ucontext, uc_sigmask, struct ucontext, uc_sigmask);

SIZE(struct lx_fpx_sw_bytes, struct _fpx_sw_bytes);
OFFSET(struct lx_fpx_sw_bytes, magic1, struct _fpx_sw_bytes, magic1);
OFFSET(struct lx_fpx_sw_bytes, extended_size, struct _fpx_sw_bytes, extended_size);
OFFSET(struct lx_fpx_sw_bytes, xfeatures, struct _fpx_sw_bytes, xfeatures);
OFFSET(struct lx_fpx_sw_bytes, xstate_size, struct _fpx_sw_bytes, xstate_size);

SIZE(struct lx_fpstate, struct _fpstate_64);
OFFSET(struct lx_fpstate, cwd, struct _fpstate_64, cwd);
OFFSET(struct lx_fpstate, mxcsr, struct _fpstate_64, mxcsr);
OFFSET(struct lx_fpstate, st_space, struct _fpstate_64, st_space);
OFFSET(struct lx_fpstate, xmm_space, struct _fpstate_64, xmm_space);
OFFSET(struct lx_fpstate, sw_reserved, struct _fpstate_64, sw_reserved);

SIZE(struct lx_signalfd_siginfo, struct signalfd_siginfo);
OFFSET(struct lx_signalfd_siginfo, ssi_signo, struct signalfd_siginfo, ssi_signo);
OFFSET(struct lx_signalfd_siginfo, ssi_code, struct signalfd_siginfo, ssi_code);
OFFSET(struct lx_signalfd_siginfo, ssi_pid, struct signalfd_siginfo, ssi_pid);
OFFSET(struct lx_signalfd_siginfo, ssi_fd, struct signalfd_siginfo, ssi_fd);
OFFSET(struct lx_signalfd_siginfo, ssi_tid, struct signalfd_siginfo, ssi_tid);
OFFSET(struct lx_signalfd_siginfo, ssi_band, struct signalfd_siginfo, ssi_band);
OFFSET(struct lx_signalfd_siginfo, ssi_overrun, struct signalfd_siginfo, ssi_overrun);
OFFSET(struct lx_signalfd_siginfo, ssi_trapno, struct signalfd_siginfo, ssi_trapno);
OFFSET(struct lx_signalfd_siginfo, ssi_status, struct signalfd_siginfo, ssi_status);
OFFSET(struct lx_signalfd_siginfo, ssi_int, struct signalfd_siginfo, ssi_int);
OFFSET(struct lx_signalfd_siginfo, ssi_ptr, struct signalfd_siginfo, ssi_ptr);
OFFSET(struct lx_signalfd_siginfo, ssi_utime, struct signalfd_siginfo, ssi_utime);
OFFSET(struct lx_signalfd_siginfo, ssi_addr, struct signalfd_siginfo, ssi_addr);
OFFSET(struct lx_signalfd_siginfo, ssi_addr_lsb, struct signalfd_siginfo, ssi_addr_lsb);
OFFSET(struct lx_signalfd_siginfo, ssi_syscall, struct signalfd_siginfo, ssi_syscall);
OFFSET(struct lx_signalfd_siginfo, ssi_call_addr, struct signalfd_siginfo, ssi_call_addr);
OFFSET(struct lx_signalfd_siginfo, ssi_arch, struct signalfd_siginfo, ssi_arch);

_Static_assert(sizeof(lx_sigset) == 8 && sizeof(sigset_t) == 8, "sigset");
_Static_assert(sizeof(struct lx_sigcontext) == 256 &&
                   offsetof(struct lx_ucontext, uc_mcontext) == 40,
               "where the registers are");
_Static_assert(offsetof(struct lx_rt_sigframe, uc) == 8, "where a handler finds the context");
_Static_assert(sizeof(struct lx_fpstate) == LX_FXSAVE_SIZE &&
                   offsetof(struct lx_fpstate, sw_reserved) == LX_FP_SW_OFFSET,
               "FXSAVE area");

/* clang-format off */
/* abi/signal.h */
CONST(SIGHUP) CONST(SIGINT) CONST(SIGQUIT) CONST(SIGILL) CONST(SIGTRAP) CONST(SIGABRT)
CONST(SIGIOT) CONST(SIGBUS) CONST(SIGFPE) CONST(SIGKILL) CONST(SIGUSR1) CONST(SIGSEGV)
CONST(SIGUSR2) CONST(SIGPIPE) CONST(SIGALRM) CONST(SIGTERM) CONST(SIGSTKFLT) CONST(SIGCHLD)
CONST(SIGCONT) CONST(SIGSTOP) CONST(SIGTSTP) CONST(SIGTTIN) CONST(SIGTTOU) CONST(SIGURG)
CONST(SIGXCPU) CONST(SIGXFSZ) CONST(SIGVTALRM) CONST(SIGPROF) CONST(SIGWINCH) CONST(SIGIO)
CONST(SIGPOLL) CONST(SIGPWR) CONST(SIGSYS) CONST(SIGRTMIN) CONST(SIG_BLOCK) CONST(SIG_UNBLOCK)
CONST(SIG_SETMASK) CONST(SA_NOCLDSTOP) CONST(SA_NOCLDWAIT) CONST(SA_SIGINFO) CONST(SA_RESTORER)
CONST(SA_ONSTACK) CONST(SA_RESTART) CONST(SA_NODEFER) CONST(SA_RESETHAND) CONST(SS_ONSTACK)
CONST(SS_DISABLE) CONST(SS_AUTODISARM) CONST(MINSIGSTKSZ) CONST(SIGSTKSZ) CONST(SI_USER)
CONST(SI_KERNEL) CONST(SI_QUEUE) CONST(SI_TIMER) CONST(SI_MESGQ) CONST(SI_ASYNCIO) CONST(SI_SIGIO)
CONST(SI_TKILL) CONST(SI_DETHREAD) CONST(SI_ASYNCNL) CONST(ILL_ILLOPC) CONST(ILL_ILLOPN)
CONST(ILL_ILLADR) CONST(ILL_ILLTRP) CONST(ILL_PRVOPC) CONST(ILL_PRVREG) CONST(ILL_COPROC)
CONST(ILL_BADSTK) CONST(FPE_INTDIV) CONST(FPE_INTOVF) CONST(FPE_FLTDIV) CONST(FPE_FLTOVF)
CONST(FPE_FLTUND) CONST(FPE_FLTRES) CONST(FPE_FLTINV) CONST(FPE_FLTSUB) CONST(SEGV_MAPERR)
CONST(SEGV_ACCERR) CONST(SEGV_BNDERR) CONST(SEGV_PKUERR) CONST(BUS_ADRALN) CONST(BUS_ADRERR)
CONST(BUS_OBJERR) CONST(BUS_MCEERR_AR) CONST(BUS_MCEERR_AO) CONST(TRAP_BRKPT) CONST(TRAP_TRACE)
CONST(TRAP_BRANCH) CONST(TRAP_HWBKPT) CONST(CLD_EXITED) CONST(CLD_KILLED) CONST(CLD_DUMPED)
CONST(CLD_TRAPPED) CONST(CLD_STOPPED) CONST(CLD_CONTINUED) CONST(POLL_IN) CONST(POLL_OUT)
CONST(POLL_MSG) CONST(POLL_ERR) CONST(POLL_PRI) CONST(POLL_HUP) CONST(SYS_SECCOMP)
CONST(SYS_USER_DISPATCH) CONST(SIGEV_SIGNAL) CONST(SIGEV_NONE) CONST(SIGEV_THREAD)
CONST(SIGEV_THREAD_ID) CONST(UC_FP_XSTATE) CONST(UC_SIGCONTEXT_SS) CONST(UC_STRICT_RESTORE_SS)
CONST(SFD_CLOEXEC) CONST(SFD_NONBLOCK)
    /* clang-format on */
