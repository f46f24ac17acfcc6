/*
 * mremap.c: mremap(2) and brk(2).
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/rlimit.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/vma_tree.h"

static struct vma_attr attr_of(const struct vma *v, uint64_t addr)
{
    struct vma_attr a = {v->prot, v->flags, v->file, v->obj, v->offset, v->name};
    if (v->file != NULL || v->obj != NULL)
        a.offset += addr - v->start;
    return a;
}

static int check_growth(const struct task *t, const struct mm *mm, uint64_t more)
{
    uint64_t total;
    if (!checked_add(mm->total, more, &total) || total > task_rlimit(t, LX_RLIMIT_AS)->rlim_cur)
        return -ENOMEM;
    return more > mm_commit_max() ? -ENOMEM : 0;
}

/* A second mapping of a shared object, for old_len 0. */
static int map_again(struct mm *mm, const struct vma_attr *attr, uint64_t addr, uint64_t len)
{
    struct map_backing backing = {.host_fd = -1};
    struct plat_map_req rq = {.addr = addr,
                              .len = len,
                              .prot = (uint32_t)attr->prot,
                              .flags = PLAT_MAP_SHARED,
                              .offset = attr->offset};
    int r = 0;
    if (attr->file != NULL)
        r = attr->file->ops->map(attr->file, true, attr->prot, &backing);
    else
        backing.obj = memobj_get(attr->obj);
    if (r < 0)
        return r;
    rq.host_fd = backing.host_fd;
    if (backing.obj != NULL)
        r = memobj_host_fd(backing.obj, &rq.host_fd);
    if (r == 0)
        r = plat_ops->map(mm->as, &rq, 1);
    memobj_put(backing.obj);
    return r;
}

static int split_for_move(struct mm *mm, uint64_t old, uint64_t old_end, uint64_t to,
                          uint64_t to_end)
{
    int r = vma_split_at(mm, to);
    if (r == 0)
        r = vma_split_at(mm, to_end);
    if (r == 0)
        r = vma_split_at(mm, old);
    return r < 0 ? r : vma_split_at(mm, old_end);
}

/* Moves [old, old+old_len) of v to new_addr with new_len; the target range is free or about to be
 * replaced. */
static int64_t move_vma(struct mm *mm, struct vma *v, uint64_t old, uint64_t old_len,
                        uint64_t new_addr, uint64_t new_len, bool dontunmap)
{
    struct vma_attr attr = attr_of(v, old);
    bool keep = dontunmap || old_len == 0;
    attr.flags &= ~(uint32_t)(VMA_HEAP | VMA_STACK);
    attr.name = NULL;
    /* References that live on while v is carved. */
    struct file *file = attr.file != NULL ? file_get(attr.file) : NULL;
    struct memobj *obj = attr.obj != NULL ? memobj_get(attr.obj) : NULL;
    int r = split_for_move(mm, old, old + old_len, new_addr, new_addr + new_len);
    if (r == 0 && old_len != 0)
        r = plat_ops->remap(mm->as, old, old_len, new_addr, new_len, dontunmap);
    else if (r == 0)
        r = map_again(mm, &attr, new_addr, new_len);
    if (r == 0) {
        vma_carve(mm, new_addr, new_addr + new_len);
        if (!keep)
            vma_carve(mm, old, old + old_len);
        r = vma_insert(mm, new_addr, new_addr + new_len, &attr);
        if (r < 0)
            (void)plat_ops->unmap(mm->as, new_addr, new_len);
    } else {
        vma_merge_range(mm, old, old + old_len);
        vma_merge_range(mm, new_addr, new_addr + new_len);
    }
    file_put(file);
    memobj_put(obj);
    return r < 0 ? r : (int64_t)new_addr;
}

static int64_t shrink(struct mm *mm, uint64_t old, uint64_t old_len, uint64_t new_len)
{
    uint64_t end;
    int r = mm_unmap_prepare(mm, old + new_len, old_len - new_len, &end);
    if (r == 0)
        r = plat_ops->unmap(mm->as, old + new_len, end - (old + new_len));
    if (r < 0)
        return r;
    vma_carve(mm, old + new_len, end);
    return (int64_t)old;
}

static int64_t grow_in_place(struct mm *mm, struct vma *v, uint64_t old, uint64_t old_len,
                             uint64_t new_len)
{
    struct vma_attr attr = attr_of(v, old + old_len);
    int r = plat_ops->remap(mm->as, old, old_len, old, new_len, false);
    if (r == 0)
        r = vma_insert(mm, old + old_len, old + new_len, &attr);
    return r < 0 ? r : (int64_t)old;
}

/* Growing a file mapping or a locked one has limits of its own. */
static int check_vma(const struct task *t, const struct mm *mm, const struct vma *v, uint64_t old,
                     uint64_t old_len, uint64_t new_len)
{
    uint64_t end;
    if (new_len <= old_len)
        return 0;
    if ((v->file != NULL || v->obj != NULL) &&
        !checked_add(v->offset + (old - v->start), new_len, &end))
        return -EINVAL;
    if ((v->flags & VMA_LOCKED) && mm_may_lock(t, mm, new_len - old_len) < 0)
        return -EAGAIN;
    return check_growth(t, mm, new_len - old_len);
}

