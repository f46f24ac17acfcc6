/*
 * Structures behind pointer arguments, for --strace. How this works: one function per kind copies
 * the structure from the guest (argfmt_fetch prints the bare address when that fails) and prints
 * the members that say something. Kinds marked `out` run when the call has returned; after an error
 * they show the address only, since nothing was written.
 */
#include "lib/compiler.h"

#include <inttypes.h>
#include <string.h>

#include "abi/file.h"
#include "abi/rlimit.h"
#include "abi/signal.h"
#include "abi/time.h"

#include "sentry/sys/argfmt_private.h"

bool argfmt_nothing_written(struct argfmt *f, uint64_t v)
{
    if (f->result >= 0)
        return false;
    argfmt_put_addr(f->out, v);
    return true;
}

/* -- files ------------------------------------------------------------------------------------- */

static const char *file_type(uint32_t mode)
{
    switch (mode & LX_S_IFMT) {
    case LX_S_IFREG:
        return "S_IFREG";
    case LX_S_IFDIR:
        return "S_IFDIR";
    case LX_S_IFLNK:
        return "S_IFLNK";
    case LX_S_IFCHR:
        return "S_IFCHR";
    case LX_S_IFBLK:
        return "S_IFBLK";
    case LX_S_IFIFO:
        return "S_IFIFO";
    case LX_S_IFSOCK:
        return "S_IFSOCK";
    default:
        return "0";
    }
}

static void put_stat(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_stat st;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &st, sizeof(st)))
        return;
    buf_printf(f->out, "{st_mode=%s|0%03" PRIo32 ", ", file_type(st.st_mode),
               st.st_mode & LX_S_IALLUGO);
    if (LX_S_ISCHR(st.st_mode) || LX_S_ISBLK(st.st_mode))
        buf_printf(f->out, "st_rdev=%" PRIu32 ":%" PRIu32 ", ...}", lx_major(st.st_rdev),
                   lx_minor(st.st_rdev));
    else
        buf_printf(f->out, "st_size=%" PRId64 ", ...}", st.st_size);
}

static void put_statx(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_statx st;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &st, sizeof(st)))
        return;
    buf_printf(f->out, "{stx_mask=0x%" PRIx32 ", stx_mode=%s|0%03o, stx_size=%" PRIu64 ", ...}",
               st.stx_mask, file_type(st.stx_mode), st.stx_mode & LX_S_IALLUGO, st.stx_size);
}

static void put_statfs(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_statfs st;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &st, sizeof(st)))
        return;
    buf_printf(f->out, "{f_type=0x%" PRIx64 ", f_blocks=%" PRIu64 ", f_bfree=%" PRIu64 ", ...}",
               (uint64_t)st.f_type, st.f_blocks, st.f_bfree);
}

static void put_open_how(struct argfmt *f, unsigned i, uint64_t v)
{
    struct lx_open_how how;
    if (!argfmt_fetch(f, v, &how, sizeof(how)))
        return;
    buf_puts(f->out, "{flags=");
    argfmt_put_kind(f, i, A_OPEN_FLAGS, how.flags);
    buf_printf(f->out, ", mode=0%03" PRIo64 ", resolve=0x%" PRIx64 "}", how.mode, how.resolve);
}

void argfmt_put_segments(struct argfmt *f, uint64_t v, uint64_t count, uint64_t total)
{
    struct lx_iovec iov;
    buf_putc(f->out, '[');
    for (uint64_t n = 0; n < count; n++) {
        if (n > 0)
            buf_puts(f->out, ", ");
        if (n == ARGFMT_LIST_MAX) {
            buf_puts(f->out, "...");
            break;
        }
        if (!argfmt_fetch(f, v + n * sizeof(iov), &iov, sizeof(iov)))
            break;
        uint64_t part = MIN(iov.iov_len, total);
        total -= part;
        buf_puts(f->out, "{iov_base=");
        argfmt_put_memory(f, iov.iov_base.v, part);
        buf_printf(f->out, ", iov_len=%" PRIu64 "}", iov.iov_len);
    }
    buf_putc(f->out, ']');
}

