/* The small files of a process directory. */
#include "sentry/fs/proc/pidfiles.h"

#include <inttypes.h>
#include <string.h>

#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/task.h"

int proc_show_personality(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%08x\n", gi->task->personality);
}

int proc_show_comm(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%.*s\n", (int)sizeof(gi->task->comm), gi->task->comm);
}

int proc_store_comm(struct gen_inode *gi, const char *text, size_t len)
{
    struct task *t = gi->task, *caller = gen_caller();

    if (caller && caller->group != t->group)
        return -EINVAL;
    memset(t->comm, 0, sizeof(t->comm));
    memcpy(t->comm, text, strnlen(text, MIN(len, sizeof(t->comm) - 1)));
    return 0;
}

int proc_store_nothing(struct gen_inode *gi, const char *text, size_t len)
{
    (void)gi;
    (void)text;
    (void)len;
    return 0;
}

int proc_show_wchan(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_putc(out, '0');
}

int proc_show_schedstat(struct gen_inode *gi, struct buf *out)
{
    uint64_t ns =
        gi->flags & GEN_THREAD ? task_cputime(gi->task) : thread_group_cputime(gi->task->group);

    return buf_printf(out, "%" PRIu64 " 0 %" PRIu64 "\n", ns, gi->task->nsyscalls);
}

int proc_show_oom_score(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%d\n", MAX(0, 666 + gi->task->group->oom_score_adj));
}

int proc_show_oom_score_adj(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%d\n", gi->task->group->oom_score_adj);
}

int proc_store_oom_score_adj(struct gen_inode *gi, const char *text, size_t len)
{
    struct task *caller = gen_caller();
    bool negative = len > 0 && text[0] == '-';
    uint32_t v;
    int adj;

    text += negative;
    len -= negative;
    while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    if (!gen_parse_u32(text, len, &v) || v > 1000)
        return -EINVAL;
    adj = negative ? -(int)v : (int)v;
    if (adj < gi->task->group->oom_score_adj && caller &&
        !cred_capable(caller->cred, LX_CAP_SYS_RESOURCE))
        return -EACCES;
    gi->task->group->oom_score_adj = adj;
    return 0;
}

int proc_show_coredump_filter(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_puts(out, "00000033\n");
}

int proc_show_io(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_puts(out, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n"
                         "cancelled_write_bytes: 0\n");
}

int proc_show_id_map(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_puts(out, "         0          0 4294967295\n");
}

int proc_show_setgroups(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_puts(out, "allow\n");
}

int proc_show_syscall(struct gen_inode *gi, struct buf *out)
{
    const struct task *t = gi->task;
    const uint64_t *v = t->call.v;

    if (t == gen_caller() || !t->in_syscall)
        return buf_puts(out, "running\n");
    return buf_printf(out,
                      "%" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
                      " 0x%" PRIx64 " 0x%" PRIx64 " 0x0 0x%" PRIx64 "\n",
                      t->call.nr, v[0], v[1], v[2], v[3], v[4], v[5], t->call.ip);
}

/* There is no security module. */
int proc_show_attr(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    (void)out;
    return -EINVAL;
}

int proc_show_children(struct gen_inode *gi, struct buf *out)
{
    struct thread_group *child;

    if (gi->task != gi->task->group->leader)
        return 0;
    list_for_each_entry (child, &gi->task->group->children, sibling)
        (void)buf_printf(out, "%u ", child->pid);
    return 0;
}

int proc_show_timers(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    (void)out;
    return 0;
}

int proc_show_timerslack(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%" PRIu64 "\n", gi->task->timer_slack);
}

int proc_store_timerslack(struct gen_inode *gi, const char *text, size_t len)
{
    uint32_t v;

    while (len && text[len - 1] == '\n')
        len--;
    if (!gen_parse_u32(text, len, &v))
        return -EINVAL;
    gi->task->timer_slack = v ? v : gi->task->timer_slack_default;
    return 0;
}
