/* guest: glibc-only */
/* eventfd, timerfd, signalfd, memfd, pidfd: what can be read when, and what is refused. */
#include <poll.h>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "tests/guest/facts.h"

static int ready(int fd, int timeout)
{
    struct pollfd f = {fd, POLLIN | POLLOUT, 0};
    int n = poll(&f, 1, timeout);
    return n > 0 ? f.revents : n;
}

static void events(void)
{
    int e = (int)NEED(eventfd(3, EFD_NONBLOCK));
    uint64_t v = 0;
    VALUE("eventfd poll", ready(e, 0));
    VALUE("eventfd read", read(e, &v, 8));
    VALUE("value", (long)v);
    FACT("read again", read(e, &v, 8));
    FACT("short read", read(e, &v, 7));
    FACT("short write", write(e, &v, 4));
    v = UINT64_MAX;
    FACT("write all ones", write(e, &v, 8));
    v--;
    FACT("write the maximum", write(e, &v, 8));
    VALUE("full poll", ready(e, 0));
    v = 1;
    FACT("write when full", write(e, &v, 8));
    FACT("seek", lseek(e, 0, SEEK_SET));
    FACT("pread", pread(e, &v, 8, 0));
    FACT("bad flags", eventfd(0, 12345));
    close(e);
    e = (int)NEED(eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC));
    VALUE("close on exec", fcntl(e, F_GETFD));
    VALUE("semaphore", read(e, &v, 8));
    VALUE("takes", (long)v);
    VALUE("semaphore", read(e, &v, 8));
    FACT("semaphore empty", read(e, &v, 8));
    close(e);
}

