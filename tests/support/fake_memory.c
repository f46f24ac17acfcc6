/*
 * How this works: ranges (struct range) say what is mapped with which protection; pages come into
 * being when they are first touched, keyed by address in a hash table. A private page of a file is
 * filled with pread at first touch; a shared one is a MAP_SHARED mapping of that one page. Ranges
 * are split at the borders of every operation, so each operation then works on whole ranges.
 */
#include "tests/support/fake_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/checked.h"
#include "lib/hash.h"
#include "lib/list.h"

struct backing {
    int fd;
    int refs;
};

struct range {
    struct list_head link;
    uint64_t start, end;
    uint32_t prot;
    bool shared;
    struct backing *file; /* NULL: anonymous */
    uint64_t offset;      /* of start in file */
};

struct page {
    struct hash_node node;
    uint64_t addr;
    uint8_t *data;
    bool mapped; /* data is a shared mapping */
};

struct fake_mem {
    struct list_head ranges; /* sorted */
    struct hash_table pages;
};

/* Plain malloc: the kernel's allocator may be told to fail, the fake is not what is under test. */
static void *must_calloc(size_t n)
{
    void *p = calloc(1, n);

    if (!p)
        abort();
    return p;
}

static void backing_put(struct backing *b)
{
    if (b && --b->refs == 0) {
        close(b->fd);
        free(b);
    }
}

static struct backing *backing_get(struct backing *b)
{
    if (b)
        b->refs++;
    return b;
}

struct fake_mem *fake_mem_new(void)
{
    struct fake_mem *m = must_calloc(sizeof(*m));

    list_init(&m->ranges);
    hash_init(&m->pages);
    return m;
}

static void page_free(struct fake_mem *m, struct page *p)
{
    hash_remove(&m->pages, &p->node);
    if (p->mapped)
        munmap(p->data, PAGE_SIZE);
    else
        free(p->data);
    free(p);
}

static struct page *page_find(struct fake_mem *m, uint64_t addr)
{
    struct hash_node *n;

    hash_for_each_match (n, &m->pages, hash_u64(0, addr)) {
        struct page *p = hash_entry(n, struct page, node);

        if (p->addr == addr)
            return p;
    }
    return NULL;
}

static void pages_drop(struct fake_mem *m, uint64_t start, uint64_t end)
{
    struct hash_node *n = hash_next(&m->pages, NULL);

    if ((end - start) / PAGE_SIZE < m->pages.count) {
        for (uint64_t a = start; a < end; a += PAGE_SIZE) {
            struct page *p = page_find(m, a);

            if (p)
                page_free(m, p);
        }
        return;
    }
    while (n) {
        struct page *p = hash_entry(n, struct page, node);

        n = hash_next(&m->pages, n);
        if (p->addr >= start && p->addr < end)
            page_free(m, p);
    }
}

void fake_mem_free(struct fake_mem *m)
{
    struct range *r, *tmp;

    if (!m)
        return;
    pages_drop(m, 0, UINT64_MAX & PAGE_MASK);
    list_for_each_entry_safe (r, tmp, &m->ranges, link) {
        list_del_init(&r->link);
        backing_put(r->file);
        free(r);
    }
    hash_done(&m->pages);
    free(m);
}

static struct range *range_find(struct fake_mem *m, uint64_t addr)
{
    struct range *r;

    list_for_each_entry (r, &m->ranges, link) {
        if (addr >= r->start && addr < r->end)
            return r;
    }
    return NULL;
}

/* Makes `at` a border of ranges. */
static void range_split(struct fake_mem *m, uint64_t at)
{
    struct range *r = range_find(m, at), *tail;

    if (!r || r->start == at)
        return;
    tail = must_calloc(sizeof(*tail));
    *tail = *r;
    tail->start = at;
    tail->offset += at - r->start;
    backing_get(tail->file);
    r->end = at;
    list_add(&r->link, &tail->link);
}

static void range_insert(struct fake_mem *m, struct range *new)
{
    struct range *r;

    list_for_each_entry (r, &m->ranges, link) {
        if (r->start > new->start)
            break;
    }
    list_add_tail(&r->link, &new->link);
}

