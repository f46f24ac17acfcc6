/*
 * The numbers of a process: stat, status, statm, limits. Fields that this kernel has no value for
 * (faults, context switches) are zero, as they are on Linux without the respective option.
 */
#include <inttypes.h>
#include <string.h>

#include "abi/mman.h"
#include "abi/rlimit.h"
#include "abi/sched.h"
#include "abi/signal.h"

#include "lib/checked.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"

#define TICK_NS ((uint64_t)NSEC_PER_SEC / 100)

static uint32_t ppid_of(const struct thread_group *tg)
{
    return tg->parent ? tg->parent->pid : 0;
}

static uint32_t pgid_of(const struct thread_group *tg)
{
    return tg->pgrp ? tg->pgrp->id : 0;
}

static const struct session *session_of(const struct thread_group *tg)
{
    return tg->pgrp ? tg->pgrp->session : NULL;
}

static void put_comm(struct buf *out, const struct task *t, const char *esc)
{
    for (size_t i = 0; i < sizeof(t->comm) && t->comm[i]; i++) {
        char c = t->comm[i];

        if (esc && c == '\n')
            (void)buf_puts(out, "\\n");
        else if (esc && c == '\\')
            (void)buf_puts(out, "\\\\");
        else
            (void)buf_putc(out, c);
    }
}

/* Which signals are ignored and caught. */
static void signal_masks(const struct task *t, uint64_t *ret_ignored, uint64_t *ret_caught)
{
    *ret_ignored = *ret_caught = 0;
    if (!t->sighand)
        return;
    for (int s = 1; s <= 64; s++) {
        uint64_t handler = t->sighand->action[s - 1].sa_handler;

        if (handler == 1)
            *ret_ignored |= sig_bit(s);
        else if (handler != 0)
            *ret_caught |= sig_bit(s);
    }
}

static uint64_t cpu_ticks(const struct gen_inode *gi)
{
    uint64_t ns =
        gi->flags & GEN_THREAD ? task_cputime(gi->task) : thread_group_cputime(gi->task->group);

    return ns / TICK_NS;
}

static uint64_t start_time_of(const struct gen_inode *gi)
{
    return gi->flags & GEN_THREAD ? gi->task->start_time : gi->task->group->start_time;
}

static void put_stat_mm(struct buf *out, const struct gen_inode *gi, const struct mm *mm, bool show)
{
    struct mm_resident rss = {0, 0, 0};
    uint64_t limit = gi->task->group->rlimit[LX_RLIMIT_RSS].rlim_cur;

    if (mm)
        proc_rss(proc_mm(gi), &rss);
    (void)buf_printf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64, mm ? mm->total : 0,
                     (rss.anon + rss.file + rss.shmem) / 4096, limit);
    if (mm && show)
        (void)buf_printf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64, mm->start_code, mm->end_code,
                         mm->start_stack);
    else
        (void)buf_puts(out, mm ? " 1 1 0" : " 0 0 0");
}

static int priority_of(const struct task *t)
{
    return t->policy == LX_SCHED_FIFO || t->policy == LX_SCHED_RR ? -1 - t->rt_priority
                                                                  : 20 + t->nice;
}

static void put_stat_tail(struct buf *out, const struct gen_inode *gi, const struct mm *mm,
                          bool show)
{
    const struct task *t = gi->task;
    uint64_t ignored, caught;

    signal_masks(t, &ignored, &caught);
    (void)buf_printf(out, " 0 0 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                     t->pending.set & INT32_MAX, t->blocked & INT32_MAX, ignored & INT32_MAX,
                     caught & INT32_MAX);
    (void)buf_printf(out, " 0 0 0 %d %u %d %d 0 0 0",
                     gi->flags & GEN_THREAD && t != t->group->leader ? -1 : t->group->exit_signal,
                     t->pid % proc_ncpus(), t->rt_priority, t->policy);
    if (mm && show)
        (void)buf_printf(out,
                         " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                         " %" PRIu64 " %d\n",
                         mm->start_data, mm->end_data, mm->brk_start, mm->arg_start, mm->arg_end,
                         mm->env_start, mm->env_end, t->group->exit_code);
    else
        (void)buf_puts(out, " 0 0 0 0 0 0 0 0\n");
}

