/* tries: timers: thousands of POSIX timers of a nanosecond, interval timers of a microsecond,
 * timerfds that nobody reads, alarms, with handlers that take their time */
/* must fail because: expirations that nobody took are counted, not queued; timers are limited and
 * firing is bounded work */
/* an escape would: hold the sentry in its timers, so that nothing else gets through */
/* source: ATTACKS.md R2, V7 */
#include <sys/time.h>
#include <sys/timerfd.h>

#include "tricks.h"

static volatile long fired;

static void on_timer(int sig)
{
    fired++;
}

static int storm(void)
{
    struct itimerspec ns = {{0, 1}, {0, 1}};
    struct itimerval us = {{0, 1}, {0, 1}};
    int timers = 0, fds = 0;
    signal(SIGALRM, on_timer);
    signal(SIGRTMIN, on_timer);
    signal(SIGVTALRM, SIG_IGN);
    signal(SIGPROF, SIG_IGN);
    for (int fd; fds < 900 && (fd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0; fds++)
        timerfd_settime(fd, 0, &ns, NULL);
    setitimer(ITIMER_VIRTUAL, &us, NULL);
    setitimer(ITIMER_PROF, &us, NULL);
    setitimer(ITIMER_REAL, &us, NULL);
    for (; timers < 5000; timers++) {
        struct sigevent ev = {.sigev_notify = timers % 2 ? SIGEV_SIGNAL : SIGEV_NONE,
                              .sigev_signo = SIGRTMIN};
        timer_t t;
        if (timer_create(timers % 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &ev, &t) < 0)
            break;
        timer_settime(t, 0, &ns, NULL);
    }
    step("%d timerfds, %d timers, then %s", fds, timers, err_name(errno));
    for (;;)
        pause();
    return 0;
}

static int attack(void)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            storm();
    long worst = 0, start = now_ms(), calls = 0;
    /* A second at least, and fifty calls: where those do not come in a minute, nothing gets
     * through. */
    while (now_ms() - start < (calls < 50 ? 2 * HANG_MS : 1000)) {
        long t = now_ms();
        syscall(SYS_getppid);
        calls++;
        worst = now_ms() - t > worst ? now_ms() - t : worst;
    }
    step("%ld calls answered beside the storm, the slowest took %ld ms", calls, worst);
    if (calls < 50)
        return escaped("only %ld calls were answered in a minute", calls);
    return contained("%ld calls were answered while timers fire", calls);
}

static int twin(void)
{
    struct itimerspec once = {{0, 0}, {0, 5000000}};
    uint64_t n = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    if (fd < 0 || timerfd_settime(fd, 0, &once, NULL) < 0 || read(fd, &n, 8) != 8 || n != 1)
        return broken("a timerfd of 5 ms: %s, %lu", err_name(errno), (long)n);
    return works("a timer of 5 ms fires once");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
