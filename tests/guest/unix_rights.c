/* guest: glibc-only */
/* Datagrams, passing of descriptors and credentials, truncation, vectors of messages. */
#include <sys/socket.h>
#include <sys/un.h>

#include "facts.h"

static int send_fds(int s, const int *fds, int n, const char *text)
{
    union {
        struct cmsghdr h;
        char space[CMSG_SPACE(sizeof(int) * 260)];
    } c;
    struct iovec iov = {(void *)text, strlen(text)};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &c,
                       .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n)};
    memset(&c, 0, sizeof(c));
    c.h = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&c.h), fds, sizeof(int) * (size_t)n);
    return (int)sendmsg(s, &m, 0);
}

static struct msghdr got;
static union {
    struct cmsghdr h;
    char space[256];
} control;

static int receive(int s, char *buf, size_t len, size_t room, int flags)
{
    static struct iovec iov;
    iov = (struct iovec){buf, len};
    got = (struct msghdr){
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = room};
    return (int)recvmsg(s, &got, flags);
}

static void show_control(void)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&got); c; c = CMSG_NXTHDR(&got, c)) {
        if (c->cmsg_type == SCM_RIGHTS) {
            int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            int fd;
            memcpy(&fd, CMSG_DATA(c), sizeof(fd));
            say("  rights: %d, cloexec %d", n, fcntl(fd, F_GETFD));
            for (int i = 0; i < n; i++) {
                memcpy(&fd, CMSG_DATA(c) + sizeof(int) * (size_t)i, sizeof(fd));
                if (i + 1 < n || n > 1)
                    close(fd);
            }
        } else if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred cr;
            memcpy(&cr, CMSG_DATA(c), sizeof(cr));
            say("  credentials: pid ok %d uid ok %d", cr.pid == getpid(), cr.uid == getuid());
        }
    }
    say("  flags %x", got.msg_flags & ~MSG_CMSG_CLOEXEC);
}

int main(void)
{
    int sv[2], p[2], one = 1;
    char buf[64] = "";
    facts_start();
    signal(SIGPIPE, SIG_IGN);
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
    NEED(pipe(p));
    VALUE("send a descriptor", send_fds(sv[0], &p[1], 1, "x"));
    VALUE("receive", receive(sv[1], buf, 10, sizeof(control), 0));
    show_control();
    int fd;
    memcpy(&fd, CMSG_DATA(&control.h), sizeof(fd));
    VALUE("write through it", write(fd, "via", 3));
    VALUE("it is the same pipe", read(p[0], buf, 10));
    FACT("send a bad descriptor", send_fds(sv[0], &(int){99}, 1, "x"));
    int many[260];
    for (int i = 0; i < 260; i++)
        many[i] = p[0];
    FACT("send 254 descriptors", send_fds(sv[0], many, 254, "x"));
    VALUE("send 3", send_fds(sv[0], many, 3, "abc"));
    VALUE("no room for control data", receive(sv[1], buf, 10, 0, 0));
    say("  flags %x", got.msg_flags);
    VALUE("send 3", send_fds(sv[0], many, 3, "abc"));
    VALUE("room for one", receive(sv[1], buf, 10, CMSG_SPACE(sizeof(int)), 0));
    show_control();
    VALUE("send plain", send(sv[0], "12", 2, 0));
    VALUE("send with rights", send_fds(sv[0], many, 1, "34"));
    VALUE("send plain", send(sv[0], "56", 2, 0));
    VALUE("rights end a stream read", receive(sv[1], buf, 10, sizeof(control), MSG_CMSG_CLOEXEC));
    show_control();
    VALUE("the rest", receive(sv[1], buf, 10, sizeof(control), 0));
    say("  %.2s flags %x", buf, got.msg_flags);

    NEED(setsockopt(sv[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
    NEED(send(sv[0], "c", 1, 0));
    VALUE("with SO_PASSCRED", receive(sv[1], buf, 10, sizeof(control), 0));
    show_control();

    /* A descriptor in flight keeps the file open. */
    int q[2];
    NEED(pipe(q));
    NEED(send_fds(sv[0], &q[1], 1, "k"));
    close(q[1]);
    fcntl(q[0], F_SETFL, O_NONBLOCK);
    FACT("writer in flight", read(q[0], buf, 1));
    close(sv[1]);
    VALUE("dropped with the socket", read(q[0], buf, 1));

    struct sockaddr_un a = {AF_UNIX, "da"}, b = {AF_UNIX, "db"}, from;
    socklen_t len = sizeof(from);
    int d1 = NEED(socket(AF_UNIX, SOCK_DGRAM, 0)), d2 = NEED(socket(AF_UNIX, SOCK_DGRAM, 0));
    NEED(bind(d1, (struct sockaddr *)&a, sizeof(a)));
    NEED(bind(d2, (struct sockaddr *)&b, sizeof(b)));
    VALUE("sendto", sendto(d1, "datagram", 8, 0, (struct sockaddr *)&b, sizeof(b)));
    VALUE("recvfrom cut", recvfrom(d2, buf, 4, 0, (struct sockaddr *)&from, &len));
    say("from \"%s\"", from.sun_path);
    VALUE("sendto", sendto(d1, "datagram", 8, 0, (struct sockaddr *)&b, sizeof(b)));
    VALUE("MSG_TRUNC tells the length", recv(d2, buf, 4, MSG_TRUNC));
    VALUE("empty datagram", sendto(d1, "", 0, 0, (struct sockaddr *)&b, sizeof(b)));
    VALUE("recv", recv(d2, buf, 4, 0));
    FACT("send without address", send(d1, "x", 1, 0));
    FACT("connect", connect(d1, (struct sockaddr *)&b, sizeof(b)));
    VALUE("send", send(d1, "x", 1, 0));
    NEED(connect(d2, (struct sockaddr *)&a, sizeof(a)));
    int d3 = NEED(socket(AF_UNIX, SOCK_DGRAM, 0));
    FACT("a connected receiver takes only its peer",
         sendto(d3, "x", 1, 0, (struct sockaddr *)&b, sizeof(b)));
    FACT("too large", send(d1, buf, 10 << 20, 0));
    struct mmsghdr mm[3];
    struct iovec iov[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};
    memset(mm, 0, sizeof(mm));
    for (int i = 0; i < 3; i++)
        mm[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
    VALUE("sendmmsg", sendmmsg(d1, mm, 3, 0));
    char in[4][8];
    struct mmsghdr mr[4];
    struct iovec iv[4];
    memset(mr, 0, sizeof(mr));
    for (int i = 0; i < 4; i++) {
        iv[i] = (struct iovec){in[i], 8};
        mr[i].msg_hdr = (struct msghdr){.msg_iov = &iv[i], .msg_iovlen = 1};
    }
    VALUE("recvmmsg", recvmmsg(d2, mr, 4, MSG_DONTWAIT, NULL));
    say("lengths %u %u %u %u", mr[0].msg_len, mr[1].msg_len, mr[2].msg_len, mr[3].msg_len);
    close(d2);
    FACT("send to a closed socket", send(d1, "x", 1, 0));
    remove_work_dir();
    return 0;
}
