/* tries: twelve processes that block the supervisor's reserved signal by a forged frame and
   compute on, or need memory at once, so that the supervisor has to wait for each of them */
/* must fail because: the wait is bounded by the CPU time that the hostile thread uses up meanwhile;
   then its process ends */
/* an escape would: hold the supervisor for so long that limits are not looked at and nothing else
   of the run makes progress */
/* source: ATTACKS.md V12 V17 V19 */
#include <pthread.h>
#include <time.h>

#include "stub.h"

enum {
    PROCESSES = 12
};

static char stack[65536];
static struct host_frame frame;
static int how, ends[2];

static void after(void)
{
    char c;
    if (how % 4 == 0)
        syscall(SYS_read, ends[0], &c, 1);
    for (;;) {
        if (how % 4 == 1)
            syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (how % 4 == 2)
            syscall(SYS_fork);
    }
}

/* Its memory call has the first thread kicked. */
static void *second(void *arg)
{
    for (;;) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return arg;
}

static void hostile(int arg)
{
    pthread_t t;
    how = arg;
    pipe(ends);
    pthread_create(&t, NULL, second, NULL);
    frame_init(&frame, after, stack + sizeof(stack))->sigmask = ~0ul;
    stub_return(&frame);
}

static int attack(void)
{
    long worst = 0, start = now_ms();
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            hostile(i);
    }
    /* Somebody else's life meanwhile: a sleep of a millisecond should take about that. */
    while (now_ms() - start < 6000) {
        long before = now_ms();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (now_ms() - before > worst)
            worst = now_ms() - before;
    }
    for (int i = 0; i < PROCESSES; i++)
        kill(pids[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    step("the longest sleep of one millisecond took %ld ms", worst);
    if (worst > HANG_MS)
        return escaped("the supervisor was held for %ld ms", worst);
    return contained("the others went on, at worst %ld ms late", worst);
}

static int twin(void)
{
    long start = now_ms();
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            for (;;)
                ;
    }
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    for (int i = 0; i < PROCESSES; i++)
        if (pids[i] < 0 || kill(pids[i], SIGKILL) < 0)
            return broken("kill of a computing process: %s", err_name(errno));
    for (int i = 0; i < PROCESSES; i++)
        if (wait(NULL) < 0)
            return broken("wait: %s", err_name(errno));
    return works("twelve computing processes ended after %ld ms", now_ms() - start);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
