/* Options of AF_UNIX sockets: what can be set and read, with which lengths, and what they do. */
#include <poll.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "facts.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define BAD ((void *)8)

static int s[2];

static void say_int(const char *label, int opt)
{
    int v = -9;
    socklen_t len = sizeof(v);
    if (getsockopt(s[0], SOL_SOCKET, opt, &v, &len) < 0)
        say("%s: %s", label, errno_name(errno));
    else
        say("%s: %d, %d bytes", label, v, (int)len);
}

static void try_int(const char *label, int opt, int v)
{
    FACT(label, setsockopt(s[0], SOL_SOCKET, opt, &v, sizeof(v)));
    say_int(label, opt);
}

static void numbers(void)
{
    try_int("SO_KEEPALIVE", SO_KEEPALIVE, 7);
    try_int("SO_BROADCAST", SO_BROADCAST, 1);
    try_int("SO_REUSEADDR", SO_REUSEADDR, 2);
    try_int("SO_PRIORITY", SO_PRIORITY, 6);
    try_int("SO_PRIORITY, too high", SO_PRIORITY, 7);
    try_int("SO_RCVLOWAT", SO_RCVLOWAT, 5);
    try_int("SO_RCVLOWAT of nothing", SO_RCVLOWAT, 0);
    try_int("SO_RCVLOWAT, negative", SO_RCVLOWAT, -1);
    try_int("SO_RCVLOWAT as at first", SO_RCVLOWAT, 1);
    try_int("SO_SNDLOWAT", SO_SNDLOWAT, 5);
    try_int("SO_DEBUG", SO_DEBUG, 1);
    try_int("SO_DEBUG off", SO_DEBUG, 0);
    try_int("SO_DONTROUTE", SO_DONTROUTE, 1);
    try_int("SO_OOBINLINE", SO_OOBINLINE, 1);
    try_int("SO_TIMESTAMP", SO_TIMESTAMP, 1);
    try_int("SO_TIMESTAMP off", SO_TIMESTAMP, 0);
    try_int("SO_RXQ_OVFL", SO_RXQ_OVFL, 1);
    try_int("SO_TYPE", SO_TYPE, 1);
    try_int("SO_SNDBUF, least", SO_SNDBUF, 0);
    /* A negative size is a large one, and the most is the host's setting. */
    int v = -1;
    socklen_t len = sizeof(v);
    FACT("SO_SNDBUF, negative", setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)));
    NEED(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, &len));
    YES("is the most", v >= 2 * 212992);
    try_int("SO_SNDBUF", SO_SNDBUF, 20000);
    try_int("SO_RCVBUF, least", SO_RCVBUF, 0);
    try_int("SO_RCVBUF", SO_RCVBUF, 30000);
    try_int("SO_RCVBUFFORCE", SO_RCVBUFFORCE, 30000);
    try_int("SO_SNDBUFFORCE", SO_SNDBUFFORCE, 30000);
    try_int("no such option", 9999, 1);
    say_int("SO_ERROR", SO_ERROR);
    say_int("SO_PROTOCOL", SO_PROTOCOL);
    say_int("SO_MARK", SO_MARK);
}

static void lengths(void)
{
    int v = 1;
    socklen_t len;
    char big[64];
    FACT("three bytes", setsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, 3));
    FACT("a negative length", setsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, (socklen_t)-1));
    memset(big, 1, sizeof(big));
    FACT("more than needed", setsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, big, sizeof(big)));
    FACT("from nowhere", setsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, BAD, 4));
    FACT("another level", setsockopt(s[0], 6, 1, &v, 4));
    len = 4;
    FACT("another level", getsockopt(s[0], 6, 1, &v, &len));
    len = 2;
    v = 0x11111111;
    FACT("two bytes", getsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, &len));
    say("%#x of %d", v, (int)len);
    len = 0;
    FACT("no bytes", getsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, &len));
    len = (socklen_t)-1;
    FACT("a negative length", getsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, &len));
    len = 4;
    FACT("to nowhere", getsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, BAD, &len));
    FACT("length nowhere", getsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &v, BAD));
    FACT("no socket", getsockopt(0, SOL_SOCKET, SO_KEEPALIVE, &v, &len));
}

