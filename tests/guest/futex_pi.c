/* guest: glibc-only */
/* Words that the kernel changes too: PI locks (their owner, waiters, errors, death), FUTEX_WAKE_OP
 * against threads that use no call; futex_waitv. */
#include <pthread.h>

#include <linux/futex.h>
#include <sys/mman.h>

#include "facts.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define LOCK_PI2 13

enum {
    THREADS = 4,
    ROUNDS = 3000
};

struct waiter {
    uint64_t val, uaddr;
    uint32_t flags, reserved;
};

static uint32_t word, word2, other_word;
static pthread_mutex_t mutex;
static long counter;

static long futex(uint32_t *u, int op, uint32_t val, const void *timeout, uint32_t *u2,
                  uint32_t val3)
{
    return syscall(SYS_futex, u, op, val, timeout, u2, val3);
}

static long waitv(const struct waiter *w, unsigned n, unsigned flags, const void *timeout,
                  int clock)
{
    return syscall(SYS_futex_waitv, w, n, flags, timeout, clock);
}

static uint32_t load(const uint32_t *u)
{
    return __atomic_load_n(u, __ATOMIC_SEQ_CST);
}

static void wait_for(const uint32_t *u, uint32_t bits)
{
    while ((load(u) & bits) == 0)
        usleep(1000);
}

