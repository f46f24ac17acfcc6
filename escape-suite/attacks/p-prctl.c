/* tries: the prctl family with power over the process: PR_SET_PTRACER, DUMPABLE, MM, PDEATHSIG 0,
 * SUBREAPER, TSC, SECUREBITS, SYSCALL_USER_DISPATCH, NO_NEW_PRIVS 0, MCE_KILL, arch_prctl of every
 * number */
/* must fail because: prctl is answered by the sentry; only arch_prctl's FS base reaches the host,
 * with an address of the guest's */
/* an escape would: switch off what holds the host process: its filter, its death signal, its
 * dumpability */
/* source: ATTACKS.md P6 */
#include <linux/seccomp.h>

#include "tricks.h"

static int attack(void)
{
    static char map[256];
    int took = 0, odd = 0;
    /* every prctl there is or will be, with arguments that look like something */
    for (int op = 0; op < 80; op++) {
        if (op == PR_SET_SECCOMP || op == 59)
            continue;
        static const unsigned long args[] = {0, 1, 2, ~0ul};
        for (int i = 0; i < COUNT(args); i++)
            took += prctl(op, args[i], (unsigned long)map, args[i], 0) >= 0;
    }
    static const unsigned magic[] = {0x59616d61 /* PTRACER */, 0x53564d41 /* SET_VMA */, 0x41555856,
                                     0x4d444d41};
    for (int i = 0; i < COUNT(magic); i++)
        took += prctl((int)magic[i], -1ul, 0, 0, 0) >= 0;
    step("%d of 80 operations were taken", took);
    /* user dispatch would deliver calls to a handler of ours before any filter */
    static volatile char selector;
    long sud = sys(SYS_prctl, 59, 1, 0, 0, &selector);
    step("syscall user dispatch: %s", err_name(sud < 0 ? sud : 0));
    syscall(SYS_prctl, 59, 0, 0, 0, 0);
    /* instruction and time stamp tricks */
    for (unsigned op = 0x1000; op < 0x1030; op++)
        if (op != 0x1001 && op != 0x1002 && op != 0x1004 && op != 0x1003)
            syscall(SYS_arch_prctl, op, 0);
    for (unsigned op = 0x2001; op < 0x2004; op++)
        syscall(SYS_arch_prctl, op, map);
    for (unsigned op = 0x4001; op < 0x4006; op++)
        syscall(SYS_arch_prctl, op, 1);
    for (unsigned op = 0x5001; op < 0x5006; op++)
        odd += op < 0x5003 && syscall(SYS_arch_prctl, op, 1) == 0;
    /* strict mode and a filter that allows all: the gate must still be there */
    pid_t pid = fork();
    if (pid == 0) {
        struct {
            uint16_t code;
            uint8_t jt, jf;
            uint32_t k;
        } allow = {6, 0, 0, SECCOMP_RET_ALLOW};
        struct {
            unsigned short len;
            void *filter;
        } prog = {1, &allow};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        long r = sys(SYS_prctl, PR_SET_SECCOMP, 2, &prog, 0, 0);
        step("a filter that allows all: %s", err_name(r < 0 ? r : 0));
        _exit(fact("host_file") && reach(AT_FDCWD, fact("host_file")) == 1 ? 1
              : syscall(SYS_getppid) <= 0                                  ? 2
                                                                           : 0);
    }
    int status = wait_for(pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        odd++, step("after the filter: status %#x", status);
    if (fact("host_file") && reach(AT_FDCWD, fact("host_file")) == 1)
        return escaped("the canary can be read now");
    if (odd)
        return escaped("%d switches of the host process moved", odd);
    return contained("whatever was taken, the gate stands");
}

static int twin(void)
{
    char name[16] = "";
    if (prctl(PR_SET_NAME, "suite-twin") < 0 || prctl(PR_GET_NAME, name) < 0 ||
        strcmp(name, "suite-twin") != 0)
        return broken("PR_SET_NAME: %s", err_name(errno));
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return broken("PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER: %s", err_name(errno));
    return works("names, death signals and subreapers work");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
