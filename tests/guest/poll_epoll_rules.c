/* epoll: level, edge and one-shot; changes, nesting, closed and duplicated descriptors. */
#include <sys/epoll.h>

#include "facts.h"

static int ep;

static int ctl(int op, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event ev = {.events = events, .data.u64 = data};
    return epoll_ctl(ep, op, fd, &ev);
}

static void show(const char *label)
{
    struct epoll_event ev[8];
    int n = epoll_wait(ep, ev, 8, 0);
    char text[128] = "";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %x:%lu", ev[i].events,
                 (unsigned long)ev[i].data.u64);
    say("%s: %d%s", label, n, text);
}

int main(void)
{
    int p[2], q[2];
    char c;
    struct epoll_event ev;
    facts_start();
    FACT("epoll_create 0", epoll_create(0));
    FACT("epoll_create1 bad flag", epoll_create1(1));
    ep = NEED(epoll_create1(EPOLL_CLOEXEC));
    NEED(pipe(p));
    NEED(pipe(q));
    FACT("add", ctl(EPOLL_CTL_ADD, p[0], EPOLLIN, 1));
    FACT("add again", ctl(EPOLL_CTL_ADD, p[0], EPOLLIN, 1));
    FACT("modify what is not there", ctl(EPOLL_CTL_MOD, q[0], EPOLLIN, 1));
    FACT("delete what is not there", ctl(EPOLL_CTL_DEL, q[0], 0, 0));
    FACT("add a bad descriptor", ctl(EPOLL_CTL_ADD, 99, EPOLLIN, 0));
    FACT("add a regular file", ctl(EPOLL_CTL_ADD, make_file("f", ""), EPOLLIN, 0));
    FACT("add itself", ctl(EPOLL_CTL_ADD, ep, EPOLLIN, 0));
    FACT("bad operation", ctl(9, p[0], EPOLLIN, 0));
    FACT("not an epoll", epoll_ctl(p[0], EPOLL_CTL_ADD, q[0], &ev));
    FACT("wait for no events", epoll_wait(ep, &ev, 0, 0));
    FACT("wait to a bad address", epoll_wait(ep, (void *)8, 1, 0));
    show("nothing");
    NEED(write(p[1], "ab", 2));
    show("level");
    show("still");
    NEED(ctl(EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLET, 2));
    show("edge after modify");
    show("edge once");
    NEED(write(p[1], "c", 1));
    show("edge again after more data");
    NEED(read(p[0], &c, 1));
    show("no edge after a partial read");
    NEED(ctl(EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLONESHOT, 3));
    show("one-shot");
    NEED(write(p[1], "d", 1));
    show("one-shot is disabled");
    NEED(ctl(EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLONESHOT, 4));
    show("armed again");
    NEED(ctl(EPOLL_CTL_MOD, p[0], 0, 5));
    show("no events wanted");
    close(p[1]);
    show("hang-up comes always");
    NEED(ctl(EPOLL_CTL_DEL, p[0], 0, 0));
    show("deleted");

    FACT("write end", ctl(EPOLL_CTL_ADD, q[1], EPOLLOUT | EPOLLET, 6));
    show("writable");
    show("once");
    int inner = NEED(epoll_create1(0));
    int outer = ep;
    ep = inner;
    NEED(ctl(EPOLL_CTL_ADD, q[0], EPOLLIN, 7));
    ep = outer;
    FACT("nest", ctl(EPOLL_CTL_ADD, inner, EPOLLIN, 8));
    show("inner is quiet");
    NEED(write(q[1], "x", 1));
    show("inner is ready");
    ep = inner;
    FACT("loop", ctl(EPOLL_CTL_ADD, outer, EPOLLIN, 9));
    show("inner itself");
    ep = outer;
    close(inner);
    show("closed inner");

    int d = NEED(dup(q[0]));
    FACT("add", ctl(EPOLL_CTL_ADD, q[0], EPOLLIN, 10));
    FACT("the duplicate is another entry", ctl(EPOLL_CTL_ADD, d, EPOLLIN, 11));
    ctl(EPOLL_CTL_DEL, d, 0, 0);
    close(q[0]);
    show("closed, but its duplicate keeps it");
    FACT("delete by the closed number", ctl(EPOLL_CTL_DEL, q[0], 0, 0));
    close(d);
    show("gone with the last duplicate");

    NEED(pipe(p));
    NEED(ctl(EPOLL_CTL_ADD, p[0], EPOLLIN, 12));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        nap(50);
        _exit(write(p[1], "x", 1) == 1 ? 0 : 1);
    }
    VALUE("wait for an event", epoll_wait(ep, &ev, 1, 5000));
    say("data %lu", (unsigned long)ev.data.u64);
    say_end("child", pid);
    VALUE("time-out", ({
              NEED(read(p[0], &c, 1));
              epoll_wait(ep, &ev, 1, 20);
          }));
    struct timespec ts = {0, 1000000};
    VALUE("epoll_pwait2", syscall(441, ep, &ev, 1, &ts, NULL, 8));
    for (int i = 0; i < 3; i++) {
        NEED(pipe(q));
        NEED(ctl(EPOLL_CTL_ADD, q[0], EPOLLIN, 20 + (unsigned)i));
        NEED(write(q[1], "x", 1));
    }
    unsigned long seen = 0;
    for (int i = 0; i < 6; i++)
        if (epoll_wait(ep, &ev, 1, 0) == 1)
            seen |= 1ul << (ev.data.u64 - 20);
    say("one at a time goes round: %lx", seen);
    remove_work_dir();
    return 0;
}