/* Neighbours that differ in nothing become one range, as on a host. */
static void ranges_merge(struct fake_mem *m)
{
    struct range *r, *tmp, *last = NULL;

    list_for_each_entry_safe (r, tmp, &m->ranges, link) {
        if (last && last->end == r->start && last->prot == r->prot && last->shared == r->shared &&
            last->file == r->file &&
            (!r->file || last->offset + (last->end - last->start) == r->offset)) {
            last->end = r->end;
            list_del_init(&r->link);
            backing_put(r->file);
            free(r);
        } else {
            last = r;
        }
    }
}

static bool range_ok(uint64_t addr, uint64_t len)
{
    uint64_t end;

    return page_aligned(addr) && len && checked_add(addr, len, &end) && end <= (1ull << 47);
}

int fake_mem_unmap(struct fake_mem *m, uint64_t addr, uint64_t len)
{
    struct range *r, *tmp;

    len = page_up(len);
    if (!range_ok(addr, len))
        return -EINVAL;
    range_split(m, addr);
    range_split(m, addr + len);
    list_for_each_entry_safe (r, tmp, &m->ranges, link) {
        if (r->start >= addr && r->end <= addr + len) {
            list_del_init(&r->link);
            backing_put(r->file);
            free(r);
        }
    }
    pages_drop(m, addr, addr + len);
    return 0;
}

int fake_mem_map(struct fake_mem *m, const struct plat_map_req *req)
{
    struct range *r;
    int err = fake_mem_unmap(m, req->addr, req->len);

    if (err)
        return err;
    r = must_calloc(sizeof(*r));
    r->start = req->addr;
    r->end = req->addr + page_up(req->len);
    r->prot = req->prot;
    r->shared = (req->flags & PLAT_MAP_SHARED) != 0;
    if (!(req->flags & PLAT_MAP_ANON)) {
        int fd = dup(req->host_fd);

        if (fd < 0) {
            free(r);
            return -errno;
        }
        r->file = must_calloc(sizeof(*r->file));
        r->file->fd = fd;
        r->file->refs = 1;
        r->offset = req->offset;
    }
    range_insert(m, r);
    return 0;
}

static bool range_covered(struct fake_mem *m, uint64_t addr, uint64_t end)
{
    while (addr < end) {
        struct range *r = range_find(m, addr);

        if (!r)
            return false;
        addr = r->end;
    }
    return true;
}

int fake_mem_protect(struct fake_mem *m, uint64_t addr, uint64_t len, uint32_t prot)
{
    struct range *r;

    len = page_up(len);
    if (!range_ok(addr, len))
        return -EINVAL;
    range_split(m, addr);
    range_split(m, addr + len);
    list_for_each_entry (r, &m->ranges, link) {
        if (r->start >= addr && r->end <= addr + len)
            r->prot = prot;
    }
    ranges_merge(m);
    return range_covered(m, addr, addr + len) ? 0 : -ENOMEM;
}

int fake_mem_advise(struct fake_mem *m, uint64_t addr, uint64_t len, int advice)
{
    if (!range_ok(addr, page_up(len)))
        return -EINVAL;
    if (advice == MADV_DONTNEED)
        pages_drop(m, addr, addr + page_up(len));
    return 0;
}

/* Takes the pages of [from, from + len) to `to`; they keep their content. */
static void pages_move(struct fake_mem *m, uint64_t from, uint64_t to, uint64_t len)
{
    for (uint64_t o = 0; o < len; o += PAGE_SIZE) {
        struct page *p = page_find(m, from + o);

        if (!p)
            continue;
        hash_remove(&m->pages, &p->node);
        p->addr = to + o;
        hash_insert(&m->pages, &p->node, hash_u64(0, p->addr));
    }
}

int fake_mem_remap(struct fake_mem *m, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                   uint64_t new_len, bool dontunmap)
{
    struct range *r, *new;

    old_len = page_up(old_len);
    new_len = page_up(new_len);
    if (!range_ok(old_addr, old_len) || !range_ok(new_addr, new_len))
        return -EINVAL;
    if (!range_covered(m, old_addr, old_addr + old_len))
        return -EFAULT;
    if (new_len < old_len) {
        int err = fake_mem_unmap(m, old_addr + new_len, old_len - new_len);

        if (err)
            return err;
        old_len = new_len;
    }
    range_split(m, old_addr);
    range_split(m, old_addr + old_len);
    r = range_find(m, old_addr);
    if (!r || r->end < old_addr + old_len)
        return -EFAULT;
    if (old_addr == new_addr) {
        if (range_find(m, r->end) && new_len > old_len)
            return -ENOMEM;
        r->end = r->start + new_len;
        return 0;
    }
    if (new_addr < old_addr + old_len && old_addr < new_addr + new_len)
        return -EINVAL;
    new = must_calloc(sizeof(*new));
    *new = *r;
    backing_get(new->file);
    if (fake_mem_unmap(m, new_addr, new_len)) {
        backing_put(new->file);
        free(new);
        return -EINVAL;
    }
    new->start = new_addr;
    new->end = new_addr + new_len;
    range_insert(m, new);
    pages_move(m, old_addr, new_addr, old_len);
    return dontunmap ? 0 : fake_mem_unmap(m, old_addr, old_len);
}

