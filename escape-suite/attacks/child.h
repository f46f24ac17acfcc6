#pragma once
/*
 * For attacks that may end themselves: the hostile part runs in a child, and the parent tells how
 * it ended. Also clocks, and a page that both see.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "attack.h"

/* How a child ended, in words. */
__attribute__((unused)) static const char *end_name(int status)
{
    static char buf[64];
    if (WIFSIGNALED(status))
        snprintf(buf, sizeof(buf), "ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(buf, sizeof(buf), "exit %d", WEXITSTATUS(status));
    return buf;
}

/* What a random call writes must not be taken for the transcript. */
__attribute__((unused)) static void mute(void)
{
    int fd = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
}

/* Runs hostile(arg) in a child and waits for its end: the wait status, or -1. A child that hangs is
 * killed, whatever it has blocked. */
__attribute__((unused)) static int in_child(void (*hostile)(int arg), int arg)
{
    int status;
    pid_t got, pid = fork();
    if (pid == 0) {
        hostile(arg);
        _exit(0);
    }
    if (pid < 0)
        return -1;
    struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (p.fd >= 0 && poll(&p, 1, HANG_MS + 5000) == 0)
        kill(pid, SIGKILL);
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    close(p.fd);
    return got == pid ? status : -1;
}

__attribute__((unused)) static long now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Zeroed memory that children share, or NULL. */
__attribute__((unused)) static void *shared_pages(size_t n)
{
    void *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* A cheap generator: the same sequence every time, so what was seen can be seen again. */
__attribute__((unused)) static uint64_t rnd(void)
{
    static uint64_t s = 0x9e3779b97f4a7c15ul;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s * 0x2545f4914f6cdd1dul;
}
