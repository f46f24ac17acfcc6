/* POSIX message queues. */
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>

#include <sys/time.h>

#include "facts.h"

static char name[64];
static volatile sig_atomic_t signals;
static volatile int seen_code, seen_value, seen_pid_right;

static void on_signal(int signo, siginfo_t *info, void *ctx)
{
    (void)ctx;
    signals++;
    seen_code = info->si_code;
    seen_value = info->si_value.sival_int;
    seen_pid_right = signo == SIGUSR1 && info->si_pid == getpid();
}

static struct timespec in_ms(int ms)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += (ts.tv_nsec + ms * 1000000l) / 1000000000l;
    ts.tv_nsec = (ts.tv_nsec + ms * 1000000l) % 1000000000l;
    return ts;
}

static void attributes(mqd_t q)
{
    struct mq_attr a;
    FACT("getattr", mq_getattr(q, &a));
    say("flags %ld maxmsg %ld msgsize %ld curmsgs %ld", a.mq_flags, a.mq_maxmsg, a.mq_msgsize,
        a.mq_curmsgs);
}

static void opening(void)
{
    struct mq_attr a = {.mq_maxmsg = 3, .mq_msgsize = 16}, bad;
    struct rlimit old, small = {1000, 1000};
    char longer[300];

    FACT("open what is not there", mq_open(name, O_RDWR));
    FACT("unlink what is not there", mq_unlink(name));
    FACT("raw: empty name", syscall(SYS_mq_open, "", O_RDWR | O_CREAT, 0600, NULL));
    FACT("raw: with a slash", syscall(SYS_mq_open, "/x", O_RDWR | O_CREAT, 0600, NULL));
    FACT("raw: slash inside", syscall(SYS_mq_open, "x/y", O_RDWR | O_CREAT, 0600, NULL));
    FACT("raw: dot", syscall(SYS_mq_open, ".", O_RDWR, 0600, NULL));
    FACT("raw: dots", syscall(SYS_mq_unlink, ".."));
    FACT("raw: bad name", syscall(SYS_mq_open, (char *)1, O_RDWR, 0600, NULL));
    FACT("raw: bad attr", syscall(SYS_mq_open, name + 1, O_RDWR | O_CREAT, 0600, (void *)1));
    memset(longer, 'n', sizeof(longer));
    longer[sizeof(longer) - 1] = 0;
    FACT("raw: long name", syscall(SYS_mq_open, longer, O_RDWR | O_CREAT, 0600, NULL));
    FACT("raw: unlink long name", syscall(SYS_mq_unlink, longer));
    bad = (struct mq_attr){.mq_maxmsg = 0, .mq_msgsize = 16};
    FACT("no messages", mq_open(name, O_RDWR | O_CREAT, 0600, &bad));
    bad = (struct mq_attr){.mq_maxmsg = 3, .mq_msgsize = -1};
    FACT("negative size", mq_open(name, O_RDWR | O_CREAT, 0600, &bad));
    bad = (struct mq_attr){.mq_maxmsg = 1 << 20, .mq_msgsize = 16};
    FACT("too many", mq_open(name, O_RDWR | O_CREAT, 0600, &bad));
    bad = (struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 1l << 40};
    FACT("too large", mq_open(name, O_RDWR | O_CREAT, 0600, &bad));
    FACT("still not there", mq_open(name, O_RDWR));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        setrlimit(RLIMIT_MSGQUEUE, &small);
        FACT("beyond RLIMIT_MSGQUEUE", mq_open(name, O_RDWR | O_CREAT, 0600, NULL));
        getrlimit(RLIMIT_NOFILE, &old);
        old.rlim_cur = 3;
        setrlimit(RLIMIT_NOFILE, &old);
        FACT("no descriptor left", mq_open(name, O_RDWR | O_CREAT, 0600, &a));
        _exit(0);
    }
    say_end("limits", pid);

    mqd_t q = NEED(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0666, &a));
    attributes(q);
    FACT("exclusive", mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &a));
    FACT("access mode 3", mq_open(name, O_RDWR | O_WRONLY));
    YES("close on exec", fcntl(q, F_GETFD) & FD_CLOEXEC);
    VALUE("flags", fcntl(q, F_GETFL) & (O_ACCMODE | O_NONBLOCK));
    struct stat st;
    NEED(fstat(q, &st));
    say("mode %o links %lu size %ld", st.st_mode, (unsigned long)st.st_nlink, (long)st.st_size);
    FACT("close", mq_close(q));
    FACT("close again", mq_close(q));
    q = NEED(mq_open(name, O_RDONLY | O_CREAT, 0, &bad));
    attributes(q);
    FACT("send without write access", mq_send(q, "x", 1, 0));
    mq_close(q);
    q = NEED(mq_open(name, O_WRONLY | O_NONBLOCK));
    char b[16];
    VALUE("receive without read access", mq_receive(q, b, 16, NULL));
    attributes(q);
    mq_close(q);
    NEED(mq_unlink(name));
    q = NEED(mq_open(name, O_RDWR | O_CREAT, 0, &a));
    FACT("mode 0 is open for its maker", mq_send(q, "x", 1, 0));
    FACT("but not again", mq_open(name, O_RDONLY));
    mq_close(q);
    FACT("unlink", mq_unlink(name));
}

