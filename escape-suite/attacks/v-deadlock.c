/* tries: circles in which everybody waits: unix sockets in flight in themselves and in each other,
   pipes both full, flock and record locks crosswise, futexes, FIFO opens, epoll sets inside epoll
   sets, vfork inside vfork, a process that waits for itself */
/* must fail because: a blocked call holds no thread of the supervisor; references in flight are
   counted and circles of them collected; epoll refuses loops */
/* an escape would: leave the supervisor waiting, or recursing until its stack ends */
/* source: ATTACKS.md V17 R8; sandlock 6eb43e0, cc3f33b */
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "child.h"

static int send_fds(int sock, const int *fds, int n)
{
    union {
        char buf[CMSG_SPACE(sizeof(int) * 200)];
        struct cmsghdr align;
    } u;
    struct iovec iov = {"x", 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = u.buf,
                         .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)n);
    return (int)sendmsg(sock, &msg, MSG_DONTWAIT);
}

static int last[2] = {-1, -1};

static int flights(int n)
{
    int sent = 0;
    for (int i = 0; i < n; i++) {
        int p[2];
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p) < 0)
            break;
        sent += send_fds(p[0], p, 2) > 0; /* itself */
        if (last[0] >= 0) {
            sent += send_fds(p[0], last, 2) > 0; /* a chain */
            sent += send_fds(last[0], p, 2) > 0; /* and back */
            close(last[0]);
            close(last[1]);
        }
        memcpy(last, p, sizeof(p));
    }
    return sent;
}

/* The pair that a message brings; false: there is none. */
static int received(int sock, int pair[2])
{
    char c, control[CMSG_SPACE(sizeof(int) * 2)];
    struct iovec iov = {&c, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    if (recvmsg(sock, &msg, MSG_DONTWAIT) < 0 || CMSG_FIRSTHDR(&msg) == NULL)
        return 0;
    memcpy(pair, CMSG_DATA(CMSG_FIRSTHDR(&msg)), 2 * sizeof(int));
    return 1;
}

/* Linux 6.18 never frees such a chain, and with 16000 of them looks through all at each message of
 * anybody: where the host's kernel has it, it is taken apart. The second message of each pair has
 * the pair before. */
static void landings(void)
{
    while (last[0] >= 0) {
        int pair[2], before[2] = {-1, -1};
        for (int i = 0; received(last[1], pair); i++) {
            if (i == 1) {
                memcpy(before, pair, sizeof(before));
            } else {
                close(pair[0]);
                close(pair[1]);
            }
        }
        close(last[0]);
        close(last[1]);
        memcpy(last, before, sizeof(last));
    }
}

static void epolls(void)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int first = epoll_create1(0), at = first;
    for (int i = 0; i < 200; i++) {
        int next = epoll_create1(0);
        if (epoll_ctl(next, EPOLL_CTL_ADD, at, &ev) < 0)
            step("epoll set %d around another: %s", i, err_name(errno));
        if (epoll_ctl(at, EPOLL_CTL_ADD, next, &ev) == 0)
            step("two epoll sets wait for each other");
        epoll_wait(next, &ev, 1, 0);
        at = next;
        if (i > 8)
            break;
    }
    epoll_ctl(first, EPOLL_CTL_ADD, at, &ev);
    epoll_wait(at, &ev, 1, 0);
}

static void *fifo(void *arg)
{
    open("/tmp/fifo", (long)arg % 2 ? O_RDONLY : O_RDONLY | O_DIRECTORY);
    int a = open("/tmp/a", O_RDWR | O_CREAT, 0644), b = open("/tmp/b", O_RDWR | O_CREAT, 0644);
    for (;;) {
        flock((long)arg % 2 ? a : b, LOCK_EX);
        flock((long)arg % 2 ? b : a, LOCK_EX);
    }
    return arg;
}

static void circle(int arg)
{
    pthread_t t;
    mkfifo("/tmp/fifo", 0644);
    for (long i = 0; i < 40; i++)
        pthread_create(&t, NULL, fifo, (void *)i);
    for (int i = 0; i < 10; i++)
        if (vfork() == 0) {
            if (i == 9)
                syscall(SYS_exit_group, 0);
        }
    waitpid(getpid(), NULL, 0);
    for (;;)
        syscall(SYS_futex, &t, 0, (int)arg, NULL, NULL, 0);
}

static int attack(void)
{
    pid_t pid = fork();
    if (pid == 0)
        circle(0);
    step("%d messages with sockets inside of themselves", flights(3000));
    epolls();
    long worst = 0;
    for (int i = 0; i < 200; i++) {
        long before = now_ms();
        pid_t child = fork();
        if (child == 0)
            syscall(SYS_exit_group, 0);
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return escaped("no process while others wait in circles: %s", err_name(errno));
        if (now_ms() - before > worst)
            worst = now_ms() - before;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    landings();
    if (worst > HANG_MS)
        return escaped("a process took %ld ms", worst);
    return contained("200 processes meanwhile, the slowest took %ld ms", worst);
}

static int twin(void)
{
    int p[2], q[2];
    char c;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p) < 0 || pipe(q) < 0 || send_fds(p[0], q, 2) != 1 ||
        recv(p[1], &c, 1, 0) != 1)
        return broken("a message with two descriptors: %s", err_name(errno));
    return works("a message with two descriptors arrives");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
