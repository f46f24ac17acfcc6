/*
 * The calls that the sentry really makes, in named groups; any other kills it.
 *
 * No call here opens a path, makes a process, a socket or a namespace, or maps executable memory.
 */
#include <fcntl.h>
#include <termios.h>

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "platform/confine/filters/filters.h"

/* Guests: memory, signals, their end. */
static const int guest_calls[] = {
    SCMP_SYS(process_vm_readv),  SCMP_SYS(process_vm_writev), SCMP_SYS(tgkill), SCMP_SYS(kill),
    SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_open),
};
/* Descriptors that were handed to us: streams, image files, memfds, the gofer's socket. */
static const int file_calls[] = {
    SCMP_SYS(read),         SCMP_SYS(write),           SCMP_SYS(readv),     SCMP_SYS(writev),
    SCMP_SYS(pread64),      SCMP_SYS(pwrite64),        SCMP_SYS(preadv),    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),      SCMP_SYS(pwritev2),        SCMP_SYS(lseek),     SCMP_SYS(close),
    SCMP_SYS(fstat),        SCMP_SYS(newfstatat),      SCMP_SYS(statx),     SCMP_SYS(dup),
    SCMP_SYS(fsync),        SCMP_SYS(fdatasync),       SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
    SCMP_SYS(memfd_create), SCMP_SYS(sendmsg),         SCMP_SYS(recvmsg),   SCMP_SYS(sendto),
    SCMP_SYS(recvfrom),     SCMP_SYS(copy_file_range), SCMP_SYS(shutdown),  SCMP_SYS(accept4),
};
static const int wait_calls[] = {
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),
};
static const int self_calls[] = {
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rseq),
    SCMP_SYS(getrusage),
    SCMP_SYS(uname),
};
/* What the sanitizers' runtime asks for, also while it reports. */
static const int sanitizer_calls[] = {
    SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigaction), SCMP_SYS(mmap),      SCMP_SYS(mprotect),
    SCMP_SYS(prctl),       SCMP_SYS(readlink),     SCMP_SYS(getrlimit), SCMP_SYS(prlimit64),
    SCMP_SYS(openat),      SCMP_SYS(clone),        SCMP_SYS(wait4),     SCMP_SYS(ptrace),
    SCMP_SYS(pipe2),       SCMP_SYS(ioctl),
};

static int allow_ioctls(scmp_filter_ctx f)
{
    static const unsigned long requests[] = {
        SECCOMP_IOCTL_NOTIF_RECV,
        SECCOMP_IOCTL_NOTIF_SEND,
        SECCOMP_IOCTL_NOTIF_ID_VALID,
        SECCOMP_IOCTL_NOTIF_ADDFD,
        TCGETS,
        TIOCGWINSZ,
        FIONREAD,
    };
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(requests) && r == 0; i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                             SCMP_A1_32(SCMP_CMP_EQ, requests[i], 0));
    return r;
}

/* Descriptor flags may be read and duplicates made, status flags never changed. */
static int allow_fcntl(scmp_filter_ctx f)
{
    static const int ops[] = {F_GETFL, F_GETFD, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS};
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(ops) && r == 0; i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                             SCMP_A1_32(SCMP_CMP_EQ, (unsigned)ops[i], 0));
    return r;
}

static int allow_memory(scmp_filter_ctx f)
{
    int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return r;
}

int filter_sentry_rules(scmp_filter_ctx f)
{
    int r = filter_allow(f, guest_calls, ARRAY_LEN(guest_calls));
    if (r == 0)
        r = filter_allow(f, file_calls, ARRAY_LEN(file_calls));
    if (r == 0)
        r = filter_allow(f, wait_calls, ARRAY_LEN(wait_calls));
    if (r == 0)
        r = filter_allow(f, self_calls, ARRAY_LEN(self_calls));
    /* Sanitizers need some of the calls whole; the argument rules are those of an ordinary build.
     */
    if (r == 0 && SENTRY_SANITIZED)
        r = filter_allow(f, sanitizer_calls, ARRAY_LEN(sanitizer_calls));
    if (r == 0 && !SENTRY_SANITIZED)
        r = allow_memory(f);
    if (r == 0 && !SENTRY_SANITIZED)
        r = allow_ioctls(f);
    if (r == 0)
        r = allow_fcntl(f);
    return r;
}
