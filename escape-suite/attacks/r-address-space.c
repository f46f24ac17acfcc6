/* tries: mremap ping-pong: grow, move, shrink, MREMAP_DONTUNMAP, of large and small mappings, and
 * address space reserved up to 2^47 in every size */
/* must fail because: reservations cost nothing; ranges are chosen by the sentry from its own tree
 */
/* an escape would: crash the sentry by an address, or make it hold memory for a reservation */
/* source: ATTACKS.md R10 */
#include <sys/mman.h>

#include "tricks.h"

static int reserve(void)
{
    int n = 0;
    for (int shift = 47; shift >= 20; shift--)
        for (int i = 0; i < 40; i++)
            if (mmap(NULL, 1ul << shift, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0) != MAP_FAILED)
                n++;
    static const unsigned long odd[] = {-1ul,           -4096ul,        1ul << 63,
                                        0x7fffffffffff, 0x7ffffffff000, 0x800000000000};
    for (int i = 0; i < COUNT(odd); i++) {
        for (int k = 0; k < COUNT(odd); k++) {
            n += mmap((void *)odd[i], odd[k], PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED;
            munmap((void *)odd[i], odd[k]);
            mprotect((void *)odd[i], odd[k], PROT_NONE);
            madvise((void *)odd[i], odd[k], MADV_DONTNEED);
            mremap((void *)odd[i], odd[k], odd[i], MREMAP_MAYMOVE);
        }
    }
    step("%d reservations", n);
    pause();
    return 0;
}

static int attack(void)
{
    size_t len = 1 << 20;
    char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int moves = 0, bad = 0;
    pid_t pid = fork();
    if (pid == 0)
        reserve();
    p[0] = 'm';
    for (long end = now_ms() + 800; now_ms() < end; moves++) {
        size_t to = moves % 3 ? (size_t)4096 << (moves % 20) : len;
        char *q = mremap(p, len, to, MREMAP_MAYMOVE | (moves % 7 == 0 ? 4 : 0));
        if (q == MAP_FAILED)
            continue;
        p = q;
        len = to;
        bad += p[0] != 'm';
        p[0] = 'm';
    }
    kill(pid, SIGKILL);
    wait_for(pid);
    step("%d moves", moves);
    if (bad)
        return escaped("%d moves lost their bytes", bad);
    return contained("%d moves, every byte in its place", moves);
}

static int twin(void)
{
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[5] = 'x';
    char *big = mremap(p, 4096, 64 << 20, MREMAP_MAYMOVE);
    void *huge =
        mmap(NULL, 1ul << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (big == MAP_FAILED || big[5] != 'x' || huge == MAP_FAILED)
        return broken("growing to 64 MiB, 64 GiB reserved: %s", err_name(errno));
    return works("a mapping grows to 64 MiB, 64 GiB can be reserved");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
