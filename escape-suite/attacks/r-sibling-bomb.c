/* tries: siblings: clone with CLONE_PARENT in all children, CLONE_VM processes, clone3,
 * CLONE_UNTRACED, exit signals of every number */
/* must fail because: every task is counted before the host makes it; crossing the limit ends the
 * whole sandbox at once, through every door of clone */
/* an escape would: leave the host with more processes than the limit allows, or without an answer
 */
/* source: ATTACKS.md R1 */
#include "tricks.h"

static int attack(void)
{
    static const unsigned long flags[] = {
        CLONE_PARENT | SIGCHLD, CLONE_PARENT, CLONE_PARENT | CLONE_UNTRACED | 64,
        CLONE_PARENT | CLONE_FILES | CLONE_FS | SIGUSR1, SIGCHLD | CLONE_IO};
    uint64_t args[11] = {CLONE_PARENT, 0, 0, 0, SIGCHLD};
    step("cloning siblings");
    for (unsigned i = 0;; i++) {
        syscall(SYS_clone, flags[i % COUNT(flags)], 0, 0, 0, 0);
        syscall(SYS_clone3, args, 64);
    }
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
