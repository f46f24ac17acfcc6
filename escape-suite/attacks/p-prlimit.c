/* tries: prlimit64 over every pid: read the limits of others, take their descriptors and address
 * space away, raise its own hard limits */
/* must fail because: guests' pids are the sentry's own numbers; a number of the host names nobody
 * or a task of this box; limits are the sentry's numbers and a hard limit only goes down */
/* an escape would: change a limit of a process outside the box (the victim could then be starved to
 * death) */
/* source: ATTACKS.md P7 */
#include <sys/resource.h>

#include "tricks.h"

static int attack(void)
{
    struct rlimit zero = {0, 0}, inf = {RLIM_INFINITY, RLIM_INFINITY}, old;
    long victim = fact_number("victim_pid", 0);
    int foreign = 0, raised = 0;
    for (int pid = 1; pid < 65536; pid++) {
        if (prlimit(pid, RLIMIT_NOFILE, NULL, &old) == 0 && !is_family(pid) && foreign++ < 5)
            step("limits of process %d can be read", pid);
    }
    for (int res = 0; res < 16; res++) {
        if (!is_family((pid_t)victim) && prlimit((pid_t)victim, res, &zero, &old) == 0)
            foreign++, step("resource %d of the victim was set to 0", res);
        struct rlimit before, after;
        getrlimit(res, &before);
        setrlimit(res, &inf);
        prlimit(0, res, &inf, NULL);
        prlimit(1, res, &inf, NULL);
        getrlimit(res, &after);
        if (after.rlim_max != before.rlim_max)
            raised++, step("the hard limit %d rose", res);
    }
    if (foreign || raised)
        return escaped("%d limits of others, %d hard limits of our own", foreign, raised);
    return contained("limits of others are out of reach, our own only go down");
}

static int twin(void)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
        return broken("getrlimit: %s", err_name(errno));
    rl.rlim_cur = rl.rlim_max = 20;
    if (setrlimit(RLIMIT_NOFILE, &rl) < 0 || dup2(0, 19) != 19 || dup2(0, 20) != -1)
        return broken("a limit of 20 descriptors: %s", err_name(errno));
    return works("a limit of our own goes down and holds");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
