/* Helpers of proc: see proc.h. */
#include <inttypes.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"

bool proc_may_access(const struct task *caller, const struct task *target)
{
    return !target || ptrace_may_access(caller, target, PTRACE_MODE_FSCREDS);
}

struct task *proc_live_task(const struct gen_inode *gi)
{
    struct task *t = gi->task, *other;

    if (!t)
        return NULL;
    if (t->files && t->fs)
        return t;
    if (gi->flags & GEN_THREAD)
        return NULL;
    list_for_each_entry (other, &t->group->threads, group_link) {
        if (other->files && other->fs)
            return other;
    }
    return NULL;
}

struct mm *proc_mm(const struct gen_inode *gi)
{
    struct task *t = proc_live_task(gi);

    return t ? t->mm : NULL;
}

uint64_t proc_mm_id(const struct gen_inode *gi)
{
    const struct mm *mm = proc_mm(gi);

    return mm ? mm->id : 0;
}

const struct path *proc_root_path(void)
{
    struct task *t = gen_caller();

    return t && t->fs ? &t->fs->root : NULL;
}

static int put_escaped(struct buf *out, const char *s, size_t len, const char *esc)
{
    for (size_t i = 0; i < len; i++) {
        if (esc && strchr(esc, s[i]))
            (void)buf_printf(out, "\\%03o", (unsigned)(uint8_t)s[i]);
        else
            (void)buf_putc(out, s[i]);
    }
    return buf_error(out);
}

int proc_put_path(struct buf *out, const struct path *p, const char *esc)
{
    struct path whole = {kernel.root_mount, kernel.root_mount ? kernel.root_mount->root : NULL};
    const struct path *root = proc_root_path();
    char *name = kalloc(LX_PATH_MAX + 32);
    int64_t n;
    int r;

    if (!name)
        return -ENOMEM;
    n = path_name(p, root ? root : &whole, name, LX_PATH_MAX + 32);
    r = n < 0 ? (int)n : put_escaped(out, name, (size_t)n, esc);
    kfree(name);
    return r;
}

int proc_put_file_name(struct buf *out, const struct file *f, const char *esc)
{
    if (f->anon_name && f->anon_name[0] == '[')
        return buf_printf(out, "anon_inode:%s", f->anon_name);
    if (f->anon_name)
        return buf_printf(out, "%s:[%" PRIu64 "]", f->anon_name, f->inode->ino);
    return proc_put_path(out, &f->path, esc);
}

void proc_rss(struct mm *mm, struct mm_resident *ret_rss)
{
    struct mm_resident rss = {0, 0, 0};
    uint64_t total = proc_memory_total();

    if (mm)
        mm_resident(mm, &rss);
    rss.anon = MIN(rss.anon, total / 2);
    rss.shmem = MIN(rss.shmem, total / 4);
    rss.file = MIN(rss.file, total / 8);
    *ret_rss = rss;
}

uint64_t proc_memory_total(void)
{
    return page_down(kernel.memory_limit ? kernel.memory_limit : (uint64_t)512 << 20);
}

uint64_t proc_memory_used(void)
{
    uint64_t used = ((uint64_t)8 << 20) + kalloc_balance() + limit_used(LIMIT_DISK_BYTES);
    uint64_t total = proc_memory_total();

    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        struct mm_resident rss;

        proc_rss(tg->leader ? tg->leader->mm : NULL, &rss);
        used += rss.anon;
    }
    return MIN(used, total - total / 16);
}

uint32_t proc_ncpus(void)
{
    uint32_t n = kernel.cpus ? kernel.cpus : host_ncpus();

    return n < 1 ? 1 : MIN(n, 64u);
}

void proc_put_cpu_list(struct buf *out, uint64_t mask)
{
    const char *sep = "";

    for (uint32_t i = 0; i < 64; i++) {
        uint32_t j = i;

        if (!(mask >> i & 1))
            continue;
        while (j < 63 && (mask >> (j + 1) & 1))
            j++;
        if (i == j)
            (void)buf_printf(out, "%s%u", sep, i);
        else
            (void)buf_printf(out, "%s%u-%u", sep, i, j);
        sep = ",";
        i = j;
    }
}
