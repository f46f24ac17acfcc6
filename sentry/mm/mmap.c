/*
 * mmap.c: mmap(2) and munmap(2): checks as Linux orders them, the choice of the address, the host's
 * mapping, the tree.
 *
 * The host maps first, the tree follows: a failure in between leaves a hole at worst, never a vma
 * without memory. Memory for the tree's changes is had before the host is asked.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/rlimit.h"

#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/vma_tree.h"

#define MAX_32BIT 0x80000000ull
#define HUGE_PAGE 0x200000ull
/* Private writable memory that one request may ask for without MAP_NORESERVE, what Linux calls an
 * obvious overcommit: eight times the sandbox's memory, but never less than COMMIT_MIN. */
#define COMMIT_MIN       (1ull << 33)
#define COMMIT_UNLIMITED (1ull << 38)
/* Flags that MAP_SHARED_VALIDATE knows. */
#define MAP_KNOWN                                                                                 \
    (LX_MAP_TYPE | LX_MAP_FIXED | LX_MAP_ANONYMOUS | LX_MAP_32BIT | LX_MAP_ABOVE4G |              \
     LX_MAP_GROWSDOWN | LX_MAP_DENYWRITE | LX_MAP_EXECUTABLE | LX_MAP_LOCKED | LX_MAP_NORESERVE | \
     LX_MAP_POPULATE | LX_MAP_NONBLOCK | LX_MAP_STACK | LX_MAP_HUGETLB | LX_MAP_FIXED_NOREPLACE)

static int check_file(const struct mmap_args *a)
{
    const struct file *f = a->file;
    uint64_t type = a->flags & LX_MAP_TYPE;
    if (type == LX_MAP_SHARED_VALIDATE && (a->flags & ~(uint64_t)MAP_KNOWN))
        return -EOPNOTSUPP;
    if (type != LX_MAP_PRIVATE && (a->prot & LX_PROT_WRITE) && !file_writable(f))
        return -EACCES;
    if (!file_readable(f))
        return -EACCES;
    if ((a->prot & LX_PROT_EXEC) && f->path.mnt != NULL && (f->path.mnt->flags & MOUNT_NOEXEC))
        return -EPERM;
    if (f->ops->map == NULL)
        return -ENODEV;
    return a->flags & LX_MAP_GROWSDOWN ? -EINVAL : 0;
}

static int check_args(const struct mmap_args *a, uint64_t *ret_len)
{
    uint64_t len = page_up(a->len);
    if (a->len == 0)
        return -EINVAL;
    if (len == 0 || len > LX_TASK_SIZE)
        return -ENOMEM;
    if (!page_aligned(a->offset))
        return -EINVAL;
    if (a->file != NULL && a->offset + len < a->offset)
        return -EOVERFLOW;
    if (a->flags & LX_MAP_HUGETLB) {
        uint64_t log = a->flags >> 26 & 0x3f; /* of the size: 0, 2 MiB or 1 GiB */
        bool size = log == 0 || log == 21 || log == 30;
        return a->file != NULL || !size ? -EINVAL : -ENOMEM;
    }
    *ret_len = len;
    return 0;
}

/* The kind of mapping; Linux looks at it after the address. */
static int check_type(const struct mmap_args *a)
{
    uint64_t type = a->flags & LX_MAP_TYPE;
    if (type != LX_MAP_SHARED && type != LX_MAP_PRIVATE &&
        (type != LX_MAP_SHARED_VALIDATE || a->file == NULL))
        return -EINVAL;
    if (a->file != NULL)
        return check_file(a);
    return type == LX_MAP_SHARED && (a->flags & LX_MAP_GROWSDOWN) ? -EINVAL : 0;
}

/* A fixed range: aligned, in user space, not the platform's. */
static int check_fixed(struct mm *mm, uint64_t addr, uint64_t len)
{
    if (addr > LX_TASK_SIZE - len)
        return -ENOMEM;
    if (!page_aligned(addr))
        return -EINVAL;
    if (addr < MM_MMAP_MIN)
        return -EPERM;
    return vma_overlaps_special(mm, addr, addr + len) ? -EINVAL : 0;
}

