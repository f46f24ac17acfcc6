/*
 * The arena of the model lies at the lowest address that mmap hands out, and mm.mmap_top is its
 * end, so that ranges chosen by the kernel fall into it while there is room.
 */
#include "tests/support/mm_model.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/checked.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/vma_tree.h"
#include "tests/support/fake_platform.h"

enum {
    PAGES = 96,
    MAX_LEN = 24
};
#define ARENA MM_MMAP_MIN

struct page {
    bool mapped, locked;
    uint32_t prot;
    const struct memobj *obj;
    uint64_t off;
};

struct mm_model {
    struct plat *plat;
    struct mm *mm;
    struct task task;
    struct thread_group group;
    struct page pages[PAGES];
};

static uint64_t addr_of(uint32_t page)
{
    return ARENA + (uint64_t)page * PAGE_SIZE;
}

struct mm_model *mm_model_new(void)
{
    struct mm_model *m = kalloc(sizeof(*m));
    if (m == NULL)
        return NULL;
    m->plat = fake_platform_new();
    KASSERT(kernel_init(m->plat, NULL) == 0);
    m->task.cred = cred_new();
    m->task.group = &m->group;
    for (int i = 0; i < LX_RLIM_NLIMITS; i++)
        m->group.rlimit[i] = (struct lx_rlimit){LX_RLIM_INFINITY, LX_RLIM_INFINITY};
    if (m->task.cred == NULL || mm_new(&m->mm) < 0) {
        mm_model_free(m);
        return NULL;
    }
    m->mm->mmap_top = addr_of(PAGES);
    m->task.mm = m->mm;
    return m;
}

void mm_model_free(struct mm_model *m)
{
    if (m->mm != NULL)
        plat_ops->as_drop(m->mm->as);
    mm_put(m->mm);
    cred_put(m->task.cred);
    plat_ops->shutdown(m->plat);
    kfree(m);
}

void mm_model_resync(struct mm_model *m)
{
    for (uint32_t i = 0; i < PAGES; i++) {
        struct vma *v = mm_find(m->mm, addr_of(i));
        m->pages[i] = (struct page){0};
        if (v != NULL)
            m->pages[i] = (struct page){true, v->flags & VMA_LOCKED, (uint32_t)v->prot, v->obj,
                                        v->obj != NULL ? v->offset + (addr_of(i) - v->start) : 0};
    }
}

void mm_model_check_tree(struct mm_model *m)
{
    mm_check(m->mm);
    for (uint32_t i = 0; i < PAGES; i++) {
        struct vma *v = mm_find(m->mm, addr_of(i));
        KASSERT(fake_page_prot(m->mm->as, addr_of(i)) == (v != NULL ? (int)v->prot : -1));
    }
}

static void check_model(struct mm_model *m)
{
    struct page now[PAGES];
    mm_model_check_tree(m);
    memcpy(now, m->pages, sizeof(now));
    mm_model_resync(m);
    for (uint32_t i = 0; i < PAGES; i++) {
        KASSERT(now[i].mapped == m->pages[i].mapped);
        KASSERT(now[i].prot == m->pages[i].prot && now[i].locked == m->pages[i].locked);
        KASSERT(now[i].obj == m->pages[i].obj && now[i].off == m->pages[i].off);
    }
}

/* Decoded operation. */
struct op {
    uint8_t kind, bits;
    uint32_t page, len, page2, len2;
};

static bool all_mapped(const struct mm_model *m, uint32_t page, uint32_t len)
{
    for (uint32_t i = page; i < page + len; i++)
        if (!m->pages[i].mapped)
            return false;
    return true;
}

/* A range that the kernel chose outside of the arena is given back. */
static bool in_arena(struct mm_model *m, uint64_t addr, uint32_t len)
{
    if (addr >= ARENA && addr + (uint64_t)len * PAGE_SIZE <= addr_of(PAGES))
        return true;
    KASSERT(mm_munmap(&m->task, m->mm, addr, (uint64_t)len * PAGE_SIZE) == 0);
    return false;
}

static void do_mmap(struct mm_model *m, const struct op *op, bool fixed, bool shared)
{
    uint64_t flags = (fixed ? LX_MAP_FIXED : 0u) |
                     (op->bits & 8 && fixed ? LX_MAP_FIXED_NOREPLACE : 0u) |
                     (shared ? LX_MAP_SHARED : LX_MAP_PRIVATE) | LX_MAP_ANONYMOUS;
    struct mmap_args a = {.addr = addr_of(op->page),
                          .len = (uint64_t)op->len * PAGE_SIZE,
                          .prot = op->bits & 7u,
                          .flags = flags};
    bool any = false;
    for (uint32_t i = op->page; i < op->page + op->len; i++)
        any = any || m->pages[i].mapped;
    int64_t r = mm_mmap(&m->task, m->mm, &a);
    if (fixed)
        KASSERT(r == ((flags & LX_MAP_FIXED_NOREPLACE) && any ? -EEXIST : (int64_t)a.addr));
    if (r < 0 || !in_arena(m, (uint64_t)r, op->len))
        return;
    uint32_t first = (uint32_t)(((uint64_t)r - ARENA) / PAGE_SIZE);
    const struct vma *v = mm_find(m->mm, (uint64_t)r);
    KASSERT(v != NULL && (v->obj != NULL) == shared);
    for (uint32_t i = 0; i < op->len; i++) {
        struct page *p = &m->pages[first + i];
        KASSERT(fixed || !p->mapped);
        *p = (struct page){true, false, op->bits & 7u, v->obj, shared ? i * PAGE_SIZE : 0};
    }
}

