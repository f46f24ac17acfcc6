/* tries: ptrace in every way on the victim, the harness, the parent and every pid up to 65536:
 * ATTACH, SEIZE, PEEK, POKE, GETREGS, SYSEMU, KILL, LISTEN, INTERRUPT */
/* must fail because: the call never reaches the host; guests' pids are the sentry's own numbers; a
 * number of the host names nobody or a task of this box */
/* an escape would: stop, read or write a process outside the box */
/* source: ATTACKS.md P1 */
#include <sys/ptrace.h>

#include "tricks.h"

static const int requests[] = {PTRACE_ATTACH,
                               0x4206 /* SEIZE */,
                               PTRACE_PEEKDATA,
                               PTRACE_PEEKUSER,
                               PTRACE_GETREGS,
                               PTRACE_POKEDATA,
                               PTRACE_CONT,
                               PTRACE_SYSCALL,
                               31 /* SYSEMU */,
                               0x4207 /* INTERRUPT */,
                               0x420e /* GET_SYSCALL_INFO */,
                               0x420c /* SECCOMP_GET_FILTER */,
                               0x4210 /* GET_RSEQ */};

static int attack(void)
{
    static char buf[4096];
    long targets[] = {fact_number("victim_pid", 0),
                      fact_number("harness_pid", 0),
                      fact_number("neighbour_pid", 0),
                      getppid(),
                      1,
                      2};
    int worked = 0, errs[256] = {0};
    for (int i = 0; i < COUNT(targets); i++) {
        for (int k = 0; k < COUNT(requests); k++) {
            if (targets[i] <= 0 || is_family((pid_t)targets[i])) /* ours to trace */
                continue;
            long r = sys(SYS_ptrace, requests[k], targets[i], buf, buf);
            if (r >= 0 && worked++ < 8)
                step("ptrace(%#x, %ld) = %ld", requests[k], targets[i], r);
            else if (r < 0 && r > -256)
                errs[-r]++;
        }
    }
    for (int pid = 1; pid < 65536; pid += pid < 4096 ? 1 : 7) {
        if (pid == getpid())
            continue;
        long r = sys(SYS_ptrace, 0x4206, (long)pid, 0, 0);
        if (r < 0)
            errs[-r < 256 ? -r : 0]++;
        else if (!is_family(pid))
            worked++;
    }
    for (int e = 0; e < 256; e++)
        if (errs[e])
            step("%s %d times", err_name(e), errs[e]);
    if (worked)
        return escaped("%d requests on processes outside the box worked", worked);
    return contained("nobody outside can be traced");
}

static int twin(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        kill(getpid(), SIGSTOP);
        _exit(5);
    }
    int status;
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) || kill(pid, SIGCONT) < 0)
        return broken("stopping a child: %s", err_name(errno));
    status = wait_for(pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
        return broken("the child ends with %#x", status);
    return works("a child of ours can be stopped and continued");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
