/* tries: small objects: eventfd, timerfd, signalfd, epoll, inotify with watches, pidfd, memfd and
 * sockets, in 40 processes up to their descriptor limit */
/* must fail because: each kind of kernel object has a limit of its own, charged before it is made,
 * and the sentry's memory counts for the run */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for */
/* source: ATTACKS.md R2, R8 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "tricks.h"

static int make(int kind)
{
    sigset_t s;
    sigfillset(&s);
    switch (kind % 8) {
    case 0:
        return eventfd(1, 0);
    case 1:
        return timerfd_create(CLOCK_MONOTONIC, 0);
    case 2:
        return signalfd(-1, &s, 0);
    case 3:
        return epoll_create1(0);
    case 4:
        return inotify_init();
    case 5:
        return syscall(SYS_pidfd_open, getpid(), 0);
    case 6:
        return memfd_create("small", 0);
    default:
        return socket(AF_UNIX, SOCK_DGRAM, 0);
    }
}

static int fill(int from)
{
    int n = 0, last = 0, ep = epoll_create1(0), watches = 0;
    struct itimerspec soon = {.it_value = {0, 1000000}, .it_interval = {0, 1000000}};
    for (int kind = from; last < 8; kind++) {
        int fd = make(kind);
        if (fd < 0) {
            last++;
            continue;
        }
        n++;
        last = 0;
        struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
        epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
        timerfd_settime(fd, 0, &soon, NULL);
        for (int i = 0; kind % 8 == 4 && i < 10; i++)
            watches +=
                inotify_add_watch(fd,
                                  (const char *[]){"/", "/etc", "/tmp", "/bin", "/proc", "/dev",
                                                   "/sys", ".", "/dev/shm", "/usr"}[i],
                                  IN_ALL_EVENTS) > 0;
    }
    if (from % 10 == 0)
        step("process %d: %d objects, %d watches, then %s", from, n, watches, err_name(errno));
    return n;
}

static int attack(void)
{
    int procs = 0;
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            fill(i);
            pause();
        }
        procs += pid > 0;
    }
    for (int i = 0; i < 100; i++)
        usleep(10000);
    int fd = open("/dev/null", O_RDONLY);
    if (fd < 0)
        step("the parent's open: %s", err_name(errno));
    return contained("%d processes full of objects, each within its limit", procs);
}

static int twin(void)
{
    for (int k = 0; k < 8; k++) {
        int fd = make(k);
        if (fd < 0)
            return broken("object %d: %s", k, err_name(errno));
        close(fd);
    }
    return works("one object of each kind can be made");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
