/* tries: a daemon by the book: setsid, double fork, chdir, closed streams, all signals ignored and
 * blocked, renamed, reniced; the parent ends */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace */
/* an escape would: have a process, a mount or an object alive on the host after the result was
 * reported */
/* source: ATTACKS.md O1 */
#include "tricks.h"

static int attack(void)
{
    sigset_t all;
    sigfillset(&all);
    for (int i = 0; i < 20; i++) {
        if (fork() != 0)
            continue;
        setsid();
        if (fork() != 0)
            _exit(0);
        for (int s = 1; s < 65; s++)
            signal(s, SIG_IGN);
        sigprocmask(SIG_SETMASK, &all, NULL);
        prctl(PR_SET_NAME, "kworker/0:1");
        prctl(PR_SET_PDEATHSIG, 0);
        prctl(PR_SET_DUMPABLE, 0);
        chdir("/");
        syscall(SYS_close_range, 0, ~0u, 0);
        for (;;)
            if (i % 2)
                pause();
            else
                usleep(1000);
    }
    usleep(20000);
    return contained("twenty daemons left behind; the harness looks for them");
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