static void messages(void)
{
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 8};
    mqd_t q = NEED(mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &a));
    struct timespec past = {1, 0}, odd = {1, 1000000000l};
    char b[64];
    unsigned prio;

    FACT("empty", mq_receive(q, b, 8, &prio));
    FACT("send", mq_send(q, "one", 3, 1));
    FACT("send", mq_send(q, "three", 5, 3));
    FACT("send", mq_send(q, "three-b", 7, 3));
    FACT("send nothing", mq_send(q, "", 0, 2));
    FACT("full", mq_send(q, "x", 1, 0));
    attributes(q);
    FACT("full with a time", mq_timedsend(q, "x", 1, 0, &past));
    FACT("priority", mq_send(q, "x", 1, MQ_PRIO_MAX));
    FACT("too long", mq_send(q, "123456789", 9, 0));
    FACT("odd time", mq_timedsend(q, "x", 1, 0, &odd));
    FACT("bad time", syscall(SYS_mq_timedsend, q, "x", 1, 0, (void *)1));
    FACT("bad message", syscall(SYS_mq_timedsend, q, (void *)1, 4, 0, NULL));
    FACT("short buffer", mq_receive(q, b, 7, &prio));
    for (int i = 0; i < 4; i++) {
        memset(b, 0, sizeof(b));
        long n = mq_receive(q, b, sizeof(b), &prio);
        say("received %ld '%s' priority %u", n, b, prio);
    }
    FACT("empty again", mq_receive(q, b, 8, NULL));
    FACT("not a queue", mq_send(1, "x", 1, 0));
    FACT("no descriptor", mq_receive(-1, b, 8, NULL));
    FACT("write", write(q, "x", 1));
    mq_send(q, "lost", 4, 0);
    FACT("receive to a bad place", syscall(SYS_mq_timedreceive, q, (void *)1, 64, NULL, NULL));
    attributes(q);
    struct mq_attr na = {.mq_flags = 0}, oa;
    FACT("make it block", mq_setattr(q, &na, &oa));
    say("flags were %s", oa.mq_flags == O_NONBLOCK ? "O_NONBLOCK" : "other");
    na.mq_flags = O_APPEND;
    FACT("other flags", mq_setattr(q, &na, NULL));
    struct timespec soon = in_ms(30);
    FACT("time-out", mq_timedreceive(q, b, 8, NULL, &soon));
    FACT("time that is over", mq_timedreceive(q, b, 8, NULL, &past));
    mq_close(q);
    mq_unlink(name);
}

static void readiness(void)
{
    struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t q = NEED(mq_open(name, O_RDWR | O_CREAT, 0600, &a));
    struct pollfd p = {.fd = q, .events = POLLIN | POLLOUT};
    char b[128];

    VALUE("poll", poll(&p, 1, 0));
    say("empty: in %d out %d", !!(p.revents & POLLIN), !!(p.revents & POLLOUT));
    mq_send(q, "12345", 5, 0);
    VALUE("poll", poll(&p, 1, 0));
    say("full: in %d out %d", !!(p.revents & POLLIN), !!(p.revents & POLLOUT));
    long n = pread(q, b, sizeof(b), 0);
    b[n > 0 ? n : 0] = 0;
    say("text: %s", b);
    VALUE("a part of it", pread(q, b, 4, 70));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        p.events = POLLOUT;
        _exit(poll(&p, 1, 5000) == 1 && mq_send(q, "later", 5, 7) == 0 ? 0 : 1);
    }
    VALUE("receive", mq_receive(q, b, 8, NULL));
    say_end("child that waited for room", pid);
    unsigned prio;
    VALUE("receive", mq_receive(q, b, 8, &prio));
    VALUE("priority", prio);
    pid = NEED(fork());
    if (pid == 0) {
        long r = mq_receive(q, b, 8, NULL);
        r += mq_receive(q, b, 8, NULL);
        _exit(r == 3 ? 0 : 1);
    }
    FACT("send", mq_send(q, "a", 1, 0));
    FACT("send", mq_send(q, "bc", 2, 0));
    say_end("child that received both", pid);
    mq_close(q);
    mq_unlink(name);
}