static int choose_address(struct mm *mm, const struct mmap_args *a, uint64_t len,
                          uint64_t *ret_addr)
{
    uint64_t addr = a->addr;
    if (a->flags & (LX_MAP_FIXED | LX_MAP_FIXED_NOREPLACE)) {
        int r = check_fixed(mm, addr, len);
        if (r < 0)
            return r;
        if ((a->flags & LX_MAP_FIXED_NOREPLACE) && vma_overlaps(mm, addr, addr + len))
            return -EEXIST;
        *ret_addr = addr;
        return 0;
    }
    addr = page_up(addr);
    if (addr != 0)
        addr = MAX(addr, MM_MMAP_MIN);
    uint64_t top = a->flags & LX_MAP_32BIT ? MAX_32BIT : LX_TASK_SIZE;
    if (addr != 0 && check_fixed(mm, addr, len) == 0 && addr + len <= top &&
        !vma_overlaps(mm, addr, addr + len)) {
        *ret_addr = addr;
        return 0;
    }
    /* Whole huge pages are aligned to them, so that the host can use them. */
    addr = 0;
    if (a->flags & LX_MAP_32BIT)
        addr = vma_find_free(mm, len, MAX_32BIT);
    else if (a->file == NULL && len >= HUGE_PAGE && (len & (HUGE_PAGE - 1)) == 0)
        addr = vma_find_range(mm, len, HUGE_PAGE, MM_MMAP_MIN, mm->mmap_top);
    if (addr == 0 && !(a->flags & LX_MAP_32BIT))
        addr = vma_find_free(mm, len, mm->mmap_top);
    if (addr == 0 && !(a->flags & LX_MAP_32BIT))
        addr = vma_find_free(mm, len, LX_TASK_SIZE - PAGE_SIZE);
    if (addr == 0)
        return -ENOMEM;
    *ret_addr = addr;
    return 0;
}

static uint64_t charged_in(struct mm *mm, uint64_t start, uint64_t end)
{
    uint64_t n = 0;
    for (struct vma *v = mm_find_from(mm, start); v != NULL && v->start < end; v = vma_next(v))
        n += MIN(MIN(v->end, end) - MAX(v->start, start), vma_charge(v));
    return n;
}

uint64_t mm_commit_max(void)
{
    uint64_t limit = kernel.memory_limit;
    return limit != 0 ? MAX(limit * 8, COMMIT_MIN) : COMMIT_UNLIMITED;
}

int mm_may_lock(const struct task *t, const struct mm *mm, uint64_t more)
{
    uint64_t locked, max = task_rlimit(t, LX_RLIMIT_MEMLOCK)->rlim_cur;
    if (cred_capable(t->cred, LX_CAP_IPC_LOCK))
        return 0;
    if (max == 0)
        return -EPERM;
    return checked_add(mm->locked, more, &locked) && locked <= max ? 0 : -EAGAIN;
}

static int check_limits(const struct task *t, struct mm *mm, uint64_t addr, uint64_t len,
                        const struct mmap_args *a)
{
    uint64_t max = task_rlimit(t, LX_RLIMIT_AS)->rlim_cur, total;
    if (!checked_add(mm->total - charged_in(mm, addr, addr + len), len, &total) || total > max)
        return -ENOMEM;
    bool private = (a->flags & LX_MAP_TYPE) == LX_MAP_PRIVATE;
    bool commits = (private ? (a->prot & LX_PROT_WRITE) != 0 : a->file == NULL) &&
                   !(a->flags & LX_MAP_NORESERVE);
    return commits && len > mm_commit_max() ? -ENOMEM : 0;
}

/* Splits at both ends so that the range can be carved without allocating. */
static int prepare_range(struct mm *mm, uint64_t start, uint64_t end)
{
    int r = vma_split_at(mm, start);
    return r < 0 ? r : vma_split_at(mm, end);
}

static int host_map(struct mm *mm, uint64_t addr, uint64_t len, const struct mmap_args *a,
                    const struct map_backing *backing)
{
    struct plat_map_req rq = {
        .addr = addr, .len = len, .prot = (uint32_t)a->prot & 7, .host_fd = -1};
    if (backing == NULL) {
        rq.flags = PLAT_MAP_ANON;
    } else if (backing->obj != NULL) {
        int r = memobj_host_fd(backing->obj, &rq.host_fd);
        if (r < 0)
            return r;
    } else {
        rq.host_fd = backing->host_fd;
    }
    if (backing != NULL) {
        rq.offset = a->offset;
        if ((a->flags & LX_MAP_TYPE) != LX_MAP_PRIVATE)
            rq.flags |= PLAT_MAP_SHARED;
    }
    rq.flags |= PLAT_MAP_NORESERVE;
    if ((a->flags & LX_MAP_POPULATE) && !(a->flags & LX_MAP_NONBLOCK))
        rq.flags |= PLAT_MAP_POPULATE;
    return plat_ops->map(mm->as, &rq, 1);
}

static uint32_t flags_of(const struct mm *mm, const struct mmap_args *a)
{
    uint32_t f = (a->flags & LX_MAP_LOCKED) || mm->def_locked ? VMA_LOCKED : 0;
    if ((a->flags & LX_MAP_TYPE) != LX_MAP_PRIVATE)
        f |= VMA_SHARED;
    if (a->flags & LX_MAP_NORESERVE)
        f |= VMA_NORESERVE;
    if (a->flags & LX_MAP_GROWSDOWN)
        f |= VMA_GROWSDOWN;
    if (a->never_write)
        f |= VMA_NOWRITE;
    return f;
}

/* Everything after the address is known. obj: backing of shared anonymous memory (borrowed), or
 * NULL. */
