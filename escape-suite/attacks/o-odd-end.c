/* tries: end in an odd way: the first process kills itself by SIGKILL, by exec of something else,
 * by exit of its leader thread, by a fault in its own stub range, while thirty others hold on */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace, however it ends */
/* an escape would: have a process, a mount or an object alive on the host after the result was
 * reported */
/* source: ATTACKS.md O1, V6 */
#include <pthread.h>

#include "tricks.h"

static void *killer(void *arg)
{
    usleep(30000);
    step("the first process kills itself");
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
    return arg;
}

static int attack(void)
{
    pthread_t t;
    for (int i = 0; i < 15; i++)
        if (fork() == 0) {
            for (int s = 1; s < 32; s++)
                signal(s, SIG_IGN);
            setsid();
            for (;;)
                if (fork() == 0)
                    _exit(0);
                else
                    wait(NULL);
        }
    pthread_create(&t, NULL, killer, NULL);
    pthread_exit(NULL);
}

static int child_sleeps(void)
{
    usleep(20000);
    return 6;
}

static int twin(void)
{
    if (in_child(child_sleeps) != 6)
        return broken("a child that is waited for: %s", err_name(errno));
    return works("a child that is waited for ends in time");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
