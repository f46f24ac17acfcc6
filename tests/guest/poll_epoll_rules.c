/* epoll: level, edge and one-shot; changes, nesting, closed and duplicated descriptors. */
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>

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

enum {
    MANY = 300,
    WAITERS = 3
};

/* More events than fit into any small buffer come by one call, each once. */
static void many(void)
{
    static struct epoll_event ev[512];
    int seen[MANY] = {0}, twice = 0, e = (int)NEED(epoll_create1(0));
    for (int i = 0; i < MANY; i++) {
        struct epoll_event want = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        NEED(epoll_ctl(e, EPOLL_CTL_ADD, (int)NEED(eventfd(1, 0)), &want));
    }
    for (int turn = 0; turn < 2; turn++) {
        int n = (int)NEED(epoll_wait(e, ev, 512, 0));
        for (int i = 0; i < n; i++)
            twice += ++seen[ev[i].data.u32] != turn + 1;
        say("%d events at once, %d twice", n, twice);
    }
    VALUE("of 200", epoll_wait(e, ev, 200, 0));
    VALUE("of 1", epoll_wait(e, ev, 1, 0));
    close(e);
}

static int event_fd, woken, hold;

static void *exclusive_waiter(void *arg)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    int e = (int)NEED(epoll_create1(0));
    NEED(epoll_ctl(e, EPOLL_CTL_ADD, event_fd, &ev));
    __atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
    int n;
    do /* whoever stops the whole program meanwhile interrupts this call */
        n = epoll_wait(e, &ev, 1, -1);
    while (n < 0 && errno == EINTR);
    NEED(n);
    __atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&hold, __ATOMIC_SEQ_CST))
        usleep(1000);
    return NULL;
}

/* EPOLLEXCLUSIVE: each event wakes one more of the instances in which somebody waits. */
static void exclusive(void)
{
    pthread_t t[WAITERS];
    int ready = 0;
    event_fd = (int)NEED(eventfd(0, 0));
    hold = 1;
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&t[i], NULL, exclusive_waiter, &ready);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < WAITERS)
        usleep(1000);
    nap(200);
    for (int i = 1; i <= WAITERS; i++) {
        uint64_t one = 1;
        NEED(write(event_fd, &one, 8));
        while (__atomic_load_n(&woken, __ATOMIC_SEQ_CST) < i)
            usleep(1000);
        nap(100);
        say("event %d: %d woken", i, __atomic_load_n(&woken, __ATOMIC_SEQ_CST));
    }
    __atomic_store_n(&hold, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(t[i], NULL);
    close(event_fd);
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
    many();
    exclusive();
    remove_work_dir();
    return 0;
}
