#pragma once
/*
 * Every count that a guest can drive, in one place: charge before allocating, one errno per limit.
 */
#include "lib/compiler.h"

enum limit_kind {
    LIMIT_TASKS,         /* live tasks: -EAGAIN */
    LIMIT_FILES,         /* open file descriptions: -ENFILE */
    LIMIT_DENTRIES,      /* dentries and inodes pinned by a guest: -ENOMEM */
    LIMIT_VMAS,          /* in all address spaces: -ENOMEM */
    LIMIT_PIPE_BYTES,    /* capacity of all pipes: -ENOMEM / -EPERM */
    LIMIT_SOCK_BYTES,    /* queued in all sockets: -ENOBUFS */
    LIMIT_SIGNALS,       /* queued siginfo: -EAGAIN */
    LIMIT_TIMERS,        /* posix timers, timerfds: -EAGAIN */
    LIMIT_WAITS,         /* wait entries: -ENOMEM */
    LIMIT_EPOLL_ITEMS,   /* -ENOSPC */
    LIMIT_INOTIFY,       /* watches and queued events: -ENOSPC */
    LIMIT_LOCKS,         /* file locks: -ENOLCK */
    LIMIT_DISK_BYTES,    /* tmpfs data: -ENOSPC */
    LIMIT_DISK_INODES,   /* -ENOSPC */
    LIMIT_IPC,           /* SysV objects and bytes: -ENOSPC */
    LIMIT_SECCOMP_BYTES, /* filters: -ENOMEM */
    LIMIT_EXEC_BYTES,    /* argument strings in flight: -E2BIG */
    LIMIT_COUNT,
};

/* 0, or the negative errno of that kind with nothing charged. */
int limit_charge(enum limit_kind kind, uint64_t n) MUST_CHECK;
void limit_release(enum limit_kind kind, uint64_t n);
uint64_t limit_used(enum limit_kind kind);
uint64_t limit_peak(enum limit_kind kind);
uint64_t limit_max(enum limit_kind kind);
void limit_set(enum limit_kind kind, uint64_t max);
/* Sets the built-in maxima; called once at start. */
void limits_init(void);
