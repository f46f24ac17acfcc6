/*
 * mm.c: life of an address space.
 */
#include "sentry/mm/mm.h"

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/vma_tree.h"

/* Below the stack and the vdso, which the host puts at the top. */
enum {
    MMAP_RANDOM_PAGES = 1 << 20
};
#define MMAP_TOP 0x7ff000000000ull

static int add_special(struct mm *mm, uint64_t start, uint64_t end, uint64_t prot, const char *name)
{
    struct vma_attr attr = {.prot = prot, .flags = VMA_SPECIAL, .name = name};
    return start < end ? vma_insert(mm, start, end, &attr) : 0;
}

static int mm_alloc(struct mm **ret_mm)
{
    static uint64_t last_id;
    struct mm *mm = kalloc(sizeof(*mm));
    if (mm == NULL)
        return -ENOMEM;
    mm->ref = 1;
    mm->id = ++last_id;
    vma_tree_init(mm);
    *ret_mm = mm;
    return 0;
}

int mm_new(struct mm **ret_mm)
{
    const struct plat_layout *l = &kernel.layout;
    struct mm *mm;
    uint32_t rnd;

    int r = mm_alloc(&mm);
    if (r < 0)
        return r;
    r = add_special(mm, l->stub_start, l->stub_end, LX_PROT_NONE, NULL);
    if (r == 0)
        r = add_special(mm, l->vvar_start, l->vvar_end, LX_PROT_READ, "[vvar]");
    if (r == 0)
        r = add_special(mm, l->vdso_start, l->vdso_end, LX_PROT_READ | LX_PROT_EXEC, "[vdso]");
    if (r == 0)
        r = plat_ops->as_new(kernel.plat, &mm->as);
    if (r < 0) {
        mm_put(mm);
        return r;
    }
    host_random(&rnd, sizeof(rnd));
    mm->mmap_top = MMAP_TOP - (uint64_t)(rnd % MMAP_RANDOM_PAGES) * 4096;
    *ret_mm = mm;
    return 0;
}

struct mm *mm_get(struct mm *mm)
{
    mm->ref++;
    return mm;
}

void mm_put(struct mm *mm)
{
    if (mm == NULL || --mm->ref != 0)
        return;
    vma_carve(mm, 0, UINT64_MAX);
    mm_quarantine_release(mm, NULL);
    wait_queue_done(&mm->quarantine_wait);
    if (mm->exe != NULL) {
        inode_allow_write(mm->exe->inode);
        file_put(mm->exe);
    }
    kfree(mm);
}

/* The host has left out or wiped what MADV_DONTFORK and MADV_WIPEONFORK say. Locks are not
 * inherited. */
static int dup_vma(struct mm *mm, const struct vma *v)
{
    struct vma_attr attr = {v->prot, v->flags & ~(uint32_t)VMA_LOCKED, v->file, v->obj, v->offset,
                            v->name};
    return v->flags & VMA_DONTFORK ? 0 : vma_insert(mm, v->start, v->end, &attr);
}

int mm_dup(struct mm *parent, struct plat_as *child_as, struct mm **ret_mm)
{
    struct mm *mm;
    int r = mm_alloc(&mm);
    if (r < 0)
        return r;
    *mm = *parent;
    mm->ref = 1;
    mm->nvmas = 0;
    mm->total = 0;
    mm->locked = 0;
    mm->def_locked = false;
    mm->fault_count = 0;
    mm->as = child_as;
    vma_tree_init(mm);
    if (mm->exe != NULL) {
        if (inode_deny_write(mm->exe->inode) == 0)
            (void)file_get(mm->exe);
        else
            mm->exe = NULL;
    }
    for (struct vma *v = mm_first(parent); v != NULL && r == 0; v = vma_next(v))
        r = dup_vma(mm, v);
    if (r < 0) {
        mm_put(mm);
        return r;
    }
    *ret_mm = mm;
    return 0;
}

void mm_resident(struct mm *mm, struct mm_resident *ret_rss)
{
    struct mm_resident rss = {0, 0, 0};

    for (struct vma *v = mm_first(mm); v; v = vma_next(v)) {
        uint64_t len = v->end - v->start;

        if (!v->prot || (v->flags & (VMA_SPECIAL | VMA_NORESERVE)))
            continue;
        if (v->flags & VMA_STACK)
            len = MIN(len, (uint64_t)132 << 10);
        if (v->obj)
            rss.shmem += MIN(len, memobj_allocated(v->obj));
        else if (v->prot & LX_PROT_WRITE)
            rss.anon += len;
        else if (v->file)
            rss.file += len;
    }
    *ret_rss = rss;
}
