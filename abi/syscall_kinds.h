#pragma once
/*
 * What abi/syscalls.def says about a call: how complete it is, whether it may park the caller, and
 * the kind of each argument (only --strace and the documentation look at kinds).
 *
 * Kinds ending in _OUT are written by the call and printed when it has returned; the others are
 * printed as they were on entry. "next" and "result" say where the length of a buffer stands.
 */
#include "lib/compiler.h"

enum syscall_status {
    SYSCALL_FULL,
    SYSCALL_PARTIAL,
    SYSCALL_REFUSED
};

enum syscall_blocking {
    SYSCALL_NEVER,
    SYSCALL_MAY_BLOCK
};

enum syscall_arg_kind {
    A_NONE, /* no such argument */
    /* numbers */
    A_INT,
    A_UINT,
    A_LONG,
    A_SIZE,
    A_OFF,
    A_HEX,
    A_ADDR,
    A_PID,
    A_ID, /* uid or gid; -1 is "leave" */
    A_FD,
    A_DIRFD,
    A_DEV,
    /* memory */
    A_PATH,       /* NUL-terminated, at most PATH_MAX */
    A_STR,        /* NUL-terminated name that is not a path */
    A_STRV,       /* NULL-terminated vector of strings */
    A_STRV_COUNT, /* the same, only the number of strings is printed */
    A_BUF,        /* length: next */
    A_BUF_OUT,    /* length: result */
    A_STR_OUT,    /* text, length: result */
    A_IOVEC,      /* count: next */
    A_IOVEC_OUT,  /* count: next, bytes: result */
    A_INT_PTR,
    A_INT_PTR_OUT,
    A_LONG_PTR,
    A_FDPAIR_OUT,
    /* files */
    A_OPEN_FLAGS,
    A_FD_FLAGS, /* O_CLOEXEC, O_NONBLOCK: pipe2, dup3, eventfd2, ... */
    A_OPEN_HOW,
    A_MODE,
    A_ACCESS_MODE,
    A_AT_FLAGS,
    A_WHENCE,
    A_FCNTL_CMD, /* decides how the next argument is printed */
    A_FCNTL_ARG,
    A_IOCTL_CMD,
    A_FLOCK_OP,
    A_RENAME_FLAGS,
    A_FALLOC_MODE,
    A_FADVICE,
    A_XATTR_FLAGS,
    A_RWF_FLAGS,
    A_SPLICE_FLAGS,
    A_CLOSE_RANGE_FLAGS,
    A_STAT_OUT,
    A_STATX_OUT,
    A_STATX_MASK,
    A_STATFS_OUT,
    A_DIRENTS_OUT,
    A_INOTIFY_MASK,
    /* memory management */
    A_PROT,
    A_MAP_FLAGS,
    A_MREMAP_FLAGS,
    A_MSYNC_FLAGS,
    A_MADVICE,
    A_MLOCK_FLAGS,
    A_MFD_FLAGS,
    /* signals */
    A_SIGNO,
    A_SIG_HOW,
    A_SIGSET,
    A_SIGSET_OUT,
    A_SIGACTION,
    A_SIGACTION_OUT,
    A_SIGINFO,
    A_SIGINFO_OUT,
    A_SIGSTACK,
    A_SIGSTACK_OUT,
    /* processes */
    A_CLONE_FLAGS,
    A_WAIT_OPTIONS,
    A_WAIT_STATUS_OUT,
    A_WAIT_ID_TYPE,
    A_RUSAGE_WHO,
    A_RUSAGE_OUT,
    A_RLIMIT_RESOURCE,
    A_RLIMIT,
    A_RLIMIT_OUT,
    A_PRCTL_OP,
    A_ARCH_PRCTL_OP,
    A_SCHED_POLICY,
    A_PERSONALITY,
    A_UTSNAME_OUT,
    A_SYSINFO_OUT,
    A_FUTEX_OP,
    A_MEMBARRIER_CMD,
    /* time */
    A_CLOCK,
    A_TIMESPEC,
    A_TIMESPEC_OUT,
    A_TIMESPEC2, /* two of them: utimensat */
    A_TIMEVAL,
    A_TIMEVAL_OUT,
    A_TIMEVAL2,
    A_ITIMERSPEC,
    A_ITIMERSPEC_OUT,
    A_ITIMERVAL,
    A_ITIMERVAL_OUT,
    A_ITIMER_WHICH,
    A_TIMER_FLAGS,
    A_SIGEVENT,
    /* waiting on descriptors */
    A_POLLFDS, /* count: next; printed again with revents after the call */
    A_FDSET,   /* highest descriptor + 1: the first argument */
    A_EPOLL_OP,
    A_EPOLL_EVENT,
    A_EPOLL_EVENTS_OUT, /* count: result */
    /* sockets */
    A_AF,
    A_SOCK_TYPE,
    A_SOCKADDR,     /* length: next */
    A_SOCKADDR_OUT, /* address of the length: next */
    A_SOCK_LEVEL,
    A_SOCK_OPT,
    A_MSG_FLAGS,
    A_MSGHDR,
    A_MSGHDR_OUT,
    A_SHUT_HOW,
    /* other flag words */
    A_GRND_FLAGS,
    A_IPC_FLAGS,
    A_COUNT,
};