int proc_show_stat(struct gen_inode *gi, struct buf *out)
{
    const struct task *t = gi->task;
    const struct thread_group *tg = t->group;
    const struct session *s = session_of(tg);
    const struct mm *mm = proc_mm(gi);
    bool show = !gen_caller() || proc_may_access(gen_caller(), t);

    (void)buf_printf(out, "%u (", t->pid);
    put_comm(out, t, NULL);
    (void)buf_printf(out, ") %c %u %u %u %d %d %u", task_state_letter(t), ppid_of(tg), pgid_of(tg),
                     s ? s->id : 0, s && s->tty ? (int)tty_dev(s->tty) : 0,
                     s && s->tty ? (int)s->foreground_pgid : -1, 0x400000u);
    (void)buf_printf(out, " 0 0 0 0 %" PRIu64 " 0 %" PRIu64 " 0 %d %d %u 0 %" PRIu64, cpu_ticks(gi),
                     gi->flags & GEN_THREAD ? 0 : tg->cpu_children / TICK_NS, priority_of(t),
                     t->nice, tg->nthreads ? tg->nthreads : 1, start_time_of(gi) / TICK_NS);
    put_stat_mm(out, gi, mm, show);
    put_stat_tail(out, gi, mm, show);
    return 0;
}

/* Sizes of stack, program text and libraries. */
struct sizes {
    uint64_t stack, exe, lib, data;
};

static void mm_sizes(struct mm *mm, struct sizes *ret_s)
{
    struct sizes s = {0, 0, 0, 0};

    for (struct vma *v = mm_first(mm); v; v = vma_next(v)) {
        uint64_t len = v->end - v->start;

        if (v->flags & VMA_SPECIAL)
            continue;
        if (v->flags & VMA_STACK)
            s.stack += len;
        else if ((v->prot & LX_PROT_WRITE) && !(v->flags & VMA_SHARED))
            s.data += len;
        if ((v->prot & LX_PROT_EXEC) && !(v->prot & LX_PROT_WRITE))
            s.lib += len;
    }
    s.exe = MIN(page_up(mm->end_code) - page_down(mm->start_code), s.lib);
    s.lib -= s.exe;
    *ret_s = s;
}

static void put_kb(struct buf *out, const char *name, uint64_t bytes)
{
    (void)buf_printf(out, "%s\t%8" PRIu64 " kB\n", name, bytes >> 10);
}

static void put_status_mm(struct buf *out, struct mm *mm)
{
    struct mm_resident rss;
    struct sizes s;

    proc_rss(mm, &rss);
    mm_sizes(mm, &s);
    put_kb(out, "VmPeak:", mm->total);
    put_kb(out, "VmSize:", mm->total);
    put_kb(out, "VmLck:", mm->locked);
    put_kb(out, "VmPin:", 0);
    put_kb(out, "VmHWM:", rss.anon + rss.file + rss.shmem);
    put_kb(out, "VmRSS:", rss.anon + rss.file + rss.shmem);
    put_kb(out, "RssAnon:", rss.anon);
    put_kb(out, "RssFile:", rss.file);
    put_kb(out, "RssShmem:", rss.shmem);
    put_kb(out, "VmData:", s.data);
    put_kb(out, "VmStk:", s.stack);
    put_kb(out, "VmExe:", s.exe);
    put_kb(out, "VmLib:", s.lib);
    put_kb(out, "VmPTE:", 4096 * (1 + (rss.anon + rss.file) / (512ul * 4096)));
    put_kb(out, "VmSwap:", 0);
    put_kb(out, "HugetlbPages:", 0);
    (void)buf_puts(out, "CoreDumping:\t0\nTHP_enabled:\t1\nuntag_mask:\t0xffffffffffffffff\n");
}

