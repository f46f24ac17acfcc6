#pragma once
/*
 * Signals: numbers, action, siginfo, and the frame that a handler runs on.
 *
 * A set is a uint64_t with bit signo-1 (lx_sigset). Addresses in these structures are plain
 * uint64_t: the kernel stores and compares them and seldom follows them. Files that also include
 * the C library's <signal.h> cannot name the members that are macros there (si_pid, sa_handler,
 * ...); kernel code never includes it.
 */
#include "lib/compiler.h"

#define LX_SIGHUP    1
#define LX_SIGINT    2
#define LX_SIGQUIT   3
#define LX_SIGILL    4
#define LX_SIGTRAP   5
#define LX_SIGABRT   6
#define LX_SIGIOT    6
#define LX_SIGBUS    7
#define LX_SIGFPE    8
#define LX_SIGKILL   9
#define LX_SIGUSR1   10
#define LX_SIGSEGV   11
#define LX_SIGUSR2   12
#define LX_SIGPIPE   13
#define LX_SIGALRM   14
#define LX_SIGTERM   15
#define LX_SIGSTKFLT 16
#define LX_SIGCHLD   17
#define LX_SIGCONT   18
#define LX_SIGSTOP   19
#define LX_SIGTSTP   20
#define LX_SIGTTIN   21
#define LX_SIGTTOU   22
#define LX_SIGURG    23
#define LX_SIGXCPU   24
#define LX_SIGXFSZ   25
#define LX_SIGVTALRM 26
#define LX_SIGPROF   27
#define LX_SIGWINCH  28
#define LX_SIGIO     29
#define LX_SIGPOLL   29
#define LX_SIGPWR    30
#define LX_SIGSYS    31
#define LX_SIGRTMIN  32
#define LX_SIGRTMAX  64
#define LX_NSIG      64

typedef uint64_t lx_sigset;

#define LX_SIGMASK(signo) (1ull << ((signo)-1))
/* Signals that can be neither caught, ignored nor blocked. */
#define LX_SIGSET_UNBLOCKABLE (LX_SIGMASK(LX_SIGKILL) | LX_SIGMASK(LX_SIGSTOP))
#define LX_SIGSET_STOP                                                          \
    (LX_SIGMASK(LX_SIGSTOP) | LX_SIGMASK(LX_SIGTSTP) | LX_SIGMASK(LX_SIGTTIN) | \
     LX_SIGMASK(LX_SIGTTOU))
/* Signals raised by the thread's own instruction; delivered before all others. */
#define LX_SIGSET_SYNC                                                        \
    (LX_SIGMASK(LX_SIGSEGV) | LX_SIGMASK(LX_SIGBUS) | LX_SIGMASK(LX_SIGILL) | \
     LX_SIGMASK(LX_SIGTRAP) | LX_SIGMASK(LX_SIGFPE) | LX_SIGMASK(LX_SIGSYS))
/* Default action: nothing. */
#define LX_SIGSET_DFL_IGNORE                                                     \
    (LX_SIGMASK(LX_SIGCONT) | LX_SIGMASK(LX_SIGCHLD) | LX_SIGMASK(LX_SIGWINCH) | \
     LX_SIGMASK(LX_SIGURG))
/* Default action: end with a core dump (the wait status carries the 0x80 bit only if one is
 * written). */
#define LX_SIGSET_DFL_CORE                                                     \
    (LX_SIGMASK(LX_SIGQUIT) | LX_SIGMASK(LX_SIGILL) | LX_SIGMASK(LX_SIGTRAP) | \
     LX_SIGMASK(LX_SIGABRT) | LX_SIGMASK(LX_SIGFPE) | LX_SIGMASK(LX_SIGSEGV) | \
     LX_SIGMASK(LX_SIGBUS) | LX_SIGMASK(LX_SIGSYS) | LX_SIGMASK(LX_SIGXCPU) |  \
     LX_SIGMASK(LX_SIGXFSZ))

/* sigprocmask(2) */
#define LX_SIG_BLOCK   0
#define LX_SIG_UNBLOCK 1
#define LX_SIG_SETMASK 2

/* sa_handler */
#define LX_SIG_DFL 0ull
#define LX_SIG_IGN 1ull

/* sa_flags */
#define LX_SA_NOCLDSTOP      0x1ull
#define LX_SA_NOCLDWAIT      0x2ull
#define LX_SA_SIGINFO        0x4ull
#define LX_SA_UNSUPPORTED    0x400ull
#define LX_SA_EXPOSE_TAGBITS 0x800ull
#define LX_SA_RESTORER       0x4000000ull
#define LX_SA_ONSTACK        0x8000000ull
#define LX_SA_RESTART        0x10000000ull
#define LX_SA_NODEFER        0x40000000ull
#define LX_SA_RESETHAND      0x80000000ull

struct lx_stack {
    uint64_t ss_sp;
    int32_t ss_flags;
    int32_t pad0;
    uint64_t ss_size;
};

