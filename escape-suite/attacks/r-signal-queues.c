/* tries: signals: queues of real-time signals filled in 30 processes, signals that raise
 * themselves, SIGCHLD storms, sigqueue to stopped tasks */
/* must fail because: queued signals are counted (EAGAIN), ordinary ones are one bit */
/* an escape would: make the sentry hold queues that nobody accounts for, or never come back from
 * delivering */
/* source: ATTACKS.md R2, V7 */
#include "tricks.h"

static volatile int depth;

static void nested(int sig)
{
    if (depth++ < 200)
        raise(sig);
}

static long fill(pid_t to)
{
    long n = 0;
    union sigval v = {0};
    for (; n < 200000; n++)
        if (sigqueue(to, SIGRTMIN + (int)(n % 20), v) < 0)
            break;
    return n;
}

static int attack(void)
{
    sigset_t rt;
    sigemptyset(&rt);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        sigaddset(&rt, s);
    sigprocmask(SIG_BLOCK, &rt, NULL);
    pid_t pid[30];
    for (int i = 0; i < 30; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            for (;;)
                pause();
        kill(pid[i], SIGSTOP);
    }
    long own = fill(getpid()), e = errno, others = 0;
    for (int i = 0; i < 30; i++)
        others += fill(pid[i]);
    step("%ld signals queued here, then %s; %ld with others", own, err_name(e), others);
    signal(SIGUSR1, nested);
    raise(SIGUSR1);
    for (int i = 0; i < 30; i++)
        kill(pid[i], SIGKILL);
    for (int i = 0; i < 30; i++)
        wait_for(pid[i]);
    siginfo_t si;
    long taken = 0;
    while (sigtimedwait(&rt, &si, &(struct timespec){0, 0}) > 0)
        taken++;
    long once_more = fill(getpid());
    step("%ld taken again, %ld queued anew", taken, once_more);
    if (own + others > 200000)
        return escaped("%ld signals are queued", own + others);
    if (once_more < 100)
        return escaped("only %ld signals can be queued after all were taken", once_more);
    return contained("%ld signals, then %s", own + others, err_name(e));
}

static int twin(void)
{
    sigset_t s;
    siginfo_t si;
    union sigval v = {.sival_int = 42};
    sigemptyset(&s);
    sigaddset(&s, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &s, NULL);
    for (int i = 0; i < 20; i++)
        if (sigqueue(getpid(), SIGRTMIN, v) < 0)
            return broken("sigqueue: %s", err_name(errno));
    for (int i = 0; i < 20; i++)
        if (sigtimedwait(&s, &si, &(struct timespec){1, 0}) != SIGRTMIN ||
            si.si_value.sival_int != 42)
            return broken("signal %d: %s", i, err_name(errno));
    return works("twenty signals queued and taken in order");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
