/* tries: burn CPU in threads that end and are replaced, and in an image that execs itself every few
 * milliseconds */
/* must fail because: CPU time of all guest threads, finished ones too, and of the sentry on their
 * behalf is added up; crossing the limit ends the run */
/* an escape would: use more processor time than the run was given */
/* source: ATTACKS.md R5 */
#include <pthread.h>

#include "tricks.h"

static void burn(long n)
{
    for (volatile long i = 0; i < n; i++)
        continue;
}

static void *short_thread(void *arg)
{
    burn(500000);
    return arg;
}

static int attack(void)
{
    if (fork() == 0) {
        burn(3000000);
        execl("/proc/self/exe", "again", "burn", NULL);
    }
    step("threads that end, an image that is replaced");
    for (;;) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, short_thread, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
    }
    return 0;
}

static int twin(void)
{
    pthread_t t;
    for (int i = 0; i < 10; i++)
        if (pthread_create(&t, NULL, short_thread, NULL) != 0 || pthread_join(t, NULL) != 0)
            return broken("thread %d", i);
    return works("ten short threads below the limit");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "burn") == 0) {
        burn(3000000);
        execl("/proc/self/exe", "again", "burn", NULL);
    }
    return attack_main(argc, argv, attack, twin);
}
