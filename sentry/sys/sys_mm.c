/*
 * sys_mm.c: memory calls: decode, then mm/. What the calling thread can do itself (munmap,
 * mprotect, madvise, an anonymous mapping at a fixed address) it does, after the tree was changed.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/mman.h"

#include "platform/gate_policy.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/usercopy.h"
#include "sentry/mm/vma_tree.h"
#include "sentry/sys/sys.h"

/* Larger requests go through the platform, which learns whether the host refuses. */
#define BY_THREAD_MAX (1ull << 30)

/* The range is about to be unmapped by another thread's own call: that thread is made to show
 * itself. */
static struct sys_res wait_quarantine(struct task *t)
{
    struct quarantine *q;
    list_for_each_entry (q, &t->mm->quarantine, link) {
        if (q->task->pth != NULL && q->task->state == TASK_RUNNING)
            plat_ops->interrupt(q->task->pth);
    }
    int r = task_wait_on(t, &t->mm->quarantine_wait, 0);
    return r < 0 ? sys_ret(r) : task_block_killable(t);
}

static struct sys_res map_result(struct task *t, int64_t r)
{
    return r == MM_QUARANTINED ? wait_quarantine(t) : sys_ret(r);
}

/* A fixed private anonymous mapping: one trip through the gate instead of the platform's helper. */
static bool mmap_by_thread(const struct mmap_args *m, const struct sys_args *a,
                           struct host_call *ret_call)
{
    const uint64_t want = LX_MAP_FIXED | LX_MAP_PRIVATE | LX_MAP_ANONYMOUS;
    return (m->flags & ~(uint64_t)LX_MAP_NORESERVE) == want && m->len <= BY_THREAD_MAX &&
           host_call_mmap_fixed_anon(a->v[0], a->v[1], a->v[2], a->v[3], a->v[4], a->v[5],
                                     ret_call) == 0;
}

struct sys_res sys_mmap(struct task *t, const struct sys_args *a)
{
    struct mmap_args m = {
        .addr = a->v[0], .len = a->v[1], .prot = a->v[2], .flags = a->v[3], .offset = a->v[5]};
    struct host_call call;

    if (!page_aligned(m.offset))
        return sys_ret(-EINVAL);
    if (!(m.flags & LX_MAP_ANONYMOUS)) {
        m.file = fd_get(t, (int)(uint32_t)a->v[4]);
        if (m.file == NULL)
            return sys_ret(-EBADF);
    } else {
        m.offset = 0;
    }
    if (mmap_by_thread(&m, a, &call)) {
        int err = mm_mmap_by_thread(t, t->mm, &m);
        return err < 0 ? map_result(t, err) : sys_host(t, &call);
    }
    int64_t r = mm_mmap(t, t->mm, &m);
    file_put(m.file);
    return map_result(t, r);
}

struct sys_res sys_munmap(struct task *t, const struct sys_args *a)
{
    struct host_call call;
    uint64_t addr = a->v[0], end;

    int r = mm_unmap_prepare(t->mm, addr, a->v[1], &end);
    if (r < 0)
        return sys_ret(r);
    if (host_call_munmap(addr, a->v[1], &call) < 0)
        return sys_ret(-EINVAL);
    /* Alone in the address space nobody else can map there meanwhile. */
    if (t->mm->ref > 1 && quarantine_add(t->mm, t, addr, end) < 0)
        return sys_ret(mm_munmap(t, t->mm, addr, end - addr));
    vma_carve(t->mm, addr, end);
    return sys_host(t, &call);
}

/* PROT_GROWSDOWN: from the start of the stack on; the call that the thread would make is another.
 */
static int64_t protect_stack(struct mm *mm, uint64_t addr, uint64_t len, uint64_t prot)
{
    const uint64_t grows = LX_PROT_GROWSDOWN | LX_PROT_GROWSUP;
    if ((prot & grows) == grows || !page_aligned(addr))
        return -EINVAL;
    const struct vma *v = mm_find(mm, addr);
    if (v == NULL)
        return -ENOMEM;
    if (!(v->flags & (VMA_STACK | VMA_GROWSDOWN)) || (prot & LX_PROT_GROWSUP))
        return -EINVAL;
    uint64_t start = v->start, n = addr - start + page_up(len);
    prot &= ~grows;
    int r = mm_protect(mm, start, n, prot);
    return r < 0 ? r : plat_ops->protect(mm->as, start, n, (uint32_t)prot & 7);
}

