/* Who is told that a file is ready: a process, a thread, a group; and what signalfd says of a
 * timer. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "facts.h"

static sigset_t set;

static void say_signal(const char *label, int fd)
{
    siginfo_t si;
    int signo = sigtimedwait(&set, &si, &(struct timespec){5, 0});
    if (signo < 0)
        say("%s: %s", label, errno_name(errno));
    else
        say("%s: %s code %d band %lx descriptor %s", label, signo == SIGIO ? "SIGIO" : "other",
            si.si_code, (long)si.si_band, si.si_fd == fd ? "right" : "another");
}

static void say_owner(const char *label, int fd)
{
    struct f_owner_ex o = {-1, -1};
    FACT(label, fcntl(fd, F_GETOWN_EX, &o));
    say("type %d, %s", o.type, o.pid == getpid() ? "us" : o.pid == 0 ? "nobody" : "another");
}

static void to_group(void)
{
    int p[2], told[2];
    char c;
    NEED(pipe(p));
    NEED(pipe(told));
    NEED(setpgid(0, 0));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        if (write(told[1], "x", 1) != 1)
            _exit(1);
        siginfo_t si;
        _exit(sigtimedwait(&set, &si, &(struct timespec){5, 0}) == SIGIO ? 0 : 2);
    }
    NEED(read(told[0], &c, 1));
    FACT("owner is the group", fcntl(p[0], F_SETOWN, -getpgrp()));
    /* A small negative number cannot be told from an errno by F_GETOWN's old wrapper. */
    struct f_owner_ex o = {-1, -1};
    NEED(fcntl(p[0], F_GETOWN_EX, &o));
    YES("it is", o.type == F_OWNER_PGRP && o.pid == getpgrp());
    YES("F_GETOWN", fcntl(p[0], F_GETOWN) == -getpgrp());
    NEED(fcntl(p[0], F_SETFL, O_ASYNC));
    NEED(write(p[1], "y", 1));
    say_signal("we", p[0]);
    say_end("the other of the group", pid);
}

static void owners(void)
{
    int s[2];
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    say_owner("at first", s[0]);
    FACT("a thread", fcntl(s[0], F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_TID, getpid()}));
    say_owner("a thread", s[0]);
    FACT("no such type", fcntl(s[0], F_SETOWN_EX, &(struct f_owner_ex){9, getpid()}));
    FACT("no such process", fcntl(s[0], F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_PID, 0x3fffff}));
    FACT("no such group", fcntl(s[0], F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_PGRP, 0x3fffff}));
    FACT("from nowhere", fcntl(s[0], F_SETOWN_EX, (void *)8));
    FACT("the least number", fcntl(s[0], F_SETOWN, INT_MIN));
    int pid = getpid();
    FACT("FIOSETOWN", ioctl(s[0], FIOSETOWN, &pid));
    int who = 0;
    FACT("FIOGETOWN", ioctl(s[0], FIOGETOWN, &who));
    YES("us", who == pid);
    FACT("no such signal", fcntl(s[0], F_SETSIG, 99));
    FACT("a queued one", fcntl(s[0], F_SETSIG, SIGIO));
    NEED(fcntl(s[0], F_SETFL, O_ASYNC));
    NEED(write(s[1], "x", 1));
    say_signal("something to read", s[0]);
    shutdown(s[1], SHUT_WR);
    say_signal("no more to come", s[0]);
    close(s[1]);
    say_signal("hung up", s[0]);
    FACT("told once", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
    close(s[0]);
    NEED(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s));
    NEED(fcntl(s[0], F_SETOWN, getpid()));
    NEED(fcntl(s[0], F_SETSIG, SIGIO));
    NEED(fcntl(s[0], F_SETFL, O_ASYNC));
    shutdown(s[1], SHUT_RDWR);
    say_signal("both ways", s[0]);
    int nobody[2];
    NEED(pipe(nobody));
    FACT("nobody", fcntl(nobody[0], F_SETOWN, 0));
    NEED(fcntl(nobody[0], F_SETFL, O_ASYNC));
    NEED(write(nobody[1], "x", 1));
    FACT("then none comes", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
}

static void timer_by_descriptor(void)
{
    sigset_t mine;
    timer_t t;
    struct signalfd_siginfo si;
    struct sigevent ev = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2, .sigev_value.sival_int = 77};
    sigemptyset(&mine);
    sigaddset(&mine, SIGRTMIN + 2);
    sigaddset(&mine, SIGUSR2);
    NEED(sigprocmask(SIG_BLOCK, &mine, NULL));
    int fd = NEED(signalfd(-1, &mine, SFD_NONBLOCK));
    FACT("nothing yet", read(fd, &si, sizeof(si)));
    NEED(timer_create(CLOCK_MONOTONIC, &ev, &t));
    NEED(timer_settime(t, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL));
    for (int i = 0; i < 1000 && read(fd, &si, sizeof(si)) < 0; i++)
        nap(1);
    say("code %d value %d overrun %u pid %u", si.ssi_code, si.ssi_int, si.ssi_overrun, si.ssi_pid);
    NEED(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 5}));
    VALUE("read", read(fd, &si, sizeof(si)) == sizeof(si));
    say("code %d value %d us %d", si.ssi_code, si.ssi_int, si.ssi_pid == (uint32_t)getpid());
    NEED(kill(getpid(), SIGUSR2));
    FACT("too small", read(fd, &si, sizeof(si) - 1));
    FACT("to nowhere", read(fd, (void *)8, sizeof(si)));
    FACT("and it is lost", read(fd, &si, sizeof(si)));
    timer_delete(t);
}

/* What /proc says of descriptors that have no name. */
static void names(void)
{
    char path[64], link[64];
    int made[] = {signalfd(-1, &set, 0), NEED(epoll_create1(0)), NEED(eventfd(0, 0)),
                  NEED(socket(AF_UNIX, SOCK_STREAM, 0))};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", made[i]);
        ssize_t n = readlink(path, link, sizeof(link) - 1);
        link[n > 0 ? n : 0] = 0;
        link[strcspn(link, "[")] = 0; /* a number may follow */
        say("%s", link);
    }
}

int main(void)
{
    facts_start();
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    NEED(sigprocmask(SIG_BLOCK, &set, NULL));
    /* Not in the first process of a sandbox, which leads a session. */
    pid_t pid = NEED(fork());
    if (pid == 0) {
        to_group();
        _exit(0);
    }
    say_end("its group", pid);
    owners();
    timer_by_descriptor();
    names();
    remove_work_dir();
    return 0;
}
