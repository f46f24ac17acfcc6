/*
 * vma_tree.c: vmas of an mm, ordered by address in a red-black tree.
 *
 * Ranges never overlap. The free-range search walks down from the top over the tree's order; an address space
 * has a few hundred vmas at most in practice, and the walk costs nanoseconds a vma.
 */
#include "sentry/mm/vma_tree.h"

#include "abi/errno.h"
#include "abi/mman.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
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

static struct vma *vma_prev(struct vma *v)
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

static void link_vma(struct mm *mm, struct vma *v)
{
    struct rb_node *parent = NULL, **slot = &mm->vmas.top;
    while (*slot != NULL) {
        parent = *slot;
        slot = v->start < vma_of(parent)->start ? &parent->left : &parent->right;
    }
    rb_link(&mm->vmas, &v->node, parent, slot);
    mm->nvmas++;
    if (!(v->flags & VMA_SPECIAL))
        mm->total += v->end - v->start;
}

static void free_vma(struct mm *mm, struct vma *v)
{
    rb_erase(&mm->vmas, &v->node);
    mm->nvmas--;
    if (!(v->flags & VMA_SPECIAL))
        mm->total -= v->end - v->start;
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
    if (a->end != b->start || a->prot != b->prot || a->flags != b->flags || a->file != b->file ||
        a->obj != b->obj || a->name != b->name || (a->flags & VMA_SPECIAL))
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
    uint64_t grown = n->end - n->start;
    free_vma(mm, n);
    v->end = end;
    mm->total += grown;
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
    if (!(v->flags & VMA_SPECIAL))
        mm->total -= v->end - addr;
    v->end = addr;
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

/* The last vma that starts below addr. */
static struct vma *last_below(struct mm *mm, uint64_t addr)
{
    struct rb_node *n = mm->vmas.top;
    struct vma *best = NULL;
    while (n != NULL) {
        struct vma *v = vma_of(n);
        if (v->start < addr) {
            best = v;
            n = n->right;
        } else {
            n = n->left;
        }
    }
    return best;
}

uint64_t vma_find_free(struct mm *mm, uint64_t len, uint64_t top)
{
    uint64_t high = top;
    struct vma *v = last_below(mm, top);

    for (;;) {
        uint64_t low = v != NULL ? v->end : 0;
        while (high >= low && high - low >= len && high >= len && high - len >= MM_MMAP_MIN) {
            struct quarantine *q = quarantine_find(mm, high - len, high);
            if (q == NULL)
                return high - len;
            high = q->start;
        }
        if (v == NULL || v->start < len)
            return 0;
        high = MIN(high, v->start);
        v = vma_prev(v);
    }
}

/* -- quarantine -------------------------------------------------------------------------------------------- */

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
