/* tries: make the sentry burn CPU on the guest's behalf while the guest itself sleeps: 64 threads
 * with getpid, futex, sched_yield, poll(0), stat of long paths, gettimeofday by the call */
/* must fail because: each call is bounded work in the sentry, whose CPU time is charged to the run;
 * other runs have a sentry of their own */
/* an escape would: use the host's processor without being charged, or slow the neighbour down */
/* source: ATTACKS.md R6 */
#include <poll.h>
#include <pthread.h>

#include <linux/futex.h>

#include "tricks.h"

static char long_path[4096];

static void *storm(void *arg)
{
    struct stat st;
    int word = 0;
    for (long i = (long)arg;; i++) {
        switch (i % 8) {
        case 0:
            syscall(SYS_getppid);
            break;
        case 1:
            syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
            break;
        case 2:
            syscall(SYS_sched_yield);
            break;
        case 3:
            poll(NULL, 0, 0);
            break;
        case 4:
            stat(long_path, &st);
            break;
        case 5:
            syscall(SYS_gettimeofday, &st, NULL);
            break;
        case 6:
            syscall(SYS_kill, getpid(), 0);
            break;
        default:
            syscall(600 + i % 100);
            break;
        }
    }
    return arg;
}

static int attack(void)
{
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    while (strlen(long_path) < 4000)
        strcat(long_path, "/proc/self/../self/../..");
    step("64 threads, eight kinds of calls");
    for (long i = 0; i < 63; i++)
        pthread_create(&t, &a, storm, (void *)i);
    storm((void *)63);
    return 0;
}

static int twin(void)
{
    for (int i = 0; i < 2000; i++)
        if (syscall(SYS_getppid) < 0 || poll(NULL, 0, 0) < 0)
            return broken("call %d: %s", i, err_name(errno));
    return works("four thousand calls below the limit");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
