/*
 * limits.c: counters of everything that a guest can make the kernel hold.
 */
#include "sentry/kernel/limits.h"

#include "lib/compiler.h"

#include "abi/errno.h"

struct limit {
    uint64_t max, used, peak;
};

static struct limit limits[LIMIT_COUNT];

static const struct {
    uint64_t max;
    int error;
} defaults[LIMIT_COUNT] = {
    [LIMIT_TASKS] = {256, EAGAIN},
    [LIMIT_FILES] = {1u << 18, ENFILE},
    [LIMIT_DENTRIES] = {1u << 20, ENOMEM},
    [LIMIT_VMAS] = {1u << 20, ENOMEM},
    [LIMIT_PIPE_BYTES] = {256u << 20, ENFILE},
    [LIMIT_SOCK_BYTES] = {64u << 20, ENOBUFS},
    [LIMIT_SIGNALS] = {16384, EAGAIN},
    [LIMIT_TIMERS] = {16384, EAGAIN},
    [LIMIT_WAITS] = {1u << 20, ENOMEM},
    [LIMIT_EPOLL_ITEMS] = {1u << 18, ENOSPC},
    [LIMIT_INOTIFY] = {1u << 17, ENOSPC},
    [LIMIT_LOCKS] = {1u << 16, ENOLCK},
    [LIMIT_DISK_BYTES] = {64u << 20, ENOSPC},
    [LIMIT_DISK_INODES] = {1u << 18, ENOSPC},
    [LIMIT_IPC] = {64u << 20, ENOSPC},
    [LIMIT_SECCOMP_BYTES] = {16u << 20, ENOMEM},
    [LIMIT_EXEC_BYTES] = {64u << 20, E2BIG},
};

void limits_init(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        limits[i] = (struct limit){.max = defaults[i].max};
}

int limit_charge(enum limit_kind kind, uint64_t n)
{
    struct limit *l = &limits[kind];
    if (n > l->max || l->used > l->max - n)
        return -defaults[kind].error;
    l->used += n;
    if (l->used > l->peak)
        l->peak = l->used;
    return 0;
}

void limit_release(enum limit_kind kind, uint64_t n)
{
    struct limit *l = &limits[kind];
    l->used = n > l->used ? 0 : l->used - n;
}

uint64_t limit_used(enum limit_kind kind)
{
    return limits[kind].used;
}

uint64_t limit_peak(enum limit_kind kind)
{
    return limits[kind].peak;
}

uint64_t limit_max(enum limit_kind kind)
{
    return limits[kind].max;
}

void limit_set(enum limit_kind kind, uint64_t max)
{
    limits[kind].max = max;
}
