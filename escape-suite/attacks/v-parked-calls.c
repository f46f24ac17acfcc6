/* tries: a hundred calls pending, each with as much behind it as possible:
   threads in poll over all descriptors, epoll sets with everything in them, waits with deadlines,
   futexes on one word, signals queued to the limit; then wakes them all at once, again and again */
/* must fail because: everything that a waiting call keeps is counted against the run; a wake-up
   costs what it wakes */
/* an escape would: fill the supervisor's memory, or hold it in one wake-up for ever */
/* source: ATTACKS.md V20 R6; bVisor MAX_INFLIGHT */
#include <poll.h>
#include <pthread.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "child.h"

static struct pollfd *all;
static int nfds, word;
static volatile int stop, woken;

static void *wait_for_all(void *arg)
{
    struct timespec ts = {1000, 0};
    while (!stop) {
        if ((long)arg % 3 == 0)
            poll(all, (nfds_t)nfds, -1);
        else if ((long)arg % 3 == 1)
            syscall(SYS_futex, &word, 0, 0, &ts, NULL, 0);
        else
            syscall(SYS_ppoll, all, nfds, &ts, NULL, 0);
        __sync_fetch_and_add(&woken, 1);
    }
    return arg;
}

static int attack(void)
{
    struct rlimit rl;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    pthread_t t[300];
    int threads = 0, watches = 0, queued = 0, event, ep;
    long worst = 0;
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    getrlimit(RLIMIT_NOFILE, &rl);
    all = calloc(rl.rlim_cur, sizeof(*all));
    event = eventfd(0, 0);
    for (nfds = 0; nfds < (int)rl.rlim_cur - 60 && (all[nfds].fd = dup(event)) >= 0; nfds++)
        all[nfds].events = POLLIN;
    while ((ep = epoll_create1(0)) >= 0)
        for (int i = 0; i < nfds; i++)
            watches += epoll_ctl(ep, EPOLL_CTL_ADD, all[i].fd, &ev) == 0;
    for (long i = 0; i < 100 && pthread_create(&t[threads], NULL, wait_for_all, (void *)i) == 0;
         i++)
        threads++;
    for (int i = 0; i < 20000; i++)
        queued += sigqueue(getpid(), 40 + i % 20, (union sigval){.sival_int = i}) == 0;
    step("%d threads wait on %d descriptors each, %d watches, %d signals", threads, nfds, watches,
         queued);
    for (int i = 0; i < 20; i++) {
        uint64_t one = 1;
        long before = now_ms();
        write(event, &one, 8);
        syscall(SYS_futex, &word, 1, 1 << 30, NULL, NULL, 0);
        read(event, &one, 8);
        if (now_ms() - before > worst)
            worst = now_ms() - before;
    }
    stop = 1;
    if (worst > HANG_MS)
        return escaped("a wake-up held everything for %ld ms", worst);
    return contained("%d wake-ups, the slowest round took %ld ms", woken, worst);
}

static int twin(void)
{
    pthread_t t;
    all = calloc(1, sizeof(*all));
    all[0] = (struct pollfd){eventfd(0, 0), POLLIN, 0};
    nfds = 1;
    uint64_t one = 1;
    pthread_create(&t, NULL, wait_for_all, (void *)0);
    while (!woken)
        if (write(all[0].fd, &one, 8) != 8)
            return broken("eventfd: %s", err_name(errno));
    stop = 1;
    return works("a thread in poll is woken");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