static int map_at(struct mm *mm, uint64_t addr, uint64_t len, const struct mmap_args *a,
                  const struct map_backing *backing, struct memobj *anon_obj)
{
    struct vma_attr attr = {
        .prot = a->prot & 7,
        .flags = flags_of(mm, a),
        .file = a->file,
        .obj = anon_obj,
        .offset = a->file != NULL || anon_obj != NULL ? a->offset : 0,
    };
    int r = prepare_range(mm, addr, addr + len);
    if (r == 0)
        r = host_map(mm, addr, len, a, backing);
    if (r < 0)
        return r;
    vma_carve(mm, addr, addr + len);
    r = vma_insert(mm, addr, addr + len, &attr);
    if (r < 0)
        (void)plat_ops->unmap(mm->as, addr, len);
    return r;
}

/* All checks, and the address. MM_QUARANTINED when the guest's choice is. */
static int plan_map(struct task *t, struct mm *mm, const struct mmap_args *a, uint64_t *ret_addr,
                    uint64_t *ret_len)
{
    uint64_t len, addr;
    int r = check_args(a, &len);
    if (r == 0)
        r = choose_address(mm, a, len, &addr);
    if (r == 0 && ((a->flags & LX_MAP_LOCKED) || mm->def_locked))
        r = mm_may_lock(t, mm, len);
    if (r == 0)
        r = check_type(a);
    if (r == 0)
        r = check_limits(t, mm, addr, len, a);
    if (r < 0)
        return r;
    if (quarantine_find(mm, addr, addr + len) != NULL)
        return MM_QUARANTINED;
    *ret_addr = addr;
    *ret_len = len;
    return 0;
}

static int64_t do_map(struct task *t, struct mm *mm, const struct mmap_args *a,
                      struct memobj *given)
{
    uint64_t len, addr;
    struct map_backing backing = {.host_fd = -1};
    bool shared = (a->flags & LX_MAP_TYPE) != LX_MAP_PRIVATE;

    int r = plan_map(t, mm, a, &addr, &len);
    if (r < 0)
        return r;
    if (a->file != NULL)
        r = a->file->ops->map(a->file, shared, a->prot, &backing);
    else if (given != NULL)
        backing.obj = memobj_get(given);
    else if (shared)
        r = memobj_new(len, &backing.obj);
    if (r < 0)
        return r;
    bool anon = a->file == NULL && !shared;
    r = map_at(mm, addr, len, a, anon ? NULL : &backing, a->file == NULL ? backing.obj : NULL);
    memobj_put(backing.obj);
    return r < 0 ? r : (int64_t)addr;
}

int mm_mmap_by_thread(struct task *t, struct mm *mm, const struct mmap_args *a)
{
    uint64_t len, addr;
    struct vma_attr attr = {.prot = a->prot & 7, .flags = flags_of(mm, a)};
    int r = plan_map(t, mm, a, &addr, &len);
    if (r == 0)
        r = prepare_range(mm, addr, addr + len);
    if (r < 0)
        return r;
    vma_carve(mm, addr, addr + len);
    r = vma_insert(mm, addr, addr + len, &attr);
    if (r < 0)
        (void)plat_ops->unmap(mm->as, addr, len);
    return r;
}

int64_t mm_mmap(struct task *t, struct mm *mm, const struct mmap_args *args)
{
    return do_map(t, mm, args, NULL);
}

int64_t mm_map_obj(struct task *t, struct mm *mm, const struct mmap_args *args, struct memobj *obj)
{
    struct mmap_args a = *args;
    a.flags = (a.flags & ~(uint64_t)LX_MAP_TYPE) | LX_MAP_SHARED;
    a.file = NULL;
    a.never_write = !(a.prot & LX_PROT_WRITE);
    int64_t r = do_map(t, mm, &a, obj);
    return r == MM_QUARANTINED ? -ENOMEM : r;
}

int mm_unmap_prepare(struct mm *mm, uint64_t addr, uint64_t len, uint64_t *ret_end)
{
    if (!page_aligned(addr) || addr > LX_TASK_SIZE || len > LX_TASK_SIZE - addr)
        return -EINVAL;
    uint64_t end = page_up(addr + len);
    if (end == addr)
        return -EINVAL;
    if (vma_overlaps_special(mm, addr, end))
        return -EINVAL;
    int r = prepare_range(mm, addr, end);
    if (r < 0)
        return r;
    usage_before_loss(end - addr);
    *ret_end = end;
    return 0;
}

int mm_munmap(struct task *t, struct mm *mm, uint64_t addr, uint64_t len)
{
    uint64_t end;
    (void)t;
    int r = mm_unmap_prepare(mm, addr, len, &end);
    if (r < 0)
        return r;
    r = plat_ops->unmap(mm->as, addr, end - addr);
    if (r == 0)
        vma_carve(mm, addr, end);
    return r;
}
