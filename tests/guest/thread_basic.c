/* Threads: create, join, mutex, condition, thread-local data, cancellation, signals to threads. */
#include <pthread.h>
#include <semaphore.h>

#include "facts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int counter, ready;
static __thread int mine = 7;
static pthread_key_t key;
static int destroyed;
static sem_t sem;
static volatile sig_atomic_t hits;
static pthread_t hit_thread;

static void *count(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    mine += (int)(intptr_t)arg;
    return (void *)(intptr_t)mine;
}

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void destroy(void *p)
{
    (void)__atomic_add_fetch(&destroyed, (int)(intptr_t)p, __ATOMIC_RELAXED);
}

static void *with_key(void *arg)
{
    pthread_setspecific(key, arg);
    return NULL;
}

static void *forever(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void *spin(void *arg)
{
    (void)arg;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (volatile long i = 0;; i++)
        ;
    return NULL;
}

static void on_usr1(int signo)
{
    (void)signo;
    hit_thread = pthread_self();
    hits++;
    sem_post(&sem);
}

static void *ids(void *arg)
{
    int *same = arg;
    same[0] = getpid() == getppid();
    same[1] = gettid() == getpid();
    same[2] = (int)getpid();
    return NULL;
}

int main(void)
{
    pthread_t t[8];
    void *r;
    struct timespec ts;
    facts_start();
    long sum = 0;
    for (int i = 0; i < 4; i++)
        NEED(-pthread_create(&t[i], NULL, count, (void *)(intptr_t)i));
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &r);
        sum += (intptr_t)r;
    }
    say("counter %d thread-local sum %ld own %d", counter, sum, mine);
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, waiter, NULL);
    nap(20);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    say("all woken");
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 20000000;
    if (ts.tv_nsec >= 1000000000)
        ts.tv_sec++, ts.tv_nsec -= 1000000000;
    say("timed wait: %s", errno_name(pthread_cond_timedwait(&cond, &lock, &ts)));
    pthread_mutex_unlock(&lock);

    pthread_key_create(&key, destroy);
    pthread_create(&t[0], NULL, with_key, (void *)5);
    pthread_join(t[0], NULL);
    say("destructor ran: %d", destroyed);
    int same[3];
    pthread_create(&t[0], NULL, ids, same);
    pthread_join(t[0], NULL);
    say("thread: tid is pid %d, pid is ours %d", same[1], same[2] == getpid());

    pthread_create(&t[0], NULL, forever, NULL);
    pthread_cancel(t[0]);
    pthread_join(t[0], &r);
    say("cancelled in pause: %d", r == PTHREAD_CANCELED);
    pthread_create(&t[0], NULL, spin, NULL);
    nap(20);
    pthread_cancel(t[0]);
    pthread_join(t[0], &r);
    say("cancelled while computing: %d", r == PTHREAD_CANCELED);

    sem_init(&sem, 0, 0);
    signal(SIGUSR1, on_usr1);
    pthread_create(&t[0], NULL, forever, NULL);
    pthread_kill(t[0], SIGUSR1);
    while (sem_wait(&sem) < 0)
        ;
    say("pthread_kill reached the thread: %d", pthread_equal(hit_thread, t[0]) != 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    while (sem_wait(&sem) < 0)
        ;
    say("kill went to the thread that does not block it: %d", pthread_equal(hit_thread, t[0]) != 0);
    pthread_cancel(t[0]);
    pthread_join(t[0], NULL);

    pthread_mutexattr_t ma;
    pthread_mutex_t m;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &ma);
    pthread_mutex_lock(&m);
    say("lock twice: %s", errno_name(pthread_mutex_lock(&m)));
    pthread_mutex_unlock(&m);
    say("unlock twice: %s", errno_name(pthread_mutex_unlock(&m)));
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 8; i++)
            NEED(-pthread_create(&t[i], NULL, with_key, (void *)1));
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], NULL);
    }
    say("400 short threads: %d", destroyed);
    remove_work_dir();
    return 0;
}
