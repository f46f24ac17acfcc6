/* tries: burn CPU in many short-lived processes, each gone before anybody samples it */
/* must fail because: CPU time of all guest threads, finished ones too, and of the sentry on their
 * behalf is added up; crossing the limit ends the run */
/* an escape would: use more processor time than the run was given */
/* source: ATTACKS.md R5 */
#include "tricks.h"

static int burn(void)
{
    for (volatile long i = 0; i < 300000; i++)
        continue;
    return 0;
}

static int attack(void)
{
    step("short-lived processes");
    signal(SIGCHLD, SIG_IGN);
    for (;;)
        if (fork() == 0)
            _exit(burn());
        else
            usleep(200);
    return 0;
}

static int twin(void)
{
    volatile unsigned long x = 0;
    for (long i = 0; i < 20000000; i++)
        x += (unsigned long)i;
    return works("twenty million steps below the limit");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
