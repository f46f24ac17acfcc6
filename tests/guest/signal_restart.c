/* Which calls end with EINTR and which are restarted, with and without SA_RESTART. */
#include <poll.h>

#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "facts.h"

enum {
    PATIENCE_MS = 200000 /* no call ends by its own time */
};

static volatile int *handled; /* shared with the helper */
static int data_pipe[2], efd, epfd, sv[2];
static uint32_t futex_word;
static pid_t helper;

static void on_usr1(int signo)
{
    (void)signo;
    *handled = 1;
}

/* Until the process is asleep in a call. */
static void until_asleep(pid_t pid)
{
    char path[64], text[256], *p;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (;;) {
        int fd = NEED(open(path, O_RDONLY));
        ssize_t n = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        p = strrchr(text, ')');
        if (p != NULL && p[1] == ' ' && p[2] == 'S')
            return;
        nap(1);
    }
}

static long do_read(void)
{
    char c;
    return read(data_pipe[0], &c, 1);
}

static long do_recv(void)
{
    char c;
    return recv(sv[0], &c, 1, 0);
}

static long do_wait(void)
{
    return waitpid(helper, NULL, 0);
}

static long do_poll(void)
{
    struct pollfd p = {efd, POLLIN, 0};
    return poll(&p, 1, PATIENCE_MS);
}

static long do_select(void)
{
    struct timeval tv = {PATIENCE_MS / 1000, 0};
    return select(0, NULL, NULL, NULL, &tv);
}

static long do_epoll(void)
{
    struct epoll_event ev;
    return epoll_wait(epfd, &ev, 1, PATIENCE_MS);
}

static long do_nanosleep(void)
{
    struct timespec ts = {PATIENCE_MS / 1000, 0};
    return nanosleep(&ts, NULL);
}

static long do_pause(void)
{
    return pause();
}

static long do_sigsuspend(void)
{
    sigset_t none;
    sigemptyset(&none);
    return sigsuspend(&none);
}

static long do_sigtimedwait(void)
{
    sigset_t set;
    struct timespec ts = {PATIENCE_MS / 1000, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    /* musl's function goes on after EINTR. */
    return syscall(SYS_rt_sigtimedwait, &set, NULL, &ts, 8);
}

static long do_futex(void)
{
    struct timespec ts = {PATIENCE_MS / 1000, 0};
    return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &ts, NULL, 0);
}

static long do_flock(void)
{
    int fd = open("lock", O_RDONLY);
    long r = flock(fd, LOCK_SH);
    int e = errno;
    close(fd);
    errno = e;
    return r;
}

static long do_fcntl_lock(void)
{
    struct flock fl = {.l_type = F_RDLCK};
    int fd = open("lock2", O_RDONLY);
    long r = fcntl(fd, F_SETLKW, &fl);
    int e = errno;
    close(fd);
    errno = e;
    return r;
}

/* Runs the call while a child sends SIGUSR1 into it and then, when the handler has run and the
 * caller sleeps again, lets the call finish. */
static void try_call(const char *name, long (*fn)(void), bool restart)
{
    struct sigaction sa = {.sa_handler = on_usr1, .sa_flags = restart ? SA_RESTART : 0};
    char label[80];
    int lk = NEED(open("lock", O_RDONLY));
    int lk2 = NEED(open("lock2", O_RDWR));
    int gate[2];
    NEED(sigaction(SIGUSR1, &sa, NULL));
    NEED(flock(lk, LOCK_EX));
    NEED(pipe(gate));
    *handled = 0;
    helper = NEED(fork());
    if (helper == 0) {
        struct flock fl = {.l_type = F_WRLCK};
        fcntl(lk2, F_SETLK, &fl);
        if (write(gate[1], "", 1) != 1)
            _exit(1);
        until_asleep(getppid());
        kill(getppid(), SIGUSR1);
        while (*handled == 0)
            nap(1);
        until_asleep(getppid());
        if (write(data_pipe[1], "x", 1) != 1 || write(sv[1], "x", 1) != 1)
            _exit(1);
        flock(lk, LOCK_UN);
        _exit(0);
    }
    char c;
    NEED(read(gate[0], &c, 1));
    errno = 0;
    long r = fn();
    int e = errno;
    snprintf(label, sizeof(label), "%s%s", name, restart ? ", SA_RESTART" : "");
    say("%s: %s", label, r >= 0 ? "finished" : errno_name(e));
    while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        ;
    fcntl(data_pipe[0], F_SETFL, O_NONBLOCK);
    (void)!read(data_pipe[0], &c, 1);
    fcntl(data_pipe[0], F_SETFL, 0);
    recv(sv[0], &c, 1, MSG_DONTWAIT);
    close(lk), close(lk2), close(gate[0]), close(gate[1]);
}

int main(void)
{
    static const struct {
        const char *name;
        long (*fn)(void);
    } calls[] = {
        {"read of a pipe", do_read},   {"recv", do_recv},
        {"waitpid", do_wait},          {"poll", do_poll},
        {"select", do_select},         {"epoll_wait", do_epoll},
        {"nanosleep", do_nanosleep},   {"pause", do_pause},
        {"sigsuspend", do_sigsuspend}, {"sigtimedwait", do_sigtimedwait},
        {"futex wait", do_futex},      {"flock", do_flock},
        {"fcntl lock", do_fcntl_lock},
    };
    facts_start();
    handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    close(make_file("lock", ""));
    close(make_file("lock2", ""));
    NEED(pipe(data_pipe));
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
    efd = NEED(eventfd(0, 0));
    epfd = NEED(epoll_create1(0));
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        try_call(calls[i].name, calls[i].fn, false);
        try_call(calls[i].name, calls[i].fn, true);
    }
    remove_work_dir();
    return 0;
}
