/* poll, select, nanosleep across a stop: the call goes on with the rest of its time, and no handler
 * sees EINTR. */
#include <poll.h>

#include <sys/mman.h>
#include <sys/select.h>

#include "facts.h"

static int in[2];

/* The child says what its call returned; it is stopped and continued while it waits. */
static void across_stop(const char *label, int (*call)(void), bool write_after)
{
    int st;
    char c;
    int told[2];
    NEED(pipe(told));
    NEED(pipe(in));
    pid_t pid = NEED(fork());
    if (pid == 0) {
        if (write(told[1], "x", 1) != 1)
            _exit(99);
        errno = 0;
        int r = call();
        say("%s: %d %s", label, r, r < 0 ? errno_name(errno) : "");
        _exit(0);
    }
    NEED(read(told[0], &c, 1));
    /* On a busy machine a call with a time may be over before it is stopped. */
    for (int i = 0; i < 3; i++) {
        nap(20);
        NEED(kill(pid, SIGSTOP));
        NEED(waitpid(pid, &st, WUNTRACED));
        if (!WIFSTOPPED(st))
            break;
        NEED(kill(pid, SIGCONT));
    }
    if (write_after)
        NEED(write(in[1], "y", 1));
    if (WIFSTOPPED(st))
        NEED(waitpid(pid, &st, 0));
    say("%s: %s", label, status_text(st));
    for (int i = 0; i < 2; i++) {
        close(told[i]);
        close(in[i]);
    }
}

static int poll_ready(void)
{
    struct pollfd p = {.fd = in[0], .events = POLLIN};
    return poll(&p, 1, 60000);
}

static int poll_for_ever(void)
{
    struct pollfd p = {.fd = in[0], .events = POLLIN};
    return poll(&p, 1, -1);
}

static int poll_time(void)
{
    struct pollfd p = {.fd = in[0], .events = POLLIN};
    return poll(&p, 1, 150);
}

static int select_ready(void)
{
    fd_set r;
    FD_ZERO(&r);
    FD_SET(in[0], &r);
    return select(in[0] + 1, &r, NULL, NULL, NULL);
}

static int select_time(void)
{
    struct timeval tv = {0, 150000};
    return select(0, NULL, NULL, NULL, &tv);
}

static int sleep_time(void)
{
    return nanosleep(&(struct timespec){0, 150000000}, NULL);
}

/* A result stands even if the rest of the time cannot be stored. */
static void time_left_to_nowhere(void)
{
    struct pollfd p = {.fd = in[0], .events = POLLIN};
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct timespec *ts = (struct timespec *)page;
    *ts = (struct timespec){5, 0};
    NEED(pipe(in));
    NEED(write(in[1], "z", 1));
    NEED(mprotect(page, 4096, PROT_READ));
    VALUE("ppoll", syscall(SYS_ppoll, &p, 1, ts, NULL, 8));
    fd_set r;
    FD_ZERO(&r);
    FD_SET(in[0], &r);
    VALUE("pselect6", syscall(SYS_pselect6, in[0] + 1, &r, NULL, NULL, ts, NULL));
    NEED(mprotect(page, 4096, PROT_READ | PROT_WRITE));
    *(struct timeval *)page = (struct timeval){5, 0};
    NEED(mprotect(page, 4096, PROT_READ));
    VALUE("select", syscall(SYS_select, in[0] + 1, &r, NULL, NULL, page));
    NEED(mprotect(page, 4096, PROT_READ | PROT_WRITE));
    *(struct timeval *)page = (struct timeval){5, 2000000};
    VALUE("select with many microseconds", syscall(SYS_select, in[0] + 1, &r, NULL, NULL, page));
    *(struct timeval *)page = (struct timeval){5, -1};
    FACT("select with negative ones", syscall(SYS_select, in[0] + 1, &r, NULL, NULL, page));
    *(struct timeval *)page = (struct timeval){-5, 0};
    FACT("select with negative seconds", syscall(SYS_select, in[0] + 1, &r, NULL, NULL, page));
    *ts = (struct timespec){0, 1000000000};
    FACT("ppoll with a whole second", syscall(SYS_ppoll, &p, 1, ts, NULL, 8));
    FACT("ppoll, its result to nowhere", syscall(SYS_ppoll, (void *)8, 1, NULL, NULL, 8));
    *(fd_set *)page = r;
    FD_SET(in[0], (fd_set *)page);
    NEED(mprotect(page, 4096, PROT_READ));
    FACT("pselect6, its result to nowhere",
         syscall(SYS_pselect6, in[0] + 1, page, NULL, NULL, NULL, NULL));
}

/* More descriptors than a call keeps on its stack. */
static void many(void)
{
    struct pollfd p[200];
    struct rlimit rl;
    for (int i = 0; i < 200; i++)
        p[i] = (struct pollfd){.fd = i % 2 ? -1 : in[0], .events = POLLIN};
    VALUE("200 descriptors", poll(p, 200, 0));
    NEED(getrlimit(RLIMIT_NOFILE, &rl));
    rl.rlim_cur = 100;
    NEED(setrlimit(RLIMIT_NOFILE, &rl));
    FACT("more than may be open", poll(p, 200, 0));
}

int main(void)
{
    facts_start();
    across_stop("poll, ready after", poll_ready, true);
    across_stop("poll without end", poll_for_ever, true);
    across_stop("poll, its time over", poll_time, false);
    across_stop("select, ready after", select_ready, true);
    across_stop("select, its time over", select_time, false);
    across_stop("nanosleep", sleep_time, false);
    time_left_to_nowhere();
    many();
    remove_work_dir();
    return 0;
}
