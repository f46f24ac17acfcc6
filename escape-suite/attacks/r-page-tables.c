/* tries: make the host's kernel hold memory that no page of the guest shows: page tables, by
   reading (never writing) one byte in every 2 MiB of a huge reservation, in four processes; the
   pages themselves are the one zero page */
/* must fail because: page tables are charged to the run's cgroup, or counted by the monitor where
 * there is none */
/* an escape would: take gigabytes of the host's memory while the run's own use stays near nothing
 */
/* source: ATTACKS.md R2, R10 */
#include <sys/mman.h>

#include "tricks.h"

static long touch(long step_bytes)
{
    unsigned long size = 1ul << 44, n = 0;
    volatile char sum = 0;
    char *p = MAP_FAILED;
    for (; size > 1ul << 32 && p == MAP_FAILED; size /= 2)
        p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return 0;
    size *= 2;
    for (unsigned long at = 0; at < size; at += (unsigned long)step_bytes, n++)
        sum += p[at];
    return (long)n;
}

static int attack(void)
{
    step("reading one byte in every 2 MiB");
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            for (;;)
                touch(2 << 20);
    long n = touch(2 << 20);
    if (n * 4096 > (400l << 20))
        return escaped("%ld page tables, %ld MiB of the host's memory", n, n >> 8);
    return contained("%ld page tables", n);
}

static int twin(void)
{
    char *p = mmap(NULL, 1ul << 32, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return broken("a reservation of 4 GiB: %s", err_name(errno));
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += p[(size_t)i << 22];
    return sum == 0 ? works("a thousand pages here and there in 4 GiB read as zero")
                    : broken("they are not zero");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
