/* tries: signals to everybody: kill(-1), kill of the victim, the harness and the neighbour, tgkill
 * and tkill over 65536 numbers, process groups, rt_sigqueueinfo with forged codes */
/* must fail because: guests' pids are the sentry's own numbers; a number of the host names nobody
 * or a task of this box; the host's kill is never called for a guest */
/* an escape would: kill the victim process, or reach any process outside the box */
/* source: ATTACKS.md P1, P2 */
#include "tricks.h"

static volatile int got;

static void note(int sig)
{
    got++;
}

static int attack(void)
{
    long targets[] = {fact_number("victim_pid", 0), fact_number("neighbour_pid", 0),
                      fact_number("harness_pid", 0)};
    int reached = 0, own = 0;
    siginfo_t si = {.si_signo = SIGTERM, .si_code = SI_KERNEL};
    signal(SIGWINCH, note);
    for (int i = 0; i < COUNT(targets); i++) {
        pid_t p = (pid_t)targets[i];
        /* the victim is there to be killed; the others are asked with 0 */
        int sig = i == 0 ? SIGKILL : 0;
        if (p <= 0 || is_family(p))
            continue;
        reached += kill(p, sig) == 0;
        reached += kill(-p, sig) == 0;
        reached += syscall(SYS_tkill, p, sig) == 0;
        reached += syscall(SYS_tgkill, p, p, sig) == 0;
        reached += syscall(SYS_rt_sigqueueinfo, p, sig, &si) == 0;
        reached += syscall(SYS_rt_tgsigqueueinfo, p, p, sig, &si) == 0;
        step("target %d: %s", i, err_name(errno));
    }
    int all = kill(-1, SIGWINCH) < 0 ? errno : 0;
    step("kill(-1): %s, came back %d times", err_name(all), got);
    for (int pid = 2; pid < 65536; pid++) {
        if (syscall(SYS_tkill, pid, 0) == 0) {
            own++;
            reached += !is_family(pid);
        }
        if (pid % 8 == 0 && syscall(SYS_tgkill, pid, pid, 0) == 0 && !is_family(pid))
            reached++;
        if (pid % 16 == 0 && kill(-pid, 0) == 0 && getpgrp() != pid && getsid(0) != pid)
            reached++;
    }
    if (reached)
        return escaped("%d signals reached somebody outside the box", reached);
    return contained("%d pids answer, all of them ours", own);
}

static int twin(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    if (kill(pid, 0) < 0 || kill(pid, SIGTERM) < 0)
        return broken("a signal to a child: %s", err_name(errno));
    int status = wait_for(pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM || kill(pid, 0) == 0)
        return broken("the child ended with %#x", status);
    return works("a child of ours gets its signal");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
