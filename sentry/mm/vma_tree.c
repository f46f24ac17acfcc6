/*
 * vma_tree.c: vmas of an mm, ordered by address in a red-black tree.
 *
 * Ranges never overlap. Each node carries the extent of its subtree and the largest gap between two
 * vmas inside of it, so the highest free range of a wanted size is found in one descent, however
 * many vmas a guest makes. Ranges in quarantine are few: a candidate that touches one is dropped
 * and the search goes on below it. The sums of the mm (total, locked) are kept here and nowhere
 * else.
 */
#include "sentry/mm/vma_tree.h"

#include "abi/errno.h"
#include "abi/mman.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/memobj.h"

static struct vma *vma_of(struct rb_node *n)
{
    return n != NULL ? rb_entry(n, struct vma, node) : NULL;
}

struct vma *mm_first(struct mm *mm)
{
    return vma_of(rb_first(&mm->vmas));
}

struct vma *vma_next(struct vma *v)
{
    return vma_of(rb_next(&v->node));
}

struct vma *vma_prev(struct vma *v)
{
    return vma_of(rb_prev(&v->node));
}

struct vma *mm_find_from(struct mm *mm, uint64_t addr)
{
    struct rb_node *n = mm->vmas.top;
    struct vma *best = NULL;
    while (n != NULL) {
        struct vma *v = vma_of(n);
        if (v->end > addr) {
            best = v;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    return best;
}

struct vma *mm_find(struct mm *mm, uint64_t addr)
{
    struct vma *v = mm_find_from(mm, addr);
    return v != NULL && v->start <= addr ? v : NULL;
}

static void vma_update(struct rb_node *node)
{
    struct vma *v = vma_of(node), *l = vma_of(node->left), *r = vma_of(node->right);
    uint64_t gap = 0;
    v->sub_start = l != NULL ? l->sub_start : v->start;
    v->sub_end = r != NULL ? r->sub_end : v->end;
    if (l != NULL)
        gap = MAX(l->max_gap, v->start - l->sub_end);
    if (r != NULL)
        gap = MAX(gap, MAX(r->max_gap, r->sub_start - v->end));
    v->max_gap = gap;
}

void vma_tree_init(struct mm *mm)
{
    rb_init(&mm->vmas, vma_update);
    list_init(&mm->quarantine);
    wait_queue_init(&mm->quarantine_wait);
}

/* An untouched stack counts little for RLIMIT_AS, although all of it is mapped from the start. */
uint64_t vma_charge(const struct vma *v)
{
    uint64_t len = v->end - v->start;
    if (v->flags & VMA_SPECIAL)
        return 0;
    return v->flags & VMA_STACK ? MIN(len, MM_STACK_CHARGED) : len;
}

static void account(struct mm *mm, const struct vma *v)
{
    mm->total += vma_charge(v);
    mm->locked += v->flags & VMA_LOCKED ? v->end - v->start : 0;
    if (v->flags & VMA_TOUCHABLE)
        usage_touchable((int64_t)(v->end - v->start));
}

static void unaccount(struct mm *mm, const struct vma *v)
{
    mm->total -= vma_charge(v);
    mm->locked -= v->flags & VMA_LOCKED ? v->end - v->start : 0;
    if (v->flags & VMA_TOUCHABLE)
        usage_touchable(-(int64_t)(v->end - v->start));
}

static void set_end(struct mm *mm, struct vma *v, uint64_t end)
{
    unaccount(mm, v);
    v->end = end;
    account(mm, v);
    rb_update_path(&mm->vmas, &v->node);
}

void vma_set_flags(struct mm *mm, struct vma *v, uint32_t flags)
{
    unaccount(mm, v);
    v->flags = flags;
    account(mm, v);
}

void vma_set_prot(struct mm *mm, struct vma *v, uint64_t prot)
{
    v->prot = prot;
    if (prot != LX_PROT_NONE && !(v->flags & VMA_TOUCHABLE))
        vma_set_flags(mm, v, v->flags | VMA_TOUCHABLE);
}

static void link_vma(struct mm *mm, struct vma *v)
{
    struct rb_node *parent = NULL, **slot = &mm->vmas.top;
    while (*slot != NULL) {
        struct vma *o = vma_of(*slot);
        KASSERT(v->end <= o->start || o->end <= v->start);
        parent = *slot;
        slot = v->start < o->start ? &parent->left : &parent->right;
    }
    v->sub_start = v->start;
    v->sub_end = v->end;
    v->max_gap = 0;
    rb_link(&mm->vmas, &v->node, parent, slot);
    mm->nvmas++;
    account(mm, v);
}

static void free_vma(struct mm *mm, struct vma *v)
{
    rb_erase(&mm->vmas, &v->node);
    mm->nvmas--;
    unaccount(mm, v);
    file_put(v->file);
    memobj_put(v->obj);
    kfree(v);
    limit_release(LIMIT_VMAS, 1);
}

static int new_vma(struct mm *mm, uint64_t start, uint64_t end, const struct vma_attr *attr,
                   struct vma **ret_v)
{
    if (mm->nvmas >= MM_MAX_VMAS || limit_charge(LIMIT_VMAS, 1) < 0)
        return -ENOMEM;
    struct vma *v = kalloc(sizeof(*v));
    if (v == NULL) {
        limit_release(LIMIT_VMAS, 1);
        return -ENOMEM;
    }
    v->start = start;
    v->end = end;
    v->prot = attr->prot;
    v->flags = attr->flags;
    if (v->prot != LX_PROT_NONE && !(v->flags & VMA_SPECIAL))
        v->flags |= VMA_TOUCHABLE;
    v->file = attr->file != NULL ? file_get(attr->file) : NULL;
    v->obj = attr->obj != NULL ? memobj_get(attr->obj) : NULL;
    v->offset = attr->offset;
    v->name = attr->name;
    *ret_v = v;
    return 0;
}

static struct vma_attr attr_at(const struct vma *v, uint64_t addr)
{
    struct vma_attr a = {v->prot, v->flags, v->file, v->obj, v->offset, v->name};
    if (v->file != NULL || v->obj != NULL)
        a.offset += addr - v->start;
    return a;
}

/* b begins where a ends and continues it. */
static bool mergeable(const struct vma *a, const struct vma *b)
{
    if (a->end != b->start || a->prot != b->prot ||
        ((a->flags ^ b->flags) & ~(uint32_t)VMA_TOUCHABLE) != 0 || a->file != b->file ||
        a->obj != b->obj || a->name != b->name || (a->flags & (VMA_SPECIAL | VMA_STACK)))
        return false;
    if (a->file != NULL || a->obj != NULL)
        return a->offset + (a->end - a->start) == b->offset;
    return true;
}

/* Joins v with its successor if they continue each other; true when v grew. */
static bool merge_next(struct mm *mm, struct vma *v)
{
    struct vma *n = vma_next(v);
    if (n == NULL || !mergeable(v, n))
        return false;
    uint64_t end = n->end;
    uint32_t flags = v->flags | n->flags;
    free_vma(mm, n);
    set_end(mm, v, end);
    if (v->flags != flags)
        vma_set_flags(mm, v, flags);
    return true;
}

void vma_merge_range(struct mm *mm, uint64_t start, uint64_t end)
{
    struct vma *v = mm_find_from(mm, start > 0 ? start - 1 : 0);
    while (v != NULL && v->start <= end) {
        if (!merge_next(mm, v))
            v = vma_next(v);
    }
}

int vma_insert(struct mm *mm, uint64_t start, uint64_t end, const struct vma_attr *attr)
{
    struct vma *v;
    DCHECK(start < end);
    int r = new_vma(mm, start, end, attr, &v);
    if (r < 0)
        return r;
    link_vma(mm, v);
    struct vma *p = vma_prev(v);
    if (p != NULL && merge_next(mm, p))
        v = p;
    (void)merge_next(mm, v);
    return 0;
}

int vma_split_at(struct mm *mm, uint64_t addr)
{
    struct vma *upper, *v = mm_find(mm, addr);
    if (v == NULL || v->start == addr)
        return 0;
    struct vma_attr attr = attr_at(v, addr);
    int r = new_vma(mm, addr, v->end, &attr, &upper);
    if (r < 0)
        return r;
    set_end(mm, v, addr);
    link_vma(mm, upper);
    return 0;
}

void vma_carve(struct mm *mm, uint64_t start, uint64_t end)
{
    struct vma *v = mm_find_from(mm, start);
    while (v != NULL && v->start < end) {
        struct vma *next = vma_next(v);
        DCHECK(v->start >= start && v->end <= end);
        free_vma(mm, v);
        v = next;
    }
}

bool vma_overlaps(struct mm *mm, uint64_t start, uint64_t end)
{
    struct vma *v = mm_find_from(mm, start);
    return (v != NULL && v->start < end) || quarantine_find(mm, start, end) != NULL;
}

bool vma_overlaps_special(struct mm *mm, uint64_t start, uint64_t end)
{
    for (struct vma *v = mm_find_from(mm, start); v != NULL && v->start < end; v = vma_next(v)) {
        if (v->flags & VMA_SPECIAL)
            return true;
    }
    return false;
}

bool vma_covers(struct mm *mm, uint64_t start, uint64_t end)
{
    struct vma *v = mm_find(mm, start);
    while (v != NULL && v->end < end) {
        struct vma *n = vma_next(v);
        if (n == NULL || n->start != v->end)
            return false;
        v = n;
    }
    return v != NULL;
}

/* The highest gap of len bytes in [low, high), which is free but for the subtree of n. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, which is logarithmic */
static bool gap_search(struct rb_node *n, uint64_t low, uint64_t high, uint64_t len,
                       uint64_t *ret_addr)
{
    struct vma *v = vma_of(n);
    if (high <= low || high - low < len)
        return false;
    if (v == NULL) {
        *ret_addr = high - len;
        return true;
    }
    bool below = v->sub_start > low && v->sub_start - low >= len;
    bool above = v->sub_end < high && high - v->sub_end >= len;
    if (!below && !above && v->max_gap < len)
        return false;
    return gap_search(n->right, MAX(low, v->end), high, len, ret_addr) ||
           gap_search(n->left, low, MIN(high, v->start), len, ret_addr);
}

uint64_t vma_find_range(struct mm *mm, uint64_t len, uint64_t align, uint64_t low, uint64_t high)
{
    uint64_t want, addr;
    if (!checked_add(len, align - PAGE_SIZE, &want))
        return 0;
    while (gap_search(mm->vmas.top, low, high, want, &addr)) {
        addr = (addr + (want - len)) & ~(align - 1);
        const struct quarantine *q = quarantine_find(mm, addr, addr + len);
        if (q == NULL)
            return addr;
        high = q->start;
    }
    return 0;
}

uint64_t vma_find_free(struct mm *mm, uint64_t len, uint64_t top)
{
    return vma_find_range(mm, len, PAGE_SIZE, MM_MMAP_MIN, top);
}

/* -- quarantine -------------------------------------------------------------------------------- */

int quarantine_add(struct mm *mm, struct task *t, uint64_t start, uint64_t end)
{
    struct quarantine *q = kalloc(sizeof(*q));
    if (q == NULL)
        return -ENOMEM;
    *q = (struct quarantine){.start = start, .end = end, .task = t};
    list_add_tail(&mm->quarantine, &q->link);
    return 0;
}

struct quarantine *quarantine_find(struct mm *mm, uint64_t start, uint64_t end)
{
    struct quarantine *q;
    list_for_each_entry (q, &mm->quarantine, link) {
        if (q->start < end && start < q->end)
            return q;
    }
    return NULL;
}

void mm_quarantine_release(struct mm *mm, struct task *t)
{
    struct quarantine *q, *tmp;
    list_for_each_entry_safe (q, tmp, &mm->quarantine, link) {
        if (t != NULL && q->task != t)
            continue;
        list_del_init(&q->link);
        kfree(q);
    }
    wait_queue_wake(&mm->quarantine_wait, 0);
}

/* -- invariants -------------------------------------------------------------------------------- */

void mm_check(const struct mm *mm)
{
    uint64_t total = 0, locked = 0, end = 0;
    uint32_t n = 0;
    struct rb_node *node;

    KASSERT(rb_check(&mm->vmas) >= 0);
    rb_for_each (node, &mm->vmas) {
        struct vma *v = vma_of(node);
        uint64_t sub_start = v->sub_start, sub_end = v->sub_end, max_gap = v->max_gap;
        KASSERT(v->start < v->end && v->start >= end && v->end <= LX_TASK_SIZE);
        KASSERT(page_aligned(v->start) && page_aligned(v->end) && page_aligned(v->offset));
        KASSERT(!(v->flags & VMA_SHARED) || v->file != NULL || v->obj != NULL);
        vma_update(node);
        KASSERT(sub_start == v->sub_start && sub_end == v->sub_end && max_gap == v->max_gap);
        total += vma_charge(v);
        locked += v->flags & VMA_LOCKED ? v->end - v->start : 0;
        end = v->end;
        n++;
    }
    KASSERT(total == mm->total && locked == mm->locked && n == mm->nvmas);
}