static void *count(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void mutexes(void)
{
    pthread_t t[THREADS];
    pthread_mutexattr_t ma;
    pthread_mutexattr_init(&ma);
    say("PRIO_INHERIT %d", pthread_mutexattr_setprotocol(&ma, PTHREAD_PRIO_INHERIT));
    say("init %d", pthread_mutex_init(&mutex, &ma));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    say("counted %ld", counter);
    say("trylock %s", errno_name(pthread_mutex_trylock(&mutex)));
    say("trylock again %s", errno_name(pthread_mutex_trylock(&mutex)));
    say("unlock %s", errno_name(pthread_mutex_unlock(&mutex)));
}

static void dead_owner(void)
{
    pthread_mutex_t *m =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t ma;
    int go[2];
    char c = 0;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setprotocol(&ma, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(m, &ma);
    NEED(pipe(go));
    for (int waits = 0; waits < 2; waits++) {
        pid_t pid = NEED(fork());
        if (pid == 0) {
            pthread_mutex_lock(m);
            NEED(write(go[1], "x", 1));
            if (waits)
                wait_for((uint32_t *)m, FUTEX_WAITERS);
            kill(getpid(), SIGKILL);
        }
        NEED(read(go[0], &c, 1));
        if (!waits)
            say_end("owner", pid);
        say("owner died: %s", errno_name(pthread_mutex_lock(m)));
        if (waits)
            say_end("owner", pid);
        say("consistent %s", errno_name(pthread_mutex_consistent(m)));
        say("unlock %s", errno_name(pthread_mutex_unlock(m)));
    }
    say("lock as ever: %s", errno_name(pthread_mutex_lock(m)));
    pthread_mutex_unlock(m);
}

struct peer {
    uint32_t *mine, *wanted;
    uint32_t ready, go;
    long r_try, r_unlock, r_lock;
    int lock_errno;
};

/* Holds one lock, then asks for another. */
static void *peer_main(void *arg)
{
    struct peer *p = arg;
    futex(p->mine, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    p->r_try = futex(p->wanted, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0) < 0 ? errno : 0;
    p->r_unlock = futex(p->wanted, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0) < 0 ? errno : 0;
    __atomic_store_n(&p->ready, 1, __ATOMIC_SEQ_CST);
    p->r_lock = futex(p->wanted, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    p->lock_errno = errno;
    wait_for(&p->go, 1);
    futex(p->wanted, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    futex(p->mine, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}

static void raw_locks(void)
{
    uint32_t tid = (uint32_t)gettid();
    struct timespec ts;
    pthread_t t;
    struct peer p = {.mine = &word2, .wanted = &word};

    FACT("lock_pi of a free word", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    say("its owner is right: %d", load(&word) == tid);
    FACT("lock_pi of one's own", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    FACT("trylock_pi of one's own", futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    FACT("unaligned", futex((uint32_t *)((char *)&word + 1), FUTEX_LOCK_PI, 0, NULL, NULL, 0));
    FACT("bad address", futex((uint32_t *)8, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
    FACT("bad timeout", futex(&word, FUTEX_LOCK_PI, 0, &(struct timespec){0, -1}, NULL, 0));

    pthread_create(&t, NULL, peer_main, &p);
    wait_for(&p.ready, 1);
    wait_for(&word, FUTEX_WAITERS);
    say("another: trylock %s unlock %s", errno_name((int)p.r_try), errno_name((int)p.r_unlock));
    FACT("a circle", futex(&word2, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    FACT("wake of a PI waiter", futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    FACT("unlock_pi", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    say("handed over: %d", (load(&word) & FUTEX_TID_MASK) != tid && load(&word) != 0);
    FACT("trylock_pi", futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    FACT("unlock_pi of another's", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    clock_gettime(CLOCK_REALTIME, &ts);
    FACT("until a time that is over", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, &ts, NULL, 0));
    clock_gettime(CLOCK_MONOTONIC, &ts);
    FACT("lock_pi2, monotonic", futex(&word, LOCK_PI2 | FUTEX_PRIVATE_FLAG, 0, &ts, NULL, 0));
    __atomic_store_n(&p.go, 1, __ATOMIC_SEQ_CST);
    pthread_join(t, NULL);
    say("it got it: %ld", p.r_lock);
    say("all free: %u %u", load(&word), load(&word2));
    word = 0x3ffffff0;
    FACT("an owner that is none", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    word = FUTEX_OWNER_DIED;
    FACT("of the dead", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    say("it says so: %d", load(&word) == (tid | FUTEX_OWNER_DIED));
    FACT("unlock_pi of that", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    say("word %u", load(&word));
}

static uint32_t added;

static void *add(void *arg)
{
    (void)arg;
    while (load(&other_word) == 0) {
        __atomic_add_fetch(&word, 0x10000, __ATOMIC_SEQ_CST);
        added++;
        for (volatile int i = 0; i < 20000; i++)
            ;
    }
    return NULL;
}

/* The adder changes the upper half, we the lower one: nothing of either may be lost. */
static void wake_op(void)
{
    pthread_t t;
    word = 0;
    pthread_create(&t, NULL, add, NULL);
    for (uint32_t i = 1; i <= 500; i++)
        futex(&word2, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &word,
              FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
    __atomic_store_n(&other_word, 1, __ATOMIC_SEQ_CST);
    pthread_join(t, NULL);
    say("wake_op and an adder: %u, %d", word & 0xffff, word >> 16 == (added & 0xffff));
}

static void *wake_second(void *arg)
{
    (void)arg;
    while (futex(&word2, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0)
        usleep(1000);
    return NULL;
}

static void waits(void)
{
    const uint32_t f = 2 | FUTEX_PRIVATE_FLAG; /* FUTEX_32 */
    struct waiter w[2] = {{0, (uintptr_t)&word, f, 0}, {0, (uintptr_t)&word2, f, 0}};
    struct timespec ts;
    pthread_t t;

    word = word2 = 0;
    FACT("waitv of nothing", waitv(w, 0, 0, NULL, 0));
    FACT("waitv of too many", waitv(w, 129, 0, NULL, 0));
    FACT("waitv flags", waitv(w, 2, 1, NULL, 0));
    FACT("waitv without array", waitv(NULL, 2, 0, NULL, 0));
    FACT("waitv bad array", waitv((void *)8, 2, 0, NULL, 0));
    w[1].val = 1;
    FACT("waitv another value", waitv(w, 2, 0, NULL, 0));
    w[1] = (struct waiter){0, (uintptr_t)&word2, 3 | FUTEX_PRIVATE_FLAG, 0};
    FACT("waitv 64 bits", waitv(w, 2, 0, NULL, 0));
    w[1] = (struct waiter){0, (uintptr_t)&word2, f, 1};
    FACT("waitv reserved", waitv(w, 2, 0, NULL, 0));
    w[1] = (struct waiter){0, 8, f, 0};
    FACT("waitv bad word", waitv(w, 2, 0, NULL, 0));
    w[1] = (struct waiter){0, (uintptr_t)&word2, f, 0};
    clock_gettime(CLOCK_MONOTONIC, &ts);
    FACT("waitv is over", waitv(w, 2, 0, &ts, CLOCK_MONOTONIC));
    clock_gettime(CLOCK_REALTIME, &ts);
    FACT("waitv is over, real time", waitv(w, 2, 0, &ts, CLOCK_REALTIME));
    FACT("waitv other clock", waitv(w, 2, 0, &ts, CLOCK_BOOTTIME));
    pthread_create(&t, NULL, wake_second, NULL);
    VALUE("waitv: which", waitv(w, 2, 0, NULL, 0));
    pthread_join(t, NULL);
    VALUE("nobody left", futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
}

int main(void)
{
    facts_start();
    mutexes();
    dead_owner();
    raw_locks();
    wake_op();
    waits();
    remove_work_dir();
    return 0;
}
