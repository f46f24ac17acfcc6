/* Running handlers: nesting, SA_NODEFER, SA_RESETHAND, alternate stacks, registers intact. */
#include <immintrin.h>
#include <setjmp.h>
#include <ucontext.h>

#include "facts.h"

static volatile sig_atomic_t depth, max_depth, runs, seen_mask;
static char stack_area[65536];
static volatile bool on_alt, reported_on;
static sigjmp_buf env;

static void nest(int signo)
{
    runs++;
    if (++depth > max_depth)
        max_depth = depth;
    if (depth < 4 && runs < 6)
        raise(signo);
    depth--;
}

static void check_mask(int signo)
{
    sigset_t now;
    (void)signo;
    sigprocmask(SIG_BLOCK, NULL, &now);
    seen_mask = sigismember(&now, SIGUSR1) | sigismember(&now, SIGUSR2) << 1 |
                sigismember(&now, SIGTERM) << 2;
}

static void alt(int signo)
{
    char here;
    stack_t ss;
    (void)signo;
    on_alt = &here >= stack_area && &here < stack_area + sizeof(stack_area);
    sigaltstack(NULL, &ss);
    reported_on = ss.ss_flags & SS_ONSTACK;
    say("change the alternate stack while on it: %s",
        sigaltstack(&(stack_t){.ss_sp = stack_area, .ss_size = 8192}, NULL) < 0 ? errno_name(errno)
                                                                                : "ok");
}

static void spoil(int signo)
{
    volatile double x = 3.0;
    (void)signo;
    __m128 v = _mm_set1_ps(99.0f);
    __asm__ volatile("movaps %0, %%xmm8\n movaps %0, %%xmm9\n movaps %0, %%xmm15\n fninit" ::"x"(v)
                     : "xmm8", "xmm9", "xmm15");
    x = x * 7.0 / 3.0;
    _mm_setcsr(0x1f80);
    if (runs++ < 3)
        raise(SIGUSR2);
}

static void edit(int signo, siginfo_t *si, void *p)
{
    ucontext_t *uc = p;
    (void)signo, (void)si;
    uc->uc_mcontext.gregs[REG_RBX] = 4711;
    sigaddset(&uc->uc_sigmask, SIGTERM);
}

static void jump(int signo)
{
    (void)signo;
    siglongjmp(env, 5);
}

static void set_handler(int signo, void (*fn)(int), int flags)
{
    struct sigaction sa = {.sa_handler = fn, .sa_flags = flags};
    sigaction(signo, &sa, NULL);
}

int main(void)
{
    sigset_t now;
    facts_start();
    set_handler(SIGUSR1, nest, 0);
    raise(SIGUSR1);
    say("without SA_NODEFER: depth %d", max_depth);
    say("runs: %d", runs);
    max_depth = runs = 0;
    set_handler(SIGUSR1, nest, SA_NODEFER);
    raise(SIGUSR1);
    say("with SA_NODEFER: depth %d runs %d", max_depth, runs);

    struct sigaction sa = {.sa_handler = check_mask}, got;
    sigaddset(&sa.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &sa, NULL);
    raise(SIGUSR1);
    say("mask in the handler: %d", seen_mask);
    sigprocmask(SIG_BLOCK, NULL, &now);
    say("mask afterwards: %d %d", sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));

    set_handler(SIGUSR1, check_mask, SA_RESETHAND);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &got);
    YES("SA_RESETHAND resets", got.sa_handler == SIG_DFL);

    stack_t ss = {.ss_sp = stack_area, .ss_size = sizeof(stack_area)}, old;
    FACT("stack too small", sigaltstack(&(stack_t){.ss_sp = stack_area, .ss_size = 100}, NULL));
    FACT("bad flags",
         sigaltstack(&(stack_t){.ss_sp = stack_area, .ss_size = 65536, .ss_flags = 8}, NULL));
    FACT("sigaltstack", sigaltstack(&ss, &old));
    say("it was disabled before: %d", old.ss_flags == SS_DISABLE);
    set_handler(SIGUSR1, alt, SA_ONSTACK);
    raise(SIGUSR1);
    say("on it: %d, says so: %d", on_alt, reported_on);
    sigaltstack(NULL, &old);
    say("afterwards flags %d size %zu", old.ss_flags, old.ss_size);

    set_handler(SIGUSR2, spoil, SA_NODEFER);
    runs = 0;
    __m128 v = _mm_set_ps(1, 2, 3, 4), w;
    long double st0;
    unsigned csr = 0x9fc0; /* flush to zero */
    _mm_setcsr(csr);
    __asm__ volatile("movaps %2, %%xmm8\n"
                     "movaps %2, %%xmm15\n"
                     "fldpi\n"
                     "movl %3, %%edi\n movl %4, %%esi\n movl %5, %%eax\n"
                     "syscall\n"
                     "fstpt %0\n"
                     "addps %%xmm15, %%xmm8\n"
                     "movaps %%xmm8, %1\n"
                     : "=m"(st0), "=m"(w)
                     : "x"(v), "r"(getpid()), "i"(SIGUSR2), "i"(SYS_kill)
                     : "rax", "rdi", "rsi", "rcx", "r11", "memory", "xmm8", "xmm15", "st");
    float f[4];
    _mm_storeu_ps(f, w);
    say("SSE after nested handlers: %g %g %g %g", f[0], f[1], f[2], f[3]);
    say("x87: %.6Lf", st0);
    say("MXCSR kept: %d, handler ran %d times", (_mm_getcsr() & 0xffc0) == csr, runs);
    _mm_setcsr(0x1f80);

    struct sigaction se = {.sa_sigaction = edit, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &se, NULL);
    long rbx;
    __asm__ volatile("movl %1, %%edi\n movl %2, %%esi\n movl %3, %%eax\n movq $1, %%rbx\n"
                     "syscall\n movq %%rbx, %0\n"
                     : "=r"(rbx)
                     : "r"(getpid()), "i"(SIGUSR1), "i"(SYS_kill)
                     : "rax", "rbx", "rdi", "rsi", "rcx", "r11", "memory");
    say("register set by the handler: %ld", rbx);
    sigprocmask(SIG_BLOCK, NULL, &now);
    say("mask set by the handler: %d", sigismember(&now, SIGTERM));

    set_handler(SIGUSR1, jump, 0);
    int r = sigsetjmp(env, 1);
    if (r == 0)
        raise(SIGUSR1);
    say("siglongjmp out of a handler: %d", r);
    sigprocmask(SIG_BLOCK, NULL, &now);
    say("mask restored: %d", !sigismember(&now, SIGUSR1));
    remove_work_dir();
    return 0;
}
