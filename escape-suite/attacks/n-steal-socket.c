/* tries: to take sockets out of other processes: pidfd_getfd and /proc/PID/fd of the harness, the
   victim, the neighbour, and of every low pid; kcmp to find them */
/* must fail because: those processes do not exist in the box; a pidfd is the box's own object */
/* an escape would: hold the harness's listening socket, a connection to the outside */
/* source: ATTACKS.md P2, pidfd_getfd(2) */
#include <fcntl.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "attack.h"

static int tries, stolen;

static void try_pid(long pid)
{
    char path[64], link[200];
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 0; fd < 64; fd++) {
        tries++;
        int got = pidfd >= 0 ? (int)syscall(438, pidfd, fd, 0) : -1;
        if (got >= 0) {
            step("descriptor %d of %ld is mine", fd, pid);
            stolen++;
            close(got);
        }
        snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
        ssize_t n = readlink(path, link, sizeof(link) - 1);
        if (n > 0 && pid > 2) {
            step("%s is %.*s", path, (int)n, link);
            stolen++;
        }
        if (syscall(SYS_kcmp, pid, getpid(), 0, fd, 0) >= 0)
            stolen++;
    }
    if (pidfd >= 0)
        close(pidfd);
}

static int attack(void)
{
    long pids[] = {fact_number("harness_pid", 0), fact_number("victim_pid", 0),
                   fact_number("neighbour_pid", 0)};
    for (int i = 0; i < 3; i++)
        if (pids[i] > 2)
            try_pid(pids[i]);
    for (long pid = 2; pid < 200; pid++)
        if (pid != getpid())
            try_pid(pid);
    if (stolen)
        return escaped("%d descriptors of others", stolen);
    return contained("%d tries, nobody else is here", tries);
}

/* A socket goes from child to parent the honest way. */
static int twin(void)
{
    int pair[2], inner[2];
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "", text[8] = "";
    struct iovec iov = {text, 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, inner) < 0)
        return broken("socketpair: %s", err_name(errno));
    if (fork() == 0) {
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &inner[0], sizeof(int));
        write(inner[1], "gift", 4);
        _exit(sendmsg(pair[0], &m, 0) == 1 ? 0 : 1);
    }
    wait(NULL);
    if (recvmsg(pair[1], &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
        return broken("no descriptor arrives: %s", err_name(errno));
    int fd;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
    if (read(fd, text, 4) != 4 || strncmp(text, "gift", 4) != 0)
        return broken("the descriptor does not work");
    return works("a socket was handed over by SCM_RIGHTS");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
