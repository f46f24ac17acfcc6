/* tries: outlast the deadline stopped: SIGSTOP to itself and to all children, children that stop
 * each other and the parent whenever one continues */
/* must fail because: the monitor outside holds the deadline and ends the sandbox as a whole,
 * whatever state its tasks are in */
/* an escape would: live on beyond the deadline */
/* source: ATTACKS.md R5 */
#include "tricks.h"

static int attack(void)
{
    pid_t other[4];
    step("stopping everybody");
    for (int i = 0; i < 4; i++) {
        other[i] = fork();
        if (other[i] == 0)
            for (;;) {
                kill(getppid(), i % 2 ? SIGSTOP : SIGCONT);
                for (int k = 0; k < i; k++)
                    kill(other[k], SIGSTOP);
                if (i == 3)
                    raise(SIGSTOP);
                usleep(500);
            }
    }
    for (;;)
        kill(getpid(), SIGSTOP);
    return 0;
}

static int twin(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(4);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        return broken("the child does not stop: %#x", status);
    kill(pid, SIGCONT);
    status = wait_for(pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 4 ? works("a child stops and goes on")
                                                         : broken("it ends with %#x", status);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
