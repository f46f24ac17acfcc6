/* tries: all at once: 30 threads that fork, exec themselves anew and kill each other's children, so
 * that counts go up and down while the limit is near */
/* must fail because: every task is counted before the host makes it; crossing the limit ends the
 * whole sandbox at once; a task gives its place back only when it is gone */
/* an escape would: leave the host with more processes than the limit allows, or without an answer
 */
/* source: ATTACKS.md R1, V6 */
#include <pthread.h>

#include "tricks.h"

static volatile pid_t last[64];

static void *forker(void *arg)
{
    long me = (long)arg;
    for (unsigned i = 0;; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (i % 3 == 0)
                execl("/proc/self/exe", "again", "attack", NULL);
            for (;;)
                if (fork() < 0)
                    sched_yield();
        }
        if (last[me] > 0 && i % 5 == 0)
            kill(last[me], SIGKILL);
        last[me] = pid;
        waitpid(-1, NULL, WNOHANG);
    }
    return arg;
}

static int attack(void)
{
    pthread_t t;
    step("threads that fork and exec");
    for (long i = 0; i < 30; i++)
        pthread_create(&t, NULL, forker, (void *)i);
    forker((void *)31);
    return 0;
}

static int child_exits_7(void)
{
    return 7;
}

static int twin(void)
{
    for (int i = 0; i < 20; i++)
        if (in_child(child_exits_7) != 7)
            return broken("child %d: %s", i, err_name(errno));
    return works("twenty children, one after the other");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