static int check_remap(struct mm *mm, uint64_t old, uint64_t old_len, uint64_t new_len,
                       uint64_t flags, uint64_t new_addr)
{
    if (flags & ~(uint64_t)(LX_MREMAP_MAYMOVE | LX_MREMAP_FIXED | LX_MREMAP_DONTUNMAP))
        return -EINVAL;
    if ((flags & (LX_MREMAP_FIXED | LX_MREMAP_DONTUNMAP)) && !(flags & LX_MREMAP_MAYMOVE))
        return -EINVAL;
    if ((flags & LX_MREMAP_DONTUNMAP) && old_len != new_len)
        return -EINVAL;
    if (!page_aligned(old) || new_len == 0 || new_len > LX_TASK_SIZE || old_len > LX_TASK_SIZE ||
        old > LX_TASK_SIZE - old_len)
        return -EINVAL;
    if (flags & LX_MREMAP_FIXED) {
        if (!page_aligned(new_addr) || new_addr > LX_TASK_SIZE - new_len || new_addr < MM_MMAP_MIN)
            return -EINVAL;
        if (old < new_addr + new_len && new_addr < old + old_len)
            return -EINVAL;
        if (vma_overlaps_special(mm, new_addr, new_addr + new_len))
            return -EINVAL;
        if (quarantine_find(mm, new_addr, new_addr + new_len) != NULL)
            return MM_QUARANTINED;
    }
    return 0;
}

static bool grows_in_place(struct mm *mm, const struct vma *v, uint64_t old, uint64_t old_len,
                           uint64_t new_len)
{
    return old_len != 0 && old + old_len == v->end && new_len > old_len &&
           old <= LX_TASK_SIZE - new_len && !vma_overlaps(mm, old + old_len, old + new_len);
}

/* Where a mapping that the caller did not place goes; MREMAP_DONTUNMAP takes its address as a hint.
 * 0: nowhere. */
static uint64_t choose_target(struct mm *mm, uint64_t len, uint64_t flags, uint64_t hint)
{
    if ((flags & LX_MREMAP_DONTUNMAP) && hint >= MM_MMAP_MIN && page_aligned(hint) &&
        hint <= LX_TASK_SIZE - len && !vma_overlaps(mm, hint, hint + len))
        return hint;
    return vma_find_free(mm, len, mm->mmap_top);
}

int64_t mm_remap(struct task *t, struct mm *mm, uint64_t old, uint64_t old_len, uint64_t new_len,
                 uint64_t flags, uint64_t new_addr)
{
    old_len = page_up(old_len);
    new_len = page_up(new_len);
    int r = check_remap(mm, old, old_len, new_len, flags, new_addr);
    if (r < 0)
        return r;
    struct vma *v = mm_find(mm, old);
    if (v == NULL || (v->flags & VMA_SPECIAL))
        return -EFAULT;
    if (old_len == 0 && !(v->flags & VMA_SHARED))
        return -EINVAL;
    bool fixed = (flags & (LX_MREMAP_FIXED | LX_MREMAP_DONTUNMAP)) != 0;
    if (new_len < old_len && !fixed)
        return shrink(mm, old, old_len, new_len);
    if (old + old_len > v->end)
        return -EFAULT;
    if (new_len == old_len && !fixed)
        return (int64_t)old;
    r = check_vma(t, mm, v, old, old_len, new_len);
    if (r == 0 && (flags & LX_MREMAP_DONTUNMAP))
        r = check_growth(t, mm, new_len);
    if (r < 0)
        return r;
    if (!fixed && grows_in_place(mm, v, old, old_len, new_len))
        return grow_in_place(mm, v, old, old_len, new_len);
    if (!(flags & LX_MREMAP_MAYMOVE))
        return -ENOMEM;
    if ((flags & LX_MREMAP_FIXED) && new_len < old_len) {
        int64_t s = shrink(mm, old, old_len, new_len);
        if (s < 0)
            return s;
        old_len = new_len;
        v = mm_find(mm, old);
        if (v == NULL)
            return -EFAULT;
    }
    if (!(flags & LX_MREMAP_FIXED))
        new_addr = choose_target(mm, new_len, flags, new_addr);
    if (new_addr == 0)
        return -ENOMEM;
    return move_vma(mm, v, old, old_len, new_addr, new_len, (flags & LX_MREMAP_DONTUNMAP) != 0);
}

/* -- brk --------------------------------------------------------------------------------------- */

static int brk_grow(struct task *t, struct mm *mm, uint64_t from, uint64_t to)
{
    struct vma_attr attr = {
        .prot = LX_PROT_READ | LX_PROT_WRITE, .flags = VMA_HEAP, .name = "[heap]"};
    struct plat_map_req rq = {
        from, to - from, LX_PROT_READ | LX_PROT_WRITE, PLAT_MAP_ANON | PLAT_MAP_NORESERVE, -1, 0};
    if (to - mm->brk_start > task_rlimit(t, LX_RLIMIT_DATA)->rlim_cur)
        return -ENOMEM;
    int r = check_growth(t, mm, to - from);
    if (r < 0)
        return r;
    if (mm->def_locked) {
        attr.flags |= VMA_LOCKED;
        if (mm_may_lock(t, mm, to - from) < 0)
            return -ENOMEM;
    }
    if (to >= LX_TASK_SIZE - PAGE_SIZE || vma_overlaps(mm, from, to + PAGE_SIZE))
        return -ENOMEM;
    r = plat_ops->map(mm->as, &rq, 1);
    if (r < 0)
        return r;
    r = vma_insert(mm, from, to, &attr);
    if (r < 0)
        (void)plat_ops->unmap(mm->as, from, to - from);
    return r;
}

uint64_t mm_brk(struct task *t, struct mm *mm, uint64_t brk)
{
    if (brk < mm->brk_start || brk > LX_TASK_SIZE)
        return mm->brk;
    uint64_t old = page_up(mm->brk), new = page_up(brk);
    if (new > old && brk_grow(t, mm, old, new) < 0)
        return mm->brk;
    if (new < old && mm_munmap(t, mm, new, old - new) < 0)
        return mm->brk;
    mm->brk = brk;
    return brk;
}
