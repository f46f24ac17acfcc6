/*
 * Names of constants, for --strace. How this works: each list below gives names without their LX_
 * prefix; the table at the end says which kind uses which lists. Flags that contain others stand
 * before them (O_SYNC before O_DSYNC), because the first match takes its bits.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/futex.h"
#include "abi/ioctl.h"
#include "abi/misc.h"
#include "abi/mman.h"
#include "abi/poll.h"
#include "abi/prctl.h"
#include "abi/rlimit.h"
#include "abi/sched.h"
#include "abi/signal.h"
#include "abi/socket.h"
#include "abi/time.h"
#include "abi/tty.h"
#include "abi/wait.h"

#include "sentry/sys/argfmt_private.h"

#define N(name)                     \
    {                               \
        (uint64_t) LX_##name, #name \
    }

/* clang-format off */
static const struct argfmt_name access_field[] = {
    N(O_RDONLY), N(O_WRONLY), N(O_RDWR),
};

static const struct argfmt_name open_flags[] = {
    N(O_CREAT), N(O_EXCL), N(O_NOCTTY), N(O_TRUNC), N(O_APPEND), N(O_NONBLOCK), N(O_SYNC),
    N(O_DSYNC), N(O_ASYNC), N(O_DIRECT), N(O_LARGEFILE), N(O_TMPFILE), N(O_DIRECTORY),
    N(O_NOFOLLOW), N(O_NOATIME), N(O_CLOEXEC), N(O_PATH),
};

static const struct argfmt_name access_mode[] = {
    N(R_OK), N(W_OK), N(X_OK),
};

static const struct argfmt_name at_flags[] = {
    N(AT_SYMLINK_NOFOLLOW), N(AT_REMOVEDIR), N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT),
    N(AT_EMPTY_PATH), N(AT_STATX_FORCE_SYNC), N(AT_STATX_DONT_SYNC), N(AT_RECURSIVE),
};

static const struct argfmt_name whence[] = {
    N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE),
};

static const struct argfmt_name fcntl_cmd[] = {
    N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK),
    N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_SETOWN_EX),
    N(F_GETOWN_EX), N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE), N(F_GETLEASE),
    N(F_DUPFD_CLOEXEC), N(F_NOTIFY), N(F_SETPIPE_SZ), N(F_GETPIPE_SZ), N(F_ADD_SEALS),
    N(F_GET_SEALS), N(F_DUPFD_QUERY),
};

static const struct argfmt_name ioctl_cmd[] = {
    N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TCGETA), N(TCSBRK), N(TCXONC), N(TCFLSH),
    N(TIOCEXCL), N(TIOCNXCL), N(TIOCSCTTY), N(TIOCGPGRP), N(TIOCSPGRP), N(TIOCOUTQ), N(TIOCSTI),
    N(TIOCGWINSZ), N(TIOCSWINSZ), N(TIOCNOTTY), N(TIOCSETD), N(TIOCGETD), N(TIOCPKT), N(TIOCGSID),
    N(TCGETS2), N(TCSETS2), N(TCSETSW2), N(TCSETSF2), N(TIOCGPTN), N(TIOCSPTLCK), N(TIOCGPTPEER),
    N(FIONREAD), N(FIONBIO), N(FIOASYNC), N(FIOCLEX), N(FIONCLEX), N(FICLONE), N(FICLONERANGE),
    N(FS_IOC_GETFLAGS), N(FS_IOC_SETFLAGS),
};

static const struct argfmt_name flock_op[] = {
    N(LOCK_SH), N(LOCK_EX), N(LOCK_UN), N(LOCK_NB),
};

static const struct argfmt_name rename_flags[] = {
    N(RENAME_NOREPLACE), N(RENAME_EXCHANGE), N(RENAME_WHITEOUT),
};

static const struct argfmt_name falloc_mode[] = {
    N(FALLOC_FL_KEEP_SIZE), N(FALLOC_FL_PUNCH_HOLE), N(FALLOC_FL_COLLAPSE_RANGE),
    N(FALLOC_FL_ZERO_RANGE), N(FALLOC_FL_INSERT_RANGE), N(FALLOC_FL_UNSHARE_RANGE),
};