static void put_ids(struct buf *out, const struct gen_inode *gi)
{
    const struct task *t = gi->task;
    const struct thread_group *tg = t->group;
    const struct session *s = session_of(tg);
    struct task *live = proc_live_task(gi);
    const struct cred *c = t->cred;

    (void)buf_printf(out, "Tgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t%u\nTracerPid:\t%u\n", tg->pid,
                     t->pid, ppid_of(tg), task_traced(t) ? t->ptrace->tracer->pid : 0);
    (void)buf_printf(out, "Uid:\t%u\t%u\t%u\t%u\n", c->uid, c->euid, c->suid, c->fsuid);
    (void)buf_printf(out, "Gid:\t%u\t%u\t%u\t%u\n", c->gid, c->egid, c->sgid, c->fsgid);
    (void)buf_printf(out, "FDSize:\t%u\nGroups:\t", live ? live->files->nslots : 0);
    for (uint32_t i = 0; i < cred_ngroups(c); i++)
        (void)buf_printf(out, "%u ", c->groups->gid[i]);
    (void)buf_printf(out, "%s\nNStgid:\t%u\nNSpid:\t%u\nNSpgid:\t%u\nNSsid:\t%u\nKthread:\t0\n",
                     c->groups ? "" : " ", tg->pid, t->pid, pgid_of(tg), s ? s->id : 0);
}

static const char *state_word(char letter)
{
    switch (letter) {
    case 'R':
        return "R (running)";
    case 'S':
        return "S (sleeping)";
    case 'D':
        return "D (disk sleep)";
    case 'T':
        return "T (stopped)";
    case 't':
        return "t (tracing stop)";
    case 'X':
        return "X (dead)";
    default:
        return "Z (zombie)";
    }
}

static void put_signals(struct buf *out, const struct task *t)
{
    const struct thread_group *tg = t->group;
    uint64_t ignored, caught;

    signal_masks(t, &ignored, &caught);
    (void)buf_printf(out, "Threads:\t%u\nSigQ:\t%" PRIu64 "/%" PRIu64 "\n",
                     tg->nthreads ? tg->nthreads : 1, limit_used(LIMIT_SIGNALS),
                     tg->rlimit[LX_RLIMIT_SIGPENDING].rlim_cur);
    (void)buf_printf(out,
                     "SigPnd:\t%016" PRIx64 "\nShdPnd:\t%016" PRIx64 "\nSigBlk:\t%016" PRIx64 "\n",
                     t->pending.set, tg->shared_pending.set, t->blocked);
    (void)buf_printf(out, "SigIgn:\t%016" PRIx64 "\nSigCgt:\t%016" PRIx64 "\n", ignored, caught);
}

static void put_caps(struct buf *out, const struct cred *c)
{
    (void)buf_printf(out, "CapInh:\t%016" PRIx64 "\nCapPrm:\t%016" PRIx64 "\n", c->cap_inheritable,
                     c->cap_permitted);
    (void)buf_printf(out,
                     "CapEff:\t%016" PRIx64 "\nCapBnd:\t%016" PRIx64 "\nCapAmb:\t%016" PRIx64 "\n",
                     c->cap_effective, c->cap_bounding, c->cap_ambient);
}

static uint64_t allowed_cpus(const struct task *t)
{
    uint32_t n = proc_ncpus();
    uint64_t all = n >= 64 ? ~0ull : (1ull << n) - 1;

    return t->affinity & all ? t->affinity & all : all;
}

