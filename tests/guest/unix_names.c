/* AF_UNIX stream and seqpacket sockets: names, connect, shutdown, errors, options. */
#include <poll.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "facts.h"

static socklen_t name(struct sockaddr_un *un, const char *text)
{
    memset(un, 0, sizeof(*un));
    un->sun_family = AF_UNIX;
    if (text[0] == '@') {
        strcpy(un->sun_path + 1, text + 1);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(text));
    }
    strcpy(un->sun_path, text);
    return sizeof(*un);
}

static int do_bind(int fd, const char *text)
{
    struct sockaddr_un un;
    socklen_t len = name(&un, text);
    return bind(fd, (struct sockaddr *)&un, len);
}

static int do_connect(int fd, const char *text)
{
    struct sockaddr_un un;
    socklen_t len = name(&un, text);
    return connect(fd, (struct sockaddr *)&un, len);
}

static int sock(int type)
{
    return (int)NEED(socket(AF_UNIX, type, 0));
}

static int option(int fd, int opt)
{
    int v = -1;
    socklen_t len = sizeof(v);
    return getsockopt(fd, SOL_SOCKET, opt, &v, &len) < 0 ? -errno : v;
}

static int events(int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDHUP, 0};
    poll(&p, 1, 0);
    return p.revents;
}

