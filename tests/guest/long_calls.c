/* Calls that move so much that the kernel does them in several goes: counts, bytes, signals. */
#include <pthread.h>

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "facts.h"

#define MIB ((size_t)1 << 20)

static char *map(size_t n)
{
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 61)
        if (p[i])
            return 0;
    return p[n - 1] == 0;
}

static void zeros(void)
{
    char *p = map(50 * MIB);
    int fd = open("/dev/zero", O_RDONLY);
    struct iovec iov[3] = {{p, 20 * MIB}, {p + 20 * MIB, 1}, {p + 25 * MIB, 20 * MIB}};

    memset(p, 1, 50 * MIB);
    VALUE("read of zeros", read(fd, p, 50 * MIB));
    VALUE("all zero", all_zero(p, 50 * MIB));
    memset(p, 1, 50 * MIB);
    VALUE("readv of zeros", readv(fd, iov, 3));
    VALUE("zero where it should be", all_zero(p, 20 * MIB + 1) && all_zero(p + 25 * MIB, 20 * MIB));
    VALUE("one where it should be",
          p[20 * MIB + 1] == 1 && p[25 * MIB - 1] == 1 && p[45 * MIB] == 1);
    VALUE("read into a hole", read(fd, (munmap(p + 30 * MIB, 4096), p), 50 * MIB));
    munmap(p, 50 * MIB);
    close(fd);
}

static void chance(void)
{
    char *p = map(8 * MIB);
    int fd = open("/dev/urandom", O_RDONLY), used = 0;

    VALUE("read of chance", read(fd, p, 4 * MIB));
    VALUE("getrandom", getrandom(p + 4 * MIB, 4 * MIB, 0));
    for (size_t i = 0; i < 8 * MIB; i += 65536) {
        int any = 0;
        for (size_t k = 0; k < 64; k++)
            any |= p[i + k];
        used += any != 0;
    }
    VALUE("filled everywhere", used);
    munmap(p, 8 * MIB);
    close(fd);
}

static void files(void)
{
    char *p = map(40 * MIB);
    int fd = open("file", O_RDWR | O_CREAT, 0600), null = open("/dev/null", O_WRONLY);
    off_t off = 3;

    for (size_t i = 0; i < 40 * MIB; i += 4096)
        p[i] = (char)(i >> 12);
    VALUE("write", pwrite(fd, p, 40 * MIB, 0));
    memset(p, 0, 40 * MIB);
    VALUE("pread", pread(fd, p, 40 * MIB, 4096));
    VALUE("its bytes", p[0] == 1 && p[20 * MIB] == (char)((20 * MIB >> 12) + 1));
    lseek(fd, 8192, SEEK_SET);
    VALUE("read", read(fd, p, 40 * MIB));
    VALUE("its bytes", p[0] == 2 && p[20 * MIB] == (char)((20 * MIB >> 12) + 2));
    VALUE("position", lseek(fd, 0, SEEK_CUR));
    VALUE("sendfile", sendfile(null, fd, &off, 30 * MIB));
    VALUE("offset", off);
    close(fd);
    close(null);
    munmap(p, 40 * MIB);
}

static void processes(void)
{
    char *p = map(40 * MIB), *q = map(40 * MIB);
    struct iovec l[2] = {{q, 5}, {q + 5, 40 * MIB - 5}},
                 r[2] = {{p, 30 * MIB}, {p + 30 * MIB, 10 * MIB}};

    for (size_t i = 0; i < 40 * MIB; i += 997)
        p[i] = (char)i;
    VALUE("process_vm_readv", process_vm_readv(getpid(), l, 2, r, 2, 0));
    VALUE("same bytes", memcmp(p, q, 40 * MIB) == 0);
    munmap(p + 36 * MIB, 4096);
    VALUE("process_vm_readv up to a hole", process_vm_readv(getpid(), l, 2, r, 2, 0));
    munmap(p, 40 * MIB);
    munmap(q, 40 * MIB);
}

static volatile int ticks;

