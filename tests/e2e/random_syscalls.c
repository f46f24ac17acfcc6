/*
 * Hostile input for random_syscalls.sh: every syscall number with random arguments, each in a child
 * of its own. Runs only where uname says that the kernel is ours: on a host this would be reckless.
 *
 *      random_syscalls SEED ROUNDS        waits for a line on standard input before it begins
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum {
    LAST = 600,
    CALLS = 6,
    BUF = 65536,
    WAIT_MS = 40
};

static uint64_t state;
static unsigned char *buf;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}

static long raw(long nr, const uint64_t a[6])
{
    register uint64_t r10 __asm__("r10") = a[3];
    register uint64_t r8 __asm__("r8") = a[4];
    register uint64_t r9 __asm__("r9") = a[5];
    long ret;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

static uint64_t argument(void)
{
    switch (rnd() % 12) {
    case 0:
    case 1:
        return rnd() % 16;
    case 2:
        return rnd() % 2 ? rnd() % 4096 : rnd() % 16 * 4096;
    case 3:
        return ~0ull - rnd() % 3 * 99;
    case 4:
    case 5:
    case 6:
        return (uint64_t)(uintptr_t)buf + rnd() % 64 * 64;
    case 7:
        return (uint64_t)(uintptr_t)buf + (rnd() % 2 ? BUF - rnd() % 16 : rnd() % 16 * 4096);
    case 8:
        return 1ull << rnd() % 64;
    case 9:
        return 0x6fff00000000ull + rnd() % 0x100000; /* near the platform's own range */
    case 10:
        return (uint64_t)(uintptr_t)&argument - rnd() % 65536;
    default:
        return rnd();
    }
}

/* Calls that could end or change the parent: their first two arguments name this child instead. */
static int aims_at_a_process(long nr)
{
    static const long list[] = {SYS_kill,
                                SYS_tkill,
                                SYS_tgkill,
                                SYS_rt_sigqueueinfo,
                                SYS_rt_tgsigqueueinfo,
                                SYS_prlimit64,
                                SYS_process_vm_writev,
                                SYS_pidfd_open,
                                SYS_setpriority,
                                SYS_ptrace,
                                SYS_sched_setaffinity,
                                SYS_sched_setparam,
                                SYS_sched_setscheduler,
                                SYS_sched_setattr,
                                SYS_setpgid};

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (list[i] == nr)
            return 1;
    }
    return 0;
}

static void fill(void)
{
    for (size_t i = 0; i < BUF; i += 8) {
        uint64_t v = rnd() % 4 == 0 ? argument() : rnd() % 3 == 0 ? rnd() : rnd() % 16;
        memcpy(buf + i, &v, 8);
    }
    memcpy(buf, "/tmp/f", 7);
    memcpy(buf + 64, "/etc/passwd", 12);
    memcpy(buf + 128, "/proc/self/mem", 15);
    memcpy(buf + 192, "..", 3);
}

static void descriptors(void)
{
    int null = open("/dev/null", O_RDWR), pair[2];

    for (int i = 0; i < 3; i++)
        dup2(null, i);
    if (pipe(pair) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        _exit(1);
    (void)open("/etc/passwd", O_RDONLY);
    (void)open("/tmp/f", O_RDWR | O_CREAT, 0666);
    (void)open("/", O_RDONLY | O_DIRECTORY);
    (void)epoll_create1(0);
    (void)eventfd(1, 0);
    (void)memfd_create("m", MFD_ALLOW_SEALING);
}

static void child(long nr)
{
    const uint64_t exit_args[6] = {0};

    setsid();
    descriptors();
    if (chdir("/tmp") < 0)
        _exit(1);
    for (int i = 0; i < CALLS; i++) {
        uint64_t a[6];
        for (int j = 0; j < 6; j++)
            a[j] = argument();
        if (aims_at_a_process(nr))
            a[0] = a[1] = (uint64_t)getpid();
        if (nr == SYS_mmap)
            a[3] &= ~(uint64_t)MAP_POPULATE;
        fill();
        (void)raw(nr, a);
    }
    raw(SYS_exit_group, exit_args);
}

/* One number; 1 when the child had to be killed. */
static int try_number(long nr)
{
    struct timespec ms = {0, 1000000};
    int st, killed = 0;
    pid_t pid = fork();

    if (pid < 0) {
        printf("fork: %s\n", strerror(errno));
        exit(1);
    }
    if (pid == 0)
        child(nr);
    for (int i = 0; waitpid(pid, &st, WNOHANG) == 0; i++) {
        if (i == WAIT_MS) {
            killed = 1;
            kill(pid, SIGKILL);
        }
        nanosleep(&ms, NULL);
    }
    /* We are the first process: this is everything that the child has left behind. */
    kill(-1, SIGKILL);
    while (waitpid(-1, &st, 0) > 0)
        continue;
    return killed;
}

int main(int argc, char **argv)
{
    struct utsname u;
    char line[16];
    int killed = 0;

    if (uname(&u) < 0 || !strstr(u.release, "sentry")) {
        fprintf(stderr, "random_syscalls: only inside the sandbox\n");
        return 2;
    }
    state = argc > 1 ? strtoull(argv[1], NULL, 0) * 2 + 1 : 1;
    long rounds = argc > 2 ? strtol(argv[2], NULL, 0) : 1;
    buf = mmap(NULL, BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 2;
    for (long r = 0; r < rounds; r++) {
        for (long nr = 0; nr <= LAST; nr++) {
            killed += try_number(nr);
            rnd();
        }
    }
    printf("done, %d killed\n", killed);
    return 7;
}
