/* O_ASYNC: a signal when a file becomes ready; F_SETOWN, F_SETSIG, FIOASYNC. */
#include <pthread.h>

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "facts.h"

static sigset_t set;

static void say_signal(const char *label, int fd)
{
    struct timespec soon = {2, 0};
    siginfo_t si;
    int signo = sigtimedwait(&set, &si, &soon);
    if (signo < 0)
        say("%s: %s", label, errno_name(errno));
    else if (si.si_code == SI_KERNEL)
        say("%s: %s from the kernel", label, signo == SIGIO ? "SIGIO" : "other");
    else
        say("%s: %s code %d band %lx descriptor %s", label,
            signo == SIGRTMIN + 3 ? "SIGRTMIN+3" : "other", si.si_code, (long)si.si_band,
            si.si_fd == fd ? "right" : "wrong");
}

static void say_none(const char *label)
{
    struct timespec now = {0, 0};
    VALUE(label, sigtimedwait(&set, NULL, &now));
}

static int add_flag(int fd, int flag)
{
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | flag);
}

static bool has_async(int fd)
{
    return (fcntl(fd, F_GETFL) & O_ASYNC) != 0;
}

static void pipes(void)
{
    int p[2];
    char b[8];
    NEED(pipe(p));
    VALUE("no owner", fcntl(p[0], F_GETOWN));
    FACT("O_ASYNC", add_flag(p[0], O_ASYNC));
    YES("is set", has_async(p[0]));
    NEED(write(p[1], "x", 1));
    say_none("without an owner");
    FACT("owner", fcntl(p[0], F_SETOWN, getpid()));
    YES("is told", fcntl(p[0], F_GETOWN) == getpid());
    NEED(write(p[1], "x", 1));
    say_signal("a byte", p[0]);
    NEED(read(p[0], b, 1));
    say_none("reading sends nothing");
    FACT("F_SETSIG", fcntl(p[0], F_SETSIG, SIGRTMIN + 3));
    VALUE("F_GETSIG", fcntl(p[0], F_GETSIG) - SIGRTMIN);
    FACT("F_SETSIG 65", fcntl(p[0], F_SETSIG, 65));
    NEED(write(p[1], "x", 1));
    say_signal("a byte", p[0]);
    FACT("off", fcntl(p[0], F_SETFL, 0));
    YES("is set", has_async(p[0]));
    NEED(write(p[1], "x", 1));
    say_none("when it is off");
    FACT("on again", add_flag(p[0], O_ASYNC));
    int copy = NEED(dup(p[0]));
    close(p[0]);
    NEED(write(p[1], "x", 1));
    say_signal("through a duplicate", p[0]);
    close(copy);
    close(p[1]);
    say_none("all closed");
}

static void owners(void)
{
    int p[2];
    struct f_owner_ex ex = {F_OWNER_TID, 0};
    NEED(pipe(p));
    FACT("nobody of that number", fcntl(p[0], F_SETOWN, 999999));
    FACT("no such group", fcntl(p[0], F_SETOWN, -999999));
    FACT("the lowest number", fcntl(p[0], F_SETOWN, INT_MIN));
    ex.pid = getpid();
    FACT("a thread", fcntl(p[0], F_SETOWN_EX, &ex));
    FACT("asked", fcntl(p[0], F_GETOWN_EX, &ex));
    say("type %d, itself: %d", ex.type, ex.pid == getpid());
    ex = (struct f_owner_ex){7, getpid()};
    FACT("odd type", fcntl(p[0], F_SETOWN_EX, &ex));
    ex = (struct f_owner_ex){F_OWNER_PGRP, getpgrp()};
    FACT("the group", fcntl(p[0], F_SETOWN_EX, &ex));
    YES("is a negative number", fcntl(p[0], F_GETOWN) == -getpgrp());
    FACT("nobody", fcntl(p[0], F_SETOWN, 0));
    VALUE("asked", fcntl(p[0], F_GETOWN));

    pid_t pid = NEED(fork());
    if (pid == 0) {
        siginfo_t si;
        struct timespec long_time = {10, 0};
        NEED(write(p[1], "r", 1)); /* the mask is inherited: a signal now stays pending */
        _exit(sigtimedwait(&set, &si, &long_time) == SIGIO ? 0 : 1);
    }
    char b;
    NEED(read(p[0], &b, 1));
    FACT("the child", fcntl(p[0], F_SETOWN, pid));
    FACT("O_ASYNC", add_flag(p[0], O_ASYNC));
    NEED(write(p[1], "x", 1));
    say_end("child that got it", pid);
    say_none("the parent did not");
    close(p[0]);
    close(p[1]);
}

static void kinds(void)
{
    int s[2], one = 1, zero = 0;
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    FACT("FIOASYNC on a socket", ioctl(s[0], FIOASYNC, &one));
    YES("is set", has_async(s[0]));
    int pid = getpid();
    FACT("FIOSETOWN", ioctl(s[0], FIOSETOWN, &pid));
    NEED(fcntl(s[0], F_SETSIG, SIGRTMIN + 3));
    NEED(write(s[1], "x", 1));
    say_signal("a byte", s[0]);
    FACT("FIOASYNC off", ioctl(s[0], FIOASYNC, &zero));
    NEED(write(s[1], "x", 1));
    say_none("off");
    FACT("bad address", ioctl(s[0], FIOASYNC, (void *)1));

    int in = NEED(inotify_init1(0));
    FACT("inotify", add_flag(in, O_ASYNC));
    NEED(fcntl(in, F_SETOWN, getpid()));
    NEED(inotify_add_watch(in, ".", IN_CREATE));
    close(NEED(open("new", O_RDWR | O_CREAT, 0600)));
    say_signal("a file", in);

    int plain = NEED(open("new", O_RDWR));
    FACT("a plain file", add_flag(plain, O_ASYNC));
    YES("is set", has_async(plain));
    FACT("FIOASYNC on it", ioctl(plain, FIOASYNC, &one));
    FACT("FIOASYNC off", ioctl(plain, FIOASYNC, &zero));
    int ev = NEED(eventfd(0, 0));
    FACT("an eventfd", add_flag(ev, O_ASYNC));
    YES("is set", has_async(ev));
}

int main(void)
{
    facts_start();
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pipes();
    owners();
    kinds();
    remove_work_dir();
    return 0;
}
