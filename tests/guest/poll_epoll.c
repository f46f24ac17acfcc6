/* poll, select, epoll: readiness of pipes and eventfds, modes, nesting, masks, timeouts. */
#include <poll.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>

#include "tests/guest/facts.h"

static void on_usr1(int sig)
{
    (void)sig;
}

static int add(int ep, int fd, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)fd << 32 | 7};
    return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
}

static int mod(int ep, int fd, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.u64 = 9};
    return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &ev);
}

static void show(const char *what, int ep, int timeout)
{
    struct epoll_event ev[8];
    int n = epoll_wait(ep, ev, 8, timeout);
    say("%s: %d %x", what, n, n > 0 ? ev[0].events : 0u);
}

static void with_poll(void)
{
    int p[2], q[2];
    NEED(pipe(p));
    NEED(pipe(q));
    struct pollfd f[4] = {
        {p[0], POLLIN, 77}, {-5, POLLIN, 77}, {1000, POLLIN, 77}, {q[1], POLLOUT, 77}};
    VALUE("poll four", poll(f, 4, 0));
    say("revents %d %d %d %d", f[0].revents, f[1].revents, f[2].revents, f[3].revents);
    f[2].fd = -1;
    f[3].events = 0;
    VALUE("poll times out", poll(f, 4, 20));
    say("revents %d %d %d %d", f[0].revents, f[1].revents, f[2].revents, f[3].revents);
    close(q[0]);
    VALUE("poll for nothing sees errors", poll(f, 4, 1000));
    say("revents %d", f[3].revents);
    FACT("poll nothing", poll(NULL, 0, 1));
    FACT("poll bad address", poll((struct pollfd *)8, 1, 0));
    struct rlimit rl = {5, 1024};
    setrlimit(RLIMIT_NOFILE, &rl);
    FACT("poll more than the limit", poll(f, 6, 0));
    struct timespec bad = {0, 1000000000}, zero = {0, 0};
    FACT("ppoll bad time", ppoll(f, 1, &bad, NULL));
    FACT("ppoll", ppoll(f, 1, &zero, NULL));
    sigset_t none, usr1;
    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    raise(SIGUSR1);
    FACT("ppoll with a pending signal", ppoll(f, 1, NULL, &none));
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    YES("mask restored", sigismember(&now, SIGUSR1));
    raise(SIGUSR1);
    struct timespec sec = {1, 0};
    fd_set r;
    FD_ZERO(&r);
    FACT("pselect with a pending signal", pselect(0, &r, NULL, NULL, &sec, &none));
    sigprocmask(SIG_UNBLOCK, &usr1, NULL);
    rl.rlim_cur = 1024;
    setrlimit(RLIMIT_NOFILE, &rl);
    close(p[0]);
    close(p[1]);
    close(q[1]);
}

static void with_select(void)
{
    int p[2];
    fd_set r, w, e;
    struct timeval tv = {0, 30000};
    NEED(pipe(p));
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_ZERO(&e);
    FD_SET(p[0], &r);
    FD_SET(p[1], &w);
    FD_SET(p[0], &e);
    VALUE("select", select(p[1] + 1, &r, &w, &e, NULL));
    say("sets %d %d %d", FD_ISSET(p[0], &r), FD_ISSET(p[1], &w), FD_ISSET(p[0], &e));
    FD_ZERO(&r);
    FD_SET(p[0], &r);
    VALUE("select times out", select(p[0] + 1, &r, NULL, NULL, &tv));
    say("set %d, rest %ld %ld", FD_ISSET(p[0], &r), (long)tv.tv_sec, (long)tv.tv_usec);
    FD_ZERO(&r);
    FD_SET(p[0], &r);
    NEED(write(p[1], "x", 1));
    tv.tv_sec = 100;
    VALUE("select ready", select(p[0] + 1, &r, NULL, NULL, &tv));
    YES("time left", tv.tv_sec >= 98);
    close(p[1]);
    FD_ZERO(&r);
    FD_SET(p[1], &r);
    FACT("select closed", select(p[1] + 1, &r, NULL, NULL, NULL));
    FACT("select negative", select(-1, NULL, NULL, NULL, NULL));
    tv.tv_usec = -1;
    FACT("select bad time", select(0, NULL, NULL, NULL, &tv));
    close(p[0]);
}