static void do_munmap(struct mm_model *m, const struct op *op)
{
    KASSERT(mm_munmap(&m->task, m->mm, addr_of(op->page), (uint64_t)op->len * PAGE_SIZE) == 0);
    memset(&m->pages[op->page], 0, op->len * sizeof(struct page));
}

/* mprotect, whose host part is the thread's own call. */
static void do_protect(struct mm_model *m, const struct op *op)
{
    uint64_t addr = addr_of(op->page), len = (uint64_t)op->len * PAGE_SIZE;
    int r = mm_protect(m->mm, addr, len, op->bits & 7u);
    KASSERT(r == (all_mapped(m, op->page, op->len) ? 0 : -ENOMEM));
    if (r < 0)
        return;
    KASSERT(plat_ops->protect(m->mm->as, addr, len, op->bits & 7u) == 0);
    for (uint32_t i = op->page; i < op->page + op->len; i++)
        m->pages[i].prot = op->bits & 7u;
}

static void do_remap(struct mm_model *m, const struct op *op)
{
    bool fixed = op->bits & 1, dontunmap = (op->bits & 6) == 6;
    uint64_t flags =
        LX_MREMAP_MAYMOVE | (fixed ? LX_MREMAP_FIXED : 0u) | (dontunmap ? LX_MREMAP_DONTUNMAP : 0u);
    uint32_t new_len = dontunmap ? op->len : op->len2;
    struct page old[MAX_LEN];
    if (fixed && op->page2 + new_len > PAGES)
        return;
    memcpy(old, &m->pages[op->page], op->len * sizeof(old[0]));
    int64_t r = mm_remap(&m->task, m->mm, addr_of(op->page), (uint64_t)op->len * PAGE_SIZE,
                         (uint64_t)new_len * PAGE_SIZE, flags, addr_of(op->page2));
    if (r < 0) {
        KASSERT(r == -EFAULT || r == -EINVAL || r == -ENOMEM);
        mm_model_check_tree(m);
        mm_model_resync(m);
        return;
    }
    if (!dontunmap)
        memset(&m->pages[op->page], 0, op->len * sizeof(struct page));
    if (!in_arena(m, (uint64_t)r, new_len))
        return;
    uint32_t first = (uint32_t)(((uint64_t)r - ARENA) / PAGE_SIZE);
    for (uint32_t i = 0; i < new_len; i++) {
        struct page *p = &m->pages[first + i];
        KASSERT(fixed || !p->mapped);
        *p = i < op->len ? old[i] : old[op->len - 1];
        if (i >= op->len && p->obj != NULL)
            p->off += (uint64_t)(i - (op->len - 1)) * PAGE_SIZE;
    }
}

static void do_advise(struct mm_model *m, const struct op *op)
{
    static const int advices[] = {LX_MADV_DONTFORK, LX_MADV_DOFORK, LX_MADV_KEEPONFORK,
                                  LX_MADV_WILLNEED};
    bool host;
    int r = mm_advise(m->mm, addr_of(op->page), (uint64_t)op->len * PAGE_SIZE,
                      advices[op->bits % ARRAY_LEN(advices)], &host);
    KASSERT(r == 0 || r == -ENOMEM || r == -EINVAL);
}

/* The tree of a fork, whose host side the fake is not asked for. */
static void do_fork(struct mm_model *m)
{
    struct mm *child;
    if (mm_dup(m->mm, m->mm->as, &child) < 0)
        return;
    mm_check(child);
    KASSERT(child->nvmas <= m->mm->nvmas && child->locked == 0);
    mm_put(child);
}

void mm_model_step(struct mm_model *m, const uint8_t *b)
{
    struct op op = {.kind = b[0] % 9, .bits = b[5], .page = b[1] % PAGES, .page2 = b[3] % PAGES};
    op.len = MIN(1 + b[2] % (uint32_t)MAX_LEN, PAGES - op.page);
    op.len2 = MIN(1 + b[4] % (uint32_t)MAX_LEN, PAGES - op.page2);
    switch (op.kind) {
    case 0:
    case 1:
        do_mmap(m, &op, true, op.kind == 1);
        break;
    case 2:
    case 3:
        do_mmap(m, &op, false, op.kind == 3);
        break;
    case 4:
        do_munmap(m, &op);
        break;
    case 5:
        do_protect(m, &op);
        break;
    case 6:
        do_remap(m, &op);
        break;
    case 7:
        do_advise(m, &op);
        break;
    default:
        do_fork(m);
        break;
    }
    check_model(m);
}
