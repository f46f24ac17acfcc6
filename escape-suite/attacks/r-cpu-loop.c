/* tries: burn CPU in a loop with all signals blocked */
/* must fail because: CPU time of all guest threads, finished ones too, and of the sentry on their
 * behalf is added up; crossing the limit ends the run */
/* an escape would: use more processor time than the run was given */
/* source: ATTACKS.md R5 */
#include "tricks.h"

static int attack(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    step("burning");
    for (volatile unsigned long x = 0;; x++)
        continue;
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
