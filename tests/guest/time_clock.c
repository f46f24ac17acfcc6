/* Clocks and sleeping. */
#include <sys/time.h>
#include <sys/timex.h>

#include "facts.h"

static int64_t now(clockid_t id)
{
    struct timespec ts;
    return clock_gettime(id, &ts) < 0 ? -1 : ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void on_alarm(int signo)
{
    (void)signo;
}

int main(void)
{
    static const struct {
        const char *name;
        clockid_t id;
    } clocks[] = {
        {"REALTIME", CLOCK_REALTIME},
        {"MONOTONIC", CLOCK_MONOTONIC},
        {"PROCESS_CPUTIME", CLOCK_PROCESS_CPUTIME_ID},
        {"THREAD_CPUTIME", CLOCK_THREAD_CPUTIME_ID},
        {"MONOTONIC_RAW", CLOCK_MONOTONIC_RAW},
        {"REALTIME_COARSE", CLOCK_REALTIME_COARSE},
        {"MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE},
        {"BOOTTIME", CLOCK_BOOTTIME},
        {"TAI", CLOCK_TAI},
    };
    struct timespec ts, rem;
    struct timeval tv;
    facts_start();
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        int64_t a = now(clocks[i].id), b = now(clocks[i].id);
        long r = syscall(SYS_clock_gettime, clocks[i].id, &ts);
        int64_t c = ts.tv_sec * 1000000000ll + ts.tv_nsec;
        say("%s: forward %d, the syscall agrees %d", clocks[i].name, a <= b && b <= c + 20000000,
            r == 0 && c - b < 1000000000);
    }
    FACT("unknown clock", clock_gettime(77, &ts));
    FACT("bad address", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (void *)8));
    clock_getres(CLOCK_MONOTONIC, &ts);
    say("resolution %ld.%09ld", (long)ts.tv_sec, ts.tv_nsec);
    FACT("getres unknown clock", clock_getres(77, &ts));
    FACT("getres without a place", clock_getres(CLOCK_REALTIME, NULL));
    FACT("set the clock", clock_settime(CLOCK_REALTIME, &(struct timespec){1, 0}));
    FACT("set the monotonic clock", clock_settime(CLOCK_MONOTONIC, &(struct timespec){1, 0}));
    gettimeofday(&tv, NULL);
    YES("gettimeofday agrees", llabs(tv.tv_sec - time(NULL)) <= 1);
    clockid_t cpu;
    YES("clock of the process", clock_getcpuclockid(0, &cpu) == 0 && now(cpu) > 0);

    int64_t a = now(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    YES("slept at least 30 ms", now(CLOCK_MONOTONIC) - a >= 30000000);
    FACT("nanosleep bad value", nanosleep(&(struct timespec){0, 1000000000}, NULL));
    FACT("nanosleep negative", nanosleep(&(struct timespec){-1, 0}, NULL));
    FACT("nanosleep zero", nanosleep(&(struct timespec){0, 0}, NULL));
    struct sigaction sa = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &sa, NULL);
    struct itimerval it = {{0, 0}, {0, 50000}};
    setitimer(ITIMER_REAL, &it, NULL);
    rem = (struct timespec){77, 77};
    FACT("nanosleep interrupted", nanosleep(&(struct timespec){2, 0}, &rem));
    YES("what remains", rem.tv_sec == 1 && rem.tv_nsec > 0);
    setitimer(ITIMER_REAL, &it, NULL);
    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += 2;
    rem = (struct timespec){77, 77};
    say("absolute sleep interrupted: %s",
        errno_name(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, &rem)));
    YES("the rest is not written", rem.tv_sec == 77);
    ts = (struct timespec){0, 1};
    say("absolute sleep in the past: %d",
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL));
    say("sleep on a bad clock: %s",
        errno_name(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){0, 1}, NULL)));
    a = now(CLOCK_PROCESS_CPUTIME_ID);
    for (volatile int i = 0; i < 20000000; i++)
        ;
    YES("computing takes cpu time", now(CLOCK_PROCESS_CPUTIME_ID) > a + 1000000);
    struct timex tx = {0};
    YES("adjtimex reads", adjtimex(&tx) >= 0);
    tx.modes = ADJ_FREQUENCY;
    FACT("adjtimex sets", adjtimex(&tx));
    remove_work_dir();
    return 0;
}