/*
 * The host's part may come late, and must not meet what another thread has mapped there meanwhile:
 * it would make a mapping of a sealed or read-only file writable. False: not without the platform.
 */
static bool protect_later(struct task *t, uint64_t addr, uint64_t end, uint64_t prot)
{
    if (t->mm->ref <= 1 || !(prot & LX_PROT_WRITE))
        return true;
    return quarantine_add(t->mm, t, addr, end) == 0;
}

struct sys_res sys_mprotect(struct task *t, const struct sys_args *a)
{
    struct host_call call;
    uint64_t addr = a->v[0], len = a->v[1], prot = a->v[2];

    if (prot & (LX_PROT_GROWSDOWN | LX_PROT_GROWSUP))
        return sys_ret(protect_stack(t->mm, addr, len, prot));
    int r = mm_protect(t->mm, addr, len, prot);
    if (r < 0 || len == 0)
        return sys_ret(r);
    if ((prot & LX_PROT_SEM) || host_call_mprotect(addr, len, (uint32_t)prot, &call) < 0 ||
        !protect_later(t, addr, addr + page_up(len), prot))
        return sys_ret(plat_ops->protect(t->mm->as, addr, page_up(len), (uint32_t)prot & 7));
    return sys_host(t, &call);
}

struct sys_res sys_madvise(struct task *t, const struct sys_args *a)
{
    struct host_call call;
    bool host;
    int advice = sys_int(a, 2);
    int r = mm_advise(t->mm, a->v[0], a->v[1], advice, &host);
    if (r < 0 || !host)
        return sys_ret(r);
    if (host_call_madvise(a->v[0], a->v[1], advice, &call) < 0)
        return sys_ret(-EINVAL);
    return sys_host(t, &call);
}

struct sys_res sys_mremap(struct task *t, const struct sys_args *a)
{
    return map_result(t, mm_remap(t, t->mm, a->v[0], a->v[1], a->v[2], a->v[3], a->v[4]));
}

struct sys_res sys_brk(struct task *t, const struct sys_args *a)
{
    return sys_ret((int64_t)mm_brk(t, t->mm, a->v[0]));
}

struct sys_res sys_msync(struct task *t, const struct sys_args *a)
{
    uint64_t addr = a->v[0], end = addr + page_up(a->v[1]);
    uint32_t flags = sys_uint(a, 2);

    if (flags & ~(uint32_t)(LX_MS_ASYNC | LX_MS_INVALIDATE | LX_MS_SYNC))
        return sys_ret(-EINVAL);
    if (!page_aligned(addr) || (flags & (LX_MS_ASYNC | LX_MS_SYNC)) == (LX_MS_ASYNC | LX_MS_SYNC))
        return sys_ret(-EINVAL);
    if (end < addr || (a->v[1] != 0 && end == addr))
        return sys_ret(-ENOMEM);
    if (end == addr)
        return sys_ret(0);
    if (!vma_covers(t->mm, addr, end))
        return sys_ret(-ENOMEM);
    for (struct vma *v = mm_find(t->mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        if ((flags & LX_MS_INVALIDATE) && (v->flags & VMA_LOCKED))
            return sys_ret(-EBUSY);
        if ((flags & LX_MS_SYNC) && (v->flags & VMA_SHARED) && v->file != NULL &&
            v->file->ops->fsync != NULL) {
            int r = v->file->ops->fsync(v->file, true);
            if (r < 0)
                return sys_ret(r);
        }
    }
    return sys_ret(0);
}

/* Residency is not told: every mapped page counts as resident. */
struct sys_res sys_mincore(struct task *t, const struct sys_args *a)
{
    static uint8_t ones[PAGE_SIZE];
    uint64_t addr = a->v[0], end = addr + page_up(a->v[1]);
    uint64_t pages = page_up(a->v[1]) / PAGE_SIZE;

