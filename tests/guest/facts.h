#pragma once
/*
 * What every guest program includes. A program prints facts, one a line, that must be the same
 * natively and in the sandbox: no addresses, pids, times. facts_start gives both the same
 * surroundings: user 65534, an empty working directory on a tmpfs, umask 022, a deadline.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* The programs pass bad addresses and lengths on purpose. */
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/wait.h>

static inline const char *errno_name(int e)
{
    static char other[24];
    /* clang-format off */
    switch (e) {
#define NAME(x)                                                                                    \
    case x:                                                                                        \
        return #x
        NAME(EPERM); NAME(ENOENT); NAME(ESRCH); NAME(EINTR); NAME(EIO); NAME(ENXIO); NAME(E2BIG);
        NAME(ENOEXEC); NAME(EBADF); NAME(ECHILD); NAME(EAGAIN); NAME(ENOMEM); NAME(EACCES);
        NAME(EFAULT); NAME(ENOTBLK); NAME(EBUSY); NAME(EEXIST); NAME(EXDEV); NAME(ENODEV);
        NAME(ENOTDIR); NAME(EISDIR); NAME(EINVAL); NAME(ENFILE); NAME(EMFILE); NAME(ENOTTY);
        NAME(ETXTBSY); NAME(EFBIG); NAME(ENOSPC); NAME(ESPIPE); NAME(EROFS); NAME(EMLINK);
        NAME(EPIPE); NAME(EDOM); NAME(ERANGE); NAME(EDEADLK); NAME(ENAMETOOLONG); NAME(ENOLCK);
        NAME(ENOSYS); NAME(ENOTEMPTY); NAME(ELOOP); NAME(ENOMSG); NAME(EIDRM); NAME(ENODATA);
        NAME(EOVERFLOW); NAME(ENOTSOCK); NAME(EDESTADDRREQ); NAME(EMSGSIZE); NAME(EPROTOTYPE);
        NAME(ENOPROTOOPT); NAME(EPROTONOSUPPORT); NAME(ESOCKTNOSUPPORT); NAME(EOPNOTSUPP);
        NAME(EAFNOSUPPORT); NAME(EADDRINUSE); NAME(EADDRNOTAVAIL); NAME(ECONNREFUSED);
        NAME(ECONNRESET); NAME(EISCONN); NAME(ENOTCONN); NAME(ETIMEDOUT); NAME(EALREADY);
        NAME(EINPROGRESS); NAME(ECANCELED); NAME(EOWNERDEAD); NAME(ENOTRECOVERABLE);
        NAME(ETOOMANYREFS); NAME(EILSEQ); NAME(EBADMSG); NAME(ESHUTDOWN);
#undef NAME
    /* clang-format on */
    default:
        snprintf(other, sizeof(other), "errno %d", e);
        return other;
    }
}

static inline __attribute__((format(printf, 1, 2))) void say(const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
    va_end(ap);
    if (n > (int)sizeof(line) - 2)
        n = (int)sizeof(line) - 2;
    line[n] = '\n';
    if (write(1, line, (size_t)n + 1) < 0)
        _exit(99);
}

static inline void fact_result(const char *label, long r, int e, bool with_value)
{
    if (r < 0)
        say("%s: %s", label, errno_name(e));
    else if (with_value)
        say("%s: %ld", label, r);
    else
        say("%s: ok", label);
}

/* "label: ok" or "label: ENOENT" */
#define FACT(label, expr)                          \
    do {                                           \
        errno = 0;                                 \
        long fact_r_ = (long)(expr);               \
        fact_result(label, fact_r_, errno, false); \
    } while (0)
/* the same with the number instead of ok */
#define VALUE(label, expr)                        \
    do {                                          \
        errno = 0;                                \
        long fact_r_ = (long)(expr);              \
        fact_result(label, fact_r_, errno, true); \
    } while (0)
#define YES(label, expr) say("%s: %s", label, (expr) ? "yes" : "no")

/* A step that must work for the rest to make sense. */
#define NEED(expr)                                                      \
    ({                                                                  \
        long need_r_ = (long)(expr);                                    \
        if (need_r_ < 0) {                                              \
            say("line %d: %s: %s", __LINE__, #expr, errno_name(errno)); \
            exit(98);                                                   \
        }                                                               \
        need_r_;                                                        \
    })

static inline int make_file(const char *name, const char *text)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        exit(97);
    return fd;
}

static inline const char *status_text(int st)
{
    static char text[48];
    if (WIFEXITED(st))
        snprintf(text, sizeof(text), "exited %d", WEXITSTATUS(st));
    else if (WIFSIGNALED(st))
        snprintf(text, sizeof(text), "killed by %d", WTERMSIG(st));
    else if (WIFSTOPPED(st))
        snprintf(text, sizeof(text), "stopped by %d", WSTOPSIG(st));
    else
        snprintf(text, sizeof(text), "%s", WIFCONTINUED(st) ? "continued" : "odd");
    return text;
}

/* Waits for pid and says how it ended. */
static inline void say_end(const char *label, pid_t pid)
{
    int st = 0;
    if (waitpid(pid, &st, 0) != pid)
        say("%s: wait failed: %s", label, errno_name(errno));
    else
        say("%s: %s", label, status_text(st));
}

static inline void nap(int ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000l};
    while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
        ;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st, (void)type, (void)f;
    (void)remove(path);
    return 0;
}

/* Empties and removes the directory that facts_start made. */
static inline void remove_work_dir(void)
{
    char dir[PATH_MAX];
    if (!getcwd(dir, sizeof(dir)))
        return;
    (void)chmod(".", 0755);
    (void)!chdir("/");
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void facts_start(void)
{
    char dir[64];
    struct statfs fs;
    bool tmp = statfs("/tmp", &fs) == 0 && fs.f_type == 0x01021994;
    snprintf(dir, sizeof(dir), "%s/facts-XXXXXX", tmp ? "/tmp" : "/dev/shm");
    umask(022);
    if (!mkdtemp(dir) || chmod(dir, 0755) < 0)
        exit(96);
    if (geteuid() == 0) {
        if (chown(dir, 65534, 65534) < 0 || setgroups(0, NULL) < 0 ||
            setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
            exit(95);
        prctl(PR_SET_DUMPABLE, 1);
    }
    /* A mistake that forks for ever must not take the machine with it. */
    struct rlimit few = {400, 400};
    setrlimit(RLIMIT_NPROC, &few);
    if (chdir(dir) < 0)
        exit(94);
    alarm(220);
}
