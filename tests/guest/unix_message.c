/* guest: glibc-only */
/* Datagrams, packets, control messages: descriptors, credentials, truncation, many at once. */
#include <poll.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "tests/guest/facts.h"

union control {
    struct cmsghdr h;
    char buf[1200];
};

static ssize_t send_fds(int s, const void *data, size_t n, const int *fds, int nfds, int flags)
{
    union control c;
    struct iovec iov = {(void *)(uintptr_t)data, n};
    struct msghdr mh = {.msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = c.buf,
                        .msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int))};
    memset(&c, 0, sizeof(c));
    c.h.cmsg_level = SOL_SOCKET;
    c.h.cmsg_type = SCM_RIGHTS;
    c.h.cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
    memcpy(CMSG_DATA(&c.h), fds, (size_t)nfds * sizeof(int));
    return sendmsg(s, &mh, flags);
}

/* Receives and says what came; the descriptors go to got. */
static int receive(const char *what, int s, size_t room, size_t control, int flags, int got[8])
{
    union control c;
    char data[64];
    struct iovec iov = {data, room};
    struct msghdr mh = {.msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control ? c.buf : NULL,
                        .msg_controllen = control};
    memset(&c, 0, sizeof(c));
    ssize_t n = recvmsg(s, &mh, flags);
    if (n < 0) {
        say("%s: %s", what, errno_name(errno));
        return 0;
    }
    int fds = 0, cred = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&mh); h; h = CMSG_NXTHDR(&mh, h)) {
        if (h->cmsg_type == SCM_RIGHTS) {
            int m = (int)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            for (int i = 0; i < m && fds < 8; i++)
                memcpy(&got[fds++], CMSG_DATA(h) + (size_t)i * sizeof(int), sizeof(int));
        }
        if (h->cmsg_type == SCM_CREDENTIALS)
            cred++;
    }
    say("%s: %zd flags %x control %d fds %d creds %d", what, n, mh.msg_flags,
        (int)mh.msg_controllen, fds, cred);
    return fds;
}

