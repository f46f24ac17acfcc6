/* tries: installs seccomp filters of its own by prctl and seccomp: strict mode, ALLOW, ERRNO, TRAP,
   KILL, TRACE, USER_NOTIF, LOG, with TSYNC and every flag; then goes on with calls that the stub
   needs */
/* must fail because: filters are the supervisor's to emulate or refuse; none reaches the host,
   where one with higher precedence would overrule the gate */
/* an escape would: answer the stub's calls by a filter of the program's own, or outrank the gate */
/* source: ATTACKS.md P6 V14; seccomp_unotify(2); canonical/lxd PR #6341 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "child.h"

static const uint32_t actions[] = {SECCOMP_RET_ALLOW,        SECCOMP_RET_ERRNO | 1,
                                   SECCOMP_RET_TRAP,         SECCOMP_RET_KILL_THREAD,
                                   SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRACE,
                                   SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_LOG};

static void hostile(int arg)
{
    struct sock_filter f = BPF_STMT(BPF_RET | BPF_K, actions[arg % 8]);
    struct sock_fprog prog = {1, &f};
    long flags = arg / 8 % 2 ? 0 : 1l << (arg / 16 % 7);
    long r;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (arg % 3 == 0)
        r = sys(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
    else if (arg % 16 == 15)
        r = sys(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else
        r = sys(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
    /* What the stub does for these must not meet the filter. */
    if (fork() == 0)
        syscall(SYS_exit_group, 0);
    syscall(SYS_mmap, NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long pid = syscall(SYS_getppid);
    syscall(SYS_exit_group, r >= 0 ? 20 + (pid > 0) : 10);
}

static int attack(void)
{
    int refused = 0, taken = 0, died = 0;
    for (int i = 0; i < 112; i++) {
        int status = in_child(hostile, i);
        if (status == -1)
            return escaped("after filter %d no process can be made: %s", i, err_name(errno));
        died += WIFSIGNALED(status);
        refused += WIFEXITED(status) && WEXITSTATUS(status) == 10;
        taken += WIFEXITED(status) && WEXITSTATUS(status) >= 20;
    }
    step("%d refused, %d taken, %d processes died", refused, taken, died);
    long n = sys(SYS_getppid), got = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    if (n < 0)
        return escaped("the parent's own calls are filtered: %s", err_name(n));
    return contained("no filter outranks the gate; PR_GET_SECCOMP says %ld", got);
}

static int twin(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return broken("no_new_privs: %s", err_name(errno));
    return works("no_new_privs can be set and read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
