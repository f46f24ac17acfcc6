/* tries: setns into network namespaces of others: /proc/PID/ns/net of init, of the harness and the
   victim, by pidfd, through /run/netns, and the nsfs ioctls that hand out parents and owners */
/* must fail because: other pids do not exist in the box and setns is not executed on the host */
/* an escape would: be in the host's network */
/* source: ATTACKS.md N9 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attack.h"

static int tries, joined;

static void try_fd(int fd, const char *how)
{
    tries++;
    if (fd < 0)
        return;
    for (int request = 0xb701; request <= 0xb704; request++) {
        int other = ioctl(fd, request, NULL);
        if (other > 2) {
            step("%s: ioctl %x gave descriptor %d", how, request, other);
            close(other);
        }
    }
    struct stat own = {0}, st = {0};
    stat("/proc/self/ns/net", &own);
    fstat(fd, &st);
    /* One's own is no gain. */
    if (sys(SYS_setns, fd, CLONE_NEWNET) == 0 && own.st_ino != st.st_ino) {
        step("joined by %s", how);
        joined++;
    }
    close(fd);
}

static int attack(void)
{
    const char *pids[] = {
        "self", "1", "2", fact("harness_pid"), fact("victim_pid"), fact("neighbour_pid")};
    char path[64];
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
        snprintf(path, sizeof(path), "/proc/%s/ns/net", pids[i] ? pids[i] : "3");
        try_fd(open(path, O_RDONLY), path);
        if (i == 0 || !pids[i])
            continue;
        int fd = (int)syscall(SYS_pidfd_open, atoi(pids[i]), 0);
        if (fd >= 0 && i > 2)
            step("a pidfd for %s", pids[i]);
        try_fd(fd, "a pidfd");
    }
    try_fd(open("/run/netns/default", O_RDONLY), "/run/netns/default");
    try_fd(open("/var/run/docker/netns/default", O_RDONLY), "docker's");
    int inet = socket(AF_INET, SOCK_STREAM, 0);
    step("AF_INET afterwards: %s", inet < 0 ? err_name(errno) : "exists");
    if (joined && (own_kernel() || inet < 0))
        return escaped("joined %d network namespaces", joined);
    if (joined)
        return escaped("joined %d network namespaces of others", joined);
    return contained("%d tries, none joined", tries);
}

static int twin(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return broken("pidfd_open of a child: %s", err_name(errno));
    if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) < 0)
        return broken("pidfd_send_signal: %s", err_name(errno));
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, 5000) != 1 || waitpid(pid, &status, 0) != pid || WTERMSIG(status) != SIGTERM)
        return broken("the end of the child does not come");
    return works("a pidfd of one's own child signals it and tells its end");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
