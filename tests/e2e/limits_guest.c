/*
 * What the tests of limits run inside: one word says what to do. Harmless outside of a sandbox but
 * for what its name says, so do not run it there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void *wait_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        (void)pause();
    return NULL;
}

static void *spin(void *arg)
{
    for (volatile unsigned long i = 0;; i++)
        ;
    return arg;
}

/* n tasks beside this one. */
static int processes(int n)
{
    pid_t pids[4096];
    for (int i = 0; i < n && i < 4096; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            return 3;
        if (pids[i] == 0)
            (void)wait_for_ever(NULL);
    }
    for (int i = 0; i < n && i < 4096; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    return 0;
}

static int threads(int n, void *(*fn)(void *))
{
    pthread_attr_t attr;
    pthread_t th;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, 65536);
    for (int i = 0; i < n; i++) {
        if (pthread_create(&th, &attr, fn, NULL) != 0)
            return 3;
    }
    return 0;
}

static int burn(long ms)
{
    struct timespec ts;
    do {
        for (volatile int i = 0; i < 100000; i++)
            ;
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    } while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
    return 0;
}

static int burn_processes(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)burn(5);
            _exit(0);
        }
        (void)waitpid(pid, NULL, 0);
    }
}

static void *touch(void *arg)
{
    size_t n = (size_t)1 << 30;
    volatile char *p = malloc(n);
    for (size_t i = 0; p != NULL && i < n; i += 4096)
        p[i] = 1;
    return arg;
}

static int fork_bomb(void)
{
    for (;;)
        (void)fork();
}

static void block_all(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 1; i < 65; i++)
        (void)signal(i, SIG_IGN);
}

static int vfork_parent(void)
{
    if (vfork() == 0) {
        for (;;)
            (void)pause();
    }
    return 0;
}

/* Opens until it is refused; the number of descriptors then in use. */
static int files(void)
{
    int n = 3;
    while (open("/dev/null", O_RDONLY) >= 0)
        n++;
    (void)printf("%d %d\n", n, errno);
    return 0;
}

static int grow(const char *path, long bytes)
{
    static char block[65536];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (long done = 0; done < bytes;) {
        long want = bytes - done > (long)sizeof(block) ? (long)sizeof(block) : bytes - done;
        ssize_t n = write(fd, block, (size_t)want);
        if (n <= 0) {
            (void)printf("%ld %d\n", done, errno);
            return 1;
        }
        done += n;
    }
    (void)printf("%ld 0\n", bytes);
    return 0;
}

static int deep(void)
{
    for (;;) {
        if (mkdir("d", 0700) < 0 || chdir("d") < 0)
            return errno == ENOSPC || errno == ENOMEM ? 4 : 3;
    }
}

/* Fills socket queues until every kind of room is used up, and stays. */
static int sockets(void)
{
    static char block[4096];
    for (;;) {
        int s[2];
        if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s) < 0)
            break;
        while (send(s[0], block, sizeof(block), 0) > 0)
            ;
    }
    (void)printf("full\n");
    return 0;
}

static int pages(long mib, int kind)
{
    size_t n = (size_t)mib << 20;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 3;
    for (size_t i = 0; i < n; i += 4096)
        p[i] = 1;
    return 0;
}

static int absurd(void)
{
    const size_t n = (size_t)1 << 45;
    void *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return 3;
    void *q = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (q == MAP_FAILED || mprotect(q, n, PROT_READ | PROT_WRITE) == 0 || errno != ENOMEM)
        return 4;
    if (mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        return 5;
    if (mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        return 6;
    void *r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED || mremap(r, 4096, n, MREMAP_MAYMOVE) != MAP_FAILED)
        return 7;
    if (sbrk((intptr_t)n) != (void *)-1)
        return 8;
    return 0;
}

/* Reads one byte in each 2 MiB of a large mapping: nothing but page tables. */
static int tables(long gib)
{
    const size_t n = (size_t)gib << 30;
    char *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    volatile char sum = 0;
    if (p == MAP_FAILED)
        return 3;
    (void)madvise(p, n, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < n; i += (size_t)2 << 20)
        sum = (char)(sum + p[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 0;

    if (strcmp(what, "processes") == 0)
        return processes((int)n);
    if (strcmp(what, "threads") == 0)
        return threads((int)n, wait_for_ever);
    if (strcmp(what, "burn") == 0)
        return burn(n);
    if (strcmp(what, "burn-threads") == 0)
        return threads((int)n, spin) == 0 ? (int)(intptr_t)wait_for_ever(NULL) : 3;
    if (strcmp(what, "burn-processes") == 0)
        return burn_processes();
    if (strcmp(what, "blocked") == 0) {
        block_all();
        (void)threads(3, spin);
        (void)wait_for_ever(NULL);
    }
    if (strcmp(what, "thread-memory") == 0) {
        (void)threads(1, touch);
        (void)wait_for_ever(NULL);
    }
    if (strcmp(what, "bomb") == 0)
        return fork_bomb();
    if (strcmp(what, "stopped") == 0)
        return raise(SIGSTOP);
    if (strcmp(what, "vfork") == 0)
        return vfork_parent();
    if (strcmp(what, "files") == 0)
        return files();
    if (strcmp(what, "grow") == 0)
        return grow("/tmp/file", n);
    if (strcmp(what, "deep") == 0)
        return deep();
    if (strcmp(what, "sockets") == 0)
        return sockets();
    if (strcmp(what, "private") == 0)
        return pages(n, MAP_PRIVATE);
    if (strcmp(what, "shared") == 0)
        return pages(n, MAP_SHARED);
    if (strcmp(what, "absurd") == 0)
        return absurd();
    if (strcmp(what, "tables") == 0)
        return tables(n);
    (void)fprintf(stderr, "unknown: %s\n", what);
    return 2;
}
