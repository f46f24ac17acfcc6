/* tries: fills the answer without end: `yes`, 1 GiB in one write, 1024 vectors of a megabyte, bytes
   one by one, splice, vmsplice, tee and sendfile, from many processes at once */
/* must fail because: the sentry counts what goes out, passes the first bytes up to the limit, and
 * ends the run */
/* an escape would: fill the caller's memory or disk, or keep the caller reading for ever */
/* source: ATTACKS.md B1 B7, piston 301 and 53 */
#include <fcntl.h>

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "attack.h"

#define MIB (1 << 20)

static void by_vectors(char *p)
{
    static struct iovec iov[1024];
    for (int i = 0; i < 1024; i++)
        iov[i] = (struct iovec){p + (size_t)i * MIB, MIB};
    for (;;)
        if (writev(1, iov, 1024) < 0)
            return;
}

/* Through a pipe of one's own, filled again and again. */
static void by_splice(bool tee_first)
{
    static char page[65536];
    int a[2], b[2];
    memset(page, 's', sizeof(page));
    struct iovec iov = {page, sizeof(page)};
    if (pipe(a) < 0 || pipe(b) < 0)
        return;
    for (;;) {
        if (vmsplice(a[1], &iov, 1, 0) < 0 && write(a[1], page, sizeof(page)) < 0)
            return;
        if (tee_first && tee(a[0], b[1], sizeof(page), 0) < 0)
            return;
        if (splice(tee_first ? b[0] : a[0], NULL, 1, NULL, sizeof(page), 0) <= 0)
            return;
        if (tee_first && read(a[0], page, sizeof(page)) < 0)
            return;
    }
}

static void by_sendfile(void)
{
    int fd = memfd_create("flood", 0);
    off_t at = 0;
    if (fd < 0 || ftruncate(fd, MIB) < 0)
        return;
    while (sendfile(1, fd, &at, MIB) > 0)
        at = 0;
}

static void by_processes(void)
{
    static char text[4096];
    memset(text, 'p', sizeof(text));
    for (int i = 0; i < 15 && fork() > 0; i++)
        continue;
    for (;;)
        if (write(1, text, sizeof(text)) < 0)
            return;
}

static int attack(void)
{
    const char *way = fact("way") ? fact("way") : "yes";
    char *p = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return cannot("no gigabyte of addresses: %s", err_name(errno));
    if (strcmp(way, "one") == 0)
        while (write(1, p, 1 << 30) > 0)
            continue;
    if (strcmp(way, "vectors") == 0)
        by_vectors(p);
    if (strcmp(way, "bytes") == 0)
        while (write(1, "b", 1) == 1)
            continue;
    if (strcmp(way, "splice") == 0)
        by_splice(false);
    if (strcmp(way, "tee") == 0)
        by_splice(true);
    if (strcmp(way, "sendfile") == 0)
        by_sendfile();
    if (strcmp(way, "processes") == 0)
        by_processes();
    while (strcmp(way, "yes") == 0 && write(1, "y\n", 2) == 2)
        continue;
    return cannot("standard output took no more: %s", err_name(errno));
}

/* The same calls, a kilobyte in all. */
static int twin(void)
{
    char text[256];
    struct iovec iov[2] = {{text, 128}, {text + 128, 128}};
    int pipes[2];
    memset(text, '\n', sizeof(text));
    if (write(1, text, 256) != 256 || writev(1, iov, 2) != 256)
        return broken("write: %s", err_name(errno));
    if (pipe(pipes) < 0 || write(pipes[1], text, 256) != 256 ||
        splice(pipes[0], NULL, 1, NULL, 256, 0) != 256)
        return broken("splice: %s", err_name(errno));
    int fd = memfd_create("twin", 0);
    if (fd < 0 || write(fd, text, 256) != 256 || lseek(fd, 0, SEEK_SET) != 0 ||
        sendfile(1, fd, NULL, 256) != 256)
        return broken("sendfile: %s", err_name(errno));
    return works("a kilobyte by write, writev, splice and sendfile");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
