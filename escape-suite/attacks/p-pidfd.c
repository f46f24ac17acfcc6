/* tries: pidfd_open of every pid up to 65536, then pidfd_getfd of its descriptors,
 * pidfd_send_signal, waitid(P_PIDFD), setns, process_madvise and process_mrelease through it */
/* must fail because: guests' pids are the sentry's own numbers; a number of the host names nobody
 * or a task of this box; the descriptor tables that are searched are the sentry's */
/* an escape would: hold a descriptor of the runtime or signal a process of the host */
/* source: ATTACKS.md P2 */
#include "tricks.h"

static int use(int pidfd, int pid)
{
    int n = 0;
    for (int fd = 0; fd < 64; fd++) {
        long got = sys(438 /* pidfd_getfd */, pidfd, fd, 0);
        if (got >= 0)
            n++, close((int)got);
    }
    siginfo_t si;
    n += syscall(SYS_waitid, 3 /* P_PIDFD */, pidfd, &si, WNOHANG | WEXITED, NULL) == 0;
    n += syscall(424, pidfd, 0, NULL, 0) == 0;
    n += syscall(SYS_setns, pidfd, CLONE_NEWNS | CLONE_NEWNET) == 0;
    n += syscall(440, pidfd, NULL, 0, 4, 0) == 0;
    step("pidfd of %d: %d things work", pid, n);
    return n;
}

static int attack(void)
{
    long victim = fact_number("victim_pid", 0);
    int opened = 0, foreign = 0;
    for (int pid = 1; pid < 65536; pid++) {
        int fd = syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
            continue;
        opened++;
        if (!is_family(pid)) {
            foreign++;
            use(fd, pid);
            if (pid == victim)
                syscall(424, fd, SIGKILL, NULL, 0);
        } else if (pid != getpid() && pid != getppid()) {
            step("pid %d, ours: descriptors %s", pid, err_name(-sys(438, fd, 0, 0)));
        }
        close(fd);
    }
    for (int fd = 0; fd < 3; fd++) {
        step("mrelease of descriptor %d: %s", fd, err_name(sys(448, fd, 0)));
        if (sys(438, fd, 0, 0) >= 0)
            return escaped("pidfd_getfd works on a stream");
    }
    if (foreign)
        return escaped("%d processes outside the box can be opened", foreign);
    return contained("%d pidfds, all of them ours", opened);
}

static int twin(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    int fd = syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || syscall(424, fd, SIGKILL, NULL, 0) < 0)
        return broken("a pidfd of a child: %s", err_name(errno));
    int status = wait_for(pid);
    if (!WIFSIGNALED(status))
        return broken("the child ended with %#x", status);
    return works("a child of ours is killed through its pidfd");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
