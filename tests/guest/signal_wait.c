/* sigsuspend, sigtimedwait, signalfd, SIGCHLD details. */
#include <poll.h>

#include <sys/signalfd.h>

#include "facts.h"

static volatile sig_atomic_t got;

static void on_signal(int signo)
{
    got = signo;
}

int main(void)
{
    sigset_t set, empty, old;
    siginfo_t si;
    struct timespec zero = {0, 0};
    facts_start();
    sigemptyset(&empty);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR1, on_signal);

    raise(SIGUSR1);
    FACT("sigsuspend", sigsuspend(&empty));
    say("handler ran: %d", got == SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &old);
    say("mask is back: %d", sigismember(&old, SIGUSR1));
    got = 0;
    FACT("sigtimedwait with nothing", sigtimedwait(&set, &si, &zero));
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 9});
    VALUE("sigtimedwait", sigtimedwait(&set, &si, &zero));
    say("code %d value %d, handler ran: %d", si.si_code, si.si_value.sival_int, got != 0);
    FACT("bad timeout", sigtimedwait(&set, &si, &(struct timespec){0, -1}));

    pid_t pid = NEED(fork());
    if (pid == 0)
        _exit(33);
    VALUE("sigwaitinfo for SIGCHLD", sigwaitinfo(&set, &si));
    say("code %d status %d pid ok %d uid ok %d", si.si_code, si.si_status, si.si_pid == pid,
        si.si_uid == getuid());
    say_end("child", pid);
    pid = NEED(fork());
    if (pid == 0)
        for (;;)
            pause();
    kill(pid, SIGTERM);
    VALUE("sigwaitinfo for SIGCHLD", sigwaitinfo(&set, &si));
    say("code %d status %d", si.si_code, si.si_status);
    say_end("child", pid);

    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    FACT("signalfd", fd);
    struct signalfd_siginfo ssi[4];
    FACT("read nothing", read(fd, ssi, sizeof(ssi)));
    struct pollfd p = {fd, POLLIN, 0};
    VALUE("poll", poll(&p, 1, 0));
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 77});
    VALUE("poll with a signal", poll(&p, 1, 0));
    FACT("read into too little", read(fd, ssi, 100));
    VALUE("read", read(fd, ssi, sizeof(ssi)));
    say("signo %u code %d int %d pid ok %d", ssi[0].ssi_signo, ssi[0].ssi_code, ssi[0].ssi_int,
        ssi[0].ssi_pid == (uint32_t)getpid());
    raise(SIGUSR1);
    pid = NEED(fork());
    if (pid == 0)
        _exit(4);
    waitpid(pid, NULL, WNOWAIT | WEXITED);
    siginfo_t ignore;
    waitid(P_PID, (id_t)pid, &ignore, WEXITED | WNOWAIT);
    VALUE("two at once", read(fd, ssi, sizeof(ssi)) / (long)sizeof(ssi[0]));
    say("signals %u %u status %d", ssi[0].ssi_signo, ssi[1].ssi_signo, ssi[1].ssi_status);
    say_end("child", pid);
    sigdelset(&set, SIGUSR1);
    VALUE("change the set", signalfd(fd, &set, 0) == fd);
    raise(SIGUSR1);
    FACT("no longer in the set", read(fd, ssi, sizeof(ssi)));
    FACT("signalfd of another kind of descriptor", signalfd(0, &set, 0));
    FACT("bad flags", signalfd(-1, &set, 1));

    struct sigaction sa = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &sa, NULL);
    pid = NEED(fork());
    if (pid == 0)
        _exit(0);
    FACT("SA_NOCLDWAIT leaves nothing to wait for", waitpid(pid, NULL, 0));
    signal(SIGCHLD, SIG_IGN);
    pid = NEED(fork());
    if (pid == 0)
        _exit(0);
    FACT("ignored SIGCHLD likewise", waitpid(-1, NULL, 0));
    remove_work_dir();
    return 0;
}
