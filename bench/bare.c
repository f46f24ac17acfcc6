/*
 * bare.c: the smallest possible user-notify supervisor: receive, answer 0, again. What a call
 * through any gate of this kind costs at least on this host.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench/bench.h"
#include "lib/fdio.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1
#endif

static double now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

NORETURN static void guest(int sock, int n)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {ARRAY_LEN(code), code};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                          SECCOMP_FILTER_FLAG_NEW_LISTENER | (1u << 5), &prog);
    if (fd < 0 || fd_send(sock, "l", 1, &fd, 1, 0) < 0)
        _exit(1);
    for (int i = 0; i < n; i++)
        (void)syscall(SYS_getppid);
    _exit(0);
}

static double supervise(int listener, int n)
{
    double start = now_ns();
    for (int i = 0; i < n; i++) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        struct seccomp_notif req;
        struct seccomp_notif_resp resp;
        memset(&req, 0, sizeof(req));
        memset(&resp, 0, sizeof(resp));
        if (poll(&p, 1, -1) < 0 || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
            return -1;
        resp.id = req.id;
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) < 0)
            return -1;
    }
    return (now_ns() - start) / n;
}

double bare_notify_ns(int n)
{
    int pair[2], listener = -1;
    char byte;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        guest(pair[1], n);
    size_t nfds = 0;
    double ns = -1;
    if (pid > 0 && fd_recv(pair[0], &byte, 1, &listener, 1, &nfds, 0) == 1 && listener >= 0) {
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
        ns = supervise(listener, n);
        (void)close(listener);
    }
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    (void)close(pair[0]);
    (void)close(pair[1]);
    return ns;
}