static void say_time(const char *label, int opt)
{
    struct timeval tv = {-9, -9};
    socklen_t len = sizeof(tv);
    FACT(label, getsockopt(s[0], SOL_SOCKET, opt, &tv, &len));
    say("%ld.%06ld, %d bytes", (long)tv.tv_sec, (long)tv.tv_usec, (int)len);
}

static void try_time(const char *label, int opt, long sec, long usec)
{
    struct timeval tv = {sec, usec};
    FACT(label, setsockopt(s[0], SOL_SOCKET, opt, &tv, sizeof(tv)));
    say_time(label, opt);
}

static void times(void)
{
    char c;
    say_time("SO_RCVTIMEO", SO_RCVTIMEO);
    try_time("set", SO_RCVTIMEO, 3, 20000);
    try_time("negative microseconds", SO_RCVTIMEO, 3, -1);
    try_time("too many microseconds", SO_RCVTIMEO, 3, 1000000);
    try_time("without end", SO_RCVTIMEO, 0, 0);
    try_time("very long", SO_RCVTIMEO, LONG_MAX, 0);
    FACT("short", setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, "aaaaaaaa", 8));
    FACT("from nowhere", setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, BAD, 16));
    try_time("SO_SNDTIMEO", SO_SNDTIMEO, 0, 40000);
    try_time("a moment", SO_RCVTIMEO, 0, 40000);
    FACT("nothing comes in time", recv(s[0], &c, 1, 0));
    FACT("nobody takes it in time", ({
             long n;
             static char piece[4096];
             while ((n = send(s[0], piece, sizeof(piece), 0)) > 0)
                 ;
             n;
         }));
    try_time("negative", SO_RCVTIMEO, -5, 0);
    FACT("at once", recv(s[0], &c, 1, 0));
}

static void structures(void)
{
    struct linger l = {1, 7};
    socklen_t len = sizeof(l);
    FACT("SO_LINGER", setsockopt(s[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
    FACT("SO_LINGER, short", setsockopt(s[0], SOL_SOCKET, SO_LINGER, &l, 4));
    l = (struct linger){9, 9};
    FACT("SO_LINGER", getsockopt(s[0], SOL_SOCKET, SO_LINGER, &l, &len));
    say("on %d for %d, %d bytes", l.l_onoff, l.l_linger, (int)len);
    struct sockaddr_un un;
    len = sizeof(un);
    FACT("SO_PEERNAME", getsockopt(s[0], SOL_SOCKET, SO_PEERNAME, &un, &len));
    len = 2;
    FACT("SO_PEERNAME, its length", getsockopt(s[0], SOL_SOCKET, SO_PEERNAME, &un, &len));
    say("family %d, %d bytes", un.sun_family, (int)len);
    int lone = NEED(socket(AF_UNIX, SOCK_STREAM, 0)), fd = -9;
    len = sizeof(un);
    FACT("SO_PEERNAME of nobody", getsockopt(lone, SOL_SOCKET, SO_PEERNAME, &un, &len));
    len = sizeof(fd);
    FACT("SO_PEERPIDFD", getsockopt(s[0], SOL_SOCKET, SO_PEERPIDFD, &fd, &len));
    say("closed on exec %d, %d bytes", fcntl(fd, F_GETFD), (int)len);
    len = sizeof(fd);
    FACT("SO_PEERPIDFD of nobody", getsockopt(lone, SOL_SOCKET, SO_PEERPIDFD, &fd, &len));
    uint64_t cookie[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        len = sizeof(cookie[i]);
        FACT("SO_COOKIE", getsockopt(s[i], SOL_SOCKET, SO_COOKIE, &cookie[i], &len));
    }
    YES("cookies differ", cookie[0] != cookie[1] && cookie[0] && cookie[1]);
    close(lone);
}

int main(void)
{
    facts_start();
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    numbers();
    lengths();
    times();
    structures();
    remove_work_dir();
    return 0;
}