static const struct argfmt_name fadvice[] = {
    N(POSIX_FADV_NORMAL), N(POSIX_FADV_RANDOM), N(POSIX_FADV_SEQUENTIAL), N(POSIX_FADV_WILLNEED),
    N(POSIX_FADV_DONTNEED), N(POSIX_FADV_NOREUSE),
};

static const struct argfmt_name xattr_flags[] = {
    N(XATTR_CREATE), N(XATTR_REPLACE),
};

static const struct argfmt_name rwf_flags[] = {
    N(RWF_HIPRI), N(RWF_DSYNC), N(RWF_SYNC), N(RWF_NOWAIT), N(RWF_APPEND), N(RWF_NOAPPEND),
    N(RWF_ATOMIC), N(RWF_DONTCACHE),
};

static const struct argfmt_name splice_flags[] = {
    N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE), N(SPLICE_F_GIFT),
};

static const struct argfmt_name close_range_flags[] = {
    N(CLOSE_RANGE_UNSHARE), N(CLOSE_RANGE_CLOEXEC),
};

static const struct argfmt_name statx_mask[] = {
    N(STATX_ALL), N(STATX_BASIC_STATS), N(STATX_TYPE), N(STATX_MODE), N(STATX_NLINK),
    N(STATX_UID), N(STATX_GID), N(STATX_ATIME), N(STATX_MTIME), N(STATX_CTIME), N(STATX_INO),
    N(STATX_SIZE), N(STATX_BLOCKS), N(STATX_BTIME), N(STATX_MNT_ID), N(STATX_DIOALIGN),
};

static const struct argfmt_name inotify_mask[] = {
    N(IN_ALL_EVENTS), N(IN_CLOSE), N(IN_MOVE), N(IN_ACCESS), N(IN_MODIFY), N(IN_ATTRIB),
    N(IN_CLOSE_WRITE), N(IN_CLOSE_NOWRITE), N(IN_OPEN), N(IN_MOVED_FROM), N(IN_MOVED_TO),
    N(IN_CREATE), N(IN_DELETE), N(IN_DELETE_SELF), N(IN_MOVE_SELF), N(IN_ONLYDIR),
    N(IN_DONT_FOLLOW), N(IN_EXCL_UNLINK), N(IN_MASK_CREATE), N(IN_MASK_ADD), N(IN_ONESHOT),
};

static const struct argfmt_name prot[] = {
    N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_SEM), N(PROT_GROWSDOWN), N(PROT_GROWSUP),
};

static const struct argfmt_name map_type[] = {
    N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_SHARED_VALIDATE),
};

static const struct argfmt_name map_flags[] = {
    N(MAP_FIXED), N(MAP_ANONYMOUS), N(MAP_32BIT), N(MAP_GROWSDOWN), N(MAP_DENYWRITE),
    N(MAP_EXECUTABLE), N(MAP_LOCKED), N(MAP_NORESERVE), N(MAP_POPULATE), N(MAP_NONBLOCK),
    N(MAP_STACK), N(MAP_HUGETLB), N(MAP_SYNC), N(MAP_FIXED_NOREPLACE),
};

static const struct argfmt_name mremap_flags[] = {
    N(MREMAP_MAYMOVE), N(MREMAP_FIXED), N(MREMAP_DONTUNMAP),
};

static const struct argfmt_name msync_flags[] = {
    N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC),
};

static const struct argfmt_name madvice[] = {
    N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED),
    N(MADV_FREE), N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_MERGEABLE),
    N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), N(MADV_DODUMP),
    N(MADV_WIPEONFORK), N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT), N(MADV_POPULATE_READ),
    N(MADV_POPULATE_WRITE), N(MADV_COLLAPSE), N(MADV_GUARD_INSTALL), N(MADV_GUARD_REMOVE),
};

static const struct argfmt_name mlock_flags[] = {
    N(MCL_CURRENT), N(MCL_FUTURE), N(MCL_ONFAULT),
};

static const struct argfmt_name mfd_flags[] = {
    N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB), N(MFD_NOEXEC_SEAL), N(MFD_EXEC),
};

static const struct argfmt_name sig_how[] = {
    N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK),
};