static void put_iovec(struct argfmt *f, unsigned i, uint64_t v)
{
    argfmt_put_segments(f, v, i < 5 ? (uint32_t)f->args[i + 1] : 0, UINT64_MAX);
}

static void put_iovec_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        argfmt_put_segments(f, v, i < 5 ? (uint32_t)f->args[i + 1] : 0, (uint64_t)f->result);
}

/* -- time -------------------------------------------------------------------------------------- */

/* n times in a row at v; unit is the name of the small part, its digits follow from it. */
static void put_times(struct argfmt *f, uint64_t v, unsigned n, const char *open, bool micro)
{
    struct lx_timespec ts[2];
    if (!argfmt_fetch(f, v, ts, n * sizeof(ts[0])))
        return;
    buf_puts(f->out, open);
    for (unsigned k = 0; k < n; k++) {
        if (!micro && ts[k].tv_nsec == LX_UTIME_NOW)
            buf_puts(f->out, "UTIME_NOW");
        else if (!micro && ts[k].tv_nsec == LX_UTIME_OMIT)
            buf_puts(f->out, "UTIME_OMIT");
        else
            buf_printf(f->out, "{tv_sec=%" PRId64 ", tv_%csec=%" PRId64 "}", ts[k].tv_sec,
                       micro ? 'u' : 'n', ts[k].tv_nsec);
        if (k + 1 < n)
            buf_puts(f->out, ", ");
    }
    if (open[0] != '\0')
        buf_putc(f->out, open[0] == '[' ? ']' : '}');
}

static void put_timespec(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 1, "", false);
}

static void put_timespec_pair(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 2, "[", false);
}

static void put_timeval(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 1, "", true);
}

static void put_timeval_pair(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 2, "[", true);
}

/* Interval first, then value. */
static void put_itimerspec(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 2, "{", false);
}

static void put_itimerval(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_times(f, v, 2, "{", true);
}

static void put_timespec_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_timespec(f, i, v);
}

static void put_timeval_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_timeval(f, i, v);
}

static void put_itimerspec_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_itimerspec(f, i, v);
}

static void put_itimerval_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_itimerval(f, i, v);
}

/* -- signals ----------------------------------------------------------------------------------- */

void argfmt_put_sigset(struct buf *out, uint64_t set)
{
    const char *sep = "";
    bool inverted = __builtin_popcountll(set) > 32;
    if (inverted) {
        set = ~set;
        buf_putc(out, '~');
    }
    buf_putc(out, '[');
    for (int signo = 1; signo <= LX_NSIG; signo++) {
        const char *name = argfmt_signal(signo);
        if ((set & LX_SIGMASK(signo)) == 0 || !name)
            continue;
        buf_printf(out, "%s%s", sep, strncmp(name, "SIG", 3) == 0 ? name + 3 : name);
        sep = " ";
    }
    buf_putc(out, ']');
}

static void put_sigset(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    lx_sigset set;
    if (argfmt_fetch(f, v, &set, sizeof(set)))
        argfmt_put_sigset(f->out, set);
}

static void put_sigset_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_sigset(f, i, v);
}