int proc_show_status(struct gen_inode *gi, struct buf *out)
{
    struct task *t = gi->task, *live = proc_live_task(gi);
    struct mm *mm = proc_mm(gi);

    (void)buf_puts(out, "Name:\t");
    put_comm(out, t, "\n\\");
    (void)buf_putc(out, '\n');
    if (live)
        (void)buf_printf(out, "Umask:\t%04o\n", live->fs->umask);
    (void)buf_printf(out, "State:\t%s\n", state_word(task_state_letter(t)));
    put_ids(out, gi);
    if (mm)
        put_status_mm(out, mm);
    put_signals(out, t);
    put_caps(out, t->cred);
    (void)buf_printf(out, "NoNewPrivs:\t%d\nSeccomp:\t%d\nSeccomp_filters:\t%u\n", t->no_new_privs,
                     t->seccomp_mode, seccomp_filter_count(t->seccomp));
    (void)buf_puts(out, "Speculation_Store_Bypass:\tthread vulnerable\n"
                        "SpeculationIndirectBranch:\tconditional enabled\n");
    (void)buf_printf(out, "Cpus_allowed:\t%" PRIx64 "\nCpus_allowed_list:\t", allowed_cpus(t));
    proc_put_cpu_list(out, allowed_cpus(t));
    (void)buf_puts(out, "\nMems_allowed:\t1\nMems_allowed_list:\t0\n");
    (void)buf_printf(out, "voluntary_ctxt_switches:\t%" PRIu64 "\nnonvoluntary_ctxt_switches:\t0\n",
                     t->nsyscalls);
    (void)buf_puts(out, "x86_Thread_features:\t\nx86_Thread_features_locked:\t\n");
    return 0;
}

int proc_show_statm(struct gen_inode *gi, struct buf *out)
{
    struct mm *mm = proc_mm(gi);
    struct mm_resident rss;
    struct sizes s;

    if (!mm)
        return buf_puts(out, "0 0 0 0 0 0 0\n");
    proc_rss(mm, &rss);
    mm_sizes(mm, &s);
    return buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " 0\n",
                      mm->total / 4096, (rss.anon + rss.file + rss.shmem) / 4096,
                      (rss.file + rss.shmem) / 4096, s.exe / 4096, (s.data + s.stack) / 4096);
}

static void put_limit(struct buf *out, uint64_t v)
{
    if (v == LX_RLIM_INFINITY)
        (void)buf_printf(out, "%-20s ", "unlimited");
    else
        (void)buf_printf(out, "%-20" PRIu64 " ", v);
}

int proc_show_limits(struct gen_inode *gi, struct buf *out)
{
    static const struct {
        const char *name, *unit;
    } rows[LX_RLIM_NLIMITS] = {
        [LX_RLIMIT_CPU] = {"Max cpu time", "seconds"},
        [LX_RLIMIT_FSIZE] = {"Max file size", "bytes"},
        [LX_RLIMIT_DATA] = {"Max data size", "bytes"},
        [LX_RLIMIT_STACK] = {"Max stack size", "bytes"},
        [LX_RLIMIT_CORE] = {"Max core file size", "bytes"},
        [LX_RLIMIT_RSS] = {"Max resident set", "bytes"},
        [LX_RLIMIT_NPROC] = {"Max processes", "processes"},
        [LX_RLIMIT_NOFILE] = {"Max open files", "files"},
        [LX_RLIMIT_MEMLOCK] = {"Max locked memory", "bytes"},
        [LX_RLIMIT_AS] = {"Max address space", "bytes"},
        [LX_RLIMIT_LOCKS] = {"Max file locks", "locks"},
        [LX_RLIMIT_SIGPENDING] = {"Max pending signals", "signals"},
        [LX_RLIMIT_MSGQUEUE] = {"Max msgqueue size", "bytes"},
        [LX_RLIMIT_NICE] = {"Max nice priority", NULL},
        [LX_RLIMIT_RTPRIO] = {"Max realtime priority", NULL},
        [LX_RLIMIT_RTTIME] = {"Max realtime timeout", "us"},
    };

    (void)buf_printf(out, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit",
                     "Units");
    for (size_t i = 0; i < LX_RLIM_NLIMITS; i++) {
        const struct lx_rlimit *l = &gi->task->group->rlimit[i];

        (void)buf_printf(out, "%-25s ", rows[i].name);
        put_limit(out, l->rlim_cur);
        put_limit(out, l->rlim_max);
        if (rows[i].unit)
            (void)buf_printf(out, "%-10s\n", rows[i].unit);
        else
            (void)buf_putc(out, '\n');
    }
    return 0;
}
