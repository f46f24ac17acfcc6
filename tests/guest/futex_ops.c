/* futex(2): wait, wake, requeue, bitsets, wake-op, time-outs; robust lists. */
#include <pthread.h>

#include <linux/futex.h>
#include <sys/mman.h>

#include "facts.h"

static uint32_t word, word2;

static long futex(uint32_t *u, int op, uint32_t val, const void *timeout, uint32_t *u2,
                  uint32_t val3)
{
    return syscall(SYS_futex, u, op, val, timeout, u2, val3);
}

static void *wait_on(void *arg)
{
    long r = futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    *(int *)arg = r < 0 ? errno : 0;
    return NULL;
}

static void *wait_bits(void *arg)
{
    uint32_t bits = *(uint32_t *)arg;
    futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, bits);
    *(uint32_t *)arg = 0;
    return NULL;
}

/* Wakes until n threads have been woken by it. */
static long wake_all(uint32_t *u, int n)
{
    long woken = 0;
    for (int i = 0; i < 1000 && woken < n; i++) {
        woken += futex(u, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0);
        usleep(1000);
    }
    return woken;
}

static pthread_mutex_t *robust;

static void *die_with_lock(void *arg)
{
    (void)arg;
    pthread_mutex_lock(robust);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int res[3] = {-1, -1, -1};
    struct timespec ts = {0, 20000000};
    facts_start();
    FACT("wait with another value", futex(&word, FUTEX_WAIT, 5, NULL, NULL, 0));
    FACT("wait times out", futex(&word, FUTEX_WAIT, 0, &ts, NULL, 0));
    FACT("bad timeout", futex(&word, FUTEX_WAIT, 0, &(struct timespec){0, -1}, NULL, 0));
    clock_gettime(CLOCK_MONOTONIC, &ts);
    FACT("absolute time-out in the past", futex(&word, FUTEX_WAIT_BITSET, 0, &ts, NULL, ~0u));
    clock_gettime(CLOCK_REALTIME, &ts);
    FACT("absolute on the real clock",
         futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &ts, NULL, ~0u));
    FACT("empty bitset", futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
    FACT("unaligned", futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 0, NULL, NULL, 0));
    FACT("bad address", futex((uint32_t *)8, FUTEX_WAIT, 0, NULL, NULL, 0));
    FACT("wake nobody", futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
    FACT("unknown operation", futex(&word, 99, 1, NULL, NULL, 0));

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, wait_on, &res[i]);
    VALUE("wake three", wake_all(&word, 3));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say("results %d %d %d", res[0], res[1], res[2]);

    uint32_t bits[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, wait_bits, &bits[i]);
    nap(50);
    VALUE("wake by another bit", futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 4));
    VALUE("wake by bit 2", futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 2));
    pthread_join(t[1], NULL);
    say("the other still waits: %d", bits[0] == 1);
    VALUE("wake by any bit", futex(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0));
    pthread_join(t[0], NULL);

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, wait_on, &res[i]);
    nap(100);
    FACT("cmp_requeue with another value",
         futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)9, &word2, 7));
    VALUE("wake one, move two", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)9, &word2, 0));
    VALUE("nobody is left", futex(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0));
    VALUE("two are there", futex(&word2, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    VALUE("wake_op", futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &word2,
                           FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0)));
    say("second word %u", word2);

    uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = NEED(fork());
    if (pid == 0) {
        while (__atomic_load_n(shared, __ATOMIC_SEQ_CST) == 0)
            futex(shared, FUTEX_WAIT, 0, NULL, NULL, 0);
        _exit(0);
    }
    nap(50);
    __atomic_store_n(shared, 1, __ATOMIC_SEQ_CST);
    futex(shared, FUTEX_WAKE, 1, NULL, NULL, 0);
    say_end("shared between processes", pid);
    NEED(mprotect(shared, 4096, PROT_NONE));
    FACT("wake what cannot be read", futex(shared, FUTEX_WAKE, 1, NULL, NULL, 0));
    FACT("the private way", futex(shared, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    FACT("requeue from there", futex(shared, FUTEX_REQUEUE, 1, (void *)1, &word, 0));
    FACT("requeue to there", futex(&word, FUTEX_REQUEUE, 1, (void *)1, shared, 0));
    NEED(munmap(shared, 4096));
    int fd = make_file("futexes", "1234");
    shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    FACT("wake in a file", futex(shared, FUTEX_WAKE, 1, NULL, NULL, 0));
    FACT("in its last page", futex(shared + 1023, FUTEX_WAKE, 1, NULL, NULL, 0));
    FACT("beyond its end", futex(shared + 1024, FUTEX_WAKE, 1, NULL, NULL, 0));

    robust = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t ma;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(robust, &ma);
    pthread_create(&t[0], NULL, die_with_lock, NULL);
    pthread_join(t[0], NULL);
    say("owner thread died: %s", errno_name(pthread_mutex_lock(robust)));
    pthread_mutex_consistent(robust);
    pthread_mutex_unlock(robust);
    pid = NEED(fork());
    if (pid == 0) {
        pthread_mutex_lock(robust);
        kill(getpid(), SIGKILL);
    }
    say_end("owner process", pid);
    say("owner process died: %s", errno_name(pthread_mutex_lock(robust)));
    pthread_mutex_unlock(robust);
    say("not made consistent: %s", errno_name(pthread_mutex_lock(robust)));
    FACT("set_robust_list bad size", syscall(SYS_set_robust_list, NULL, 5));
    void *head;
    size_t len = 0;
    FACT("get_robust_list", syscall(SYS_get_robust_list, 0, &head, &len));
    VALUE("its size", len);
    remove_work_dir();
    return 0;
}