/* ss_flags */
#define LX_SS_ONSTACK    0x1
#define LX_SS_DISABLE    0x2
#define LX_SS_AUTODISARM 0x80000000u
#define LX_MINSIGSTKSZ   2048
#define LX_SIGSTKSZ      8192

/* si_code */
#define LX_SI_USER           0
#define LX_SI_KERNEL         128
#define LX_SI_QUEUE          (-1)
#define LX_SI_TIMER          (-2)
#define LX_SI_MESGQ          (-3)
#define LX_SI_ASYNCIO        (-4)
#define LX_SI_SIGIO          (-5)
#define LX_SI_TKILL          (-6)
#define LX_SI_DETHREAD       (-7)
#define LX_SI_ASYNCNL        (-60)
#define LX_ILL_ILLOPC        1
#define LX_ILL_ILLOPN        2
#define LX_ILL_ILLADR        3
#define LX_ILL_ILLTRP        4
#define LX_ILL_PRVOPC        5
#define LX_ILL_PRVREG        6
#define LX_ILL_COPROC        7
#define LX_ILL_BADSTK        8
#define LX_FPE_INTDIV        1
#define LX_FPE_INTOVF        2
#define LX_FPE_FLTDIV        3
#define LX_FPE_FLTOVF        4
#define LX_FPE_FLTUND        5
#define LX_FPE_FLTRES        6
#define LX_FPE_FLTINV        7
#define LX_FPE_FLTSUB        8
#define LX_SEGV_MAPERR       1
#define LX_SEGV_ACCERR       2
#define LX_SEGV_BNDERR       3
#define LX_SEGV_PKUERR       4
#define LX_BUS_ADRALN        1
#define LX_BUS_ADRERR        2
#define LX_BUS_OBJERR        3
#define LX_BUS_MCEERR_AR     4
#define LX_BUS_MCEERR_AO     5
#define LX_TRAP_BRKPT        1
#define LX_TRAP_TRACE        2
#define LX_TRAP_BRANCH       3
#define LX_TRAP_HWBKPT       4
#define LX_CLD_EXITED        1
#define LX_CLD_KILLED        2
#define LX_CLD_DUMPED        3
#define LX_CLD_TRAPPED       4
#define LX_CLD_STOPPED       5
#define LX_CLD_CONTINUED     6
#define LX_POLL_IN           1
#define LX_POLL_OUT          2
#define LX_POLL_MSG          3
#define LX_POLL_ERR          4
#define LX_POLL_PRI          5
#define LX_POLL_HUP          6
#define LX_SYS_SECCOMP       1
#define LX_SYS_USER_DISPATCH 2

/* sigev_notify */
#define LX_SIGEV_SIGNAL    0
#define LX_SIGEV_NONE      1
#define LX_SIGEV_THREAD    2
#define LX_SIGEV_THREAD_ID 4

/* The C library has macros of these names; the definitions below must not see them. */
#pragma push_macro("sa_handler")
#pragma push_macro("si_pid")
#pragma push_macro("si_uid")
#pragma push_macro("si_timerid")
#pragma push_macro("si_tid")
#pragma push_macro("si_overrun")
#pragma push_macro("si_sys_private")
#pragma push_macro("si_value")
#pragma push_macro("si_status")
#pragma push_macro("si_utime")
#pragma push_macro("si_stime")
#pragma push_macro("si_addr")
#pragma push_macro("si_addr_lsb")
#pragma push_macro("si_band")
#pragma push_macro("si_fd")
#pragma push_macro("si_call_addr")
#pragma push_macro("si_syscall")
#pragma push_macro("si_arch")
#pragma push_macro("sigev_notify_thread_id")
#undef sa_handler
#undef si_pid
#undef si_uid
#undef si_timerid
#undef si_tid
#undef si_overrun
#undef si_sys_private
#undef si_value
#undef si_status
#undef si_utime
#undef si_stime
#undef si_addr
#undef si_addr_lsb
#undef si_band
#undef si_fd
#undef si_call_addr
#undef si_syscall
#undef si_arch
#undef sigev_notify_thread_id

/* rt_sigaction(2): the kernel's layout, 32 bytes. */
struct lx_sigaction {
    uint64_t sa_handler; /* or sa_sigaction */
    uint64_t sa_flags;
    uint64_t sa_restorer;
    lx_sigset sa_mask;
};

/* A value that goes with a signal: an int or a pointer in the same 8 bytes. */
union lx_sigval {
    int32_t sival_int;
    uint64_t sival_ptr;
};

