/* tries: a chain of vfork: each child vforks the next while its parent hangs in the host's and the
 * sentry's vfork */
/* must fail because: every task is counted before the host makes it; crossing the limit ends the
 * whole sandbox at once; a vfork parent is parked, not blocked in the sentry */
/* an escape would: leave the host with more processes than the limit allows, or without an answer,
 * or a sentry that waits for a child */
/* source: ATTACKS.md R1, R5 */
#include "tricks.h"

static int attack(void)
{
    step("a chain of vforks");
    /* the child runs on in the parent's frame; nothing ever returns */
    for (;;) {
        pid_t pid = (pid_t)syscall(SYS_vfork);
        if (pid < 0)
            sched_yield();
        else if (pid > 0)
            pause();
    }
    return 0;
}

static int twin(void)
{
    for (volatile int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        if (pid == 0)
            _exit(3);
        int status = wait_for(pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
            return broken("vfork child %d: %#x", i, status);
    }
    return works("twenty vforks that end");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
