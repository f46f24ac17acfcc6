/*
 * force.c: memory as a debugger sees it (FOLL_FORCE in Linux): what the program itself may not read
 * or write is made accessible to us for the moment of the copy. A write into a private mapping that
 * is not writable gives the program a copy of the page; one into shared memory that it may not
 * write is refused, and so are the platform's own pages.
 */
#include "sentry/mm/force.h"

#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/checked.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"

static int64_t copy_once(struct mm *mm, uint64_t addr, void *buf, size_t len, bool write)
{
    struct plat_seg seg = {.addr = addr, .len = len};
    int64_t n = write ? plat_ops->write(mm->as, &seg, 1, buf, len)
                      : plat_ops->read(mm->as, &seg, 1, buf, len);
    return n > 0 ? n : -EFAULT;
}

static bool may_force(const struct vma *v, bool write)
{
    if (v == NULL || (v->flags & VMA_SPECIAL))
        return false;
    return !write || !(v->flags & (VMA_SHARED | VMA_NOWRITE));
}

/* At most to the end of the page. */
static int64_t copy_piece(struct mm *mm, uint64_t addr, void *buf, size_t len, bool write)
{
    const struct vma *v = mm_find(mm, addr);
    uint64_t page = page_down(addr);
    uint32_t need = LX_PROT_READ | (write ? LX_PROT_WRITE : 0u), prot;
    int64_t n;

    if (v == NULL)
        return -EFAULT;
    prot = (uint32_t)v->prot;
    if ((prot & need) == need || (v->flags & VMA_SPECIAL))
        return write && (v->flags & VMA_SPECIAL) ? -EFAULT : copy_once(mm, addr, buf, len, write);
    if (!may_force(v, write) || plat_ops->protect(mm->as, page, PAGE_SIZE, prot | need) < 0)
        return -EFAULT;
    n = copy_once(mm, addr, buf, len, write);
    /* Where it cannot be taken back, the program may do to itself what its tracer could. */
    (void)plat_ops->protect(mm->as, page, PAGE_SIZE, prot);
    return n;
}

int64_t mm_force_copy(struct mm *mm, uint64_t addr, void *buf, size_t len, bool write)
{
    size_t done = 0;

    while (done < len && mm->as != NULL) {
        size_t piece = MIN(len - done, (size_t)(PAGE_SIZE - (addr & (PAGE_SIZE - 1))));
        int64_t n;
        piece = user_range_len(addr, piece);
        if (piece == 0)
            break;
        n = copy_piece(mm, addr, (uint8_t *)buf + done, piece, write);
        if (n <= 0)
            break;
        done += (size_t)n;
        addr += (uint64_t)n;
    }
    return done > 0 ? (int64_t)done : -EFAULT;
}
