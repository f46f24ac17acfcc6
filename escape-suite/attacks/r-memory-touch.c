/* tries: touch memory by malloc, page by page, without end */
/* must fail because: memory of guests, sentry and gofer is charged to the run; reaching the limit
 * ends it as a whole */
/* an escape would: take more of the host's memory than the run was given */
/* source: ATTACKS.md R2 */
#include "tricks.h"

static int attack(void)
{
    for (long mib = 0;; mib++) {
        char *p = malloc(1 << 20);
        if (!p)
            return contained("malloc gives nothing after %ld MiB", mib);
        memset(p, 0x5a, 1 << 20);
        if (mib % 64 == 0)
            step("%ld MiB", mib);
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
