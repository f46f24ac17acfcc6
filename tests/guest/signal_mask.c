/* Masks, pending sets, order of delivery, siginfo of kill, tgkill, sigqueue. */
#include "facts.h"

static int order[64];
static volatile sig_atomic_t count;
static siginfo_t last;

static void note(int signo, siginfo_t *si, void *uc)
{
    (void)uc;
    last = *si;
    order[count++ & 63] = signo * 100 + (si->si_code == SI_QUEUE ? si->si_value.sival_int : 0);
}

static void show_order(const char *label)
{
    char text[256] = "";
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d", order[i]);
    say("%s:%s", label, text);
    count = 0;
}

int main(void)
{
    sigset_t all, old, set;
    struct sigaction sa = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    facts_start();
    sigfillset(&sa.sa_mask);
    for (int s = 1; s < 64; s++)
        if (s != SIGKILL && s != SIGSTOP && s != SIGALRM && (s < 32 || s >= SIGRTMIN))
            NEED(sigaction(s, &sa, NULL));
    FACT("sigaction SIGKILL", sigaction(SIGKILL, &sa, NULL));
    FACT("sigaction SIGSTOP", sigaction(SIGSTOP, &sa, NULL));
    FACT("sigaction 0", syscall(SYS_rt_sigaction, 0, NULL, NULL, 8));
    FACT("sigaction 65", syscall(SYS_rt_sigaction, 65, NULL, NULL, 8));
    FACT("sigaction with a wrong set size", syscall(SYS_rt_sigaction, 1, NULL, NULL, 16));
    FACT("read the action of SIGKILL", syscall(SYS_rt_sigaction, SIGKILL, NULL, &(char[64]){0}, 8));

    sigfillset(&all);
    FACT("block everything", sigprocmask(SIG_SETMASK, &all, &old));
    sigprocmask(SIG_BLOCK, NULL, &set);
    say("SIGKILL blocked: %d, SIGTERM blocked: %d", sigismember(&set, SIGKILL),
        sigismember(&set, SIGTERM));
    FACT("bad how", sigprocmask(9, &all, NULL));
    kill(getpid(), SIGUSR2);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGHUP);
    sigpending(&set);
    say("pending: HUP %d USR1 %d USR2 %d TERM %d", sigismember(&set, SIGHUP),
        sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2), sigismember(&set, SIGTERM));
    sigprocmask(SIG_SETMASK, &old, NULL);
    show_order("standard signals come once, lowest first");

    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 1; i <= 3; i++) {
        NEED(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}));
        NEED(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}));
    }
    NEED(sigqueue(getpid(), SIGTERM, (union sigval){.sival_int = 7}));
    NEED(sigqueue(getpid(), SIGTERM, (union sigval){.sival_int = 8}));
    sigprocmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < count; i++)
        if (order[i] >= 3400)
            order[i] -= (SIGRTMIN - 34) * 100;
    show_order("real-time signals queue in order");

    kill(getpid(), SIGUSR1);
    say("kill: signo %d code %d pid ok %d uid ok %d", last.si_signo, last.si_code,
        last.si_pid == getpid(), last.si_uid == getuid());
    syscall(SYS_tgkill, getpid(), getpid(), SIGUSR2);
    say("tgkill: code %d pid ok %d", last.si_code, last.si_pid == getpid());
    raise(SIGUSR1);
    say("raise: code %d", last.si_code);
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42});
    say("sigqueue: code %d value %d", last.si_code, last.si_value.sival_int);
    last.si_signo = 0;
    sigprocmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), SIGCONT);
    kill(getpid(), SIGTSTP);
    sigpending(&set);
    say("a stop signal drops a pending SIGCONT: %d", !sigismember(&set, SIGCONT));
    kill(getpid(), SIGCONT);
    sigpending(&set);
    say("SIGCONT drops a pending stop signal: %d", !sigismember(&set, SIGTSTP));
    sigprocmask(SIG_SETMASK, &old, NULL);
    count = 0;

    signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&set);
    say("ignored and blocked is pending: %d", sigismember(&set, SIGUSR1));
    sigaction(SIGUSR1, &sa, NULL);
    kill(getpid(), SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    sigpending(&set);
    say("ignoring drops what is pending: %d", !sigismember(&set, SIGUSR1));
    sigprocmask(SIG_SETMASK, &old, NULL);
    FACT("kill 0 of oneself", kill(getpid(), 0));
    FACT("kill a bad signal", kill(getpid(), 65));
    FACT("kill nobody", kill(99999999, 0));
    FACT("tgkill of another group", syscall(SYS_tgkill, 99999999, getpid(), 0));
    FACT("tgkill pid 0", syscall(SYS_tgkill, 0, getpid(), 0));
    siginfo_t fake = {.si_code = SI_USER};
    pid_t pid = NEED(fork());
    if (pid == 0)
        for (;;)
            pause();
    FACT("queue a forged SI_USER to another", syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &fake));
    signal(SIGTERM, SIG_DFL);
    kill(pid, SIGKILL);
    say_end("child", pid);
    remove_work_dir();
    return 0;
}