static void tick(int sig)
{
    ticks++;
}

/* Signals come in between and what was moved counts. */
static void interrupted(void)
{
    char *p = map(64 * MIB);
    int fd = open("/dev/urandom", O_RDONLY), bad = 0;
    struct itimerval on = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};

    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &on, NULL);
    for (int i = 0; ticks < 3 && i < 10000; i++) {
        ssize_t n = read(fd, p, 16 * MIB);
        bad += n <= 0;
    }
    setitimer(ITIMER_REAL, &off, NULL);
    VALUE("signals arrived", ticks >= 3);
    VALUE("reads that failed", bad);
    close(fd);
    munmap(p, 64 * MIB);
}

/* But no signal makes a transfer of a regular file short. */
static void uninterrupted(void)
{
    char *p = map(40 * MIB);
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), bad = 0;
    struct itimerval on = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};

    ticks = 0;
    setitimer(ITIMER_REAL, &on, NULL);
    for (int i = 0; i < 4 || (ticks < 3 && i < 1000); i++) {
        bad += pwrite(fd, p, 40 * MIB, 0) != (ssize_t)(40 * MIB);
        bad += pread(fd, p, 40 * MIB, 0) != (ssize_t)(40 * MIB);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    VALUE("short transfers", bad);
    close(fd);
    unlink("file");
    munmap(p, 40 * MIB);
}

/* Each append is one piece of the file, however long it is. */
static void appenders(void)
{
    char *p = map(20 * MIB);
    pid_t child[2];
    int changes = 0, fd;

    for (int i = 0; i < 2; i++) {
        child[i] = NEED(fork());
        if (child[i] == 0) {
            fd = open("both", O_WRONLY | O_CREAT | O_APPEND, 0600);
            memset(p, 'a' + i, 20 * MIB);
            _exit(write(fd, p, 20 * MIB) != (ssize_t)(20 * MIB));
        }
    }
    say_end("first appender", child[0]);
    say_end("second appender", child[1]);
    fd = open("both", O_RDONLY);
    for (off_t at = 0, last = 0; pread(fd, p, 1, at) == 1; at += 4096, last = (unsigned char)p[0])
        changes += at > 0 && (unsigned char)p[0] != last;
    VALUE("size", lseek(fd, 0, SEEK_END));
    VALUE("changes of owner", changes);
    close(fd);
    unlink("both");
    munmap(p, 20 * MIB);
}

/* The limit is in the middle: the write is short; only the next one is told. */
static void at_the_limit(void)
{
    char *p = map(40 * MIB);
    int fd = open("limited", O_RDWR | O_CREAT, 0600);
    struct rlimit old, less;
    struct iovec iov[2] = {{p, 20 * MIB}, {p + 20 * MIB, 20 * MIB}};

    getrlimit(RLIMIT_FSIZE, &old);
    less = old;
    less.rlim_cur = 32 * MIB;
    setrlimit(RLIMIT_FSIZE, &less);
    signal(SIGXFSZ, tick);
    ticks = 0;
    VALUE("write up to the limit", write(fd, p, 40 * MIB));
    VALUE("signals", ticks);
    VALUE("write at the limit", write(fd, p, 1));
    VALUE("signals", ticks);
    VALUE("truncated", ftruncate(fd, 0));
    lseek(fd, 0, SEEK_SET);
    VALUE("writev up to the limit", writev(fd, iov, 2));
    VALUE("pwritev up to the limit", pwritev(fd, iov, 2, 16 * MIB));
    VALUE("signals", ticks);
    VALUE("write into a hole", (munmap(p + 30 * MIB, 4096), pwrite(fd, p, 32 * MIB, 0)));
    setrlimit(RLIMIT_FSIZE, &old);
    close(fd);
    unlink("limited");
    munmap(p, 40 * MIB);
}

int main(void)
{
    facts_start();
    zeros();
    chance();
    files();
    processes();
    interrupted();
    unlink("file");
    uninterrupted();
    appenders();
    at_the_limit();
    return 0;
}
