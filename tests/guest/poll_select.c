/* poll, ppoll, select, eventfd. */
#include <poll.h>

#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/time.h>

#include "facts.h"

static void on_usr1(int signo)
{
    (void)signo;
}

int main(void)
{
    int p[2];
    struct timespec ts = {0, 0};
    uint64_t v;
    sigset_t set, none;
    facts_start();
    NEED(pipe(p));
    struct pollfd fds[4] = {
        {p[0], POLLIN, 0x7f}, {p[1], POLLOUT, 0}, {-1, POLLIN, 0x7f}, {99, POLLIN | POLLOUT, 0}};
    VALUE("poll", poll(fds, 4, 0));
    say("revents %x %x %x %x", fds[0].revents, fds[1].revents, fds[2].revents, fds[3].revents);
    say("events unchanged %x %x %x %x", fds[0].events, fds[1].events, fds[2].events, fds[3].events);
    VALUE("poll of nothing", poll(NULL, 0, 5));
    FACT("poll bad address", poll((struct pollfd *)8, 1, 0));
    FACT("poll too many", poll(fds, 1u << 30, 0));
    int fd = make_file("f", "");
    fds[0] = (struct pollfd){fd, POLLIN | POLLOUT | POLLPRI, 0};
    VALUE("poll of a file", poll(fds, 1, -1));
    say("revents %x", fds[0].revents);
    FACT("ppoll bad timeout", ppoll(fds, 1, &(struct timespec){0, -1}, NULL));

    signal(SIGUSR1, on_usr1);
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    fds[0] = (struct pollfd){p[0], POLLIN, 0};
    VALUE("ppoll with the signal blocked", ppoll(fds, 1, &ts, NULL));
    ts.tv_sec = 5;
    FACT("ppoll lets it in", ppoll(fds, 1, &ts, &none));
    sigprocmask(SIG_BLOCK, NULL, &none);
    say("mask is back %d", sigismember(&none, SIGUSR1));

    fd_set r, w, x;
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_ZERO(&x);
    FD_SET(p[0], &r);
    FD_SET(p[1], &w);
    FD_SET(p[0], &x);
    struct timeval tv = {5, 0};
    VALUE("select", select(p[1] + 1, &r, &w, &x, &tv));
    say("sets %d %d %d", FD_ISSET(p[0], &r) != 0, FD_ISSET(p[1], &w) != 0, FD_ISSET(p[0], &x) != 0);
    YES("time left is written", tv.tv_sec == 4 || tv.tv_sec == 5);
    FD_ZERO(&r);
    FD_SET(40, &r);
    FACT("select of a closed descriptor", select(41, &r, NULL, NULL, &tv));
    FACT("select negative count", select(-1, &r, NULL, NULL, &tv));
    tv = (struct timeval){0, 20000};
    VALUE("select as sleep", select(0, NULL, NULL, NULL, &tv));
    say("nothing left %ld", (long)tv.tv_usec);
    FACT("select bad timeout", select(0, NULL, NULL, NULL, &(struct timeval){-1, 0}));

    int e = eventfd(3, EFD_NONBLOCK);
    FACT("eventfd", e);
    VALUE("read", read(e, &v, 8));
    say("value %lu", (unsigned long)v);
    FACT("read zero", read(e, &v, 8));
    v = 5;
    VALUE("write", write(e, &v, 8));
    VALUE("write", write(e, &v, 8));
    VALUE("read", read(e, &v, 8));
    say("sum %lu", (unsigned long)v);
    v = UINT64_MAX;
    FACT("write of the maximum", write(e, &v, 8));
    v = UINT64_MAX - 1;
    VALUE("write one less", write(e, &v, 8));
    v = 1;
    FACT("overflow would block", write(e, &v, 8));
    fds[0] = (struct pollfd){e, POLLIN | POLLOUT, 0};
    poll(fds, 1, 0);
    say("full: %x", fds[0].revents);
    FACT("short read", read(e, &v, 4));
    FACT("short write", write(e, &v, 4));
    e = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    VALUE("semaphore read", read(e, &v, 8));
    say("value %lu", (unsigned long)v);
    VALUE("semaphore read", read(e, &v, 8));
    FACT("semaphore empty", read(e, &v, 8));
    FACT("bad flag", eventfd(0, 0x100));

    pid_t pid = NEED(fork());
    if (pid == 0) {
        nap(50);
        _exit(write(p[1], "x", 1) == 1 ? 0 : 1);
    }
    fds[0] = (struct pollfd){p[0], POLLIN, 0};
    VALUE("poll wakes up", poll(fds, 1, 5000));
    say_end("child", pid);
    remove_work_dir();
    return 0;
}
