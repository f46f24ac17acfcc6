/*
 * seccomp.c: chains of filters, and what their answers do to a task. The programs themselves are
 * seccomp_bpf.c's.
 *
 * Which numbers a chain allows whatever the arguments are is worked out when a program is put on
 * top, so that most calls cost one bit.
 */
#include "sentry/kernel/seccomp.h"

#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/signal.h"

#include "lib/alloc.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/seccomp_bpf.h"
#include "sentry/kernel/signal.h"
#include "sentry/kernel/task.h"

enum {
    KNOWN_NUMBERS = 512,
    PROGRAM_COST = 4
};

struct seccomp_filter {
    uint32_t ref;
    uint32_t chain_insns, chain_length;   /* of this program and those below it */
    struct seccomp_filter *prev;          /* counted, NULL: the lowest */
    uint64_t allowed[KNOWN_NUMBERS / 64]; /* by the whole chain */
    size_t n;
    struct lx_sock_filter code[];
};

static bool number_allowed(const struct seccomp_filter *f, uint32_t nr)
{
    return nr < KNOWN_NUMBERS && f->allowed[nr / 64] >> nr % 64 & 1;
}

static void find_allowed(struct seccomp_filter *f)
{
    for (uint32_t nr = 0; nr < KNOWN_NUMBERS; nr++) {
        if ((f->prev == NULL || number_allowed(f->prev, nr)) && seccomp_bpf_allows(f->code, nr))
            f->allowed[nr / 64] |= 1ull << nr % 64;
    }
}

static uint64_t filter_size(size_t n)
{
    return sizeof(struct seccomp_filter) + n * sizeof(struct lx_sock_filter);
}

/* The limit of a chain counts what Linux makes of a program: three instructions in front, and two
 * for a return. */
static size_t host_size(const struct lx_sock_filter *code, size_t n)
{
    size_t size = n + 3;
    for (size_t i = 0; i < n; i++)
        size += (code[i].code & 0x07) == 0x06;
    return size;
}

int seccomp_filter_new(const struct lx_sock_filter *code, size_t n, struct seccomp_filter *prev,
                       struct seccomp_filter **ret_filter)
{
    if (n == 0 || n > SECCOMP_MAX_INSNS)
        return -EINVAL;
    int r = seccomp_bpf_check(code, n);
    if (r < 0)
        return r;
    size_t below = prev != NULL ? prev->chain_insns + PROGRAM_COST : 0;
    size_t cost = host_size(code, n);
    if (below + cost > SECCOMP_MAX_CHAIN_INSNS)
        return -ENOMEM;
    if (limit_charge(LIMIT_SECCOMP_BYTES, filter_size(n)) < 0)
        return -ENOMEM;
    struct seccomp_filter *f = kalloc(filter_size(n));
    if (f == NULL) {
        limit_release(LIMIT_SECCOMP_BYTES, filter_size(n));
        return -ENOMEM;
    }
    f->ref = 1;
    f->n = n;
    memcpy(f->code, code, n * sizeof(*code));
    f->prev = prev != NULL ? seccomp_filter_get(prev) : NULL;
    f->chain_insns = (uint32_t)(below + cost);
    f->chain_length = 1 + (prev != NULL ? prev->chain_length : 0);
    find_allowed(f);
    *ret_filter = f;
    return 0;
}

struct seccomp_filter *seccomp_filter_get(struct seccomp_filter *f)
{
    f->ref++;
    return f;
}

void seccomp_filter_put(struct seccomp_filter *f)
{
    while (f != NULL && --f->ref == 0) {
        struct seccomp_filter *prev = f->prev;
        limit_release(LIMIT_SECCOMP_BYTES, filter_size(f->n));
        kfree(f);
        f = prev;
    }
}

unsigned seccomp_filter_count(const struct seccomp_filter *f)
{
    return f != NULL ? f->chain_length : 0;
}

/* Actions compare as signed numbers: kill process first, allow last. */
uint32_t seccomp_filter_run(const struct seccomp_filter *f, const struct lx_seccomp_data *d)
{
    uint32_t best = LX_SECCOMP_RET_ALLOW;
    for (; f != NULL; f = f->prev) {
        uint32_t v = seccomp_bpf_run(f->code, d);
        if ((int32_t)(v & LX_SECCOMP_RET_ACTION_FULL) <
            (int32_t)(best & LX_SECCOMP_RET_ACTION_FULL))
            best = v;
    }
    return best;
}

/* -- tasks ---------------------------------------------------------------------------------------
 */

static bool is_ancestor(const struct seccomp_filter *old, const struct seccomp_filter *chain)
{
    while (chain != NULL && chain != old)
        chain = chain->prev;
    return chain == old;
}

static void set_filter(struct task *t, struct seccomp_filter *f)
{
    struct seccomp_filter *old = t->seccomp;
    t->seccomp = seccomp_filter_get(f);
    t->seccomp_mode = LX_SECCOMP_MODE_FILTER;
    seccomp_filter_put(old);
}

