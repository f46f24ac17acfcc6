/* tries: long single calls: read /dev/zero and /dev/urandom by 64 MiB, sendfile, splice and
 * copy_file_range of holes to /dev/null, getrandom of 64 MiB, readv of 1024 parts, SEEK_HOLE and
 * SEEK_DATA in loops */
/* must fail because: one call moves a bounded piece and starts again as signals and deadlines
 * allow; the monitor outside holds the deadline anyway */
/* an escape would: hold the sentry in one call, so that neither deadline nor kill gets through in
 * time */
/* source: ATTACKS.md R4, R6 */
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "tricks.h"

static int one(int way, int null, int zero, int rnd, int file, char *buf)
{
    struct iovec iov[1024];
    loff_t off = 0;
    off_t o = 0;
    int p[2];
    switch (way % 9) {
    case 0:
        return read(zero, buf, 64 << 20) < 0;
    case 1:
        return read(rnd, buf, 64 << 20) < 0;
    case 2:
        return sendfile(null, zero, NULL, 0x7ffff000) < 0;
    case 3:
        return sendfile(null, file, &o, 1ul << 40) < 0;
    case 4:
        return copy_file_range(file, &off, null, NULL, 1ul << 40, 0) < 0;
    case 5:
        return getrandom(buf, 64 << 20, 0) < 0;
    case 6:
        for (int i = 0; i < 1024; i++)
            iov[i] = (struct iovec){buf, 2 << 20};
        return readv(zero, iov, 1024) < 0;
    case 7:
        for (int i = 0; i < 2000; i++)
            lseek(file, i * 16384, i % 2 ? SEEK_HOLE : SEEK_DATA);
        return 0;
    default:
        pipe(p);
        for (int i = 0; i < 100; i++) {
            splice(zero, NULL, p[1], NULL, 1 << 30, 0);
            splice(p[0], NULL, null, NULL, 1 << 30, 0);
        }
        return close(p[0]) + close(p[1]);
    }
}

static int attack(void)
{
    size_t n = 64 << 20;
    signal(SIGXFSZ, SIG_IGN);
    char *buf =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY),
        rnd = open("/dev/urandom", O_RDONLY);
    int file = open("/tmp/hole", O_RDWR | O_CREAT, 0600);
    for (int64_t size = 1ll << 40; size > 4096 && ftruncate(file, size) < 0; size /= 2)
        continue;
    for (int i = 0; i < 1000; i += 7)
        pwrite(file, "x", 1, i * 40000);
    for (int way = 0;; way++) {
        if (buf == MAP_FAILED)
            return cannot("no reservation");
        one(way, null, zero, rnd, file, buf);
        madvise(buf, n, MADV_DONTNEED);
    }
}

static int twin(void)
{
    static char buf[1 << 20];
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    if (read(zero, buf, sizeof(buf)) != sizeof(buf) ||
        getrandom(buf, sizeof(buf), 0) != sizeof(buf))
        return broken("a MiB of zeros and of chance: %s", err_name(errno));
    if (sendfile(null, open("/bin/busybox", O_RDONLY), NULL, 4096) != 4096)
        return broken("sendfile to /dev/null: %s", err_name(errno));
    return works("a MiB of zeros, a MiB of chance, sendfile to /dev/null");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