static void modes(void)
{
    int p[2], ep = (int)NEED(epoll_create1(EPOLL_CLOEXEC));
    NEED(pipe(p));
    FACT("add", add(ep, p[0], EPOLLIN));
    FACT("add twice", add(ep, p[0], EPOLLIN));
    show("empty", ep, 0);
    NEED(write(p[1], "ab", 2));
    show("level", ep, 0);
    show("level again", ep, 0);
    FACT("mod to edge", mod(ep, p[0], EPOLLIN | EPOLLET));
    show("edge", ep, 0);
    show("edge again", ep, 0);
    NEED(write(p[1], "c", 1));
    show("edge after a write", ep, 0);
    FACT("mod to oneshot", mod(ep, p[0], EPOLLIN | EPOLLONESHOT));
    show("oneshot", ep, 0);
    NEED(write(p[1], "d", 1));
    show("oneshot again", ep, 10);
    FACT("rearm", mod(ep, p[0], EPOLLIN | EPOLLONESHOT));
    show("oneshot rearmed", ep, 0);
    FACT("mod to nothing", mod(ep, p[0], 0));
    show("nothing", ep, 0);
    close(p[1]);
    show("hang-up is always told", ep, 0);
    FACT("del", epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
    FACT("del twice", epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
    FACT("mod absent", mod(ep, p[0], EPOLLIN));
    close(p[0]);
    close(ep);
}

static void life(void)
{
    int p[2], ep = (int)NEED(epoll_create(1)), copy;
    NEED(pipe(p));
    NEED(add(ep, p[0], EPOLLIN));
    copy = (int)NEED(dup(p[0]));
    FACT("add the copy too", add(ep, copy, EPOLLIN));
    NEED(write(p[1], "x", 1));
    close(p[0]);
    struct epoll_event ev[4];
    VALUE("the closed number is still told", epoll_wait(ep, ev, 4, 0));
    close(copy);
    VALUE("gone with the file", epoll_wait(ep, ev, 4, 0));
    close(p[1]);
    close(ep);
}

static void errors(void)
{
    int p[2], ep = (int)NEED(epoll_create1(0)), file = make_file("regular", "x"), e2;
    struct epoll_event ev;
    NEED(pipe(p));
    FACT("epoll_create(0)", epoll_create(0));
    FACT("epoll_create1 bad flag", epoll_create1(1));
    FACT("add a regular file", add(ep, file, EPOLLIN));
    FACT("add itself", add(ep, ep, EPOLLIN));
    FACT("add to a pipe", add(p[0], p[1], EPOLLIN));
    FACT("add a closed one", add(ep, 999, EPOLLIN));
    FACT("add to a closed one", add(999, p[0], EPOLLIN));
    FACT("add null", epoll_ctl(ep, EPOLL_CTL_ADD, p[0], NULL));
    FACT("bad operation", epoll_ctl(ep, 9, p[0], &ev));
    FACT("wait for none", epoll_wait(ep, &ev, 0, 0));
    FACT("wait on a pipe", epoll_wait(p[0], &ev, 1, 0));
    NEED(add(ep, p[1], EPOLLOUT));
    FACT("wait into nowhere", epoll_wait(ep, (struct epoll_event *)16, 1, 0));
    show("the event is not lost", ep, 0);
    FACT("exclusive", add(ep, p[0], EPOLLIN | EPOLLEXCLUSIVE));
    FACT("mod exclusive", mod(ep, p[0], EPOLLIN));
    e2 = (int)NEED(epoll_create1(0));
    FACT("exclusive epoll", add(e2, ep, EPOLLIN | EPOLLEXCLUSIVE));
    FACT("exclusive oneshot", add(e2, p[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT));
    close(p[0]), close(p[1]), close(ep), close(e2), close(file);
}

static void nested(void)
{
    int e[7], ev = (int)NEED(eventfd(0, 0));
    uint64_t one = 1;
    for (int i = 0; i < 7; i++)
        e[i] = (int)NEED(epoll_create1(0));
    NEED(add(e[0], ev, EPOLLIN));
    for (int i = 1; i < 7; i++) {
        char label[32];
        snprintf(label, sizeof(label), "nest %d", i);
        FACT(label, add(e[i], e[i - 1], EPOLLIN));
    }
    FACT("loop", add(e[0], e[3], EPOLLIN));
    show("nothing inside", e[3], 0);
    NEED(write(ev, &one, 8));
    show("something inside", e[3], 0);
    struct pollfd f = {e[4], POLLIN, 0};
    VALUE("poll an epoll", poll(&f, 1, 0));
    NEED(read(ev, &one, 8));
    show("nothing again", e[3], 0);
    VALUE("poll it again", poll(&f, 1, 0));
    for (int i = 0; i < 7; i++)
        close(e[i]);
    close(ev);
}

static void wake_up(void)
{
    int p[2], ep = (int)NEED(epoll_create1(0));
    NEED(pipe(p));
    NEED(add(ep, p[0], EPOLLIN));
    pid_t pid = fork();
    if (pid == 0) {
        nap(30);
        NEED(write(p[1], "x", 1));
        nap(60);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    show("woken by a write", ep, 5000);
    char c;
    NEED(read(p[0], &c, 1));
    struct epoll_event ev;
    FACT("woken by a signal", epoll_wait(ep, &ev, 1, 5000));
    say_end("writer", pid);
    close(p[0]), close(p[1]), close(ep);
}

int main(void)
{
    facts_start();
    struct sigaction sa = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &sa, NULL);
    with_poll();
    with_select();
    modes();
    life();
    errors();
    nested();
    wake_up();
    remove_work_dir();
    return 0;
}