static void timers(void)
{
    int t = (int)NEED(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
    struct itimerspec its = {{0, 0}, {0, 0}}, old;
    uint64_t v = 0;
    FACT("bad clock", timerfd_create(77, 0));
    FACT("cpu clock", timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
    FACT("bad flag", timerfd_create(CLOCK_MONOTONIC, 1));
    FACT("disarmed read", read(t, &v, 8));
    FACT("short read", read(t, &v, 4));
    its.it_value.tv_nsec = 1000000000;
    FACT("bad time", timerfd_settime(t, 0, &its, NULL));
    FACT("bad settime flag", timerfd_settime(t, 8, &its, NULL));
    its.it_value.tv_nsec = 5000000;
    its.it_interval.tv_nsec = 5000000;
    FACT("set", timerfd_settime(t, 0, &its, &old));
    YES("was disarmed", old.it_value.tv_sec == 0 && old.it_value.tv_nsec == 0);
    VALUE("poll", ready(t, 5000));
    nap(40);
    VALUE("read", read(t, &v, 8));
    YES("several periods", v >= 7);
    FACT("get", timerfd_gettime(t, &old));
    YES("less than a period left", old.it_value.tv_nsec > 0 && old.it_value.tv_nsec <= 5000000);
    memset(&its, 0, sizeof(its));
    its.it_value.tv_nsec = 1;
    FACT("absolute in the past", timerfd_settime(t, TFD_TIMER_ABSTIME, &its, NULL));
    VALUE("poll", ready(t, 1000));
    VALUE("read", read(t, &v, 8));
    VALUE("once", (long)v);
    memset(&its, 0, sizeof(its));
    FACT("disarm", timerfd_settime(t, 0, &its, NULL));
    FACT("write", write(t, &v, 8));
    int p[2];
    NEED(pipe(p));
    FACT("settime on a pipe", timerfd_settime(p[0], 0, &its, NULL));
    FACT("gettime on nothing", timerfd_gettime(999, &old));
    close(t), close(p[0]), close(p[1]);
}

static void signals(void)
{
    struct signalfd_siginfo si[3];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int s = (int)NEED(signalfd(-1, &set, SFD_NONBLOCK));
    FACT("no signal", read(s, si, sizeof(si)));
    FACT("short buffer", read(s, si, 100));
    raise(SIGUSR1);
    raise(SIGUSR1);
    union sigval sv = {.sival_int = 42};
    sigqueue(getpid(), SIGRTMIN + 1, sv);
    VALUE("poll", ready(s, 0));
    VALUE("read", read(s, si, sizeof(si)) / (long)sizeof(si[0]));
    say("first %d code %d own %d", si[0].ssi_signo, si[0].ssi_code,
        si[0].ssi_pid == (uint32_t)getpid());
    say("second %d code %d value %d", si[1].ssi_signo - SIGRTMIN, si[1].ssi_code, si[1].ssi_int);
    FACT("all taken", read(s, si, sizeof(si)));
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigprocmask(SIG_BLOCK, &usr2, NULL);
    YES("new mask gives the same number", signalfd(s, &usr2, 0) == s);
    raise(SIGUSR1);
    FACT("not in the mask", read(s, si, sizeof(si)));
    raise(SIGUSR2);
    VALUE("in the mask", read(s, si, sizeof(si)) / (long)sizeof(si[0]));
    FACT("on stdin", signalfd(0, &set, 0));
    FACT("bad flags", signalfd(-1, &set, 3));
    pid_t pid = fork();
    if (pid == 0) {
        nap(20);
        kill(getppid(), SIGUSR2);
        _exit(0);
    }
    VALUE("poll waits", ready(s, 5000));
    say_end("sender", pid);
    close(s);
}

static void memory_files(void)
{
    int m = (int)NEED(memfd_create("name", MFD_ALLOW_SEALING | MFD_CLOEXEC));
    char link[64] = "";
    char path[32];
    VALUE("seals", fcntl(m, F_GET_SEALS));
    FACT("size", ftruncate(m, 4096));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", m);
    NEED(readlink(path, link, sizeof(link) - 1));
    say("name %s", link);
    FACT("seal grow", fcntl(m, F_ADD_SEALS, F_SEAL_GROW));
    FACT("grow", ftruncate(m, 8192));
    FACT("write beyond", pwrite(m, "x", 1, 4096));
    FACT("shrink", ftruncate(m, 100));
    FACT("seal shrink", fcntl(m, F_ADD_SEALS, F_SEAL_SHRINK));
    FACT("shrink", ftruncate(m, 50));
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
    YES("mapped", map != MAP_FAILED);
    FACT("seal write while mapped", fcntl(m, F_ADD_SEALS, F_SEAL_WRITE));
    munmap(map, 4096);
    FACT("seal write", fcntl(m, F_ADD_SEALS, F_SEAL_WRITE));
    FACT("write", pwrite(m, "x", 1, 0));
    YES("map for writing", mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, m, 0) != MAP_FAILED);
    YES("map for reading", mmap(NULL, 4096, PROT_READ, MAP_SHARED, m, 0) != MAP_FAILED);
    FACT("seal seal", fcntl(m, F_ADD_SEALS, F_SEAL_SEAL));
    FACT("add", fcntl(m, F_ADD_SEALS, F_SEAL_GROW));
    VALUE("seals", fcntl(m, F_GET_SEALS));
    close(m);
    m = (int)NEED(memfd_create("", 0));
    VALUE("not sealable", fcntl(m, F_GET_SEALS));
    FACT("add", fcntl(m, F_ADD_SEALS, F_SEAL_GROW));
    close(m);
    FACT("bad flag", memfd_create("x", 0x100));
    char big[300];
    memset(big, 'a', sizeof(big));
    big[250] = 0;
    FACT("long name", memfd_create(big, 0));
    big[249] = 0;
    FACT("longest name", memfd_create(big, 0));
    int p[2];
    NEED(pipe(p));
    FACT("seals of a pipe", fcntl(p[0], F_GET_SEALS));
    close(p[0]), close(p[1]);
}

static void processes(void)
{
    int go[2];
    siginfo_t si;
    NEED(pipe(go));
    pid_t pid = fork();
    if (pid == 0) {
        char c;
        (void)!read(go[0], &c, 1);
        for (;;)
            pause();
    }
    int fd = (int)NEED(syscall(SYS_pidfd_open, pid, 0));
    VALUE("close on exec", fcntl(fd, F_GETFD));
    VALUE("alive", ready(fd, 0));
    FACT("probe", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    FACT("bad signal", syscall(SYS_pidfd_send_signal, fd, 99, NULL, 0));
    FACT("bad flags", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 77));
    FACT("kill", syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0));
    VALUE("ended", ready(fd, 5000));
    memset(&si, 0, sizeof(si));
    FACT("waitid", waitid((idtype_t)3, (id_t)fd, &si, WEXITED));
    say("code %d status %d", si.si_code, si.si_status);
    FACT("kill the dead", syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0));
    FACT("waitid again", waitid((idtype_t)3, (id_t)fd, &si, WEXITED));
    FACT("read", read(fd, &si, 8));
    FACT("open nobody", syscall(SYS_pidfd_open, 0x3fffff, 0));
    FACT("open 0", syscall(SYS_pidfd_open, 0, 0));
    FACT("open bad flags", syscall(SYS_pidfd_open, getpid(), 1));
    FACT("signal through a pipe", syscall(SYS_pidfd_send_signal, go[0], 0, NULL, 0));
    int self = (int)NEED(syscall(SYS_pidfd_open, getpid(), 0));
    int copy = (int)syscall(SYS_pidfd_getfd, self, go[1], 0);
    YES("getfd", copy >= 0);
    VALUE("getfd close on exec", fcntl(copy, F_GETFD));
    FACT("getfd closed", syscall(SYS_pidfd_getfd, self, 999, 0));
    close(fd), close(self), close(copy), close(go[0]), close(go[1]);
}

int main(void)
{
    facts_start();
    events();
    timers();
    signals();
    memory_files();
    processes();
    remove_work_dir();
    return 0;
}
