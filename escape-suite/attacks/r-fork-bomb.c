/* tries: a fork bomb: every process forks without end, nobody waits */
/* must fail because: every task is counted before the host makes it; crossing the limit ends the
 * whole sandbox at once */
/* an escape would: leave the host with more processes than the limit allows, or without an answer
 */
/* source: ATTACKS.md R1 */
#include "tricks.h"

static int attack(void)
{
    step("forking");
    for (;;)
        if (fork() < 0)
            sched_yield();
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
