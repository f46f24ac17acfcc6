#pragma once
/*
 * The vma tree: lookups, splitting, carving, and the search for a free range. Pure bookkeeping: the
 * host is told by the callers (mmap.c, mprotect.c, mremap.c, brk.c).
 */
#include "lib/compiler.h"

#include "sentry/mm/mm.h"

enum {
    MM_MAX_VMAS = 65530
};
#define MM_MMAP_MIN 0x10000ull /* vm.mmap_min_addr */

#define MM_STACK_CHARGED 0x21000ull
#define MM_STACK_GUARD   0x100000ull

void vma_tree_init(struct mm *mm);
/* Changes the flags of a linked vma and the sums that depend on them. */
void vma_set_flags(struct mm *mm, struct vma *v, uint32_t flags);
void vma_set_prot(struct mm *mm, struct vma *v, uint64_t prot);
/* Bytes of v that count in mm->total. */
uint64_t vma_charge(const struct vma *v);

/* What a mapping is, without its range. */
struct vma_attr {
    uint64_t prot;
    uint32_t flags;
    struct file *file;  /* borrowed */
    struct memobj *obj; /* borrowed */
    uint64_t offset;
    const char *name;
};

/* Adds [start, end), which must be free; merges with neighbours that continue each other. -ENOMEM.
 */
int vma_insert(struct mm *mm, uint64_t start, uint64_t end, const struct vma_attr *attr) MUST_CHECK;
/* Makes addr a boundary: the vma that contains it is split. -ENOMEM. */
int vma_split_at(struct mm *mm, uint64_t addr) MUST_CHECK;
/* Removes everything in [start, end); both must be boundaries already (vma_split_at). */
void vma_carve(struct mm *mm, uint64_t start, uint64_t end);
/* Rejoins equal neighbours around a range that changed. */
void vma_merge_range(struct mm *mm, uint64_t start, uint64_t end);
/* Any vma or quarantined range in [start, end)? */
bool vma_overlaps(struct mm *mm, uint64_t start, uint64_t end);
bool vma_overlaps_special(struct mm *mm, uint64_t start, uint64_t end);
/* The whole range is mapped (no hole). */
bool vma_covers(struct mm *mm, uint64_t start, uint64_t end);
/* The highest free range of len bytes inside [low, high), aligned to a power of two >= PAGE_SIZE;
 * 0: none. */
uint64_t vma_find_range(struct mm *mm, uint64_t len, uint64_t align, uint64_t low, uint64_t high);
/* The highest free range of len bytes that ends at or below top, never below MM_MMAP_MIN; 0: none.
 */
uint64_t vma_find_free(struct mm *mm, uint64_t len, uint64_t top);

/* Quarantine: ranges whose munmap or mprotect the host has yet to perform in task's thread. */
struct quarantine {
    struct list_head link; /* mm.quarantine */
    uint64_t start, end;
    struct task *task; /* borrowed: released when the task goes */
};
int quarantine_add(struct mm *mm, struct task *t, uint64_t start, uint64_t end) MUST_CHECK;
/* The entry that overlaps [start, end), or NULL. */
struct quarantine *quarantine_find(struct mm *mm, uint64_t start, uint64_t end);