static const struct argfmt_name clone_flags[] = {
    N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD), N(CLONE_PTRACE),
    N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS), N(CLONE_SYSVSEM),
    N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID), N(CLONE_DETACHED),
    N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP), N(CLONE_NEWUTS),
    N(CLONE_NEWIPC), N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_IO),
};

static const struct argfmt_name wait_options[] = {
    N(WNOHANG), N(WUNTRACED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WNOTHREAD), N(__WALL),
    N(__WCLONE),
};

static const struct argfmt_name wait_id_type[] = {
    N(P_ALL), N(P_PID), N(P_PGID), N(P_PIDFD),
};

static const struct argfmt_name rusage_who[] = {
    N(RUSAGE_SELF), N(RUSAGE_CHILDREN), N(RUSAGE_THREAD),
};

static const struct argfmt_name rlimit_resource[] = {
    N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE),
    N(RLIMIT_RSS), N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS),
    N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING), N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE), N(RLIMIT_RTPRIO),
    N(RLIMIT_RTTIME),
};

static const struct argfmt_name prctl_op[] = {
    N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE), N(PR_SET_DUMPABLE),
    N(PR_GET_KEEPCAPS), N(PR_SET_KEEPCAPS), N(PR_SET_NAME), N(PR_GET_NAME), N(PR_GET_SECCOMP),
    N(PR_SET_SECCOMP), N(PR_CAPBSET_READ), N(PR_CAPBSET_DROP), N(PR_GET_TSC), N(PR_SET_TSC),
    N(PR_GET_SECUREBITS), N(PR_SET_SECUREBITS), N(PR_SET_TIMERSLACK), N(PR_GET_TIMERSLACK),
    N(PR_SET_MM), N(PR_SET_PTRACER), N(PR_SET_CHILD_SUBREAPER), N(PR_GET_CHILD_SUBREAPER),
    N(PR_SET_NO_NEW_PRIVS), N(PR_GET_NO_NEW_PRIVS), N(PR_GET_TID_ADDRESS), N(PR_SET_THP_DISABLE),
    N(PR_GET_THP_DISABLE), N(PR_CAP_AMBIENT), N(PR_GET_SPECULATION_CTRL),
    N(PR_SET_SPECULATION_CTRL), N(PR_SET_VMA), N(PR_SET_MDWE), N(PR_GET_MDWE), N(PR_GET_AUXV),
};

static const struct argfmt_name arch_prctl_op[] = {
    N(ARCH_SET_GS), N(ARCH_SET_FS), N(ARCH_GET_FS), N(ARCH_GET_GS), N(ARCH_GET_CPUID),
    N(ARCH_SET_CPUID), N(ARCH_GET_XCOMP_SUPP), N(ARCH_GET_XCOMP_PERM), N(ARCH_REQ_XCOMP_PERM),
    N(ARCH_SHSTK_ENABLE), N(ARCH_SHSTK_DISABLE), N(ARCH_SHSTK_STATUS),
};

static const struct argfmt_name sched_policy[] = {
    N(SCHED_NORMAL), N(SCHED_FIFO), N(SCHED_RR), N(SCHED_BATCH), N(SCHED_IDLE), N(SCHED_DEADLINE),
};

static const struct argfmt_name futex_cmd[] = {
    N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE),
    N(FUTEX_WAKE_OP), N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI),
    N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI), N(FUTEX_CMP_REQUEUE_PI),
    N(FUTEX_LOCK_PI2),
};

static const struct argfmt_name futex_flags[] = {
    N(FUTEX_PRIVATE_FLAG), N(FUTEX_CLOCK_REALTIME),
};

static const struct argfmt_name membarrier_cmd[] = {
    N(MEMBARRIER_CMD_QUERY), N(MEMBARRIER_CMD_GLOBAL), N(MEMBARRIER_CMD_GLOBAL_EXPEDITED),
    N(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED), N(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
    N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED), N(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE),
    N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE),
};

static const struct argfmt_name clock[] = {
    N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID),
    N(CLOCK_THREAD_CPUTIME_ID), N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE),
    N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME), N(CLOCK_REALTIME_ALARM),
    N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI),
};

static const struct argfmt_name itimer_which[] = {
    N(ITIMER_REAL), N(ITIMER_VIRTUAL), N(ITIMER_PROF),
};

static const struct argfmt_name timer_flags[] = {
    N(TIMER_ABSTIME),
};

