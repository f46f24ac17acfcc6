/*
 * The calls of the servers of the image and of volumes, and of the process that waits for one of
 * them. Everything else kills. Writing goes to the log only.
 */
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "platform/confine/filters/filters.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static const int server_calls[] = {
    /* requests and replies */
    SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(close),
    /* the trees */
    SCMP_SYS(openat2), SCMP_SYS(statx), SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(lseek),
    SCMP_SYS(fstatfs), SCMP_SYS(fchdir), SCMP_SYS(lgetxattr), SCMP_SYS(llistxattr),
    /* memory (mmap: see common_rules), time for the log, the end */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(clock_gettime),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};
/* Only where a volume may be written. */
static const int change_calls[] = {SCMP_SYS(mkdirat),   SCMP_SYS(unlinkat),    SCMP_SYS(renameat2),
                                   SCMP_SYS(symlinkat), SCMP_SYS(fchmod),      SYS_fchmodat2,
                                   SCMP_SYS(fchownat),  SCMP_SYS(utimensat),   SCMP_SYS(fsync),
                                   SCMP_SYS(lsetxattr), SCMP_SYS(lremovexattr)};
/* Sanitizers make calls of their own, in threads of their own. */
static const int sanitizer_calls[] = {
    SCMP_SYS(mprotect), SCMP_SYS(sigaltstack), SCMP_SYS(futex),    SCMP_SYS(sched_yield),
    SCMP_SYS(getpid),   SCMP_SYS(gettid),      SCMP_SYS(tgkill),   SCMP_SYS(prctl),
    SCMP_SYS(mmap),     SCMP_SYS(clone),       SCMP_SYS(ptrace),   SCMP_SYS(wait4),
    SCMP_SYS(readlink), SCMP_SYS(getrlimit),   SCMP_SYS(prlimit64)};

static int common_rules(scmp_filter_ctx f)
{
    int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
                             SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO, 0));
    /* Anonymous private memory for malloc: nothing executable, no file. */
    if (r == 0 && !SENTRY_SANITIZED)
        r = seccomp_rule_add(
            f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
            SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_PRIVATE, MAP_ANONYMOUS | MAP_PRIVATE));
    if (r == 0 && SENTRY_SANITIZED)
        r = filter_allow(f, sanitizer_calls, ARRAY_LEN(sanitizer_calls));
    return r;
}

int filter_gofer_rules(scmp_filter_ctx f)
{
    int r = filter_allow(f, server_calls, ARRAY_LEN(server_calls));
    return r == 0 ? common_rules(f) : r;
}

static int allow_node(scmp_filter_ctx f, mode_t type)
{
    return seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mknodat), 1,
                            SCMP_A2(SCMP_CMP_MASKED_EQ, S_IFMT, type));
}

int filter_volumes_rules(scmp_filter_ctx f)
{
    int r = filter_gofer_rules(f);
    if (r == 0)
        r = filter_allow(f, change_calls, ARRAY_LEN(change_calls));
    if (r == 0)
        r = allow_node(f, S_IFIFO);
    if (r == 0)
        r = allow_node(f, S_IFSOCK);
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(linkat), 1, SCMP_A4(SCMP_CMP_EQ, 0, 0));
    return r;
}