/* The bytes of one page, made on first touch; NULL: the file has no such page. */
static struct page *page_touch(struct fake_mem *m, struct range *r, uint64_t addr)
{
    uint64_t offset = r->offset + (addr - r->start);
    struct page *p = page_find(m, addr);

    if (p)
        return p;
    p = must_calloc(sizeof(*p));
    p->addr = addr;
    if (r->file) {
        off_t size = lseek(r->file->fd, 0, SEEK_END);

        if (size >= 0 && offset >= page_up((uint64_t)size)) {
            free(p);
            return NULL;
        }
    }
    if (r->file && r->shared) {
        p->data =
            mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->file->fd, (off_t)offset);
        if (p->data == MAP_FAILED)
            p->data = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, r->file->fd, (off_t)offset);
        if (p->data == MAP_FAILED)
            abort();
        p->mapped = true;
    } else {
        p->data = must_calloc(PAGE_SIZE);
        /* Not pread: no test may let this one fail (host_failures.c). */
        if (r->file && syscall(SYS_pread64, r->file->fd, p->data, PAGE_SIZE, offset) < 0)
            abort();
    }
    hash_insert(&m->pages, &p->node, hash_u64(0, addr));
    return p;
}

/* Copies within one page; false on a fault. */
static bool copy_part(struct fake_mem *m, uint64_t addr, uint8_t *buf, size_t len, bool write)
{
    struct range *r = range_find(m, addr);
    struct page *p;

    if (!r || !(r->prot & (write ? PROT_WRITE : PROT_READ | PROT_WRITE)))
        return false;
    p = page_touch(m, r, page_down(addr));
    if (!p)
        return false;
    if (write)
        memcpy(p->data + (addr - p->addr), buf, len);
    else
        memcpy(buf, p->data + (addr - p->addr), len);
    return true;
}

int64_t fake_mem_copy(struct fake_mem *m, const struct plat_seg *segs, size_t n, void *buf,
                      size_t len, bool write)
{
    size_t done = 0;

    for (size_t i = 0; i < n && done < len; i++) {
        uint64_t addr = segs[i].addr;
        size_t left = MIN(segs[i].len, len - done);

        while (left) {
            size_t part = MIN(left, (size_t)(PAGE_SIZE - addr % PAGE_SIZE));

            if (!copy_part(m, addr, (uint8_t *)buf + done, part, write))
                return done || !len ? (int64_t)done : -EFAULT;
            addr += part;
            left -= part;
            done += part;
        }
    }
    return (int64_t)done;
}

struct fake_mem *fake_mem_fork(struct fake_mem *m)
{
    struct fake_mem *child = fake_mem_new();
    struct hash_node *n;
    struct range *r;

    list_for_each_entry (r, &m->ranges, link) {
        struct range *copy = must_calloc(sizeof(*copy));

        *copy = *r;
        backing_get(copy->file);
        list_add_tail(&child->ranges, &copy->link);
    }
    hash_for_each (n, &m->pages) {
        struct page *p = hash_entry(n, struct page, node), *copy;

        if (p->mapped)
            continue;
        copy = must_calloc(sizeof(*copy));
        copy->addr = p->addr;
        copy->data = must_calloc(PAGE_SIZE);
        memcpy(copy->data, p->data, PAGE_SIZE);
        hash_insert(&child->pages, &copy->node, hash_u64(0, copy->addr));
    }
    return child;
}

int fake_mem_prot(struct fake_mem *m, uint64_t addr)
{
    struct range *r = range_find(m, addr);

    return r ? (int)r->prot : -1;
}