static const struct argfmt_name epoll_op[] = {
    N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD),
};

static const struct argfmt_name af[] = {
    N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET),
    N(AF_BLUETOOTH), N(AF_ALG), N(AF_VSOCK), N(AF_XDP),
};

static const struct argfmt_name sock_field[] = {
    N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_RDM), N(SOCK_SEQPACKET), N(SOCK_PACKET),
};

static const struct argfmt_name sock_flags[] = {
    N(SOCK_NONBLOCK), N(SOCK_CLOEXEC),
};

static const struct argfmt_name sock_level[] = {
    N(SOL_SOCKET),
};

static const struct argfmt_name sock_opt[] = {
    N(SO_DEBUG), N(SO_REUSEADDR), N(SO_TYPE), N(SO_ERROR), N(SO_DONTROUTE), N(SO_BROADCAST),
    N(SO_SNDBUF), N(SO_RCVBUF), N(SO_KEEPALIVE), N(SO_OOBINLINE), N(SO_PRIORITY), N(SO_LINGER),
    N(SO_REUSEPORT), N(SO_PASSCRED), N(SO_PEERCRED), N(SO_RCVLOWAT), N(SO_SNDLOWAT),
    N(SO_RCVTIMEO), N(SO_SNDTIMEO), N(SO_PEERNAME), N(SO_TIMESTAMP), N(SO_ACCEPTCONN),
    N(SO_PEERSEC), N(SO_PASSSEC), N(SO_PROTOCOL), N(SO_DOMAIN), N(SO_PEEK_OFF), N(SO_PEERGROUPS),
    N(SO_PASSPIDFD), N(SO_PEERPIDFD),
};

static const struct argfmt_name msg_flags[] = {
    N(MSG_OOB), N(MSG_PEEK), N(MSG_DONTROUTE), N(MSG_CTRUNC), N(MSG_TRUNC), N(MSG_DONTWAIT),
    N(MSG_EOR), N(MSG_WAITALL), N(MSG_CONFIRM), N(MSG_ERRQUEUE), N(MSG_NOSIGNAL), N(MSG_MORE),
    N(MSG_WAITFORONE), N(MSG_CMSG_CLOEXEC),
};

static const struct argfmt_name shut_how[] = {
    N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR),
};

static const struct argfmt_name grnd_flags[] = {
    N(GRND_NONBLOCK), N(GRND_RANDOM), N(GRND_INSECURE),
};

static const struct argfmt_name ipc_flags[] = {
    N(IPC_CREAT), N(IPC_EXCL), N(IPC_NOWAIT),
};

static const struct argfmt_name personality[] = {
    N(ADDR_NO_RANDOMIZE), N(READ_IMPLIES_EXEC), N(ADDR_COMPAT_LAYOUT), N(MMAP_PAGE_ZERO),
    N(SHORT_INODE), N(STICKY_TIMEOUTS),
};
/* clang-format on */

#define FLAGS(list)                       \
    {                                     \
        0, NULL, 0, list, ARRAY_LEN(list) \
    }
#define FIELD(mask, field, list)                             \
    {                                                        \
        mask, field, ARRAY_LEN(field), list, ARRAY_LEN(list) \
    }

