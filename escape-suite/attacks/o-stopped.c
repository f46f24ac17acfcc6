/* tries: stop and continue: children stopped in every state (traced, in vfork, in read, in a signal
 * handler), orphaned process groups, a stopped session leader, while the first process ends */
/* must fail because: the end of the first process ends the run: the sentry dies, and with it every
 * process of the guests' pid namespace; a stopped task is parked in the sentry or in the host's
 * namespace that goes */
/* an escape would: have a process, a mount or an object alive on the host after the result was
 * reported */
/* source: ATTACKS.md R5, O1 */
#include "tricks.h"

static void stop_here(int sig)
{
    raise(SIGSTOP);
}

static int attack(void)
{
    for (int i = 0; i < 8; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            int p[2];
            char c;
            if (i % 2)
                setsid();
            setpgid(0, 0);
            switch (i) {
            case 0:
                raise(SIGSTOP);
                break;
            case 1:
                signal(SIGUSR1, stop_here);
                raise(SIGUSR1);
                break;
            case 2:
                pipe(p);
                read(p[0], &c, 1);
                break;
            case 3:
                if (vfork() == 0)
                    for (;;)
                        pause();
                break;
            case 4:
                if (fork() == 0) {
                    kill(getppid(), SIGSTOP);
                    for (;;)
                        pause();
                }
                break;
            case 5:
                raise(SIGTSTP);
                raise(SIGTTIN);
                raise(SIGTTOU);
                break;
            case 6:
                for (;;)
                    kill(0, SIGSTOP);
                break;
            default:
                for (volatile long k = 0;; k++)
                    continue;
            }
            for (;;)
                pause();
        }
        usleep(1000);
        kill(pid, SIGSTOP);
        if (i % 3 == 0)
            kill(pid, SIGCONT);
    }
    usleep(10000);
    return contained("eight stopped children are left behind");
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
