/* A mapping that grows down: how far, and how near to what lies below. */
#include <setjmp.h>

#include <sys/mman.h>

#include "facts.h"

static sigjmp_buf jump;
static int fault_code;

static void on_fault(int signo, siginfo_t *info, void *ctx)
{
    fault_code = info->si_code;
    siglongjmp(jump, signo);
}

static void touch(const char *label, volatile char *p)
{
    int signo = sigsetjmp(jump, 1);
    if (signo == 0) {
        *p = 1;
        say("%s: ok", label);
    } else {
        say("%s: signal %d code %d", label, signo, fault_code);
    }
}

static char *map_at(char *at, size_t len, int prot, int flags)
{
    char *p = mmap(at, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p == MAP_FAILED ? (char *)NEED(-1) : p;
}

int main(void)
{
    const size_t page = 4096, mib = 1 << 20;
    stack_t alt = {.ss_size = 65536};
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    facts_start();
    alt.ss_sp = map_at(NULL, 65536, PROT_READ | PROT_WRITE, 0);
    NEED(sigaltstack(&alt, NULL));
    NEED(sigaction(SIGSEGV, &sa, NULL));
    NEED(sigaction(SIGBUS, &sa, NULL));
    /* A free range of 64 MiB to work in. */
    char *base = map_at(NULL, 64 * mib, PROT_NONE, MAP_NORESERVE);
    NEED(munmap(base, 64 * mib));

    char *low = base + 60 * mib;
    map_at(low, page, PROT_READ | PROT_WRITE, MAP_GROWSDOWN | MAP_FIXED);
    touch("itself", low);
    touch("a page below", low - page);
    touch("sixteen pages below", low - 16 * page);
    touch("in between", low - 9 * page);

    /* Nearer than a MiB to something that may be touched. */
    char *below = low - 4 * mib;
    map_at(below, page, PROT_READ, MAP_FIXED);
    touch("two MiB above another mapping", below + 2 * mib);
    touch("half a MiB above it", below + mib / 2);
    NEED(mprotect(below, page, PROT_NONE));
    touch("half a MiB above a guard", below + mib / 2);
    touch("the guard", below);
    touch("below the guard", below - page);

    /* As far as the limit of a stack. */
    struct rlimit rl;
    NEED(getrlimit(RLIMIT_STACK, &rl));
    char *other = base + 40 * mib;
    map_at(other, page, PROT_READ | PROT_WRITE, MAP_GROWSDOWN | MAP_FIXED);
    rl.rlim_cur = 8 * mib;
    NEED(setrlimit(RLIMIT_STACK, &rl));
    touch("within the limit", other - 4 * mib);
    touch("beyond it", other - 9 * mib);
    NEED(munmap(other - 4 * mib, 4 * mib + page));
    touch("gone", other);
    /* Read only stays so. */
    map_at(other, page, PROT_READ, MAP_GROWSDOWN | MAP_FIXED);
    touch("store to what may be read", other);
    touch("store below it", other - page);
    remove_work_dir();
    return 0;
}
