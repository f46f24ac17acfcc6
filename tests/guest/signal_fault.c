/* Signals from the thread's own instructions: number, code, address; what happens when they are
 * blocked. */
#include <setjmp.h>
#include <ucontext.h>

#include <sys/mman.h>

#include "facts.h"

static sigjmp_buf env;
static siginfo_t info;
static unsigned long trap, err;

static void on_fault(int signo, siginfo_t *si, void *p)
{
    ucontext_t *uc = p;
    (void)signo;
    info = *si;
    trap = (unsigned long)uc->uc_mcontext.gregs[REG_TRAPNO];
    err = (unsigned long)uc->uc_mcontext.gregs[REG_ERR];
    siglongjmp(env, 1);
}

#define FAULT(label, where, stmt)                                                          \
    do {                                                                                   \
        memset(&info, 0, sizeof(info));                                                    \
        if (sigsetjmp(env, 1) == 0) {                                                      \
            stmt;                                                                          \
            say("%s: no fault", label);                                                    \
        } else {                                                                           \
            say("%s: signal %d code %d address %s trap %lu err %lu", label, info.si_signo, \
                info.si_code,                                                              \
                (void *)(where) == info.si_addr ? "right"                                  \
                : info.si_addr                  ? "other"                                  \
                                                : "0",                                                      \
                trap, err);                                                                \
        }                                                                                  \
    } while (0)

static void in_child(const char *label, void (*fn)(void))
{
    pid_t pid = NEED(fork());
    if (pid == 0) {
        fn();
        _exit(0);
    }
    say_end(label, pid);
}

static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    *(volatile int *)16 = 1;
}

static void crash_blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *(volatile int *)16 = 1;
}

static void crash_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    *(volatile int *)16 = 1;
}

static void divide(void)
{
    __asm__ volatile("xorl %%edx, %%edx\n movl $1, %%eax\n xorl %%ecx, %%ecx\n idivl %%ecx" ::
                         : "eax", "ecx", "edx");
}

static void overflow(void)
{
    volatile char big[4096];
    big[0] = 1;
    overflow();
    (void)big[0];
}

static void bad_stack(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGUSR1, (void (*)(int))(void *)on_fault);
    __asm__ volatile("movq $8, %%rsp\n movl %0, %%edi\n movl %1, %%esi\n movl %2, %%eax\n syscall\n"
                     "hlt" ::"r"(getpid()),
                     "i"(SIGUSR1), "i"(SYS_kill)
                     : "rax", "rdi", "rsi", "memory");
}

int main(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    facts_start();
    for (int i = 0; i < 5; i++)
        NEED(sigaction(signals[i], &sa, NULL));
    int fd = make_file("f", "short");
    char *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *file = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 4096);

    FAULT("write to 16", 16, *(volatile int *)16 = 1);
    FAULT("read of 16", 16, (void)*(volatile int *)16);
    FAULT("write to read-only memory", ro + 5, *(volatile char *)(ro + 5) = 1);
    FAULT("read of PROT_NONE", none, (void)*(volatile char *)none);
    FAULT("read after munmap", gone, (void)*(volatile char *)gone);
    FAULT("read beyond the end of a file", file + 4096, (void)*(volatile char *)(file + 4096));
    FAULT("non-canonical address", 0, (void)*(volatile char *)0x8000000000000000ull);
    FAULT("execute data", ro, ((void (*)(void))ro)());
    FAULT("division by zero", 1, divide());
    FAULT("illegal instruction", 1, __asm__ volatile("ud2"));
    FAULT("breakpoint", 0, __asm__ volatile("int3"));
    FAULT("privileged instruction", 0, __asm__ volatile("hlt"));
    in_child("default action", crash);
    in_child("blocked", crash_blocked);
    in_child("ignored", crash_ignored);
    in_child("no stack for the handler", bad_stack);

    static char alt[65536];
    stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
    sigaltstack(&ss, NULL);
    sa.sa_flags |= SA_ONSTACK;
    sigaction(SIGSEGV, &sa, NULL);
    if (sigsetjmp(env, 1) == 0)
        overflow();
    say("stack overflow on the alternate stack: signal %d code %d", info.si_signo, info.si_code);
    remove_work_dir();
    return 0;
}
