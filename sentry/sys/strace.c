/*
 * How this works: on entry every input argument is formatted into the task's buffer, one piece
 * after the other, with the ends remembered; output arguments leave an empty piece. On exit the
 * line is put together from the pieces, output arguments are read from guest memory now, and the
 * result is added. A call that never returns is printed from its pieces when the task ends.
 */
#include "sentry/sys/strace.h"

#include <inttypes.h>

#include "abi/errno.h"
#include "abi/signal.h"
#include "abi/syscalls.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/host/host.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/argfmt.h"

enum {
    CALL_LINE_MAX = 2 * ARGFMT_LINE_MAX
};

struct strace_state {
    bool active; /* between enter and exit */
    uint64_t nr;
    uint64_t args[6];
    struct buf in; /* pieces of the input arguments */
    size_t end[6]; /* where each piece ends */
};

static int64_t read_guest(void *ctx, gaddr_t src, void *dst, size_t n)
{
    struct task *t = ctx;
    if (!t->mm)
        return -EFAULT;
    return n == 0 ? 0 : copy_from_user_partial(t, dst, src, n);
}

static const struct syscall_desc *find(uint64_t nr)
{
    static const struct syscall_desc unknown = {
        .name = "syscall",
        .nargs = 6,
        .kinds = {A_HEX, A_HEX, A_HEX, A_HEX, A_HEX, A_HEX},
    };
    static const struct syscall_desc refused = {
        .nargs = 6,
        .kinds = {A_HEX, A_HEX, A_HEX, A_HEX, A_HEX, A_HEX},
    };
    const struct syscall_desc *d = syscall_find(nr);
    if (!d)
        return &unknown;
    return d->status == SYSCALL_REFUSED ? &refused : d;
}

static struct strace_state *state_of(struct task *t)
{
    if (!t->strace) {
        t->strace = kalloc(sizeof(*t->strace));
        if (t->strace)
            buf_init(&t->strace->in, ARGFMT_LINE_MAX);
    }
    return t->strace;
}

void strace_enter(struct task *t, uint64_t nr, const uint64_t args[6])
{
    struct strace_state *s = state_of(t);
    const struct syscall_desc *d = find(nr);
    if (!s)
        return;
    buf_reset(&s->in);
    s->nr = nr;
    s->active = true;
    for (unsigned i = 0; i < 6; i++)
        s->args[i] = args[i];
    struct argfmt f = {.out = &s->in, .read = read_guest, .ctx = t, .args = s->args};
    for (unsigned i = 0; i < d->nargs; i++) {
        if (d->kinds[i] != A_NONE && !argfmt_is_out(d->kinds[i]))
            argfmt_arg(&f, i, d->kinds[i]);
        s->end[i] = s->in.len;
    }
}

/* Appends "NAME(ARGS)"; with f->after the output arguments too, else their addresses. */
static void put_call(struct strace_state *s, struct argfmt *f)
{
    const struct syscall_desc *d = find(s->nr);
    const struct syscall_desc *named = syscall_find(s->nr);
    const char *sep = "";
    buf_printf(f->out, "%s(", named ? named->name : d->name);
    if (!named) {
        buf_printf(f->out, "%" PRIu64, s->nr);
        sep = ", ";
    }
    for (unsigned i = 0; i < d->nargs; i++) {
        size_t start = i > 0 ? s->end[i - 1] : 0;
        if (d->kinds[i] == A_NONE)
            continue;
        buf_puts(f->out, sep);
        sep = ", ";
        if (!argfmt_is_out(d->kinds[i]))
            buf_append(f->out, s->in.data + start, s->end[i] - start);
        else if (f->after)
            argfmt_arg(f, i, d->kinds[i]);
        else
            buf_printf(f->out, "0x%" PRIx64, s->args[i]);
    }
    buf_putc(f->out, ')');
}

/* Calls whose result is an address. */
static bool returns_address(uint64_t nr)
{
    return nr == 9 || nr == 12 || nr == 25 || nr == 30; /* mmap brk mremap shmat */
}

static void put_result(struct strace_state *s, struct argfmt *f)
{
    const struct syscall_desc *d = find(s->nr);
    int64_t r = f->result;
    const char *name = r < 0 && r >= -LX_MAX_ERRNO ? argfmt_errno((int)-r) : NULL;
    if (name && r <= -ERESTARTSYS && r >= -ERESTART_RESTARTBLOCK)
        buf_printf(f->out, " = ? %s", name);
    else if (name)
        buf_printf(f->out, " = -1 %s", name);
    else
        buf_printf(f->out, returns_address(s->nr) ? " = 0x%" PRIx64 : " = %" PRId64, r);
    if (d->nargs > 1 && d->kinds[0] == A_POLLFDS && r > 0) {
        buf_puts(f->out, " (");
        argfmt_arg(f, 0, A_POLLFDS);
        buf_putc(f->out, ')');
    }
}

static void put_line(struct buf *line)
{
    buf_putc(line, '\n');
    host_strace_write(buf_cstr(line), line->len);
    buf_done(line);
}

void strace_exit(struct task *t, int64_t result)
{
    struct strace_state *s = t->strace;
    struct buf line;
    if (!s || !s->active)
        return;
    s->active = false;
    buf_init(&line, CALL_LINE_MAX);
    struct argfmt f = {.out = &line,
                       .read = read_guest,
                       .ctx = t,
                       .args = s->args,
                       .after = true,
                       .result = result};
    /* A fixed mapping that the host made itself: dispatch knows only that it succeeded. */
    if (s->nr == 9 && result == 0)
        f.result = (int64_t)s->args[0];
    buf_printf(&line, "%" PRIu32 " ", t->pid);
    put_call(s, &f);
    put_result(s, &f);
    put_line(&line);
}

void strace_signal(struct task *t, const struct lx_siginfo *info)
{
    struct buf line;
    const char *name = argfmt_signal(info->si_signo);
    buf_init(&line, ARGFMT_LINE_MAX);
    buf_printf(&line, "%" PRIu32 " --- %s {si_code=%" PRId32, t->pid, name ? name : "?",
               info->si_code);
    if (info->si_code > 0 && info->si_signo != LX_SIGCHLD &&
        (LX_SIGMASK(info->si_signo) & LX_SIGSET_SYNC) != 0)
        buf_printf(&line, ", si_addr=0x%" PRIx64 "} ---", info->si_addr);
    else
        buf_printf(&line, ", si_pid=%" PRId32 ", si_uid=%" PRIu32 "} ---", info->si_pid,
                   info->si_uid);
    put_line(&line);
}

void strace_gone(struct task *t)
{
    struct strace_state *s = t->strace;
    if (!s)
        return;
    if (s->active) {
        struct buf line;
        buf_init(&line, CALL_LINE_MAX);
        struct argfmt f = {.out = &line, .read = read_guest, .ctx = t, .args = s->args};
        buf_printf(&line, "%" PRIu32 " ", t->pid);
        put_call(s, &f);
        buf_puts(&line, " = ?");
        put_line(&line);
    }
    buf_done(&s->in);
    kfree(s);
    t->strace = NULL;
}

void strace_finish(void)
{
    struct thread_group *tg;
    struct task *t;
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        list_for_each_entry (t, &tg->threads, group_link)
            strace_gone(t);
    }
}
