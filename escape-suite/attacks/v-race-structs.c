/* tries: a second thread rewrites structures while their call is pending, each between a valid and
   an invalid content: rlimit, sigaction, timespec, itimerval, sockaddr, epoll_event, flock, msghdr
 */
/* must fail because: every structure is copied once, the copy is checked, the copy is used */
/* an escape would: pass the check with one content and take effect with the other: a soft limit
   above the hard one, a sleep of forty seconds, a handler for SIGKILL, a socket of another family
 */
/* source: ATTACKS.md V1 */
#include <fcntl.h>
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "child.h"

static char shared[256] __attribute__((aligned(64)));
static char one[256], two[256];
static volatile int stop;

static void *rewrite(void *arg)
{
    while (!stop) {
        memcpy(shared, one, sizeof(one));
        memcpy(shared, two, sizeof(two));
    }
    return arg;
}

#define BOTH(type, a, b) (*(type *)one = (type)a, *(type *)two = (type)b)
#define V(...)           __VA_ARGS__

static void prepare(int how)
{
    memset(one, 0, sizeof(one));
    memset(two, 0, sizeof(two));
    struct rlimit hard;
    getrlimit(RLIMIT_NOFILE, &hard);
    if (how == 0)
        BOTH(struct rlimit, V({64, hard.rlim_max}), V({hard.rlim_max + 64, hard.rlim_max}));
    else if (how == 1)
        BOTH(struct timespec, V({0, 1000}), V({0, 40000000000}));
    else if (how == 2)
        BOTH(struct itimerval, V({{0, 0}, {0, 10}}), V({{0, 0}, {-1, 2000000}}));
    else if (how == 3)
        BOTH(struct sockaddr_un, V({AF_UNIX, "/tmp/x"}), V({AF_INET, "\x1f\x90\x7f\x00\x00\x01"}));
    else if (how == 4)
        BOTH(struct epoll_event, V({EPOLLIN, {.u64 = 7}}), V({~0u, {.u64 = 7}}));
    else if (how == 5)
        BOTH(struct flock, V({F_RDLCK, SEEK_SET, 0, 10, 0}), V({77, 9, -100, -100, 0}));
    else
        BOTH(struct msghdr, V({NULL, 0, NULL, 0, NULL, 0, 0}),
             V({shared, ~0u, (void *)~0ul, 1u << 30, (void *)1, ~0ul, -1}));
}

static int fd, ep, sock;

/* 1: the invalid content took effect. */
static int once(int how)
{
    struct rlimit rl;
    struct sockaddr_un un;
    socklen_t len = sizeof(un);
    long before = now_ms();
    switch (how) {
    case 0:
        setrlimit(RLIMIT_NOFILE, (void *)shared);
        return getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur > rl.rlim_max;
    case 1:
        nanosleep((void *)shared, NULL);
        return now_ms() - before > HANG_MS;
    case 2:
        setitimer(ITIMER_VIRTUAL, (void *)shared, NULL);
        return 0;
    case 3:
        sock = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(sock, (void *)shared, sizeof(un));
        getsockname(sock, (void *)&un, &len);
        unlink("/tmp/x");
        close(sock);
        return un.sun_family != AF_UNIX;
    case 4:
        epoll_ctl(ep, EPOLL_CTL_ADD, fd, (void *)shared);
        epoll_ctl(ep, EPOLL_CTL_DEL, fd, (void *)shared);
        return 0;
    case 5:
        fcntl(fd, F_SETLK, shared);
        return 0;
    default:
        sendmsg(sock, (void *)shared, MSG_DONTWAIT);
        recvmsg(sock, (void *)shared, MSG_DONTWAIT);
        return 0;
    }
}

static int attack(void)
{
    pthread_t t;
    int pair[2], pipes[2], hits = 0, n = 0;
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    pipe(pipes);
    signal(SIGVTALRM, SIG_IGN);
    ep = epoll_create1(0);
    for (int how = 0; how < 7; how++) {
        prepare(how);
        memcpy(shared, one, sizeof(one));
        stop = 0;
        pthread_create(&t, NULL, rewrite, NULL);
        fd = how == 5 ? open("/tmp/lock", O_RDWR | O_CREAT, 0644) : pipes[0];
        sock = pair[0];
        for (long end = now_ms() + 250; now_ms() < end; n++)
            hits += once(how);
        stop = 1;
        pthread_join(t, NULL);
    }
    if (hits)
        return escaped("%d of %d calls used what was never checked", hits, n);
    return contained("%d calls, each used what it had checked", n);
}

static int twin(void)
{
    struct rlimit rl;
    struct timespec ts = {0, 1000};
    struct epoll_event ev = {EPOLLIN, {.u64 = 7}};
    int pipes[2];
    if (pipe(pipes) < 0 || getrlimit(RLIMIT_NOFILE, &rl) < 0 || setrlimit(RLIMIT_NOFILE, &rl) < 0 ||
        nanosleep(&ts, NULL) < 0 || epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, pipes[0], &ev) < 0)
        return broken("setrlimit, nanosleep, epoll_ctl: %s", err_name(errno));
    return works("the same structures where nobody changes them");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
