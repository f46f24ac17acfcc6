/* tries: looks for the gate's own descriptor: notification ioctls on every descriptor, pidfd_getfd
   and /proc/PID/fd of every process, SCM_RIGHTS leftovers, a listener of its own by seccomp(2) */
/* must fail because: the listener exists in the supervisor alone; the program has no descriptor of
   the host, and seccomp(2) is the supervisor's to answer */
/* an escape would: answer its own calls with CONTINUE and be rid of the supervisor */
/* source: ATTACKS.md V10 V14; agentsh AUDIT M1 */
#include <dirent.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "child.h"

static int answered;

static void probe(int fd)
{
    struct seccomp_notif n = {0};
    struct seccomp_notif_resp r = {.flags = 1};
    struct seccomp_notif_addfd add = {.srcfd = 0};
    uint64_t id = 1, flags = 1;
    long got[5] = {sys(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_RECV, &n),
                   sys(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_SEND, &r),
                   sys(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id),
                   sys(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add),
                   sys(SYS_ioctl, fd, 0x40082104ul, &flags)};
    for (int i = 0; i < 5; i++)
        if (got[i] >= 0 || got[i] == -ENOENT || got[i] == -EINPROGRESS) {
            step("descriptor %d answers notification request %d: %ld", fd, i, got[i]);
            answered++;
        }
}

/* In a child: where the kernel takes the filter, its next call waits for ever. */
static long listen_to_itself(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog prog = {1, &all};
    volatile long *result = shared_pages(1);
    if (!result)
        return -ENOMEM;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        result[0] =
            sys(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
        result[1] = 1;
        for (;;)
            ;
    }
    if (pid < 0)
        return -errno;
    for (long end = now_ms() + HANG_MS; !result[1] && now_ms() < end;)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return result[1] ? result[0] : -ETIME;
}

static int attack(void)
{
    char path[64];
    int open_fds = 0, others = 0;
    for (int fd = 0; fd < 4096; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        open_fds++;
        if (fd > 2)
            others++;
        probe(fd);
    }
    step("%d descriptors are open, %d of them not standard", open_fds, others);
    for (int pid = 1; pid < 400; pid++) {
        long p = sys(SYS_pidfd_open, pid, 0);
        for (int fd = 0; p >= 0 && fd < 40; fd++) {
            long got = sys(SYS_pidfd_getfd, p, fd, 0);
            if (got >= 0) {
                probe((int)got);
                close((int)got);
            }
        }
        if (p >= 0)
            close((int)p);
        snprintf(path, sizeof(path), "/proc/%d/fd", pid);
        DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));) {
            char link[200] = "", name[200];
            snprintf(name, sizeof(name), "%s/%.40s", path, e->d_name);
            if (readlink(name, link, sizeof(link) - 1) > 0 && strstr(link, "seccomp"))
                return escaped("%s is %s", name, link);
        }
        if (d)
            closedir(d);
    }
    long own = listen_to_itself();
    step("a listener of its own: %s", own < 0 ? err_name(own) : "made");
    if (answered)
        return escaped("%d notification requests were answered", answered);
    return contained("no descriptor answers as a listener");
}

static int twin(void)
{
    int n = -1, pipes[2];
    if (pipe(pipes) < 0 || write(pipes[1], "abc", 3) != 3 || ioctl(pipes[0], FIONREAD, &n) < 0 ||
        n != 3)
        return broken("ioctl FIONREAD of a pipe: %s", err_name(errno));
    return works("ioctl of the program's own descriptors is answered");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
