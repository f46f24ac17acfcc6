/* tries: hide memory in many processes: 40 children that each take a share, copy-on-write pages
 * touched after fork */
/* must fail because: memory of guests, sentry and gofer is charged to the run; reaching the limit
 * ends it as a whole, whichever process it is in */
/* an escape would: take more of the host's memory than the run was given */
/* source: ATTACKS.md R2, R1 */
#include <sys/mman.h>

#include "tricks.h"

static int attack(void)
{
    size_t n = 8 << 20;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int *full =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            memset(p, 2 + i, n); /* a copy of every page */
            __sync_fetch_and_add(full, 1);
            pause();
        }
        if (pid < 0)
            return contained("fork gives no more after %d: %s", i, err_name(errno));
    }
    for (long end = now_ms() + 3 * HANG_MS; *full < 40; usleep(10000))
        if (now_ms() > end)
            return cannot("only %d children have touched their share", *full);
    /* Whoever looks from time to time gets the time to look. */
    sleep(10);
    return escaped("40 children hold 320 MiB");
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