/* The id of a thread that cannot take over t's chain, 0: all can. */
static int unlike_thread(const struct task *t)
{
    struct task *other;
    list_for_each_entry (other, &t->group->threads, group_link) {
        if (other == t || other->pth == NULL)
            continue;
        if (other->seccomp_mode == LX_SECCOMP_MODE_STRICT ||
            !is_ancestor(other->seccomp, t->seccomp))
            return (int)other->pid;
    }
    return 0;
}

int seccomp_attach(struct task *t, const struct lx_sock_filter *code, size_t n, bool sync)
{
    struct seccomp_filter *f;
    struct task *other;
    if (n == 0 || n > SECCOMP_MAX_INSNS)
        return -EINVAL;
    if (!t->no_new_privs && !cred_capable(t->cred, LX_CAP_SYS_ADMIN))
        return -EACCES;
    if (t->seccomp_mode == LX_SECCOMP_MODE_STRICT)
        return -EINVAL;
    int r = seccomp_filter_new(code, n, t->seccomp, &f);
    if (r < 0)
        return r;
    r = sync ? unlike_thread(t) : 0;
    if (r == 0) {
        set_filter(t, f);
        list_for_each_entry (other, &t->group->threads, group_link) {
            if (sync && other != t && other->pth != NULL) {
                set_filter(other, f);
                other->no_new_privs |= t->no_new_privs;
            }
        }
    }
    seccomp_filter_put(f);
    return r;
}

int seccomp_set_strict(struct task *t)
{
    if (t->seccomp_mode == LX_SECCOMP_MODE_FILTER)
        return -EINVAL;
    t->seccomp_mode = LX_SECCOMP_MODE_STRICT;
    return 0;
}

/* -- a call --------------------------------------------------------------------------------------
 */

/* SIGSYS, as if the call had never been: its number is in rax again. */
static int64_t trap(struct task *t, uint32_t data)
{
    struct lx_siginfo info = {
        .si_signo = LX_SIGSYS, .si_code = LX_SYS_SECCOMP, .si_errno = (int32_t)data};
    info.si_call_addr = t->call.ip;
    info.si_syscall = (int32_t)t->call.nr;
    info.si_arch = LX_AUDIT_ARCH_X86_64;
    signal_force(t, &info);
    return (int64_t)t->call.nr;
}

/* The kernel's own codes for "start over" must not come from a program: the call would run. */
static int64_t refusal(uint32_t error)
{
    return error >= 512 && error <= 530 ? -EINTR : -(int64_t)error;
}

static enum seccomp_verdict act(struct task *t, bool traced, uint32_t v, int64_t *ret_val)
{
    uint32_t data = v & LX_SECCOMP_RET_DATA;
    switch (v & LX_SECCOMP_RET_ACTION_FULL) {
    case LX_SECCOMP_RET_ALLOW:
    case LX_SECCOMP_RET_LOG:
        return SECCOMP_GO;
    case LX_SECCOMP_RET_ERRNO:
        *ret_val = refusal(MIN(data, (uint32_t)LX_MAX_ERRNO));
        return SECCOMP_ANSWER;
    case LX_SECCOMP_RET_TRAP:
        *ret_val = trap(t, data);
        return SECCOMP_ANSWER;
    case LX_SECCOMP_RET_TRACE:
        if (traced)
            return SECCOMP_GO;
        if (t->ptrace != NULL && ptrace_seccomp(t, data))
            return SECCOMP_GONE;
        *ret_val = -ENOSYS;
        return SECCOMP_ANSWER;
    case LX_SECCOMP_RET_USER_NOTIF: /* there is no listener */
        *ret_val = -ENOSYS;
        return SECCOMP_ANSWER;
    case LX_SECCOMP_RET_KILL_THREAD:
        task_exit(t, LX_SIGSYS);
        return SECCOMP_GONE;
    default: /* KILL_PROCESS, and whatever nobody knows */
        thread_group_exit(t->group, LX_SIGSYS);
        return SECCOMP_GONE;
    }
}

static bool strict_allows(uint32_t nr)
{
    enum {
        NR_READ = 0,
        NR_WRITE = 1,
        NR_RT_SIGRETURN = 15,
        NR_EXIT = 60
    };
    return nr == NR_READ || nr == NR_WRITE || nr == NR_EXIT || nr == NR_RT_SIGRETURN;
}

enum seccomp_verdict seccomp_check(struct task *t, bool traced, int64_t *ret_val)
{
    if (t->seccomp_mode == LX_SECCOMP_MODE_DISABLED)
        return SECCOMP_GO;
    if (t->seccomp_mode == LX_SECCOMP_MODE_STRICT) {
        if (strict_allows((uint32_t)t->call.nr))
            return SECCOMP_GO;
        thread_group_exit(t->group, LX_SIGKILL);
        return SECCOMP_GONE;
    }
    if (number_allowed(t->seccomp, (uint32_t)t->call.nr))
        return SECCOMP_GO;
    struct lx_seccomp_data d = {
        .nr = (int32_t)t->call.nr, .arch = LX_AUDIT_ARCH_X86_64, .instruction_pointer = t->call.ip};
    memcpy(d.args, t->call.v, sizeof(d.args));
    return act(t, traced, seccomp_filter_run(t->seccomp, &d), ret_val);
}
