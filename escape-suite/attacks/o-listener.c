/* tries: a listener that stays: a detached process that listens on unix sockets in /tmp and the
 * abstract name space, with its descriptors in flight in a socket's queue that nobody reads */
/* must fail because: sockets are the sentry's; they and what is in flight end with it */
/* an escape would: be reachable from the next run or from the host */
/* source: ATTACKS.md O5, O7 */
#include <sys/socket.h>
#include <sys/un.h>

#include "tricks.h"

static int listen_on(const char *name, int len)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(a.sun_path, name, (size_t)len);
    return bind(s, (struct sockaddr *)&a, (socklen_t)(2 + len)) < 0 || listen(s, 100) < 0 ? -1 : s;
}

static int pass(int to, int fd)
{
    char c = 0, ctl[CMSG_SPACE(sizeof(int))] = "";
    struct iovec iov = {&c, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    *h = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(h), &fd, sizeof(int));
    return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int attack(void)
{
    int outward = 0, pair[2], n = 0;
    n += listen_on("\0escape-stays", 13) >= 0;
    n += listen_on("/tmp/escape-stays", 18) >= 0;
    int s = listen_on("\0escape-stays-2", 15);
    n += s >= 0;
    /* outward over the streams, should one of them be a socket */
    for (int fd = 0; fd < 3; fd++) {
        int r = pass(fd, s);
        step("a descriptor over stream %d: %s", fd, err_name(r));
        outward += r == 0;
    }
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0) {
        pass(pair[0], s);
        pass(pair[0], pair[1]);
        close(pair[0]), close(pair[1]), close(s);
    }
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    if (outward)
        return escaped("%d descriptors went out of the box", outward);
    return contained("%d listeners left behind, no way out for a descriptor", n);
}

static int twin(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0twin"};
    int l = listen_on("\0twin", 5), c = socket(AF_UNIX, SOCK_STREAM, 0);
    char b = 0;
    if (l < 0 || connect(c, (struct sockaddr *)&a, 7) < 0)
        return broken("connecting to a listener of our own: %s", err_name(errno));
    int s = accept(l, NULL, NULL);
    if (s < 0 || write(c, "h", 1) != 1 || read(s, &b, 1) != 1 || b != 'h')
        return broken("a byte over it: %s", err_name(errno));
    return works("a listener of our own is reached within the box");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
