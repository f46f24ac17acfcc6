/* tries: timers and notifications that outlive: interval and POSIX timers far in the future,
 * timerfds, inotify watches, leases, O_ASYNC owners, alarms passed through exec, set in processes
 * that end before they fire */
/* must fail because: timers and watches are the sentry's and end with it; no signal is ever sent to
 * a host pid on a guest's word */
/* an escape would: have the host signal somebody after the run */
/* source: ATTACKS.md O5 */
#include <sys/inotify.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#include "tricks.h"

static int attack(void)
{
    int armed = 0;
    for (int i = 0; i < 12; i++) {
        pid_t pid = fork();
        if (pid != 0) {
            wait_for(pid);
            continue;
        }
        struct itimerval soon = {{0, 200000}, {0, 200000}};
        struct itimerspec later = {{0, 100000000}, {0, 300000000}};
        struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL - 1};
        timer_t t;
        setitimer(ITIMER_REAL, &soon, NULL);
        if (timer_create(CLOCK_REALTIME, &ev, &t) == 0)
            timer_settime(t, 0, &later, NULL);
        ev.sigev_notify = SIGEV_THREAD_ID;
        timer_create(CLOCK_MONOTONIC, &ev, &t);
        int fd = timerfd_create(CLOCK_REALTIME, 0), in = inotify_init(), p[2];
        timerfd_settime(fd, 0, &later, NULL);
        inotify_add_watch(in, "/etc", IN_ALL_EVENTS);
        pipe(p);
        fcntl(p[0], F_SETOWN, (int)fact_number("victim_pid", 1));
        fcntl(p[0], 10 /* F_SETSIG */, SIGKILL);
        fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        write(p[1], "x", 1);
        alarm(1);
        if (i % 3 == 0)
            execl("/bin/busybox", "true", NULL);
        _exit(0);
    }
    for (int i = 0; i < 12; i++)
        armed += i > 0;
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 50000}, {30, 0}}, NULL);
    return contained("timers of %d ended processes and of this one are left behind", armed + 1);
}

static volatile int rang;

static void ring(int sig)
{
    rang = 1;
}

static int twin(void)
{
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 10000}}, NULL);
    for (int i = 0; i < 200 && !rang; i++)
        usleep(5000);
    return rang ? works("an interval timer rings") : broken("the timer does not ring");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