static const struct argfmt_flags flag_sets[A_COUNT] = {
    [A_FD_FLAGS] = FLAGS(open_flags),
    [A_ACCESS_MODE] = FLAGS(access_mode),
    [A_AT_FLAGS] = FLAGS(at_flags),
    [A_FLOCK_OP] = FLAGS(flock_op),
    [A_RENAME_FLAGS] = FLAGS(rename_flags),
    [A_FALLOC_MODE] = FLAGS(falloc_mode),
    [A_XATTR_FLAGS] = FLAGS(xattr_flags),
    [A_RWF_FLAGS] = FLAGS(rwf_flags),
    [A_SPLICE_FLAGS] = FLAGS(splice_flags),
    [A_CLOSE_RANGE_FLAGS] = FLAGS(close_range_flags),
    [A_STATX_MASK] = FLAGS(statx_mask),
    [A_INOTIFY_MASK] = FLAGS(inotify_mask),
    [A_PROT] = FLAGS(prot),
    [A_MREMAP_FLAGS] = FLAGS(mremap_flags),
    [A_MSYNC_FLAGS] = FLAGS(msync_flags),
    [A_MLOCK_FLAGS] = FLAGS(mlock_flags),
    [A_MFD_FLAGS] = FLAGS(mfd_flags),
    [A_WAIT_OPTIONS] = FLAGS(wait_options),
    [A_TIMER_FLAGS] = FLAGS(timer_flags),
    [A_MSG_FLAGS] = FLAGS(msg_flags),
    [A_GRND_FLAGS] = FLAGS(grnd_flags),
    [A_PERSONALITY] = FLAGS(personality),
    [A_OPEN_FLAGS] = FIELD(LX_O_ACCMODE, access_field, open_flags),
    [A_MAP_FLAGS] = FIELD(LX_MAP_TYPE, map_type, map_flags),
    [A_FUTEX_OP] = FIELD(LX_FUTEX_CMD_MASK, futex_cmd, futex_flags),
    [A_SOCK_TYPE] = FIELD(LX_SOCK_TYPE_MASK, sock_field, sock_flags),
};

static void put_signo(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    const char *name = argfmt_signal((int)(uint32_t)v);
    if (name)
        buf_puts(f->out, name);
    else
        buf_printf(f->out, "%d", (int)(uint32_t)v);
}

/* The low byte is the signal that the parent gets. */
static void put_clone_flags(struct argfmt *f, unsigned i, uint64_t v)
{
    static const struct argfmt_flags set = FLAGS(clone_flags);
    argfmt_put_flags(f->out, &set, v & ~(uint64_t)LX_CSIGNAL);
    if ((v & LX_CSIGNAL) != 0) {
        buf_putc(f->out, '|');
        put_signo(f, i, v & LX_CSIGNAL);
    }
}

/* The low nine bits are a mode. */
static void put_ipc_flags(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    static const struct argfmt_flags set = FLAGS(ipc_flags);
    if ((v & ~0777ull) != 0) {
        argfmt_put_flags(f->out, &set, v & ~0777ull);
        buf_putc(f->out, '|');
    }
    buf_printf(f->out, "0%03o", (unsigned)(v & 0777));
}

static void put_rusage_who(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    argfmt_put_name(f->out, rusage_who, ARRAY_LEN(rusage_who), (uint64_t)(int32_t)(uint32_t)v);
}

static void put_clock(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    int32_t id = (int32_t)(uint32_t)v;
    if (id < 0)
        buf_printf(f->out, "CPU clock of %d", LX_CPUCLOCK_PID(id));
    else
        argfmt_put_name(f->out, clock, ARRAY_LEN(clock), (uint64_t)id);
}

/* What fcntl's argument is depends on the command before it. */
static void put_fcntl_arg(struct argfmt *f, unsigned i, uint64_t v)
{
    uint64_t cmd = f->args[i - 1];
    if (cmd == LX_F_SETFL)
        argfmt_put_flags(f->out, &flag_sets[A_OPEN_FLAGS], v);
    else if (cmd == LX_F_SETFD)
        buf_puts(f->out, v == LX_FD_CLOEXEC ? "FD_CLOEXEC" : "0");
    else
        argfmt_put_kind(f, i, A_HEX, v);
}

#define LIST(list)                                 \
    {                                              \
        .names = (list), .nnames = ARRAY_LEN(list) \
    }

