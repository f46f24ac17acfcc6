/* tries: robust lists that are circles, lead into the kernel's half and the stub, hold a million
   locks; clear_child_tid and futex words everywhere; PI and requeue calls on each other; rseq areas
   with wild critical sections; then ends threads and processes with them */
/* must fail because: the walk at the end of a thread is bounded and reads guest memory as any call
   does; the word of a futex is only compared */
/* an escape would: make the supervisor walk for ever, or write where the program could not */
/* source: ATTACKS.md V15 V17; BUGS.md 24 */
#include <limits.h>
#include <pthread.h>

#include <linux/futex.h>

#include "child.h"

struct robust {
    uint64_t next, offset, pending;
};

static struct robust *heads;
static uint32_t *words;

static uint64_t wild(void)
{
    static const uint64_t list[] = {0,
                                    1,
                                    0x6fff00000000,
                                    0x6fff00011000,
                                    0xffff888000000000,
                                    0x7ffffffff000 - 4,
                                    ~0ul,
                                    0x8000000000000000};
    return rnd() % 3 ? (uint64_t)(uintptr_t)(heads + rnd() % 4096) : list[rnd() % 8];
}

static void *thread(void *arg)
{
    struct robust *h = heads + (long)arg;
    syscall(SYS_set_robust_list, h, 24);
    syscall(SYS_set_tid_address, wild());
    if ((long)arg % 2)
        syscall(SYS_exit, 0);
    return arg;
}

static void hostile(int arg)
{
    pthread_t t;
    static char rseq[64] __attribute__((aligned(32)));
    alarm(1);
    for (int i = 0; i < arg; i++)
        rnd();
    for (int i = 0; i < 4096; i++) {
        heads[i].next = arg % 3 ? wild() : (uint64_t)(uintptr_t)&heads[(i + 1) % 4096];
        heads[i].offset = arg % 2 ? rnd() : (uint64_t)((char *)words - (char *)heads);
        heads[i].pending = wild() | (rnd() & 1);
        words[i] = (uint32_t)syscall(SYS_gettid) | (rnd() % 2 ? FUTEX_WAITERS : 0);
    }
    memcpy(rseq + 8, (uint64_t[]){wild()}, 8);
    syscall(SYS_rseq, rseq, arg % 2 ? 32 : (int)rnd(), (int)rnd() % 4, 0x53053053);
    for (long i = 0; i < 6; i++)
        pthread_create(&t, NULL, thread, (void *)i);
    for (int i = 0; i < 200; i++) {
        uint32_t *w = words + rnd() % 4096;
        struct timespec ts = {0, 1000};
        syscall(SYS_futex, rnd() % 4 ? w : (void *)wild(),
                (int)(rnd() % 14) | (int)(rnd() % 2 ? 128 : 0), rnd() % 3,
                rnd() % 2 ? (void *)&ts : (void *)(rnd() % 3), rnd() % 2 ? w + 1 : (void *)wild(),
                rnd());
    }
    syscall(SYS_set_robust_list, heads + rnd() % 4096, 24);
    syscall(SYS_exit_group, 0);
}

static int attack(void)
{
    int died = 0;
    long worst = 0;
    heads = mmap(NULL, 4096 * sizeof(*heads), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    words = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (heads == MAP_FAILED || words == MAP_FAILED)
        return cannot("mmap: %s", err_name(errno));
    for (int i = 0; i < 40; i++) {
        long start = now_ms();
        int status = in_child(hostile, i);
        if (status == -1)
            return escaped("no process after round %d: %s", i, err_name(errno));
        died += WIFSIGNALED(status);
        if (now_ms() - start > worst)
            worst = now_ms() - start;
    }
    if (worst > HANG_MS)
        return escaped("the end of a process took %ld ms", worst);
    return contained("40 processes with broken lists ended (%d by a signal), the slowest in %ld ms",
                     died, worst);
}

static void *dies(void *arg)
{
    pthread_mutex_lock(arg);
    return NULL;
}

static int twin(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    pthread_t t;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &a);
    pthread_create(&t, NULL, dies, &m);
    pthread_join(t, NULL);
    int r = pthread_mutex_lock(&m);
    return r == EOWNERDEAD ? works("a robust mutex tells that its owner is dead")
                           : broken("a robust mutex says %s", err_name(r));
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