static void put_sigaction(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    static const struct argfmt_name names[] = {
        {LX_SA_NOCLDSTOP, "SA_NOCLDSTOP"}, {LX_SA_NOCLDWAIT, "SA_NOCLDWAIT"},
        {LX_SA_SIGINFO, "SA_SIGINFO"},     {LX_SA_RESTORER, "SA_RESTORER"},
        {LX_SA_ONSTACK, "SA_ONSTACK"},     {LX_SA_RESTART, "SA_RESTART"},
        {LX_SA_NODEFER, "SA_NODEFER"},     {LX_SA_RESETHAND, "SA_RESETHAND"},
    };
    static const struct argfmt_flags flags = {0, NULL, 0, names, ARRAY_LEN(names)};
    struct lx_sigaction sa;
    if (!argfmt_fetch(f, v, &sa, sizeof(sa)))
        return;
    buf_puts(f->out, "{sa_handler=");
    if (sa.sa_handler == LX_SIG_DFL)
        buf_puts(f->out, "SIG_DFL");
    else if (sa.sa_handler == LX_SIG_IGN)
        buf_puts(f->out, "SIG_IGN");
    else
        argfmt_put_addr(f->out, sa.sa_handler);
    buf_puts(f->out, ", sa_mask=");
    argfmt_put_sigset(f->out, sa.sa_mask);
    buf_puts(f->out, ", sa_flags=");
    argfmt_put_flags(f->out, &flags, sa.sa_flags);
    buf_putc(f->out, '}');
}

static void put_sigaction_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_sigaction(f, i, v);
}

static void put_siginfo(struct argfmt *f, unsigned i, uint64_t v)
{
    struct lx_siginfo si;
    if (!argfmt_fetch(f, v, &si, sizeof(si)))
        return;
    buf_puts(f->out, "{si_signo=");
    argfmt_put_kind(f, i, A_SIGNO, (uint32_t)si.si_signo);
    buf_printf(f->out, ", si_code=%" PRId32 ", si_pid=%" PRId32 ", si_uid=%" PRIu32 "}", si.si_code,
               si.si_pid, si.si_uid);
}

static void put_siginfo_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_siginfo(f, i, v);
}

static void put_sigstack(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_stack ss;
    if (argfmt_fetch(f, v, &ss, sizeof(ss)))
        buf_printf(f->out, "{ss_sp=0x%" PRIx64 ", ss_flags=0x%" PRIx32 ", ss_size=%" PRIu64 "}",
                   ss.ss_sp, (uint32_t)ss.ss_flags, ss.ss_size);
}

static void put_sigstack_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_sigstack(f, i, v);
}

static void put_sigevent(struct argfmt *f, unsigned i, uint64_t v)
{
    struct lx_sigevent ev;
    if (!argfmt_fetch(f, v, &ev, sizeof(ev)))
        return;
    buf_puts(f->out, "{sigev_signo=");
    argfmt_put_kind(f, i, A_SIGNO, (uint32_t)ev.sigev_signo);
    buf_printf(f->out, ", sigev_notify=%" PRId32 "}", ev.sigev_notify);
}

/* -- processes --------------------------------------------------------------------------------- */

static void put_wait_status(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    int32_t st;
    if (f->result <= 0 || v == 0) {
        argfmt_put_addr(f->out, v);
        return;
    }
    if (!argfmt_fetch(f, v, &st, sizeof(st)))
        return;
    int low = st & 0x7f;
    int high = (st >> 8) & 0xff;
    const char *name = argfmt_signal(low == 0x7f ? high : low);
    if (st == 0xffff)
        buf_puts(f->out, "[continued]");
    else if (low == 0)
        buf_printf(f->out, "[exited %d]", high);
    else
        buf_printf(f->out, "[%s %s%s]", low == 0x7f ? "stopped" : "killed", name ? name : "?",
                   low != 0x7f && (st & 0x80) != 0 ? " core" : "");
}

static void put_rusage(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_rusage ru;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &ru, sizeof(ru)))
        return;
    buf_printf(f->out,
               "{ru_utime={%" PRId64 ", %" PRId64 "}, ru_stime={%" PRId64 ", %" PRId64 "}, ...}",
               ru.ru_utime.tv_sec, ru.ru_utime.tv_usec, ru.ru_stime.tv_sec, ru.ru_stime.tv_usec);
}

static void put_limit_value(struct buf *out, uint64_t v)
{
    if (v == LX_RLIM_INFINITY)
        buf_puts(out, "RLIM_INFINITY");
    else
        buf_printf(out, "%" PRIu64, v);
}

