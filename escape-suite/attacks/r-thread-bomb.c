/* tries: a thread bomb: clone(CLONE_THREAD) without end, threads that sleep, on stacks of 16 KiB */
/* must fail because: every task is counted before the host makes it; crossing the limit ends the
 * whole sandbox at once */
/* an escape would: leave the host with more processes than the limit allows, or without an answer
 */
/* source: ATTACKS.md R1 */
#include <pthread.h>

#include "tricks.h"

static void *sleeper(void *arg)
{
    pause();
    return arg;
}

static int attack(void)
{
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    step("making threads");
    for (;;)
        if (pthread_create(&t, &a, sleeper, NULL) != 0)
            sched_yield();
    return 0;
}

static void *add(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

static int twin(void)
{
    int n = 0;
    for (int i = 0; i < 50; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, add, &n) != 0 || pthread_join(t, NULL) != 0)
            return broken("thread %d: %s", i, err_name(errno));
    }
    return n == 50 ? works("fifty threads, one after the other") : broken("%d threads ran", n);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
