/* setitimer, alarm, POSIX timers, timerfd. */
#include <poll.h>

#include <sys/time.h>
#include <sys/timerfd.h>

#include "facts.h"

static volatile sig_atomic_t ticks, last_code, last_value;

static void on_tick(int signo, siginfo_t *si, void *uc)
{
    (void)signo, (void)uc;
    ticks++;
    last_code = si->si_code;
    last_value = si->si_value.sival_int;
}

static void wait_ticks(int n, int ms)
{
    for (int i = 0; i < ms / 5 && ticks < n; i++)
        usleep(5000);
}

int main(void)
{
    struct sigaction sa = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO};
    struct itimerval it = {{0, 20000}, {0, 20000}}, old;
    struct itimerspec its = {{0, 0}, {0, 20000000}}, cur;
    uint64_t n;
    timer_t t;
    facts_start();
    sigaction(SIGALRM, &sa, NULL);
    sigaction(SIGUSR1, &sa, NULL);
    sigaction(SIGVTALRM, &sa, NULL);
    alarm(0);
    FACT("setitimer", setitimer(ITIMER_REAL, &it, NULL));
    wait_ticks(3, 2000);
    say("three ticks: %d, code is SI_KERNEL: %d", ticks >= 3, last_code == SI_KERNEL);
    it = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &it, &old);
    say("old interval %ld", (long)old.it_interval.tv_usec);
    FACT("bad microseconds",
         setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 1000000}}, NULL));
    FACT("bad timer", setitimer(7, &it, NULL));
    alarm(100);
    VALUE("alarm returns the rest", alarm(0));
    VALUE("no alarm", alarm(0));
    ticks = 0;
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 0}, {0, 10000}}, NULL);
    for (volatile long i = 0; i < 2000000000l && !ticks; i++)
        ;
    say("virtual timer: %d", ticks);

    struct sigevent ev = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 33};
    FACT("timer_create", timer_create(CLOCK_MONOTONIC, &ev, &t));
    ticks = 0;
    FACT("timer_settime", timer_settime(t, 0, &its, NULL));
    wait_ticks(1, 2000);
    say("ticks %d code is SI_TIMER %d value %d", ticks, last_code == SI_TIMER, last_value);
    timer_gettime(t, &cur);
    say("after one shot: %ld %ld", (long)cur.it_value.tv_sec, cur.it_value.tv_nsec);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    its.it_interval.tv_nsec = 10000000;
    timer_settime(t, 0, &its, NULL);
    nap(150);
    siginfo_t si;
    struct timespec zero = {0, 0};
    VALUE("one signal is queued", sigtimedwait(&set, &si, &zero));
    YES("and the others are counted", si.si_overrun >= 5 && timer_getoverrun(t) >= 5);
    FACT("timer_delete", timer_delete(t));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    FACT("timer_delete again", syscall(SYS_timer_delete, 12345));
    FACT("unknown clock", timer_create(77, &ev, &t));
    ev.sigev_signo = 99;
    FACT("bad signal", syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &t));
    ev.sigev_notify = SIGEV_NONE;
    FACT("SIGEV_NONE", timer_create(CLOCK_REALTIME, &ev, &t));
    its = (struct itimerspec){{0, 0}, {50, 0}};
    timer_settime(t, 0, &its, NULL);
    timer_gettime(t, &cur);
    YES("counts down", cur.it_value.tv_sec == 49);
    timer_delete(t);

    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    FACT("timerfd_create", fd);
    FACT("read unarmed", read(fd, &n, 8));
    its = (struct itimerspec){{0, 20000000}, {0, 20000000}};
    FACT("timerfd_settime", timerfd_settime(fd, 0, &its, NULL));
    struct pollfd p = {fd, POLLIN, 0};
    VALUE("poll", poll(&p, 1, 5000));
    nap(60);
    VALUE("read", read(fd, &n, 8));
    YES("expirations", n >= 3);
    FACT("read into too little", read(fd, &n, 4));
    FACT("write", write(fd, &n, 8));
    timerfd_gettime(fd, &cur);
    say("interval %ld", cur.it_interval.tv_nsec);
    its = (struct itimerspec){{0, 0}, {1, 0}}; /* long ago */
    FACT("absolute in the past",
         timerfd_settime(fd, TFD_TIMER_ABSTIME, &(struct itimerspec){{0, 0}, {0, 1}}, NULL));
    VALUE("fires at once", poll(&p, 1, 1000));
    VALUE("read", read(fd, &n, 8));
    say("once: %d", (int)n);
    its = (struct itimerspec){{0, 0}, {0, 0}};
    timerfd_settime(fd, 0, &its, NULL);
    FACT("disarmed", read(fd, &n, 8));
    FACT("bad clock", timerfd_create(77, 0));
    FACT("bad flags", timerfd_create(CLOCK_MONOTONIC, 1));
    FACT("bad nanoseconds", timerfd_settime(fd, 0, &(struct itimerspec){{0, 0}, {0, -1}}, NULL));
    FACT("settime of another descriptor", timerfd_settime(0, 0, &its, NULL));
    remove_work_dir();
    return 0;
}
