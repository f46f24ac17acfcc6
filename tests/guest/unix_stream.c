/* AF_UNIX connections: names, backlog, ends, options, errors; other families. */
#include <poll.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/guest/facts.h"

static struct sockaddr_un name(const char *path, socklen_t *len)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    memcpy(sun.sun_path, path, strlen(path));
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
    return sun;
}

static int bind_to(int s, const char *path)
{
    socklen_t len;
    struct sockaddr_un sun = name(path, &len);
    return bind(s, (struct sockaddr *)&sun, len);
}

static int connect_to(int s, const char *path)
{
    socklen_t len;
    struct sockaddr_un sun = name(path, &len);
    return connect(s, (struct sockaddr *)&sun, len);
}

static int events(int fd)
{
    struct pollfd f = {fd, POLLIN | POLLOUT | POLLRDHUP | POLLPRI, 0};
    return poll(&f, 1, 0) < 0 ? -1 : f.revents;
}

static void kinds(void)
{
    static const int families[] = {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK,
                                   0,       45,       46,         -1};
    for (int i = 0; i < 9; i++)
        if (families[i] != AF_INET && families[i] != AF_INET6 && families[i] != AF_NETLINK &&
            families[i] != AF_PACKET && families[i] != AF_VSOCK)
            FACT("family", socket(families[i], SOCK_STREAM, 0));
    FACT("stream", socket(AF_UNIX, SOCK_STREAM, 0));
    FACT("seqpacket", socket(AF_UNIX, SOCK_SEQPACKET, 0));
    FACT("raw is dgram", socket(AF_UNIX, SOCK_RAW, 0));
    FACT("rdm", socket(AF_UNIX, SOCK_RDM, 0));
    FACT("bad type", socket(AF_UNIX, 11, 0));
    FACT("bad flags", socket(AF_UNIX, SOCK_STREAM | 0x100, 0));
    FACT("protocol 1", socket(AF_UNIX, SOCK_STREAM, 1));
    FACT("protocol 2", socket(AF_UNIX, SOCK_STREAM, 2));
    FACT("not a socket", listen(1, 1));
    FACT("closed", listen(999, 1));
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    VALUE("flags", fcntl(s, F_GETFL) & O_NONBLOCK);
    VALUE("cloexec", fcntl(s, F_GETFD));
    struct stat st;
    NEED(fstat(s, &st));
    say("mode %o", st.st_mode & S_IFMT);
    FACT("seek", lseek(s, 0, SEEK_SET));
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", s);
    FACT("open through /proc", open(path, O_RDWR));
    for (int i = 3; i < 30; i++)
        close(i);
}

static void show_name(const char *what, int r, const struct sockaddr_un *sun, socklen_t len)
{
    if (r < 0)
        say("%s: %s", what, errno_name(errno));
    else
        say("%s: len %d family %d first %d \"%s\"", what, (int)len, sun->sun_family,
            len > 2 ? sun->sun_path[0] : -1, len > 2 ? sun->sun_path + !sun->sun_path[0] : "");
}

static void names(void)
{
    struct sockaddr_un sun;
    socklen_t len = sizeof(sun);
    int s = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0)),
        s2 = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    memset(&sun, 0, sizeof(sun));
    show_name("unbound", getsockname(s, (struct sockaddr *)&sun, &len), &sun, len);
    FACT("listen unbound", listen(s, 1));
    FACT("peer of nobody", getpeername(s, (struct sockaddr *)&sun, &len));
    FACT("bind", bind_to(s, "sock"));
    FACT("bind again", bind_to(s, "other"));
    FACT("bind the same", bind_to(s2, "sock"));
    FACT("bind in nothing", bind_to(s2, "missing/sock"));
    struct stat st;
    NEED(stat("sock", &st));
    say("mode %o", st.st_mode);
    FACT("open it", open("sock", O_RDWR));
    len = sizeof(sun), memset(&sun, 0, sizeof(sun));
    show_name("bound", getsockname(s, (struct sockaddr *)&sun, &len), &sun, len);
    len = 4, memset(&sun, 0, sizeof(sun));
    show_name("cut", getsockname(s, (struct sockaddr *)&sun, &len), &sun, len);
    sun.sun_family = AF_UNIX;
    FACT("bind short", bind(s2, (struct sockaddr *)&sun, 1));
    FACT("bind long", bind(s2, (struct sockaddr *)&sun, 111));
    FACT("bind negative", bind(s2, (struct sockaddr *)&sun, (socklen_t)-1));
    FACT("bind bad address", bind(s2, (struct sockaddr *)8, 10));
    sun.sun_family = AF_INET;
    FACT("bind a wrong family", bind(s2, (struct sockaddr *)&sun, 16));
    memset(&sun, 0, sizeof(sun)), sun.sun_family = AF_UNIX;
    memcpy(sun.sun_path, "\0abstract\0x", 11);
    FACT("bind abstract", bind(s2, (struct sockaddr *)&sun, 13));
    len = sizeof(sun), memset(&sun, 0, sizeof(sun));
    show_name("abstract", getsockname(s2, (struct sockaddr *)&sun, &len), &sun, len);
    int s3 = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    FACT("abstract in use", bind(s3, (struct sockaddr *)&sun, 13));
    FACT("shorter is another", bind(s3, (struct sockaddr *)&sun, 12));
    int s4 = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    FACT("autobind", bind(s4, (struct sockaddr *)&sun, 2));
    len = sizeof(sun);
    NEED(getsockname(s4, (struct sockaddr *)&sun, &len));
    say("autobind length %d", (int)len);
    close(s), close(s2), close(s3), close(s4);
    FACT("the name stays", stat("sock", &st));
    s = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    FACT("connect to a dead name", connect_to(s, "sock"));
    FACT("connect to nothing", connect_to(s, "nothing"));
    close(make_file("plain", "x"));
    FACT("connect to a file", connect_to(s, "plain"));
    unlink("sock");
    close(s);
}