    if (!page_aligned(addr))
        return sys_ret(-EINVAL);
    if (end < addr || end > LX_TASK_SIZE)
        return sys_ret(-ENOMEM);
    if (pages > 0 && !vma_covers(t->mm, addr, end))
        return sys_ret(-ENOMEM);
    for (size_t i = 0; i < sizeof(ones); i++)
        ones[i] = 1;
    for (uint64_t done = 0; done < pages;) {
        size_t n = (size_t)MIN(pages - done, (uint64_t)sizeof(ones));
        if (copy_to_user(t, GADDR(a->v[2] + done), ones, n) < 0)
            return sys_ret(-EFAULT);
        done += n;
    }
    return sys_ret(0);
}

/* -- locking: accounting only ------------------------------------------------------------------ */

static uint64_t locked_in(struct mm *mm, uint64_t start, uint64_t end, bool want)
{
    uint64_t n = 0;
    for (struct vma *v = mm_find_from(mm, start); v != NULL && v->start < end; v = vma_next(v)) {
        if (((v->flags & VMA_LOCKED) != 0) == want && !(v->flags & VMA_SPECIAL))
            n += MIN(v->end, end) - MAX(v->start, start);
    }
    return n;
}

static int lock_range(struct task *t, uint64_t addr, uint64_t len, bool lock)
{
    struct mm *mm = t->mm;
    uint64_t start = page_down(addr), end;

    if (lock && mm_may_lock(t, mm, 0) == -EPERM)
        return -EPERM;
    if (!checked_add(addr, len, &end) || end > LX_TASK_SIZE)
        return checked_add(addr, len, &end) ? -ENOMEM : -EINVAL;
    end = page_up(end);
    if (len == 0)
        return 0;
    if (lock && mm_may_lock(t, mm, locked_in(mm, start, end, false)) < 0)
        return -ENOMEM;
    if (!vma_covers(mm, start, end))
        return -ENOMEM;
    int r = vma_split_at(mm, start);
    if (r == 0)
        r = vma_split_at(mm, end);
    if (r < 0)
        return r;
    for (struct vma *v = mm_find_from(mm, start); v != NULL && v->start < end; v = vma_next(v)) {
        if (!(v->flags & VMA_SPECIAL))
            vma_set_flags(mm, v, lock ? v->flags | VMA_LOCKED : v->flags & ~(uint32_t)VMA_LOCKED);
    }
    vma_merge_range(mm, start, end);
    return 0;
}

struct sys_res sys_mlock(struct task *t, const struct sys_args *a)
{
    return sys_ret(lock_range(t, a->v[0], a->v[1], true));
}

struct sys_res sys_mlock2(struct task *t, const struct sys_args *a)
{
    if (sys_uint(a, 2) & ~(uint32_t)LX_MLOCK_ONFAULT)
        return sys_ret(-EINVAL);
    return sys_ret(lock_range(t, a->v[0], a->v[1], true));
}

struct sys_res sys_munlock(struct task *t, const struct sys_args *a)
{
    return sys_ret(lock_range(t, a->v[0], a->v[1], false));
}

static void lock_all(struct mm *mm, bool lock)
{
    for (struct vma *v = mm_first(mm); v != NULL; v = vma_next(v)) {
        if (!(v->flags & VMA_SPECIAL))
            vma_set_flags(mm, v, lock ? v->flags | VMA_LOCKED : v->flags & ~(uint32_t)VMA_LOCKED);
    }
}

struct sys_res sys_mlockall(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 0);
    if (flags == 0 || (flags & ~(uint32_t)(LX_MCL_CURRENT | LX_MCL_FUTURE | LX_MCL_ONFAULT)) ||
        flags == LX_MCL_ONFAULT)
        return sys_ret(-EINVAL);
    if (mm_may_lock(t, t->mm, 0) == -EPERM)
        return sys_ret(-EPERM);
    if ((flags & LX_MCL_CURRENT) &&
        mm_may_lock(t, t->mm, t->mm->total - MIN(t->mm->total, t->mm->locked)) < 0)
        return sys_ret(-ENOMEM);
    t->mm->def_locked = (flags & LX_MCL_FUTURE) != 0;
    if (flags & LX_MCL_CURRENT)
        lock_all(t->mm, true);
    return sys_ret(0);
}

struct sys_res sys_munlockall(struct task *t, const struct sys_args *a)
{
    (void)a;
    t->mm->def_locked = false;
    lock_all(t->mm, false);
    return sys_ret(0);
}
