/* tries: mappings: 65530 and more in each of ten processes, forked with all of them, each page with
 * other rights, then mprotect and munmap across all of it */
/* must fail because: mappings are counted a process (65530) and a sandbox; a fork charges its
 * copies */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for, or
 * hold it in one call */
/* source: ATTACKS.md R10 */
#include <sys/mman.h>

#include "tricks.h"

static long split(char *base, long pages)
{
    long n = 0;
    for (long i = 0; i < pages; i += 2, n++)
        if (mprotect(base + i * 4096, 4096, PROT_READ) < 0)
            break;
    return n;
}

static int attack(void)
{
    long pages = 140000, start = now_ms();
    char *base =
        mmap(NULL, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return cannot("a reservation: %s", err_name(errno));
    long n = split(base, pages);
    step("%ld splits, then %s, %ld ms", n, err_name(errno), now_ms() - start);
    int forks = 0;
    for (; forks < 10 && now_ms() - start < 2500; forks++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            pause();
        }
    }
    step("%d forks of it, then %s, %ld ms", forks, err_name(errno), now_ms() - start);
    start = now_ms();
    int r = mprotect(base, pages * 4096, PROT_READ | PROT_WRITE) < 0 ? errno : 0;
    int u = munmap(base, pages * 4096) < 0 ? errno : 0;
    step("mprotect across: %s, munmap across: %s, %ld ms", err_name(r), err_name(u),
         now_ms() - start);
    if (n > 66000)
        return escaped("%ld mappings in one process", n);
    return contained("%ld mappings, %d forks of them", n, forks);
}

static int twin(void)
{
    char *base =
        mmap(NULL, 2000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || split(base, 2000) != 1000)
        return broken("a thousand splits: %s", err_name(errno));
    if (mprotect(base, 2000 * 4096, PROT_READ | PROT_WRITE) < 0 || munmap(base, 2000 * 4096) < 0)
        return broken("and back: %s", err_name(errno));
    return works("a mapping split a thousand times and put together again");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
