/*
 * How this works: the host's page tables follow the vma tree, so nearly every fault that reaches
 * the kernel is a guest's error, and the tree says which: no vma (MAPERR) or not allowed (ACCERR).
 * A fault that the tree does not explain is a race (another thread changed the mapping meanwhile):
 * the instruction runs again. Should the same address come back several times, the host's word
 * counts and the signal is raised. Below the stack the mapping grows when RLIMIT_STACK was raised
 * after the program began.
 */
#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/signal.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"
#include "sentry/mm/vma_tree.h"

/* Bits of the page fault error code in plat_regs.err. */
enum {
    FAULT_WRITE = 2,
    FAULT_EXEC = 16
};
enum {
    FAULT_RETRIES = 8
};
#define STACK_GROW_STEP 0x100000ull

static bool vma_permits(const struct vma *v, uint64_t error_code)
{
    if (error_code & FAULT_EXEC)
        return v->prot & LX_PROT_EXEC;
    if (error_code & FAULT_WRITE)
        return v->prot & LX_PROT_WRITE;
    return v->prot & (LX_PROT_READ | LX_PROT_WRITE);
}

/* A guard gap may hold mappings without access, as pthread guards are. */
static bool mm_gap_taken(struct mm *mm, uint64_t start, uint64_t end)
{
    if (quarantine_find(mm, start, end) != NULL)
        return true;
    for (struct vma *v = mm_find_from(mm, start); v != NULL && v->start < end; v = vma_next(v)) {
        if (v->prot != LX_PROT_NONE || v->end > start + MM_STACK_GUARD)
            return true;
    }
    return false;
}

/* The end of the stack that v is the lowest part of (growing adds vmas below). */
static uint64_t stack_end(struct vma *v)
{
    uint64_t end = v->end;
    for (struct vma *n = vma_next(v); n != NULL && n->start == end && n->flags == v->flags;
         n = vma_next(n))
        end = n->end;
    return end;
}

/* Extends the stack (or a MAP_GROWSDOWN mapping) above addr down to it, within RLIMIT_STACK and
 * never closer than the guard gap to what lies below. */
static bool stack_grow(struct task *t, struct mm *mm, uint64_t addr)
{
    uint64_t limit = task_rlimit(t, LX_RLIMIT_STACK)->rlim_cur;
    struct vma *v = mm_find_from(mm, addr);
    if (v == NULL || !(v->flags & (VMA_STACK | VMA_GROWSDOWN)))
        return false;
    uint64_t end = v->start, start = page_down(addr), top = stack_end(v);
    if (top - start > limit)
        return false;
    if (v->flags & VMA_STACK && start > STACK_GROW_STEP && top - (start - STACK_GROW_STEP) <= limit)
        start -= STACK_GROW_STEP;
    if (start < MM_STACK_GUARD || mm_gap_taken(mm, start - MM_STACK_GUARD, end))
        return false;
    struct plat_map_req req = {.addr = start,
                               .len = end - start,
                               .prot = (uint32_t)v->prot,
                               .host_fd = -1,
                               .flags = PLAT_MAP_ANON | PLAT_MAP_NORESERVE};
    struct vma_attr attr = {.prot = v->prot, .flags = v->flags, .name = v->name};
    if (plat_ops->map(mm->as, &req, 1) < 0)
        return false;
    if (vma_insert(mm, start, end, &attr) < 0) {
        (void)plat_ops->unmap(mm->as, start, end - start);
        return false;
    }
    return true;
}

static bool fault_retry(struct mm *mm, uint64_t addr)
{
    if (mm->fault_addr != addr)
        mm->fault_count = 0;
    mm->fault_addr = addr;
    return ++mm->fault_count <= FAULT_RETRIES;
}

int mm_fault(struct task *t, int host_signo, int host_code, uint64_t addr, int *ret_code)
{
    struct mm *mm = t->mm;
    *ret_code = host_code;
    if (host_signo != LX_SIGSEGV || (host_code != LX_SEGV_MAPERR && host_code != LX_SEGV_ACCERR))
        return host_signo;
    struct vma *v = mm_find(mm, addr);
    if (!v) {
        if (addr < LX_TASK_SIZE && stack_grow(t, mm, addr))
            return 0;
        *ret_code = LX_SEGV_MAPERR;
        return LX_SIGSEGV;
    }
    *ret_code = LX_SEGV_ACCERR;
    if (!vma_permits(v, t->regs.err) || (v->flags & VMA_SPECIAL))
        return LX_SIGSEGV;
    return fault_retry(mm, addr) ? 0 : LX_SIGSEGV;
}

int mm_futex_key(struct task *t, gaddr_t addr, bool shared, struct futex_key *ret_key)
{
    if (t->mm == NULL || user_range_len(addr.v, 4) != 4)
        return -EFAULT;
    *ret_key = (struct futex_key){t->mm, addr.v};
    if (!shared)
        return 0;
    struct vma *v = mm_find(t->mm, addr.v);
    if (v == NULL || !(v->prot & LX_PROT_READ))
        return -EFAULT;
    uint64_t off = v->offset + (addr.v - v->start);
    if (v->file != NULL && LX_S_ISREG(v->file->inode->mode) && off >= page_up(v->file->inode->size))
        return -EFAULT; /* beyond the end of the file */
    if ((v->flags & VMA_SHARED) && v->obj != NULL)
        *ret_key = (struct futex_key){v->obj, off};
    else if ((v->flags & VMA_SHARED) && v->file != NULL)
        *ret_key = (struct futex_key){v->file->inode, off};
    else
        ret_key->off = addr.v | 1; /* not the private key: the two kinds do not meet */
    return 0;
}
