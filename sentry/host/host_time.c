/*
 * host_time.c: time, randomness, the strace stream and the processor count of the host.
 */
#include "lib/compiler.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <sys/auxv.h>
#include <sys/random.h>

#include "sentry/host/host.h"

static uint64_t clock_ns(clockid_t id)
{
    struct timespec ts;
    (void)clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t host_clock_monotonic(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t host_clock_realtime(void)
{
    return clock_ns(CLOCK_REALTIME);
}

uint64_t host_cputime(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void host_random(void *buf, size_t len)
{
    unsigned char *p = buf;
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n <= 0)
            continue;
        p += n;
        len -= (size_t)n;
    }
}

uint32_t host_ncpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (uint32_t)n : 1;
}

uint64_t host_auxval(uint64_t type)
{
    return getauxval(type);
}

static int strace_fd = -1;

void host_strace_set_fd(int fd)
{
    strace_fd = fd;
}

void host_strace_write(const char *text, size_t len)
{
    while (strace_fd >= 0 && len > 0) {
        ssize_t n = write(strace_fd, text, len);
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}