static void connections(void)
{
    struct sockaddr_un sun;
    socklen_t len = sizeof(sun);
    int l = (int)NEED(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)), c[4], a;
    char buf[16];
    VALUE("fresh events", events(l));
    NEED(bind_to(l, "server"));
    c[0] = (int)NEED(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    FACT("connect before listen", connect_to(c[0], "server"));
    FACT("accept before listen", accept(l, NULL, NULL));
    FACT("listen", listen(l, 1));
    VALUE("listening events", events(l));
    FACT("accept nobody", accept(l, NULL, NULL));
    FACT("read a listener", read(l, buf, 1));
    FACT("write a listener", write(l, buf, 1));
    FACT("connect", connect_to(c[0], "server"));
    FACT("connect again", connect_to(c[0], "server"));
    VALUE("listening events", events(l));
    VALUE("client events", events(c[0]));
    for (int i = 1; i < 4; i++) {
        c[i] = (int)NEED(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
        FACT("more clients", connect_to(c[i], "server"));
    }
    VALUE("write before accept", write(c[0], "early", 5));
    a = accept4(l, (struct sockaddr *)&sun, &len, SOCK_CLOEXEC);
    YES("accepted", a >= 0);
    show_name("client's name", 0, &sun, len);
    VALUE("accepted flags", fcntl(a, F_GETFL) & O_NONBLOCK);
    VALUE("read", read(a, buf, 16));
    len = sizeof(sun), memset(&sun, 0, sizeof(sun));
    show_name("server's name", getpeername(c[0], (struct sockaddr *)&sun, &len), &sun, len);
    len = sizeof(sun), memset(&sun, 0, sizeof(sun));
    show_name("accepted's own", getsockname(a, (struct sockaddr *)&sun, &len), &sun, len);
    struct ucred uc;
    len = sizeof(uc);
    NEED(getsockopt(c[0], SOL_SOCKET, SO_PEERCRED, &uc, &len));
    say("peer %d %d %d", uc.pid == getpid(), (int)uc.uid, (int)uc.gid);
    FACT("bad accept flags", accept4(l, NULL, NULL, 1));
    VALUE("unread", write(c[0], "lost", 4));
    close(a);
    VALUE("client after reset", events(c[0]));
    VALUE("error", read(c[0], buf, 16));
    VALUE("then the end", read(c[0], buf, 16));
    close(l);
    VALUE("never accepted", events(c[1]));
    FACT("reset", read(c[1], buf, 16));
    signal(SIGPIPE, SIG_IGN);
    FACT("write", write(c[1], "x", 1));
    for (int i = 0; i < 4; i++)
        close(c[i]);
    int d = (int)NEED(socket(AF_UNIX, SOCK_DGRAM, 0));
    l = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    unlink("server");
    NEED(bind_to(l, "server"));
    NEED(listen(l, 1));
    FACT("wrong type", connect_to(d, "server"));
    FACT("listen on dgram", listen(d, 1));
    FACT("accept on dgram", accept(d, NULL, NULL));
    close(d), close(l);
}

static void options(void)
{
    int s[2], v;
    socklen_t len = sizeof(v);
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    static const struct {
        const char *name;
        int opt;
    } ints[] = {
        {"type", SO_TYPE},           {"domain", SO_DOMAIN},         {"protocol", SO_PROTOCOL},
        {"error", SO_ERROR},         {"acceptconn", SO_ACCEPTCONN}, {"passcred", SO_PASSCRED},
        {"reuseaddr", SO_REUSEADDR}, {"keepalive", SO_KEEPALIVE},   {"sndbuf", SO_SNDBUF},
        {"rcvbuf", SO_RCVBUF},       {"priority", SO_PRIORITY},     {"rcvlowat", SO_RCVLOWAT},
        {"broadcast", SO_BROADCAST}};
    for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
        v = -1, len = sizeof(v);
        int r = getsockopt(s[0], SOL_SOCKET, ints[i].opt, &v, &len);
        say("%s: %d %d len %d", ints[i].name, r, v, (int)len);
    }
    v = 10000;
    FACT("set sndbuf", setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)));
    getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, &len);
    VALUE("doubled", v);
    v = 1;
    FACT("set tiny", setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)));
    getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, &len);
    VALUE("minimum", v);
    FACT("short value", setsockopt(s[0], SOL_SOCKET, SO_REUSEADDR, &v, 2));
    FACT("bad address", setsockopt(s[0], SOL_SOCKET, SO_REUSEADDR, (void *)8, 4));
    FACT("unknown", setsockopt(s[0], SOL_SOCKET, 9999, &v, 4));
    FACT("tcp level", setsockopt(s[0], 6, 1, &v, 4));
    FACT("get tcp level", getsockopt(s[0], 6, 1, &v, &len));
    FACT("get unknown", getsockopt(s[0], SOL_SOCKET, 9999, &v, &len));
    struct timeval tv = {0, 20000};
    FACT("rcvtimeo", setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
    char c;
    FACT("read times out", read(s[0], &c, 1));
    FACT("reuseport", setsockopt(s[0], SOL_SOCKET, SO_REUSEPORT, &v, 4));
    close(s[0]), close(s[1]);
}

