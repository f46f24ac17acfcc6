/* tries: keep the caller waiting: grandchildren that hold standard output and error open, and write
 * to them for ever, after the parent has ended */
/* must fail because: the result is given when the first process ends; the monitor reads what was
 * written until then and closes its ends */
/* an escape would: delay the answer, or write into it after the end */
/* source: ATTACKS.md O2 */
#include "tricks.h"

static int attack(void)
{
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        if (fork() != 0)
            _exit(0);
        signal(SIGPIPE, SIG_IGN);
        for (;;) {
            if (i == 3)
                write(2, "late\n", 5);
            usleep(i == 3 ? 5000 : 1000000);
        }
    }
    usleep(10000);
    return contained("four grandchildren hold the pipes; the answer must not wait for them");
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
