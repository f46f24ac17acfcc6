/* tries: fill memory inside the host's kernel call: mmap with MAP_POPULATE and MAP_LOCKED,
 * MADV_POPULATE_WRITE, mlock, mlockall(MCL_FUTURE), huge pages */
/* must fail because: memory of guests, sentry and gofer is charged to the run; reaching the limit
 * ends it as a whole; flags that fault pages in ahead are not passed to the host, or their pages
 * are charged */
/* an escape would: take more of the host's memory than the run was given, or pin it */
/* source: ATTACKS.md R2 */
#include <sys/mman.h>

#include "tricks.h"

static int attack(void)
{
    static const int flags[] = {MAP_POPULATE, MAP_LOCKED, MAP_POPULATE | MAP_LOCKED,
                                MAP_HUGETLB | MAP_POPULATE, 0};
    step("mlockall: %s", err_name(mlockall(MCL_CURRENT | MCL_FUTURE) < 0 ? errno : 0));
    munlockall(); /* it took; from here on RLIMIT_MEMLOCK would only be in the way */
    size_t n = 4 << 20;
    for (long i = 0;; i++) {
        char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | flags[i % COUNT(flags)], -1, 0);
        if (p == MAP_FAILED) {
            if (i > 100000)
                return contained("mmap gives no more: %s", err_name(errno));
            continue;
        }
        mlock(p, n);
        syscall(SYS_mlock2, p, n, 1);
        madvise(p, n, MADV_HUGEPAGE);
        if (madvise(p, n, 23 /* MADV_POPULATE_WRITE */) < 0)
            memset(p, 1, n);
        if (i % 16 == 0)
            step("%ld MiB", i * 4);
    }
}

static int twin(void)
{
    size_t n = 8 << 20;
    char *p = malloc(n);
    if (!p)
        return broken("malloc of 8 MiB: %s", err_name(errno));
    memset(p, 1, n);
    for (size_t i = 0; i < n; i += 4096)
        if (p[i] != 1)
            return broken("memory does not keep its bytes");
    return works("8 MiB below the limit can be used");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
