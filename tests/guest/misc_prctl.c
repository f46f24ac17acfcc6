/* prctl, arch_prctl and kcmp beyond names; clocks that nobody sleeps by; what a process may ask of
 * files and of other processes through proc. */
#include <poll.h>

#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "facts.h"

static void processor(void)
{
    VALUE("timing", prctl(PR_GET_TIMING));
    FACT("timing 0", prctl(PR_SET_TIMING, 0));
    FACT("timing 1", prctl(PR_SET_TIMING, 1));
    FACT("tsc", prctl(PR_SET_TSC, PR_TSC_ENABLE));
    FACT("tsc 3", prctl(PR_SET_TSC, 3));
    FACT("huge pages", prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
    VALUE("are off", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        VALUE("for the child too", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
        _exit(0);
    }
    say_end("child", pid);
    FACT("with more", prctl(PR_SET_THP_DISABLE, 0, 1, 0, 0));
    FACT("asked with more", prctl(PR_GET_THP_DISABLE, 1, 0, 0, 0));
    FACT("speculation, unknown", prctl(PR_GET_SPECULATION_CTRL, 99, 0, 0, 0));
    FACT("speculation with more", prctl(PR_GET_SPECULATION_CTRL, 0, 1, 0, 0));
    VALUE("cpuid", syscall(SYS_arch_prctl, 0x1011, 0));
}

static void capabilities(void)
{
    FACT("ambient: clear", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
    FACT("ambient: clear with more", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 1, 0, 0));
    FACT("ambient: no capability", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 99, 0, 0));
    FACT("ambient: with more", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 1, 1, 0));
    FACT("ambient: unknown", prctl(PR_CAP_AMBIENT, 9, 1, 0, 0));
    FACT("ambient: raise", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 1, 0, 0));
    FACT("securebits", prctl(PR_SET_SECUREBITS, 0));
    FACT("keepcaps", prctl(PR_SET_KEEPCAPS, 1));
    FACT("sethostname", sethostname("name", 4));
    FACT("setdomainname", setdomainname("name", 4));
}

static void slack(void)
{
    FACT("slack", prctl(PR_SET_TIMERSLACK, 70000));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        VALUE("of the child", prctl(PR_GET_TIMERSLACK));
        FACT("another", prctl(PR_SET_TIMERSLACK, 80000));
        FACT("default", prctl(PR_SET_TIMERSLACK, 0));
        VALUE("is the parent's", prctl(PR_GET_TIMERSLACK));
        _exit(0);
    }
    say_end("child", pid);
    FACT("default", prctl(PR_SET_TIMERSLACK, 0));
    VALUE("is its own", prctl(PR_GET_TIMERSLACK));
}

static void comparing(void)
{
    pid_t me = getpid(), pid = NEED(fork());
    if (pid == 0) {
        pause();
        _exit(0);
    }
    VALUE("kcmp io", syscall(SYS_kcmp, me, pid, 5, 0, 0));
    VALUE("kcmp semaphores", syscall(SYS_kcmp, me, pid, 6, 0, 0));
    FACT("kcmp unknown", syscall(SYS_kcmp, me, pid, 8, 0, 0));
    char dir[64];
    snprintf(dir, sizeof(dir), "/proc/%d", (int)pid);
    int fd = NEED(open(dir, O_RDONLY | O_DIRECTORY));
    FACT("signal 0 through its directory", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    FACT("signal 999", syscall(SYS_pidfd_send_signal, fd, 999, NULL, 0));
    FACT("SIGTERM", syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
    say_end("child", pid);
    FACT("when it is gone", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    close(fd);
    fd = NEED(open("/proc", O_RDONLY | O_DIRECTORY));
    FACT("through /proc", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    close(fd);
    fd = NEED(open("/proc/self/task", O_RDONLY | O_DIRECTORY));
    FACT("through a directory below", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    close(fd);
    fd = NEED(open("/proc/self/status", O_RDONLY));
    FACT("through a file", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    close(fd);
    FACT("through standard output", syscall(SYS_pidfd_send_signal, 1, 0, NULL, 0));
}

static void sleeping(void)
{
    struct timespec ts = {0, 1000};
    /* By number: the C library has ideas of its own about clock 3. */
    static const int clocks[] = {0, 1, 3, 4, 5, 6, 7, 11, 99};
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        char label[32];
        snprintf(label, sizeof(label), "sleep by clock %d", clocks[i]);
        FACT(label, syscall(SYS_clock_nanosleep, clocks[i], 0, &ts, NULL));
    }
    FACT("CPU time, odd", syscall(SYS_clock_nanosleep, 3, 0, NULL, NULL));
}

static void timeouts(void)
{
    struct timeval tv = {0, 10000};
    select(0, NULL, NULL, NULL, &tv);
    say("select leaves %ld", (long)tv.tv_usec);
    NEED(personality(STICKY_TIMEOUTS));
    tv.tv_usec = 10000;
    select(0, NULL, NULL, NULL, &tv);
    say("with sticky time-outs %ld", (long)tv.tv_usec);
    NEED(personality(0));
}

/* F_CREATED_QUERY; kernels before 6.12 do not know it: there the facts are what later ones say. */
static int created(int fd, int known)
{
    struct utsname u;
    int major = 0, minor = 0;
    if (uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
        major * 1000 + minor < 6012)
        return known;
    return fcntl(fd, 1028);
}

static void files(void)
{
    int fd = NEED(open("made", O_RDWR | O_CREAT, 0600));
    VALUE("made by this open", created(fd, 1));
    int again = NEED(open("made", O_RDWR | O_CREAT, 0600));
    VALUE("there already", created(again, 0));
    int copy = NEED(dup(fd));
    VALUE("a duplicate", created(copy, 1));
    fd = NEED(open(".", O_RDWR | O_TMPFILE, 0600));
    VALUE("without a name", created(fd, 0));
    static const char *const tables[] = {"/proc/self/mounts", "/proc/self/mountinfo",
                                         "/proc/self/status"};
    for (int i = 0; i < 3; i++) {
        struct epoll_event ev = {.events = EPOLLPRI};
        int ep = NEED(epoll_create1(0));
        fd = NEED(open(tables[i], O_RDONLY));
        struct pollfd p = {.fd = fd, .events = POLLIN | POLLPRI | POLLOUT};
        FACT(tables[i], epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
        VALUE("poll", poll(&p, 1, 0));
        say("events %x", (unsigned)p.revents);
    }
}

static void pending(void)
{
    struct rlimit none = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t pid = NEED(fork());
    if (pid == 0) {
        NEED(setrlimit(RLIMIT_SIGPENDING, &none));
        FACT("no room for a real-time signal", syscall(SYS_tgkill, getpid(), getpid(), SIGRTMIN));
        FACT("queued", sigqueue(getpid(), SIGRTMIN, (union sigval){1}));
        FACT("kill", kill(getpid(), SIGRTMIN));
        FACT("a standard one", sigqueue(getpid(), SIGUSR1, (union sigval){1}));
        sigpending(&set);
        say("pending: %d %d", sigismember(&set, SIGRTMIN), sigismember(&set, SIGUSR1));
        _exit(0);
    }
    say_end("child", pid);
}

int main(void)
{
    facts_start();
    processor();
    capabilities();
    slack();
    comparing();
    sleeping();
    timeouts();
    files();
    pending();
    remove_work_dir();
    return 0;
}