int main(void)
{
    char buf[64];
    int sv[2], n;
    struct sockaddr_un un;
    socklen_t len;
    facts_start();
    signal(SIGPIPE, SIG_IGN);
    FACT("unknown family", socket(99, SOCK_STREAM, 0));
    FACT("unknown type", socket(AF_UNIX, 9, 0));
    FACT("unknown protocol", socket(AF_UNIX, SOCK_STREAM, 5));
    int l = sock(SOCK_STREAM | SOCK_CLOEXEC);
    FACT("listen unbound", listen(l, 5));
    FACT("accept before listen", accept(l, NULL, NULL));
    FACT("connect to nobody", do_connect(l, "missing"));
    FACT("bind", do_bind(l, "s"));
    FACT("bind again", do_bind(l, "s2"));
    FACT("bind to a used name", do_bind(sock(SOCK_STREAM), "s"));
    FACT("bind below missing", do_bind(sock(SOCK_STREAM), "missing/s"));
    FACT("connect before listen", do_connect(sock(SOCK_STREAM), "s"));
    FACT("listen", listen(l, 1));
    VALUE("SO_ACCEPTCONN", option(l, SO_ACCEPTCONN));
    struct stat st;
    NEED(stat("s", &st));
    say("the name is a socket %d mode %04o", S_ISSOCK(st.st_mode), st.st_mode & 07777);
    FACT("open it", open("s", O_RDWR));
    len = sizeof(un);
    getsockname(l, (struct sockaddr *)&un, &len);
    say("getsockname: \"%s\" length %u", un.sun_path, len);
    int c = sock(SOCK_STREAM);
    FACT("connect", do_connect(c, "s"));
    FACT("connect again", do_connect(c, "s"));
    FACT("connect another type", do_connect(sock(SOCK_DGRAM), "s"));
    VALUE("write before accept", write(c, "early", 5));
    len = sizeof(un);
    int a = accept4(l, (struct sockaddr *)&un, &len, SOCK_NONBLOCK);
    FACT("accept", a);
    say("peer is unnamed: length %u family %d", len, un.sun_family);
    VALUE("read", read(a, buf, sizeof(buf)));
    FACT("read nothing", read(a, buf, sizeof(buf)));
    struct ucred cr;
    len = sizeof(cr);
    getsockopt(a, SOL_SOCKET, SO_PEERCRED, &cr, &len);
    say("peer: pid ok %d uid ok %d", cr.pid == getpid(), cr.uid == getuid());
    VALUE("SO_TYPE", option(a, SO_TYPE));
    VALUE("SO_DOMAIN", option(a, SO_DOMAIN));
    VALUE("SO_ERROR", option(a, SO_ERROR));
    FACT("unknown option", setsockopt(a, SOL_SOCKET, 9999, &n, sizeof(n)));
    FACT("short option", setsockopt(a, SOL_SOCKET, SO_SNDBUF, &n, 1));
    int nb = sock(SOCK_STREAM | SOCK_NONBLOCK);
    FACT("connect into the backlog", do_connect(nb, "s"));
    nb = sock(SOCK_STREAM | SOCK_NONBLOCK);
    do_connect(nb, "s");
    nb = sock(SOCK_STREAM | SOCK_NONBLOCK);
    FACT("backlog full", do_connect(nb, "s"));
    unlink("s");
    FACT("connect after unlink", do_connect(sock(SOCK_STREAM), "s"));
    FACT("abstract bind", do_bind(sock(SOCK_STREAM), "@facts-name"));
    FACT("abstract name used", do_bind(sock(SOCK_STREAM), "@facts-name"));
    n = sock(SOCK_STREAM);
    un.sun_family = AF_UNIX;
    FACT("autobind", bind(n, (struct sockaddr *)&un, 2));
    len = sizeof(un);
    getsockname(n, (struct sockaddr *)&un, &len);
    say("autobind name length %u", len);

    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
    say("pair: %x %x", events(sv[0]), events(sv[1]));
    VALUE("send", send(sv[0], "hello world", 11, 0));
    ioctl(sv[1], FIONREAD, &n);
    VALUE("FIONREAD", n);
    VALUE("MSG_PEEK", recv(sv[1], buf, 5, MSG_PEEK));
    VALUE("recv", recv(sv[1], buf, 5, 0));
    say("%.5s", buf);
    VALUE("MSG_DONTWAIT short", recv(sv[1], buf, 64, MSG_DONTWAIT));
    FACT("MSG_DONTWAIT", recv(sv[1], buf, 64, MSG_DONTWAIT));
    FACT("MSG_OOB", recv(sv[1], buf, 1, MSG_OOB | MSG_DONTWAIT));
    FACT("sendto with an address", sendto(sv[0], "x", 1, 0, (struct sockaddr *)&un, len));
    FACT("shutdown write", shutdown(sv[0], SHUT_WR));
    say("poll of the peer: %x", events(sv[1]));
    VALUE("read at the end", read(sv[1], buf, 1));
    FACT("write after shutdown", send(sv[0], "x", 1, MSG_NOSIGNAL));
    VALUE("the other way still works", write(sv[1], "y", 1));
    close(sv[1]);
    say("poll after close: %x", events(sv[0]));
    VALUE("what was sent", read(sv[0], buf, 64));
    VALUE("end", read(sv[0], buf, 64));
    FACT("send to a closed peer", send(sv[0], "x", 1, MSG_NOSIGNAL));
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
    NEED(write(sv[0], "unread", 6));
    close(sv[1]);
    FACT("peer closed with unread data", read(sv[0], buf, 1));

    NEED(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv));
    VALUE("seqpacket", write(sv[0], "first", 5));
    VALUE("seqpacket", write(sv[0], "second", 6));
    VALUE("records are kept apart", read(sv[1], buf, 64));
    VALUE("a short read drops the rest", read(sv[1], buf, 2));
    FACT("nothing left", recv(sv[1], buf, 64, MSG_DONTWAIT));
    FACT("getpeername", ({
             len = sizeof(un);
             getpeername(sv[0], (struct sockaddr *)&un, &len);
         }));
    FACT("getpeername unconnected", getpeername(l, (struct sockaddr *)&un, &len));
    FACT("send unconnected", send(sock(SOCK_STREAM), "x", 1, MSG_NOSIGNAL));
    FACT("recv of a pipe", ({
             pipe(sv);
             recv(sv[0], buf, 1, 0);
         }));
    remove_work_dir();
    return 0;
}
