#pragma once
/* Creating and scheduling tasks. */
#include "lib/compiler.h"

#define LX_CSIGNAL              0xffull
#define LX_CLONE_VM             0x100ull
#define LX_CLONE_FS             0x200ull
#define LX_CLONE_FILES          0x400ull
#define LX_CLONE_SIGHAND        0x800ull
#define LX_CLONE_PIDFD          0x1000ull
#define LX_CLONE_PTRACE         0x2000ull
#define LX_CLONE_VFORK          0x4000ull
#define LX_CLONE_PARENT         0x8000ull
#define LX_CLONE_THREAD         0x10000ull
#define LX_CLONE_NEWNS          0x20000ull
#define LX_CLONE_SYSVSEM        0x40000ull
#define LX_CLONE_SETTLS         0x80000ull
#define LX_CLONE_PARENT_SETTID  0x100000ull
#define LX_CLONE_CHILD_CLEARTID 0x200000ull
#define LX_CLONE_DETACHED       0x400000ull
#define LX_CLONE_UNTRACED       0x800000ull
#define LX_CLONE_CHILD_SETTID   0x1000000ull
#define LX_CLONE_NEWCGROUP      0x2000000ull
#define LX_CLONE_NEWUTS         0x4000000ull
#define LX_CLONE_NEWIPC         0x8000000ull
#define LX_CLONE_NEWUSER        0x10000000ull
#define LX_CLONE_NEWPID         0x20000000ull
#define LX_CLONE_NEWNET         0x40000000ull
#define LX_CLONE_IO             0x80000000ull
#define LX_CLONE_NEWTIME        0x80ull
#define LX_CLONE_CLEAR_SIGHAND  0x100000000ull
#define LX_CLONE_INTO_CGROUP    0x200000000ull
#define LX_CLONE_NS_FLAGS                                                                         \
    (LX_CLONE_NEWNS | LX_CLONE_NEWCGROUP | LX_CLONE_NEWUTS | LX_CLONE_NEWIPC | LX_CLONE_NEWUSER | \
     LX_CLONE_NEWPID | LX_CLONE_NEWNET)

/* clone3(2) */
struct lx_clone_args {
    uint64_t flags;
    uint64_t pidfd;
    uint64_t child_tid;
    uint64_t parent_tid;
    uint64_t exit_signal;
    uint64_t stack;
    uint64_t stack_size;
    uint64_t tls;
    uint64_t set_tid;
    uint64_t set_tid_size;
    uint64_t cgroup;
};

#define LX_MAX_PID_NS_LEVEL     32
#define LX_CLONE_ARGS_SIZE_VER0 64
#define LX_CLONE_ARGS_SIZE_VER1 80
#define LX_CLONE_ARGS_SIZE_VER2 88

/* policies */
#define LX_SCHED_NORMAL             0
#define LX_SCHED_FIFO               1
#define LX_SCHED_RR                 2
#define LX_SCHED_BATCH              3
#define LX_SCHED_IDLE               5
#define LX_SCHED_DEADLINE           6
#define LX_SCHED_EXT                7
#define LX_SCHED_RESET_ON_FORK      0x40000000
#define LX_SCHED_FLAG_RESET_ON_FORK 0x1
#define LX_SCHED_FLAG_ALL           0x7f

struct lx_sched_param {
    int32_t sched_priority;
};

struct lx_sched_attr {
    uint32_t size;
    uint32_t sched_policy;
    uint64_t sched_flags;
    int32_t sched_nice;
    uint32_t sched_priority;
    uint64_t sched_runtime;
    uint64_t sched_deadline;
    uint64_t sched_period;
    uint32_t sched_util_min;
    uint32_t sched_util_max;
};

#define LX_SCHED_ATTR_SIZE_VER0 48
#define LX_SCHED_ATTR_SIZE_VER1 56

/* getpriority(2) */
#define LX_PRIO_PROCESS 0
#define LX_PRIO_PGRP    1
#define LX_PRIO_USER    2
#define LX_MIN_NICE     (-20)
#define LX_MAX_NICE     19

/* sched_getaffinity(2): the kernel writes whole 64-bit words. */
#define LX_CPU_SETSIZE 1024

struct lx_cpu_set {
    uint64_t bits[LX_CPU_SETSIZE / 64];
};