static void put_rlimit(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_rlimit rl;
    if (!argfmt_fetch(f, v, &rl, sizeof(rl)))
        return;
    buf_puts(f->out, "{rlim_cur=");
    put_limit_value(f->out, rl.rlim_cur);
    buf_puts(f->out, ", rlim_max=");
    put_limit_value(f->out, rl.rlim_max);
    buf_putc(f->out, '}');
}

static void put_rlimit_out(struct argfmt *f, unsigned i, uint64_t v)
{
    if (!argfmt_nothing_written(f, v))
        put_rlimit(f, i, v);
}

static void put_utsname(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_utsname un;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &un, sizeof(un)))
        return;
    buf_puts(f->out, "{sysname=");
    argfmt_bytes(f->out, un.sysname, strnlen(un.sysname, sizeof(un.sysname)));
    buf_puts(f->out, ", nodename=");
    argfmt_bytes(f->out, un.nodename, strnlen(un.nodename, sizeof(un.nodename)));
    buf_puts(f->out, ", ...}");
}

static void put_sysinfo(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    struct lx_sysinfo si;
    if (argfmt_nothing_written(f, v) || !argfmt_fetch(f, v, &si, sizeof(si)))
        return;
    buf_printf(f->out, "{uptime=%" PRId64 ", totalram=%" PRIu64 ", procs=%u, ...}", si.uptime,
               si.totalram, si.procs);
}

static const struct argfmt_kind kinds[A_COUNT] = {
    [A_STAT_OUT] = {.fn = put_stat, .out = true},
    [A_STATX_OUT] = {.fn = put_statx, .out = true},
    [A_STATFS_OUT] = {.fn = put_statfs, .out = true},
    [A_OPEN_HOW] = {.fn = put_open_how},
    [A_IOVEC] = {.fn = put_iovec},
    [A_IOVEC_OUT] = {.fn = put_iovec_out, .out = true},
    [A_TIMESPEC] = {.fn = put_timespec},
    [A_TIMESPEC_OUT] = {.fn = put_timespec_out, .out = true},
    [A_TIMESPEC2] = {.fn = put_timespec_pair},
    [A_TIMEVAL] = {.fn = put_timeval},
    [A_TIMEVAL_OUT] = {.fn = put_timeval_out, .out = true},
    [A_TIMEVAL2] = {.fn = put_timeval_pair},
    [A_ITIMERSPEC] = {.fn = put_itimerspec},
    [A_ITIMERSPEC_OUT] = {.fn = put_itimerspec_out, .out = true},
    [A_ITIMERVAL] = {.fn = put_itimerval},
    [A_ITIMERVAL_OUT] = {.fn = put_itimerval_out, .out = true},
    [A_SIGSET] = {.fn = put_sigset},
    [A_SIGSET_OUT] = {.fn = put_sigset_out, .out = true},
    [A_SIGACTION] = {.fn = put_sigaction},
    [A_SIGACTION_OUT] = {.fn = put_sigaction_out, .out = true},
    [A_SIGINFO] = {.fn = put_siginfo},
    [A_SIGINFO_OUT] = {.fn = put_siginfo_out, .out = true},
    [A_SIGSTACK] = {.fn = put_sigstack},
    [A_SIGSTACK_OUT] = {.fn = put_sigstack_out, .out = true},
    [A_SIGEVENT] = {.fn = put_sigevent},
    [A_WAIT_STATUS_OUT] = {.fn = put_wait_status, .out = true},
    [A_RUSAGE_OUT] = {.fn = put_rusage, .out = true},
    [A_RLIMIT] = {.fn = put_rlimit},
    [A_RLIMIT_OUT] = {.fn = put_rlimit_out, .out = true},
    [A_UTSNAME_OUT] = {.fn = put_utsname, .out = true},
    [A_SYSINFO_OUT] = {.fn = put_sysinfo, .out = true},
};

const struct argfmt_kind *argfmt_struct_kind(enum syscall_arg_kind kind)
{
    return kinds[kind].fn ? &kinds[kind] : NULL;
}