static const struct argfmt_kind kinds[A_COUNT] = {
    [A_SIGNO] = {.fn = put_signo},
    [A_CLONE_FLAGS] = {.fn = put_clone_flags},
    [A_IPC_FLAGS] = {.fn = put_ipc_flags},
    [A_RUSAGE_WHO] = {.fn = put_rusage_who},
    [A_CLOCK] = {.fn = put_clock},
    [A_FCNTL_ARG] = {.fn = put_fcntl_arg},
    [A_WHENCE] = LIST(whence),
    [A_FCNTL_CMD] = LIST(fcntl_cmd),
    [A_IOCTL_CMD] = LIST(ioctl_cmd),
    [A_FADVICE] = LIST(fadvice),
    [A_MADVICE] = LIST(madvice),
    [A_SIG_HOW] = LIST(sig_how),
    [A_WAIT_ID_TYPE] = LIST(wait_id_type),
    [A_RLIMIT_RESOURCE] = LIST(rlimit_resource),
    [A_PRCTL_OP] = LIST(prctl_op),
    [A_ARCH_PRCTL_OP] = LIST(arch_prctl_op),
    [A_SCHED_POLICY] = LIST(sched_policy),
    [A_MEMBARRIER_CMD] = LIST(membarrier_cmd),
    [A_ITIMER_WHICH] = LIST(itimer_which),
    [A_EPOLL_OP] = LIST(epoll_op),
    [A_AF] = LIST(af),
    [A_SOCK_LEVEL] = LIST(sock_level),
    [A_SOCK_OPT] = LIST(sock_opt),
    [A_SHUT_HOW] = LIST(shut_how),
    [A_FD_FLAGS] = {.flags = &flag_sets[A_FD_FLAGS]},
    [A_ACCESS_MODE] = {.flags = &flag_sets[A_ACCESS_MODE]},
    [A_AT_FLAGS] = {.flags = &flag_sets[A_AT_FLAGS]},
    [A_FLOCK_OP] = {.flags = &flag_sets[A_FLOCK_OP]},
    [A_RENAME_FLAGS] = {.flags = &flag_sets[A_RENAME_FLAGS]},
    [A_FALLOC_MODE] = {.flags = &flag_sets[A_FALLOC_MODE]},
    [A_XATTR_FLAGS] = {.flags = &flag_sets[A_XATTR_FLAGS]},
    [A_RWF_FLAGS] = {.flags = &flag_sets[A_RWF_FLAGS]},
    [A_SPLICE_FLAGS] = {.flags = &flag_sets[A_SPLICE_FLAGS]},
    [A_CLOSE_RANGE_FLAGS] = {.flags = &flag_sets[A_CLOSE_RANGE_FLAGS]},
    [A_STATX_MASK] = {.flags = &flag_sets[A_STATX_MASK]},
    [A_INOTIFY_MASK] = {.flags = &flag_sets[A_INOTIFY_MASK]},
    [A_PROT] = {.flags = &flag_sets[A_PROT]},
    [A_MREMAP_FLAGS] = {.flags = &flag_sets[A_MREMAP_FLAGS]},
    [A_MSYNC_FLAGS] = {.flags = &flag_sets[A_MSYNC_FLAGS]},
    [A_MLOCK_FLAGS] = {.flags = &flag_sets[A_MLOCK_FLAGS]},
    [A_MFD_FLAGS] = {.flags = &flag_sets[A_MFD_FLAGS]},
    [A_WAIT_OPTIONS] = {.flags = &flag_sets[A_WAIT_OPTIONS]},
    [A_TIMER_FLAGS] = {.flags = &flag_sets[A_TIMER_FLAGS]},
    [A_MSG_FLAGS] = {.flags = &flag_sets[A_MSG_FLAGS]},
    [A_GRND_FLAGS] = {.flags = &flag_sets[A_GRND_FLAGS]},
    [A_PERSONALITY] = {.flags = &flag_sets[A_PERSONALITY]},
    [A_OPEN_FLAGS] = {.flags = &flag_sets[A_OPEN_FLAGS]},
    [A_MAP_FLAGS] = {.flags = &flag_sets[A_MAP_FLAGS]},
    [A_FUTEX_OP] = {.flags = &flag_sets[A_FUTEX_OP]},
    [A_SOCK_TYPE] = {.flags = &flag_sets[A_SOCK_TYPE]},
};

const struct argfmt_kind *argfmt_name_kind(enum syscall_arg_kind kind)
{
    const struct argfmt_kind *k = &kinds[kind];
    return k->fn || k->flags || k->names ? k : NULL;
}

/* -- errno and signals ------------------------------------------------------------------------ */

#define E(name) [name] = #name