static void shut(void)
{
    int s[2], n = 0;
    char buf[8];
    signal(SIGPIPE, SIG_IGN);
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    FACT("bad how", shutdown(s[0], 3));
    NEED(write(s[0], "abc", 3));
    NEED(ioctl(s[1], FIONREAD, &n));
    VALUE("unread", n);
    FACT("shut writing", shutdown(s[0], SHUT_WR));
    FACT("write", write(s[0], "x", 1));
    VALUE("events of the other", events(s[1]));
    VALUE("read", read(s[1], buf, 8));
    VALUE("read the end", read(s[1], buf, 8));
    VALUE("the other way works", write(s[1], "y", 1));
    VALUE("read", read(s[0], buf, 8));
    FACT("shut reading", shutdown(s[0], SHUT_RD));
    FACT("nobody reads", write(s[1], "y", 1));
    VALUE("events", events(s[0]));
    VALUE("read", read(s[0], buf, 8));
    close(s[0]), close(s[1]);
    int u = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    FACT("recv unconnected", recv(u, buf, 8, 0));
    FACT("send unconnected", send(u, buf, 8, MSG_NOSIGNAL));
    FACT("shutdown unconnected", shutdown(u, SHUT_RD));
    close(u);
    signal(SIGPIPE, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0) {
        NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
        close(s[1]);
        FACT("no signal asked for", send(s[0], "x", 1, MSG_NOSIGNAL));
        send(s[0], "x", 1, 0);
        _exit(1);
    }
    say_end("SIGPIPE", pid);
}

static void bulk(void)
{
    int s[2];
    static char big[300000];
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    pid_t pid = fork();
    if (pid == 0) {
        close(s[1]);
        memset(big, 'z', sizeof(big));
        _exit(write(s[0], big, sizeof(big)) != (ssize_t)sizeof(big));
    }
    close(s[0]);
    VALUE("wait for all", recv(s[1], big, 200000, MSG_WAITALL));
    VALUE("peek", recv(s[1], big, 10, MSG_PEEK));
    VALUE("the rest", recv(s[1], big, sizeof(big), MSG_WAITALL));
    VALUE("the end", recv(s[1], big, 1, 0));
    say_end("writer", pid);
    close(s[1]);
}

static void backlog(void)
{
    int l = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    unlink("server");
    NEED(bind_to(l, "server"));
    NEED(listen(l, 0));
    int c = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    NEED(connect_to(c, "server"));
    pid_t pid = fork();
    if (pid == 0) {
        int d = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
        int r = connect_to(d, "server");
        say("blocked connect: %s", r == 0 ? "ok" : errno_name(errno));
        char ch = 0;
        (void)!read(d, &ch, 1);
        _exit(ch);
    }
    nap(40);
    int a = (int)NEED(accept(l, NULL, NULL)), b = (int)NEED(accept(l, NULL, NULL));
    NEED(write(b, "\3", 1));
    say_end("second client", pid);
    close(a), close(b), close(c), close(l);
}

int main(void)
{
    facts_start();
    kinds();
    names();
    connections();
    options();
    shut();
    bulk();
    backlog();
    remove_work_dir();
    return 0;
}
