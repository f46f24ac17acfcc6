/*
 * mprotect.c: mprotect(2) and madvise(2) on the tree. The host's part is done by the calling thread
 * itself (SYS_HOST), after the tree was changed here.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/vma_tree.h"

static int may_protect(const struct vma *v, uint64_t prot)
{
    if ((v->flags & VMA_NOWRITE) && (prot & LX_PROT_WRITE))
        return -EACCES;
    if ((v->flags & VMA_SHARED) && v->file != NULL && (prot & LX_PROT_WRITE) &&
        (!file_writable(v->file) ||
         (LX_S_ISREG(v->file->inode->mode) && tmpfs_get_seals(v->file->inode) > 0 &&
          (tmpfs_get_seals(v->file->inode) & (LX_F_SEAL_WRITE | LX_F_SEAL_FUTURE_WRITE)))))
        return -EACCES;
    if (v->file != NULL && (prot & LX_PROT_EXEC) && v->file->path.mnt != NULL &&
        (v->file->path.mnt->flags & MOUNT_NOEXEC))
        return -EACCES;
    return 0;
}

/* Private memory that becomes writable is asked for now, as by mmap. */
static uint64_t commits(struct mm *mm, uint64_t addr, uint64_t end)
{
    uint64_t n = 0;
    for (struct vma *v = mm_find(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        if (!(v->flags & (VMA_SHARED | VMA_NORESERVE)) && !(v->prot & LX_PROT_WRITE))
            n += MIN(v->end, end) - MAX(v->start, addr);
    }
    return n;
}

int mm_protect(struct mm *mm, uint64_t addr, uint64_t len, uint64_t prot)
{
    uint64_t end = addr + page_up(len);
    int r;

    if (!page_aligned(addr) || (prot & ~(uint64_t)(7 | LX_PROT_SEM)) != 0)
        return -EINVAL;
    if (len == 0)
        return 0;
    if (end <= addr || end > LX_TASK_SIZE || !vma_covers(mm, addr, end))
        return -ENOMEM;
    if (vma_overlaps_special(mm, addr, end))
        return -EACCES;
    for (struct vma *v = mm_find(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        r = may_protect(v, prot);
        if (r < 0)
            return r;
    }
    if ((prot & LX_PROT_WRITE) && commits(mm, addr, end) > mm_commit_max())
        return -ENOMEM;
    r = vma_split_at(mm, addr);
    if (r == 0)
        r = vma_split_at(mm, end);
    if (r < 0)
        return r;
    for (struct vma *v = mm_find(mm, addr); v != NULL && v->start < end; v = vma_next(v))
        vma_set_prot(mm, v, prot & 7);
    vma_merge_range(mm, addr, end);
    return 0;
}

static int set_flag(struct mm *mm, uint64_t addr, uint64_t end, uint32_t set, uint32_t clear)
{
    int r = vma_split_at(mm, addr);
    if (r == 0)
        r = vma_split_at(mm, end);
    if (r < 0)
        return r;
    for (struct vma *v = mm_find_from(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        if (!(v->flags & VMA_SPECIAL))
            vma_set_flags(mm, v, (v->flags & ~clear) | set);
    }
    vma_merge_range(mm, addr, end);
    return 0;
}

/* What a fork does with the range: noted here for the child's tree, done by the host. */
static int advise_fork(struct mm *mm, uint64_t addr, uint64_t end, int advice)
{
    bool dontfork = advice == LX_MADV_DONTFORK || advice == LX_MADV_DOFORK;
    uint32_t flag = dontfork ? VMA_DONTFORK : VMA_WIPEONFORK;
    bool set = advice == LX_MADV_DONTFORK || advice == LX_MADV_WIPEONFORK;

    if (vma_overlaps_special(mm, addr, end))
        return -EINVAL;
    for (struct vma *v = mm_find_from(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        if (advice == LX_MADV_WIPEONFORK && (v->file != NULL || (v->flags & VMA_SHARED)))
            return -EINVAL;
    }
    return set_flag(mm, addr, end, set ? flag : 0, set ? 0 : flag);
}

/* MADV_REMOVE: a hole in the object behind a shared mapping. */
static int remove_range(struct mm *mm, uint64_t addr, uint64_t end)
{
    for (struct vma *v = mm_find_from(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        uint64_t from = MAX(v->start, addr), to = MIN(v->end, end);
        uint64_t off = v->offset + (from - v->start);
        int r = -EINVAL;
        if (v->flags & VMA_LOCKED)
            return r;
        if ((v->flags & VMA_NOWRITE) ||
            ((v->flags & VMA_SHARED) && v->file != NULL && !file_writable(v->file)))
            return -EACCES;
        if (v->obj != NULL)
            r = memobj_punch(v->obj, off, to - from);
        else if (v->file != NULL && (v->flags & VMA_SHARED) && v->file->ops->fallocate != NULL)
            r = v->file->ops->fallocate(v->file, LX_FALLOC_FL_PUNCH_HOLE | LX_FALLOC_FL_KEEP_SIZE,
                                        off, to - from);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool any_locked(struct mm *mm, uint64_t addr, uint64_t end)
{
    for (struct vma *v = mm_find_from(mm, addr); v != NULL && v->start < end; v = vma_next(v)) {
        if (v->flags & VMA_LOCKED)
            return true;
    }
    return false;
}

int mm_advise(struct mm *mm, uint64_t addr, uint64_t len, int advice, bool *ret_host)
{
    uint64_t end = addr + page_up(len);

    *ret_host = false;
    if (!page_aligned(addr))
        return -EINVAL;
    if (end < addr || (len != 0 && end == addr))
        return -EINVAL;
    if (end > LX_TASK_SIZE)
        return -ENOMEM;
    switch (advice) {
    case LX_MADV_NORMAL:
    case LX_MADV_RANDOM:
    case LX_MADV_SEQUENTIAL:
    case LX_MADV_WILLNEED:
    case LX_MADV_DONTDUMP:
    case LX_MADV_DODUMP:
    case LX_MADV_COLD:
    case LX_MADV_PAGEOUT:
        break;
    case LX_MADV_DONTNEED:
    case LX_MADV_FREE:
        if (any_locked(mm, addr, end))
            return -EINVAL;
        usage_before_loss(end - addr);
        FALLTHROUGH;
    case LX_MADV_HUGEPAGE:
    case LX_MADV_NOHUGEPAGE:
    case LX_MADV_POPULATE_READ:
    case LX_MADV_POPULATE_WRITE:
        *ret_host = len != 0 && !vma_overlaps_special(mm, addr, end);
        if (len != 0 && !*ret_host)
            return -EINVAL;
        break;
    case LX_MADV_DONTFORK:
    case LX_MADV_DOFORK:
    case LX_MADV_WIPEONFORK:
    case LX_MADV_KEEPONFORK:
        *ret_host = len != 0;
        return len != 0 ? advise_fork(mm, addr, end, advice) : 0;
    case LX_MADV_REMOVE:
        return remove_range(mm, addr, end);
    default:
        return -EINVAL;
    }
    if (len != 0 && !vma_covers(mm, addr, end)) {
        /* The host advises what is mapped and says ENOMEM itself. */
        if (!*ret_host)
            return -ENOMEM;
    }
    return 0;
}