/* 128 bytes; si_pid and si_uid serve kill, queue and SIGCHLD alike. */
struct lx_siginfo {
    int32_t si_signo;
    int32_t si_errno;
    int32_t si_code;
    int32_t pad0;
    union {
        struct { /* SI_USER SI_TKILL SI_QUEUE SI_MESGQ and SIGCHLD: offsets 16, 20 */
            int32_t si_pid;
            uint32_t si_uid;
            union {
                union lx_sigval si_value; /* SI_QUEUE: offset 24 */
                struct {                  /* SIGCHLD */
                    int32_t si_status;    /* 24 */
                    int32_t pad1;
                    int64_t si_utime; /* 32, clock ticks */
                    int64_t si_stime; /* 40 */
                };
            };
        };
        struct { /* SI_TIMER; its si_value is the one above */
            int32_t si_timerid;
            int32_t si_overrun;
            union lx_sigval timer_value;
            int32_t si_sys_private;
        };
        struct { /* SIGSEGV SIGBUS SIGILL SIGFPE SIGTRAP */
            uint64_t si_addr;
            int16_t si_addr_lsb;
        };
        struct { /* SIGIO */
            int64_t si_band;
            int32_t si_fd;
        };
        struct { /* SIGSYS */
            uint64_t si_call_addr;
            int32_t si_syscall;
            uint32_t si_arch;
        };
        uint8_t bytes[112];
    };
};

/* timer_create(2), mq_notify(2): 64 bytes. */
struct lx_sigevent {
    union lx_sigval sigev_value;
    int32_t sigev_signo;
    int32_t sigev_notify;
    union {
        int32_t sigev_notify_thread_id;
        uint8_t pad[48];
    };
};

#pragma pop_macro("sa_handler")
#pragma pop_macro("si_pid")
#pragma pop_macro("si_uid")
#pragma pop_macro("si_timerid")
#pragma pop_macro("si_tid")
#pragma pop_macro("si_overrun")
#pragma pop_macro("si_sys_private")
#pragma pop_macro("si_value")
#pragma pop_macro("si_status")
#pragma pop_macro("si_utime")
#pragma pop_macro("si_stime")
#pragma pop_macro("si_addr")
#pragma pop_macro("si_addr_lsb")
#pragma pop_macro("si_band")
#pragma pop_macro("si_fd")
#pragma pop_macro("si_call_addr")
#pragma pop_macro("si_syscall")
#pragma pop_macro("si_arch")
#pragma pop_macro("sigev_notify_thread_id")

/* General registers in a signal frame: 256 bytes, at offset 40 of the ucontext. */
struct lx_sigcontext {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2;
    uint64_t fpstate; /* address of the extended state, 64-byte aligned, 0: none */
    uint64_t reserved1[8];
};

struct lx_ucontext {
    uint64_t uc_flags;
    uint64_t uc_link;
    struct lx_stack uc_stack;
    struct lx_sigcontext uc_mcontext;
    lx_sigset uc_sigmask;
};

/* uc_flags */
#define LX_UC_FP_XSTATE         0x1
#define LX_UC_SIGCONTEXT_SS     0x2
#define LX_UC_STRICT_RESTORE_SS 0x4

/* What lies at the stack pointer on entry to a handler. */
struct lx_rt_sigframe {
    uint64_t pretcode; /* return address: sa_restorer */
    struct lx_ucontext uc;
    struct lx_siginfo info;
    /* the extended state follows, aligned to 64 */
};

/* The FXSAVE area, 512 bytes; the software bytes at 464 say whether XSAVE state follows. */
#define LX_FP_XSTATE_MAGIC1      0x46505853u
#define LX_FP_XSTATE_MAGIC2      0x46505845u
#define LX_FXSAVE_SIZE           512u
#define LX_FP_XSTATE_MAGIC2_SIZE 4u
#define LX_FP_SW_OFFSET          464u

struct lx_fpx_sw_bytes {
    uint32_t magic1;
    uint32_t extended_size; /* of the whole state with the trailing magic2 */
    uint64_t xfeatures;
    uint32_t xstate_size; /* of the state alone */
    uint32_t padding[7];
};

struct lx_fpstate {
    uint16_t cwd, swd, twd, fop;
    uint64_t rip, rdp;
    uint32_t mxcsr, mxcsr_mask;
    uint32_t st_space[32];
    uint32_t xmm_space[64];
    uint32_t reserved2[12];
    struct lx_fpx_sw_bytes sw_reserved;
};

/* signalfd4(2) */
#define LX_SFD_CLOEXEC  02000000
#define LX_SFD_NONBLOCK 04000

struct lx_signalfd_siginfo {
    uint32_t ssi_signo;
    int32_t ssi_errno;
    int32_t ssi_code;
    uint32_t ssi_pid;
    uint32_t ssi_uid;
    int32_t ssi_fd;
    uint32_t ssi_tid;
    uint32_t ssi_band;
    uint32_t ssi_overrun;
    uint32_t ssi_trapno;
    int32_t ssi_status;
    int32_t ssi_int;
    uint64_t ssi_ptr;
    uint64_t ssi_utime;
    uint64_t ssi_stime;
    uint64_t ssi_addr;
    uint16_t ssi_addr_lsb;
    uint16_t pad2;
    int32_t ssi_syscall;
    uint64_t ssi_call_addr;
    uint32_t ssi_arch;
    uint8_t pad[28];
};
