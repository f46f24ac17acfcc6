/* tries: descriptors in flight: sockets that are sent through themselves and each other, in chains
 * and rings, then closed on both ends, again and again */
/* must fail because: each kind of kernel object has a limit of its own, charged before it is made,
 * and the sentry's memory counts for the run; sockets that only they themselves hold are found and
 * freed */
/* an escape would: make the sentry (or the host's kernel) hold memory that nobody accounts for, or
 * make the collector recurse until the sentry crashes */
/* source: ATTACKS.md R8, V17 */
#include <sys/socket.h>

#include "tricks.h"

static int send_fds(int to, const int *fds, int n)
{
    char c = 0, ctl[CMSG_SPACE(sizeof(int) * 250)] = "";
    struct iovec iov = {&c, 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = ctl,
                       .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    *h = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int) * n), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(h), fds, sizeof(int) * n);
    return sendmsg(to, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* A chain: the first socket holds the second, which holds the third, ...; the last holds the first.
 */
static int ring(int len)
{
    int a[2], first[2], prev[2], r = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) < 0)
        return -errno;
    memcpy(prev, first, sizeof(prev));
    for (int i = 0; i < len && r == 0; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) < 0) {
            r = -errno;
            break;
        }
        r = send_fds(a[0], prev, 2);
        if (prev[0] != first[0])
            close(prev[0]), close(prev[1]);
        memcpy(prev, a, sizeof(prev));
    }
    send_fds(first[0], prev, 2);
    send_fds(first[1], first, 2);
    close(prev[0]), close(prev[1]), close(first[0]), close(first[1]);
    return r;
}

/* 250 copies of one descriptor in each message, each message in the next. */
static int fan(void)
{
    int p[2], fds[250], r = socketpair(AF_UNIX, SOCK_DGRAM, 0, p) < 0 ? -errno : 0, n = 0;
    for (int i = 0; i < 250; i++)
        fds[i] = p[i % 2];
    while (r == 0 && n < 300 && (r = send_fds(p[n % 2], fds, 250)) == 0)
        n++;
    close(p[0]), close(p[1]);
    return r;
}

static int attack(void)
{
    int small = 0, r = 0;
    for (long end = now_ms() + 500; now_ms() < end && r == 0; small++)
        r = ring(1 + small % 7);
    step("%d small rings: %s", small, err_name(r));
    r = ring(20000);
    step("a ring of 20000: %s", err_name(r));
    int r2 = 0;
    for (int i = 0; i < 20; i++)
        r2 = fan();
    step("fans of 250: %s", err_name(r2));
    /* Like Linux, the collector is due when a socket closes for good; then all of it must be free.
     */
    int p[2], again = -1;
    for (long end = now_ms() + HANG_MS; again < 0 && now_ms() < end;) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0)
            close(p[0]), close(p[1]);
        again = ring(200);
        usleep(again < 0 ? 2000 : 0);
    }
    if (again < 0)
        return escaped("rings that nobody holds are never freed: %s", err_name(again));
    return contained("every ring was collected");
}

static int twin(void)
{
    int p[2], q[2];
    char c = 0, ctl[64];
    struct iovec iov = {&c, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0 || pipe(q) < 0 || send_fds(p[0], q, 2) < 0 ||
        close(q[0]) < 0 || close(q[1]) < 0 || recvmsg(p[1], &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
        return broken("passing a pipe: %s", err_name(errno));
    memcpy(q, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(q));
    if (write(q[1], "x", 1) != 1 || read(q[0], &c, 1) != 1 || c != 'x')
        return broken("the passed pipe: %s", err_name(errno));
    return works("a pipe passed over a socket works");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
