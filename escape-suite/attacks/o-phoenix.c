/* tries: survive by every signal: handlers for all, SIGTERM answered by fork, subreaper, children
 * that restart each other when one is gone, PR_SET_PDEATHSIG cleared */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace; nothing is asked of the guest's processes */
/* an escape would: have a process, a mount or an object alive on the host after the result was
 * reported */
/* source: ATTACKS.md O1, O8 */
#include "tricks.h"

static void phoenix(int sig)
{
    if (fork() == 0)
        for (;;)
            pause();
}

static int guard(int generation)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, 0);
    for (int s = 1; s < 65; s++)
        signal(s, phoenix);
    for (;;) {
        pid_t pid = generation < 3 ? fork() : -1;
        if (pid == 0)
            guard(generation + 1);
        if (pid > 0)
            waitpid(pid, NULL, 0);
        else
            usleep(2000);
    }
    return 0;
}

static int attack(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0)
            guard(0);
        usleep(2000);
        kill(pid, SIGTERM);
        kill(pid, SIGHUP);
    }
    usleep(20000);
    return contained("guards and their children are left behind");
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
