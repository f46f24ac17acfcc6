/* tries: namespaces of others: setns to /proc/PID/ns of every pid and kind, unshare and clone
 * with each flag, NS_GET_PARENT, NS_GET_USERNS and NS_GET_OWNER_UID on namespace files */
/* must fail because: no namespace call is made on the host; ns links are names that the sentry
 * makes up */
/* an escape would: enter a namespace of the host's or make one in which it has capabilities */
/* source: ATTACKS.md N9, F12 */
#include <sys/ioctl.h>

#include "tricks.h"

static int with_flag(unsigned long flag)
{
    pid_t pid = (pid_t)syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        return 0;
    if (pid == 0) {
        /* power in a new namespace? */
        int n = syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, NULL) == 0;
        n += syscall(SYS_sethostname, "x", 1) == 0;
        n += fact("host_file") && reach(AT_FDCWD, fact("host_file")) == 1 ? 100 : 0;
        _exit(n);
    }
    int status = wait_for(pid);
    step("clone with %#lx made a child: power %d", flag, status >> 8);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static int attack(void)
{
    static const char *const kinds[] = {
        "mnt", "pid", "net", "user", "ipc", "uts", "cgroup", "time", "pid_for_children"};
    static const unsigned long flags[] = {
        CLONE_NEWNS,     CLONE_NEWUTS, CLONE_NEWIPC,
        CLONE_NEWUSER,   CLONE_NEWPID, CLONE_NEWNET,
        CLONE_NEWCGROUP, 0x80,         CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID};
    long facts[] = {fact_number("victim_pid", 0), fact_number("harness_pid", 0), 1};
    char path[64];
    int entered = 0, parents = 0, reached = 0;
    for (int pid = -COUNT(facts); pid < 3000; pid++) {
        for (int k = 0; k < COUNT(kinds); k++) {
            snprintf(path, sizeof(path), "/proc/%ld/ns/%s",
                     pid < 0 ? facts[pid + COUNT(facts)] : (long)pid, kinds[k]);
            int fd = open(path, O_RDONLY);
            if (fd < 0)
                continue;
            long r = sys(SYS_setns, fd, 0);
            entered += r >= 0;
            for (unsigned op = 1; op < 9; op++)
                parents += ioctl(fd, 0xb700 + op, path) >= 0 && op == 2 /* NS_GET_PARENT */;
            close(fd);
        }
    }
    step("%d namespaces entered, %d parents opened", entered, parents);
    for (int i = 0; i < COUNT(flags); i++) {
        int u = unshare((int)flags[i]) < 0 ? errno : 0;
        step("unshare(%#lx): %s", flags[i], err_name(u));
        reached += with_flag(flags[i]) >= 100;
    }
    reached += fact("host_file") && reach(AT_FDCWD, fact("host_file")) == 1;
    if (reached || parents)
        return escaped("%d new namespaces show the canary, %d parents are open", reached, parents);
    return contained("no namespace of the host is entered or made");
}

static int twin(void)
{
    char link[64] = "";
    if (readlink("/proc/self/ns/pid", link, sizeof(link) - 1) < 0 || strncmp(link, "pid:[", 5) != 0)
        return broken("/proc/self/ns/pid is \"%s\": %s", link, err_name(errno));
    if (unshare(CLONE_FILES | CLONE_FS) < 0)
        return broken("unshare of descriptors and directory: %s", err_name(errno));
    return works("namespaces have names, descriptor tables can be unshared");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
