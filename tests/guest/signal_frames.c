/* What a handler may write into its frame, and what the kernel makes of it on return. */
#include <sys/ucontext.h>

#include "facts.h"

static int which;
static volatile int back;

enum {
    RIP_NONCANONICAL,
    RIP_KERNEL,
    RIP_NULL,
    RSP_NONCANONICAL,
    FLAGS_ALL,
    FLAGS_NONE,
    CS_KERNEL,
    CS_ZERO,
    SS_ZERO,
    FP_NULL,
    FP_UNALIGNED,
    FP_UNMAPPED,
    FP_KERNEL,
    MXCSR_RESERVED,
    XFEATURES_ALL,
    SIZE_HUGE,
    SIZE_SMALL,
    MAGIC_GONE,
    XSTATE_GARBAGE,
    MASK_ALL,
    STACK_BAD,
    CASES
};

static const char *const names[] = {
    "rip not canonical",
    "rip in the kernel",
    "rip null",
    "rsp not canonical",
    "all flags",
    "no flags",
    "kernel cs",
    "cs 0",
    "ss 0",
    "no fp state",
    "fp state unaligned",
    "fp state not there",
    "fp state in the kernel",
    "mxcsr reserved bits",
    "all xfeatures",
    "huge extended size",
    "small extended size",
    "no magic",
    "garbage in the xsave header",
    "all signals blocked",
    "bad alternate stack",
};

static void spoil_fp(ucontext_t *uc)
{
    uint8_t *fp = (uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t *sw = (uint32_t *)(fp + 464);

    switch (which) {
    case FP_NULL:
        uc->uc_mcontext.fpregs = NULL;
        break;
    case FP_UNALIGNED:
        uc->uc_mcontext.fpregs = (void *)(fp + 8);
        break;
    case FP_UNMAPPED:
        uc->uc_mcontext.fpregs = (void *)0x1000;
        break;
    case FP_KERNEL:
        uc->uc_mcontext.fpregs = (void *)0xffffffff81000000ull;
        break;
    case MXCSR_RESERVED:
        memset(fp + 24, 0xff, 4);
        break;
    case XFEATURES_ALL:
        memset(sw + 2, 0xff, 8);
        break;
    case SIZE_HUGE:
        sw[1] = 0x7fffffff;
        break;
    case SIZE_SMALL:
        sw[1] = 16;
        break;
    case MAGIC_GONE:
        sw[0] = 0;
        break;
    case XSTATE_GARBAGE:
        memset(fp + 512, 0xa5, 64);
        break;
    }
}

static void handler(int signo, siginfo_t *si, void *ctx)
{
    ucontext_t *uc = ctx;
    greg_t *r = uc->uc_mcontext.gregs;

    (void)signo;
    (void)si;
    switch (which) {
    case RIP_NONCANONICAL:
        r[REG_RIP] = (greg_t)0x8000000000000000ull;
        break;
    case RIP_KERNEL:
        r[REG_RIP] = (greg_t)0xffffffff81000000ull;
        break;
    case RIP_NULL:
        r[REG_RIP] = 0;
        break;
    case RSP_NONCANONICAL:
        r[REG_RSP] = (greg_t)0x8000000000000000ull;
        break;
    case FLAGS_ALL:
        r[REG_EFL] = (greg_t)(~0ull & ~0x40500ull); /* AC, TF and DF would hurt our own code */
        break;
    case FLAGS_NONE:
        r[REG_EFL] = 0;
        break;
    case CS_KERNEL:
        r[REG_CSGSFS] = (r[REG_CSGSFS] & ~0xffffll) | 0x10;
        break;
    case CS_ZERO:
        r[REG_CSGSFS] &= ~0xffffll;
        break;
    case SS_ZERO:
        r[REG_CSGSFS] &= 0xffffffffffffll;
        break;
    case MASK_ALL:
        memset(&uc->uc_sigmask, 0xff, 8);
        break;
    case STACK_BAD:
        uc->uc_stack = (stack_t){.ss_sp = (void *)1, .ss_flags = 0x55, .ss_size = 77};
        break;
    default:
        spoil_fp(uc);
    }
}

static unsigned long flags(void)
{
    unsigned long f;
    __asm__ volatile("pushfq; popq %0" : "=r"(f));
    return f;
}

static void try_case(void)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigset_t set;
    stack_t ss;

    NEED(sigaction(SIGUSR1, &sa, NULL));
    raise(SIGUSR1);
    back = 1;
    NEED(sigprocmask(SIG_BLOCK, NULL, &set));
    NEED(sigaltstack(NULL, &ss));
    say("  back; privileged flags %#lx; SIGKILL blocked %d; SIGTERM blocked %d; stack flags %d",
        flags() & 0x7000 & ~0x200ul, sigismember(&set, SIGKILL), sigismember(&set, SIGTERM),
        ss.ss_flags);
}

int main(void)
{
    for (which = 0; which < CASES; which++) {
        int st;
        fflush(stdout);
        pid_t pid = NEED(fork());
        if (pid == 0) {
            try_case();
            fflush(stdout);
            _exit(3);
        }
        NEED(waitpid(pid, &st, 0));
        say("%s: %s", names[which], status_text(st));
    }
    return 0;
}
