/*
 * How this works: every copy goes through plat_ops->read/write of the task's address space, so the
 * host checks presence and protection of each page. What is checked here is the range: below
 * LX_TASK_SIZE, and never the pages that belong to the platform (kernel.layout.stub_*), which a
 * guest must neither read nor make the kernel overwrite. A range that starts well and runs into a
 * forbidden part is cut there: whole copies fail with -EFAULT, partial ones return what came
 * before.
 */
#include "sentry/mm/usercopy.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"

#include "platform/platform.h"

#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"

static const uint8_t zeros[16384];

size_t user_range_len(uint64_t addr, size_t n)
{
    const struct plat_layout *l = &kernel.layout;
    if (addr >= LX_TASK_SIZE || (addr >= l->stub_start && addr < l->stub_end))
        return 0;
    uint64_t end = LX_TASK_SIZE;
    if (addr < l->stub_start && l->stub_start < l->stub_end)
        end = l->stub_start;
    return (uint64_t)n > end - addr ? (size_t)(end - addr) : n;
}

static struct plat_as *task_as(const struct task *t)
{
    return t->mm ? t->mm->as : NULL;
}

int64_t copy_from_user_partial(struct task *t, void *dst, gaddr_t src, size_t n)
{
    if (!n)
        return 0;
    struct plat_seg seg = {.addr = src.v, .len = user_range_len(src.v, n)};
    struct plat_as *as = task_as(t);
    if (!seg.len || !as)
        return -EFAULT;
    int64_t got = plat_ops->read(as, &seg, 1, dst, seg.len);
    return got > 0 ? got : -EFAULT;
}

int64_t copy_to_user_partial(struct task *t, gaddr_t dst, const void *src, size_t n)
{
    if (!n)
        return 0;
    struct plat_seg seg = {.addr = dst.v, .len = user_range_len(dst.v, n)};
    struct plat_as *as = task_as(t);
    if (!seg.len || !as)
        return -EFAULT;
    int64_t put = plat_ops->write(as, &seg, 1, src, seg.len);
    return put > 0 ? put : -EFAULT;
}

int copy_from_user(struct task *t, void *dst, gaddr_t src, size_t n)
{
    if (user_range_len(src.v, n) != n)
        return -EFAULT;
    return copy_from_user_partial(t, dst, src, n) == (int64_t)n ? 0 : -EFAULT;
}

int copy_to_user(struct task *t, gaddr_t dst, const void *src, size_t n)
{
    if (user_range_len(dst.v, n) != n)
        return -EFAULT;
    return copy_to_user_partial(t, dst, src, n) == (int64_t)n ? 0 : -EFAULT;
}

int clear_user(struct task *t, gaddr_t dst, size_t n)
{
    while (n) {
        size_t part = MIN(n, sizeof(zeros));
        int err = copy_to_user(t, dst, zeros, part);
        if (err)
            return err;
        dst = gaddr_add(dst, part);
        n -= part;
    }
    return 0;
}

int64_t strncpy_from_user(struct task *t, char *dst, gaddr_t src, size_t cap)
{
    size_t room = user_range_len(src.v, cap);
    struct plat_as *as = task_as(t);
    if (!room || !as)
        return cap ? -EFAULT : -ENAMETOOLONG;
    int64_t len = plat_read_str(as, src, dst, room);
    if (len == -ENAMETOOLONG && room < cap)
        return -EFAULT; /* ran into the end of user space */
    return len;
}

/* 0 when the n bytes at src are all zero, -E2BIG when not. */
static int check_zeroed_user(struct task *t, gaddr_t src, size_t n)
{
    uint8_t buf[256];
    while (n) {
        size_t part = MIN(n, sizeof(buf));
        int err = copy_from_user(t, buf, src, part);
        if (err)
            return err;
        if (memcmp(buf, zeros, part) != 0)
            return -E2BIG;
        src = gaddr_add(src, part);
        n -= part;
    }
    return 0;
}

int copy_struct_from_user(struct task *t, void *dst, size_t ksize, gaddr_t src, size_t usize)
{
    size_t n = MIN(ksize, usize);
    if (usize > ksize) {
        if (usize > LX_PAGE_SIZE)
            return -E2BIG;
        int err = check_zeroed_user(t, gaddr_add(src, ksize), usize - ksize);
        if (err)
            return err;
    }
    int err = copy_from_user(t, dst, src, n);
    if (err)
        return err;
    memset((char *)dst + n, 0, ksize - n);
    return 0;
}

int user_compare_exchange(struct task *t, gaddr_t addr, uint32_t expected, uint32_t desired,
                          uint32_t *ret_found)
{
    struct vma *v = t->mm ? mm_find(t->mm, addr.v) : NULL;

    if (!v || !(v->prot & LX_PROT_WRITE) || user_range_len(addr.v, 4) != 4 || (addr.v & 3) != 0)
        return -EFAULT;
    if (get_user(t, ret_found, addr) < 0)
        return -EFAULT;
    if (*ret_found != expected)
        return 0;
    /* Nobody else runs in this memory. */
    if (t->mm->ref == 1 && !(v->flags & VMA_SHARED))
        return put_user(t, addr, &desired);
    return plat_ops->compare_exchange(t->mm->as, addr.v, expected, desired, ret_found);
}