/* clang-format off */
static const char *const errnos[] = {
    E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF),
    E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK), E(EBUSY), E(EEXIST),
    E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ENFILE), E(EMFILE), E(ENOTTY),
    E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS), E(EMLINK), E(EPIPE), E(EDOM), E(ERANGE),
    E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP), E(ENOMSG),
    E(EIDRM), E(ECHRNG), E(EL2NSYNC), E(EL3HLT), E(EL3RST), E(ELNRNG), E(EUNATCH), E(ENOCSI),
    E(EL2HLT), E(EBADE), E(EBADR), E(EXFULL), E(ENOANO), E(EBADRQC), E(EBADSLT), E(EBFONT),
    E(ENOSTR), E(ENODATA), E(ETIME), E(ENOSR), E(ENONET), E(ENOPKG), E(EREMOTE), E(ENOLINK),
    E(EADV), E(ESRMNT), E(ECOMM), E(EPROTO), E(EMULTIHOP), E(EDOTDOT), E(EBADMSG), E(EOVERFLOW),
    E(ENOTUNIQ), E(EBADFD), E(EREMCHG), E(ELIBACC), E(ELIBBAD), E(ELIBSCN), E(ELIBMAX),
    E(ELIBEXEC), E(EILSEQ), E(ERESTART), E(ESTRPIPE), E(EUSERS), E(ENOTSOCK), E(EDESTADDRREQ),
    E(EMSGSIZE), E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT), E(ESOCKTNOSUPPORT),
    E(EOPNOTSUPP), E(EPFNOSUPPORT), E(EAFNOSUPPORT), E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETDOWN),
    E(ENETUNREACH), E(ENETRESET), E(ECONNABORTED), E(ECONNRESET), E(ENOBUFS), E(EISCONN),
    E(ENOTCONN), E(ESHUTDOWN), E(ETOOMANYREFS), E(ETIMEDOUT), E(ECONNREFUSED), E(EHOSTDOWN),
    E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS), E(ESTALE), E(EUCLEAN), E(ENOTNAM), E(ENAVAIL),
    E(EISNAM), E(EREMOTEIO), E(EDQUOT), E(ENOMEDIUM), E(EMEDIUMTYPE), E(ECANCELED), E(ENOKEY),
    E(EKEYEXPIRED), E(EKEYREVOKED), E(EKEYREJECTED), E(EOWNERDEAD), E(ENOTRECOVERABLE),
    E(ERFKILL),
 [ERESTARTSYS] = "ERESTARTSYS", [ERESTARTNOINTR] = "ERESTARTNOINTR",
    [ERESTARTNOHAND] = "ERESTARTNOHAND", [ERESTART_RESTARTBLOCK] = "ERESTART_RESTARTBLOCK",
};

#define S(name) [LX_##name] = #name

static const char *const signals[] = {
    S(SIGHUP), S(SIGINT), S(SIGQUIT), S(SIGILL), S(SIGTRAP), S(SIGABRT), S(SIGBUS), S(SIGFPE),
    S(SIGKILL), S(SIGUSR1), S(SIGSEGV), S(SIGUSR2), S(SIGPIPE), S(SIGALRM), S(SIGTERM),
    S(SIGSTKFLT), S(SIGCHLD), S(SIGCONT), S(SIGSTOP), S(SIGTSTP), S(SIGTTIN), S(SIGTTOU),
    S(SIGURG), S(SIGXCPU), S(SIGXFSZ), S(SIGVTALRM), S(SIGPROF), S(SIGWINCH), S(SIGIO), S(SIGPWR),
    S(SIGSYS),
    [32] = "SIGRTMIN", "SIGRT_1", "SIGRT_2", "SIGRT_3", "SIGRT_4", "SIGRT_5", "SIGRT_6",
    "SIGRT_7", "SIGRT_8", "SIGRT_9", "SIGRT_10", "SIGRT_11", "SIGRT_12", "SIGRT_13", "SIGRT_14",
    "SIGRT_15", "SIGRT_16", "SIGRT_17", "SIGRT_18", "SIGRT_19", "SIGRT_20", "SIGRT_21",
    "SIGRT_22", "SIGRT_23", "SIGRT_24", "SIGRT_25", "SIGRT_26", "SIGRT_27", "SIGRT_28",
    "SIGRT_29", "SIGRT_30", "SIGRT_31", "SIGRT_32",
};
/* clang-format on */

const char *argfmt_errno(int err)
{
    return err > 0 && (size_t)err < ARRAY_LEN(errnos) ? errnos[err] : NULL;
}

const char *argfmt_signal(int signo)
{
    return signo > 0 && (size_t)signo < ARRAY_LEN(signals) ? signals[signo] : NULL;
}
