/* Signals that preempt computing threads, as some run-times use them: nothing is lost or
 * miscounted. */
#include <pthread.h>

#include "facts.h"

enum {
    WORKERS = 3,
    ROUNDS = 400
};

static volatile int stop;
static volatile int ids[WORKERS];
static volatile long hits[WORKERS];
static long sums[WORKERS];
static __thread int self;
static char stacks[WORKERS][32768];

static void on_urg(int signo)
{
    (void)signo;
    __atomic_fetch_add(&hits[self], 1, __ATOMIC_RELAXED);
}

/* Adds up in floating point and integers; the result shows whether a handler spoiled a register. */
static void *work(void *arg)
{
    self = (int)(intptr_t)arg;
    stack_t ss = {.ss_sp = stacks[self], .ss_size = sizeof(stacks[0])};
    sigaltstack(&ss, NULL);
    __atomic_store_n(&ids[self], gettid(), __ATOMIC_RELEASE);
    long bad = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        double d = 0;
        long n = 0;
        for (int i = 1; i <= 1000; i++) {
            d += i * 0.5;
            n += i;
        }
        bad += d != 250250.0 || n != 500500;
        if (self == 0)
            getppid();
    }
    sums[self] = bad;
    return NULL;
}

int main(void)
{
    struct sigaction sa = {.sa_handler = on_urg, .sa_flags = SA_RESTART | SA_ONSTACK};
    pthread_t t[WORKERS];
    facts_start();
    sigaction(SIGURG, &sa, NULL);
    for (int i = 0; i < WORKERS; i++)
        NEED(-pthread_create(&t[i], NULL, work, (void *)(intptr_t)i));
    for (int i = 0; i < WORKERS; i++)
        while (!__atomic_load_n(&ids[i], __ATOMIC_ACQUIRE))
            usleep(1000);
    int sent = 0, failed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORKERS; i++, sent++) {
            long before = hits[i];
            failed += syscall(SYS_tgkill, getpid(), ids[i], SIGURG) < 0;
            for (int k = 0; k < 20000 && hits[i] == before; k++)
                usleep(100);
            failed += hits[i] != before + 1;
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    long spoiled = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(t[i], NULL);
        spoiled += sums[i];
    }
    say("%d signals, %d lost or doubled, %ld wrong sums", sent, failed, spoiled);
    remove_work_dir();
    return 0;
}
