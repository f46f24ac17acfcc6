/*
 * bench-guest OP [N]: performs one operation many times and prints "OP NS" (nanoseconds an
 * operation). The same static binary runs natively and in the sandbox.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const char *self;
static const char *file = "/bin/busybox";

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "bench-guest: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void op_getppid(int n)
{
    for (int i = 0; i < n; i++)
        syscall(SYS_getppid);
}

/* n fresh anonymous pages. */
static void op_anon_fault(int n)
{
    char *p =
        mmap(NULL, (size_t)n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    madvise(p, (size_t)n * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < n; i++)
        p[(size_t)i * 4096] = 1;
    munmap(p, (size_t)n * 4096);
}

/* Touches (copies) the pages of a private file mapping, over and over: between the rounds the
 * copies are dropped, so that the time is that of the faults and not of mmap. */
static void op_file_fault(int n)
{
    struct stat st;
    int fd = open(file, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        die(file);
    size_t len = (size_t)st.st_size & ~(size_t)4095;
    char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        die("mmap");
    for (int done = 0; done < n;) {
        for (size_t i = 0; i < len && done < n; i += 4096, done++)
            p[i] = 1;
        if (madvise(p, len, MADV_DONTNEED) < 0)
            die("madvise");
    }
    munmap(p, len);
    close(fd);
}

static void op_fork(int n)
{
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
}

static void op_fork_exec(int n)
{
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0) {
            execl(self, self, "nothing", (char *)NULL);
            _exit(1);
        }
        int st;
        waitpid(pid, &st, 0);
        if (st != 0)
            die("exec");
    }
}

static void *thread_main(void *arg)
{
    return arg;
}

static void op_thread(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t th;
        if (pthread_create(&th, NULL, thread_main, NULL) != 0)
            die("pthread_create");
        pthread_join(th, NULL);
    }
}

static void op_open_close(int n)
{
    for (int i = 0; i < n; i++) {
        int fd = open(file, O_RDONLY);
        if (fd < 0)
            die(file);
        close(fd);
    }
}

static void op_stat(int n)
{
    struct stat st;
    for (int i = 0; i < n; i++)
        if (stat(file, &st) < 0)
            die(file);
}

static void op_pread64k(int n)
{
    static char buf[65536];
    int fd = open(file, O_RDONLY);
    if (fd < 0)
        die(file);
    for (int i = 0; i < n; i++)
        if (pread(fd, buf, sizeof(buf), 0) != (ssize_t)sizeof(buf))
            die("pread");
    close(fd);
}

static void op_mmap(int n)
{
    for (int i = 0; i < n; i++) {
        void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            die("mmap");
        munmap(p, 65536);
    }
}

/* A byte there and back between two processes. */
static void op_pipe(int n)
{
    int a[2], b[2];
    char c = 0;
    if (pipe(a) < 0 || pipe(b) < 0)
        die("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < n; i++) {
            if (read(a[0], &c, 1) != 1 || write(b[1], &c, 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    for (int i = 0; i < n; i++) {
        if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1)
            die("pipe");
    }
    waitpid(pid, NULL, 0);
}

static volatile sig_atomic_t hits;

static void handler(int sig)
{
    (void)sig;
    hits++;
}

static void op_signal(int n)
{
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < n; i++)
        kill(getpid(), SIGUSR1);
}

static const struct {
    const char *name;
    void (*fn)(int n);
    int n;
} ops[] = {
    {"getppid", op_getppid, 20000},
    {"anon-fault", op_anon_fault, 20000},
    {"file-fault", op_file_fault, 20000},
    {"fork", op_fork, 200},
    {"fork-exec", op_fork_exec, 100},
    {"thread", op_thread, 400},
    {"open-close", op_open_close, 4000},
    {"stat", op_stat, 8000},
    {"pread64k", op_pread64k, 4000},
    {"mmap-munmap", op_mmap, 2000},
    {"pipe", op_pipe, 2000},
    {"signal", op_signal, 2000},
};

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "nothing") == 0)
        return 0;
    if (getenv("BENCH_FILE") != NULL)
        file = getenv("BENCH_FILE");
    if (strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
            puts(ops[i].name);
        return 0;
    }
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (strcmp(ops[i].name, argv[1]) != 0)
            continue;
        int n = argc > 2 ? atoi(argv[2]) : ops[i].n;
        ops[i].fn(n / 10 + 1); /* warm up */
        double t = now_ns();
        ops[i].fn(n);
        printf("%s %.1f\n", argv[1], (now_ns() - t) / n);
        return 0;
    }
    fprintf(stderr, "bench-guest: no operation %s\n", argv[1]);
    return 2;
}