static void rights(void)
{
    int s[2], p[2], got[8], bad[2] = {0, 999}, many[254];
    char c;
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    NEED(pipe(p));
    VALUE("send two", send_fds(s[0], "ab", 2, p, 2, 0));
    VALUE("then plain", write(s[0], "cd", 2));
    int n = receive("receive", s[1], 10, 64, MSG_CMSG_CLOEXEC, got);
    VALUE("cloexec", fcntl(got[0], F_GETFD));
    NEED(write(got[1], "x", 1));
    VALUE("through the pipe", read(p[0], &c, 1));
    for (int i = 0; i < n; i++)
        close(got[i]);
    receive("plain", s[1], 10, 64, 0, got);
    FACT("a bad one", send_fds(s[0], "x", 1, bad, 2, 0));
    for (int i = 0; i < 254; i++)
        many[i] = p[0];
    FACT("too many", send_fds(s[0], "x", 1, many, 254, 0));
    VALUE("the most", send_fds(s[0], "x", 1, many, 253, 0));
    VALUE("read drops them", read(s[1], &c, 1));
    NEED(send_fds(s[0], "x", 1, p, 2, 0));
    n = receive("room for one", s[1], 10, CMSG_SPACE(4), 0, got);
    for (int i = 0; i < n; i++)
        close(got[i]);
    NEED(send_fds(s[0], "x", 1, p, 2, 0));
    receive("no room", s[1], 10, 0, 0, got);
    NEED(send_fds(s[0], "x", 1, p, 2, 0));
    receive("little room", s[1], 10, 15, 0, got);
    NEED(send_fds(s[0], "xyz", 3, p, 1, 0));
    n = receive("peek", s[1], 1, 64, MSG_PEEK, got);
    close(got[0]);
    n = receive("first part", s[1], 1, 64, 0, got);
    close(got[0]);
    receive("second part", s[1], 10, 64, 0, got);
    /* The last copy of a descriptor may be the one under way. */
    NEED(send_fds(s[0], "x", 1, &p[1], 1, 0));
    close(p[1]);
    n = receive("last copy", s[1], 10, 64, 0, got);
    NEED(write(got[0], "y", 1));
    VALUE("alive", read(p[0], &c, 1));
    close(got[0]);
    VALUE("end of file", read(p[0], &c, 1));
    /* A socket that carries itself. */
    NEED(send_fds(s[0], "x", 1, s, 2, 0));
    close(s[0]), close(s[1]), close(p[0]);
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    FACT("empty data with descriptors", send_fds(s[0], "", 0, s, 1, MSG_DONTWAIT));
    FACT("bad length", ({
             union control k = {
                 .h = {.cmsg_len = 3, .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
             struct msghdr mh = {.msg_control = k.buf, .msg_controllen = 24};
             sendmsg(s[0], &mh, 0);
         }));
    close(s[0]), close(s[1]);
}

static ssize_t send_cred(int s, pid_t pid, uid_t uid)
{
    union control c;
    struct iovec iov = {"c", 1};
    struct msghdr mh = {.msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = c.buf,
                        .msg_controllen = CMSG_SPACE(sizeof(struct ucred))};
    struct ucred uc = {pid, uid, getgid()};
    memset(&c, 0, sizeof(c));
    c.h.cmsg_level = SOL_SOCKET;
    c.h.cmsg_type = SCM_CREDENTIALS;
    c.h.cmsg_len = CMSG_LEN(sizeof(uc));
    memcpy(CMSG_DATA(&c.h), &uc, sizeof(uc));
    return sendmsg(s, &mh, 0);
}

static void credentials(void)
{
    int s[2], got[8], on = 1;
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
    VALUE("own", send_cred(s[0], getpid(), getuid()));
    FACT("another uid", send_cred(s[0], getpid(), 0));
    FACT("another pid", send_cred(s[0], getpid() + 1, getuid()));
    receive("not asked for", s[1], 10, 64, 0, got);
    NEED(setsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
    NEED(write(s[0], "x", 1));
    receive("asked for", s[1], 10, 64, 0, got);
    NEED(send_fds(s[0], "x", 1, &s[0], 1, 0));
    int n = receive("both", s[1], 10, 64, 0, got);
    if (n)
        close(got[0]);
    NEED(write(s[0], "x", 1));
    receive("little room", s[1], 10, 20, 0, got);
    close(s[0]), close(s[1]);
}

static void packets(void)
{
    int s[2], got[8];
    char buf[16];
    NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s));
    NEED(write(s[0], "hello", 5));
    NEED(send(s[0], "", 0, 0));
    NEED(write(s[0], "bye", 3));
    receive("truncated", s[1], 3, 64, 0, got);
    receive("empty", s[1], 3, 64, 0, got);
    VALUE("real length", recv(s[1], buf, 1, MSG_TRUNC));
    FACT("nothing", recv(s[1], buf, 1, 0));
    FACT("wait flag", recv(s[1], buf, 1, MSG_DONTWAIT));
    static char big[300000];
    FACT("too big", send(s[0], big, sizeof(big), 0));
    close(s[0]);
    VALUE("the end", recv(s[1], buf, 1, 0));
    FACT("write after it", send(s[1], "x", 1, MSG_NOSIGNAL));
    close(s[1]);
}

static void datagrams(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX}, from;
    socklen_t len = 2 + 5, flen;
    char buf[16];
    int a = (int)NEED(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    int b = (int)NEED(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    memcpy(sun.sun_path, "\0box", 4);
    FACT("send nowhere", send(a, "x", 1, 0));
    FACT("to nobody", sendto(a, "x", 1, 0, (struct sockaddr *)&sun, len));
    NEED(bind(b, (struct sockaddr *)&sun, len));
    VALUE("send", sendto(a, "hello", 5, 0, (struct sockaddr *)&sun, len));
    flen = sizeof(from);
    VALUE("receive", recvfrom(b, buf, 16, 0, (struct sockaddr *)&from, &flen));
    VALUE("from no name", flen);
    NEED(bind(a, (struct sockaddr *)&sun, 2));
    NEED(connect(a, (struct sockaddr *)&sun, len));
    NEED(write(a, "again", 5));
    flen = sizeof(from);
    VALUE("receive short", recvfrom(b, buf, 2, 0, (struct sockaddr *)&from, &flen));
    VALUE("from a name", flen);
    VALUE("answer", sendto(b, "re", 2, 0, (struct sockaddr *)&from, flen));
    VALUE("read", read(a, buf, 16));
    int c = (int)NEED(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    FACT("to a connected one", sendto(c, "x", 1, 0, (struct sockaddr *)&from, flen));
    NEED(connect(c, (struct sockaddr *)&sun, len));
    int n = 0;
    while (write(c, "x", 1) == 1)
        n++;
    YES("full", n >= 10 && errno == EAGAIN);
    struct pollfd f = {c, POLLOUT, 0};
    VALUE("not writable", poll(&f, 1, 0));
    NEED(read(b, buf, 16));
    VALUE("writable", poll(&f, 1, 0));
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    FACT("disconnect", connect(c, &none, sizeof(none)));
    FACT("no peer", write(c, "x", 1));
    NEED(connect(c, (struct sockaddr *)&sun, len));
    close(b);
    FACT("peer gone", write(c, "x", 1));
    FACT("and forgotten", write(c, "x", 1));
    close(a), close(c);
}

static void many(void)
{
    int s[2];
    char in[4][8];
    struct iovec io[4], ii[4];
    struct mmsghdr out[4], got[4];
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
    memset(out, 0, sizeof(out));
    memset(got, 0, sizeof(got));
    for (int i = 0; i < 4; i++) {
        io[i] = (struct iovec){"abcd", (size_t)i + 1};
        ii[i] = (struct iovec){in[i], 8};
        out[i].msg_hdr.msg_iov = &io[i], out[i].msg_hdr.msg_iovlen = 1;
        got[i].msg_hdr.msg_iov = &ii[i], got[i].msg_hdr.msg_iovlen = 1;
    }
    VALUE("sendmmsg", sendmmsg(s[0], out, 3, 0));
    say("lengths %u %u %u", out[0].msg_len, out[1].msg_len, out[2].msg_len);
    VALUE("recvmmsg", recvmmsg(s[1], got, 4, MSG_WAITFORONE, NULL));
    say("lengths %u %u %u", got[0].msg_len, got[1].msg_len, got[2].msg_len);
    FACT("nothing", recvmmsg(s[1], got, 4, MSG_DONTWAIT, NULL));
    struct timespec bad = {0, -1};
    FACT("bad time", recvmmsg(s[1], got, 4, 0, &bad));
    out[1].msg_hdr.msg_iov = (struct iovec *)8;
    VALUE("an error in the middle", sendmmsg(s[0], out, 3, 0));
    FACT("an error at first", sendmmsg(s[0], out + 1, 2, 0));
    close(s[0]), close(s[1]);
}

int main(void)
{
    facts_start();
    rights();
    credentials();
    packets();
    datagrams();
    many();
    remove_work_dir();
    return 0;
}