static volatile pid_t waiter;

static void *wait_for_one(void *arg)
{
    char b[8];
    waiter = (pid_t)syscall(SYS_gettid);
    return (void *)(intptr_t)mq_receive(*(mqd_t *)arg, b, 8, NULL);
}

/* Until the other thread sleeps in its call. */
static void until_waiting(void)
{
    char path[64], text[256], *end;
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
        int fd = open(path, O_RDONLY);
        long n = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n > 0 ? n : 0] = 0;
        end = strrchr(text, ')');
        if (end && end[2] == 'S')
            return;
        nap(5);
    }
}

static void notification(void)
{
    struct mq_attr a = {.mq_maxmsg = 2, .mq_msgsize = 8};
    mqd_t q = NEED(mq_open(name, O_RDWR | O_CREAT, 0600, &a));
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    char b[8];

    sigaction(SIGUSR1, &sa, NULL);
    ev.sigev_value.sival_int = 42;
    FACT("notify", mq_notify(q, &ev));
    FACT("notify again", mq_notify(q, &ev));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        FACT("another process", mq_notify(q, &ev));
        FACT("it takes nothing back", mq_notify(q, NULL));
        mq_close(q);
        _exit(0);
    }
    say_end("child", pid);
    FACT("send", mq_send(q, "x", 1, 0));
    say("signals %d code %s value %d sender %s", (int)signals,
        seen_code == SI_MESGQ ? "SI_MESGQ" : "other", seen_value, seen_pid_right ? "right" : "no");
    FACT("send", mq_send(q, "x", 1, 0));
    say("once: %d", (int)signals);
    FACT("notify while not empty", mq_notify(q, &ev));
    mq_receive(q, b, 8, NULL);
    mq_send(q, "x", 1, 0);
    say("not while there are some: %d", (int)signals);
    mq_receive(q, b, 8, NULL);
    mq_receive(q, b, 8, NULL);
    mq_send(q, "x", 1, 0);
    say("now: %d", (int)signals);
    mq_receive(q, b, 8, NULL);

    FACT("notify", mq_notify(q, &ev));
    pthread_t th;
    pthread_create(&th, NULL, wait_for_one, &q);
    until_waiting();
    mq_send(q, "x", 1, 0);
    void *got;
    pthread_join(th, &got);
    say("the receiver that waits comes first: %ld, signals %d", (long)(intptr_t)got, (int)signals);
    FACT("take it back", mq_notify(q, NULL));
    FACT("and again", mq_notify(q, NULL));
    ev.sigev_notify = SIGEV_NONE;
    FACT("no signal", mq_notify(q, &ev));
    mq_send(q, "x", 1, 0);
    FACT("it is over", mq_notify(q, &ev));
    mqd_t other = NEED(dup(q));
    close(other);
    FACT("closing any of its descriptors ends it", mq_notify(q, &ev));
    ev.sigev_notify = 77;
    FACT("odd kind", mq_notify(q, &ev));
    ev.sigev_notify = SIGEV_SIGNAL;
    ev.sigev_signo = 65;
    FACT("odd signal", mq_notify(q, &ev));
    ev.sigev_signo = SIGUSR1;
    FACT("not a queue", mq_notify(1, &ev));
    FACT("bad event", syscall(SYS_mq_notify, q, (void *)1));
    FACT("no descriptor", syscall(SYS_mq_notify, -1, NULL));
    mq_close(q);
    mq_unlink(name);
}

static void interrupted(void)
{
    struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t q = NEED(mq_open(name, O_RDWR | O_CREAT, 0600, &a));
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct itimerval it = {.it_value = {0, 30000}};
    char b[8];

    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &it, NULL);
    FACT("interrupted", mq_receive(q, b, 8, NULL));
    sa.sa_flags |= SA_RESTART;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &it, NULL);
    struct timespec later = in_ms(200);
    FACT("restarted", mq_timedreceive(q, b, 8, NULL, &later));
    mq_unlink(name);
    FACT("send to a queue without a name", mq_send(q, "x", 1, 0));
    VALUE("receive from it", mq_receive(q, b, 8, NULL));
    FACT("a new one", mq_open(name, O_RDONLY));
    mq_close(q);
}

int main(void)
{
    facts_start();
    snprintf(name, sizeof(name), "/facts-%d", (int)getpid());
    mq_unlink(name);
    opening();
    messages();
    readiness();
    notification();
    interrupted();
    remove_work_dir();
    return 0;
}
