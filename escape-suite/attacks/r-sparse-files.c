/* tries: sparse files: lengths up to 8 EiB by ftruncate, pwrite and fallocate, one byte in each
 * page of many files, until the disk limit */
/* must fail because: allocated pages are counted, whatever offset they are at; holes cost nothing
 * and are walked in bounded steps */
/* an escape would: store more than the disk limit on the host, or overflow a size in the sentry */
/* source: ATTACKS.md R4 */
#include "tricks.h"

static long pages, errs[256];

static void note(long r)
{
    if (r < 0 && errno < 256)
        errs[errno]++;
}

static int sizes(const char *name)
{
    static const int64_t at[] = {0,         1,         4095,      1 << 20,       1ll << 31,
                                 1ll << 32, 1ll << 40, 1ll << 62, INT64_MAX - 1, INT64_MAX,
                                 -1};
    int fd = open(name, O_RDWR | O_CREAT, 0600), bad = 0;
    struct stat st;
    for (int i = 0; i < COUNT(at); i++) {
        note(ftruncate(fd, at[i]));
        note(pwrite(fd, "x", 1, at[i]));
        note(fallocate(fd, 0, at[i], 1 << 20));
        note(fallocate(fd, 1, 0, at[i]));
        note(fallocate(fd, 3, 0, at[i]));
        note(fallocate(fd, 0x10, at[i], at[i]));
        fstat(fd, &st);
        bad += st.st_size < 0 || (int64_t)st.st_blocks * 512 > (1ll << 30);
    }
    close(fd);
    return bad;
}

static int attack(void)
{
    char name[64];
    signal(SIGXFSZ, SIG_IGN);
    int bad = sizes("/tmp/sparse") + sizes("/dev/shm/sparse");
    unlink("/tmp/sparse");
    unlink("/dev/shm/sparse");
    for (int f = 0; f < 200; f++) {
        snprintf(name, sizeof(name), "/tmp/f%d", f);
        int fd = open(name, O_RDWR | O_CREAT, 0600);
        if (fd < 0)
            break;
        int full = 0;
        for (int64_t i = 0; i < 1000 && !full; i++) {
            ssize_t n = pwrite(fd, "1", 1, i * 16384);
            note(n);
            pages += n == 1;
            full = n < 0;
        }
        close(fd);
        if (full && errno == ENOSPC)
            break;
    }
    for (int e = 0; e < 256; e++)
        if (errs[e])
            step("%s %ld times", err_name(e), errs[e]);
    if (bad || pages > 100 * 256)
        return escaped("%ld pages are stored, %d sizes are wrong", pages, bad);
    return contained("%ld pages stored, then no more", pages);
}

static int twin(void)
{
    struct stat st;
    int fd = open("/tmp/sparse", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 32 << 20) < 0 || pwrite(fd, "x", 1, 20 << 20) != 1 ||
        fstat(fd, &st) < 0)
        return broken("a sparse file of 32 MiB: %s", err_name(errno));
    if (st.st_size != 32 << 20 || st.st_blocks * 512 > 1 << 20)
        return broken("it takes %ld blocks", (long)st.st_blocks);
    return works("a sparse file of 32 MiB takes few blocks");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
