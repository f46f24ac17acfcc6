/* tries: dodge sampling: burn just under a clock tick, then sleep over it, in step with the clock,
 * in four threads */
/* must fail because: CPU time of all guest threads, finished ones too, and of the sentry on their
 * behalf is added up; crossing the limit ends the run, measured by the scheduler and not by ticks
 */
/* an escape would: use more processor time than the run was given */
/* source: ATTACKS.md R5 */
#include <pthread.h>

#include "tricks.h"

static void *dodger(void *arg)
{
    for (;;) {
        struct timespec ts;
        do
            clock_gettime(CLOCK_MONOTONIC, &ts);
        while (ts.tv_nsec % 4000000 < 3600000);
        nanosleep(&(struct timespec){0, 450000}, NULL);
    }
    return arg;
}

static int attack(void)
{
    pthread_t t;
    step("dodging");
    for (int i = 0; i < 3; i++)
        pthread_create(&t, NULL, dodger, NULL);
    dodger(NULL);
    return 0;
}

static int twin(void)
{
    long t = now_ms();
    for (int i = 0; i < 20; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    t = now_ms() - t;
    return t >= 20 ? works("twenty sleeps of a millisecond take %ld ms", t)
                   : broken("twenty sleeps took %ld ms", t);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
