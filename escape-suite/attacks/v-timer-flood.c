/* tries: as many POSIX timers, timerfds and interval timers as the limits give, all of one
   nanosecond, with signals, threads and without; settimes in the past, far future and beyond the
   clock; sleeps by the thousand that end together */
/* must fail because: timers are counted; an interval below what can be delivered costs one expiry a
   look, the rest is an overrun number */
/* an escape would: keep the supervisor busy with expiries so that nothing else runs */
/* source: ATTACKS.md R2 R6; general kernel knowledge */
#include <time.h>

#include <sys/time.h>
#include <sys/timerfd.h>

#include "child.h"

static volatile sig_atomic_t signals;
static void handler(int signo)
{
    (void)signo;
    signals++;
}

static int flood(void)
{
    static const struct itimerspec specs[] = {
        {{0, 1}, {0, 1}},
        {{0, 1}, {1l << 62, 999999999}},
        {{~0ul >> 2, 999999999}, {0, 1}},
        {{0, 10}, {1, 0}},
    };
    struct itimerval it = {{0, 1}, {0, 1}};
    int timers = 0, fds = 0;
    for (int i = 0; i < 100000; i++) {
        struct sigevent ev = {.sigev_notify = i % 2 ? SIGEV_SIGNAL : SIGEV_NONE,
                              .sigev_signo = i % 3 ? SIGRTMIN + 3 : SIGALRM};
        long id;
        if (syscall(SYS_timer_create, i % 4 == 3 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &ev, &id) < 0)
            break;
        timers++;
        syscall(SYS_timer_settime, id, i % 5 ? 0 : TIMER_ABSTIME, &specs[i % 4], NULL);
    }
    for (int fd; (fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) >= 0 && fds < 5000; fds++)
        timerfd_settime(fd, fds % 2, &specs[fds % 4], NULL);
    for (int i = 0; i < 3; i++)
        setitimer(i, &it, NULL);
    step("%d timers, %d timerfds", timers, fds);
    return timers + fds;
}

static void hostile(int arg)
{
    (void)arg;
    signal(SIGALRM, handler);
    signal(SIGVTALRM, handler);
    signal(SIGPROF, handler);
    signal(SIGRTMIN + 3, handler);
    flood();
    for (long end = now_ms() + 3000; now_ms() < end;)
        ;
    syscall(SYS_exit_group, 0);
}

static int attack(void)
{
    long worst = 0;
    pid_t pid = fork();
    if (pid == 0)
        hostile(0);
    for (long end = now_ms() + 3000; now_ms() < end;) {
        long before = now_ms();
        pid_t child = fork();
        if (child == 0)
            syscall(SYS_exit_group, 0);
        if (child < 0)
            return escaped("no process: %s", err_name(errno));
        waitpid(child, NULL, 0);
        if (now_ms() - before > worst)
            worst = now_ms() - before;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (worst > HANG_MS)
        return escaped("a process took %ld ms beside the flood", worst);
    return contained("somebody else's process took %ld ms at most", worst);
}

static int twin(void)
{
    struct itimerspec its = {{0, 1000000}, {0, 1000000}};
    uint64_t n;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    if (timerfd_settime(fd, 0, &its, NULL) < 0 || read(fd, &n, 8) != 8 || n < 1)
        return broken("a timerfd: %s", err_name(errno));
    return works("a timerfd ticks");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
