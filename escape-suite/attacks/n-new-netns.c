/* tries: new user and network namespaces by unshare, clone and clone3, and in them the rights that
   come with them: bring interfaces up, rename them, open netlink and nftables */
/* must fail because: namespace flags are refused or emulated, never executed on the host */
/* an escape would: be root of a real network namespace, with all of the kernel's network code in
 * reach */
/* source: ATTACKS.md N9, CVE-2016-3135 */
#include <sched.h>
#include <signal.h>

#include <linux/sched.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "attack.h"

/* What a process in a new namespace can do; bit 0: interfaces, bit 1: netlink, bit 2: raw. */
static int powers(void)
{
    struct ifreq r = {.ifr_name = "lo"};
    int p = 0, fd = socket(AF_INET, SOCK_DGRAM, 0);
    r.ifr_flags = IFF_UP;
    if (fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &r) == 0)
        p |= 1;
    if (socket(AF_NETLINK, SOCK_RAW, 12) >= 0)
        p |= 2;
    if (socket(AF_INET, SOCK_RAW, 255) >= 0)
        p |= 4;
    return p;
}

static int child_main(void *arg)
{
    return powers() | 64;
}

static int by_child(int how)
{
    static char stack[65536] __attribute__((aligned(16)));
    int status = 0;
    pid_t pid;
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWNET;
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    if (how == 0) {
        pid = fork();
        if (pid == 0)
            _exit(unshare((int)flags) == 0 ? child_main(NULL) : 0);
    } else if (how == 1) {
        pid = clone(child_main, stack + sizeof(stack), (int)flags | SIGCHLD, NULL);
    } else if (how == 2) {
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0)
            _exit(child_main(NULL));
    } else {
        pid = fork();
        if (pid == 0)
            _exit(unshare(CLONE_NEWNET) == 0 ? child_main(NULL) : 0);
    }
    if (pid < 0)
        return -errno;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static int attack(void)
{
    static const char *const names[] = {"unshare user and net", "clone", "clone3",
                                        "unshare net alone"};
    int powerful = 0;
    for (int i = 0; i < 4; i++) {
        int r = by_child(i);
        step("%s: %s%s", names[i],
             r < 0    ? err_name(r)
             : r & 64 ? "done"
                      : "refused",
             r > 0 && (r & 7) ? ", with power over the network" : "");
        powerful += r > 0 && (r & 7);
    }
    if (powerful)
        return escaped("%d ways to be root of a real network namespace", powerful);
    return contained("no namespace of the kernel, or none that gives anything");
}

static int twin(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int status = 0;
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        _exit(7);
    if (pid < 0 && errno != ENOSYS)
        return broken("clone3 without flags: %s", err_name(errno));
    if (pid < 0 && (pid = fork()) == 0)
        _exit(7);
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
        return broken("a child's status is %d", status);
    return works("children without new namespaces");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
