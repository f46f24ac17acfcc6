/*
 * File data in memory. Small objects are a table of heap pages, where a missing page is a hole.
 * When an object is mapped, or grows beyond HEAP_MAX, its content moves to a host memfd and stays
 * there, so that reads, writes and mappings see one copy.
 *
 * Charging to LIMIT_DISK_BYTES: heap pages when they are allocated; a memfd is charged before a
 * write for every page that the write may allocate, and brought back to what the host counts
 * afterwards. Pages that a guest touches through a mapping are found at the next operation.
 */
#include "sentry/mm/memobj.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/checked.h"
#include "sentry/host/host.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/usercopy.h"

#define HEAP_MAX     (256u << 10)
#define BOUNCE       (64u << 10)
#define SIZE_MAX_OBJ ((uint64_t)INT64_MAX & PAGE_MASK)

struct memobj {
    uint32_t ref;
    int fd; /* -1: heap pages */
    uint64_t size;
    uint64_t charged; /* bytes */
    uint8_t **pages;
    size_t npages; /* length of the table */
};

int memobj_new(uint64_t size, struct memobj **ret_obj)
{
    struct memobj *o;

    if (size > SIZE_MAX_OBJ)
        return -EFBIG;
    o = kalloc(sizeof(*o));
    if (!o)
        return -ENOMEM;
    o->ref = 1;
    o->fd = -1;
    o->size = size;
    *ret_obj = o;
    return 0;
}

struct memobj *memobj_get(struct memobj *o)
{
    KASSERT(o->ref > 0 && o->ref < UINT32_MAX);
    o->ref++;
    return o;
}

static void drop_pages(struct memobj *o, size_t from)
{
    for (size_t i = from; i < o->npages; i++) {
        if (!o->pages[i])
            continue;
        kfree(o->pages[i]);
        o->pages[i] = NULL;
        if (o->fd < 0) {
            o->charged -= PAGE_SIZE;
            limit_release(LIMIT_DISK_BYTES, PAGE_SIZE);
        }
    }
}

void memobj_put(struct memobj *o)
{
    if (!o)
        return;
    KASSERT(o->ref > 0);
    if (--o->ref > 0)
        return;
    drop_pages(o, 0);
    kfree(o->pages);
    if (o->fd >= 0)
        host_close(o->fd);
    limit_release(LIMIT_DISK_BYTES, o->charged);
    kfree(o);
}

uint64_t memobj_size(const struct memobj *o)
{
    return o->size;
}

uint64_t memobj_allocated(const struct memobj *o)
{
    return o->fd < 0 ? o->charged : host_fd_blocks(o->fd) * 512;
}

/* Charges or gives back until the charge is what the memfd holds. Pages beyond the limit that
 * a mapping brought in are not charged: the sandbox's memory limit is what stops those. */
static void settle(struct memobj *o)
{
    uint64_t real = memobj_allocated(o);

    if (o->fd < 0)
        return;
    if (real < o->charged) {
        limit_release(LIMIT_DISK_BYTES, o->charged - real);
        o->charged = real;
    } else if (real > o->charged && limit_charge(LIMIT_DISK_BYTES, real - o->charged) == 0) {
        o->charged = real;
    }
}

/* -- heap pages
 * -------------------------------------------------------------------------------------- */

static int table_grow(struct memobj *o, size_t n)
{
    uint8_t **grown;
    size_t cap;

    if (n <= o->npages)
        return 0;
    cap = MAX(n, o->npages * 2);
    grown = krealloc(o->pages, cap * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    o->pages = grown;
    o->npages = cap;
    return 0;
}

static int page_get(struct memobj *o, size_t i, uint8_t **ret_page)
{
    int r = table_grow(o, i + 1);

    if (r < 0)
        return r;
    if (!o->pages[i]) {
        r = limit_charge(LIMIT_DISK_BYTES, PAGE_SIZE);
        if (r < 0)
            return r;
        o->pages[i] = kalloc(PAGE_SIZE);
        if (!o->pages[i]) {
            limit_release(LIMIT_DISK_BYTES, PAGE_SIZE);
            return -ENOSPC;
        }
        o->charged += PAGE_SIZE;
    }
    *ret_page = o->pages[i];
    return 0;
}

static uint8_t *page_at(const struct memobj *o, uint64_t pos)
{
    uint64_t i = pos / PAGE_SIZE;

    return i < o->npages ? o->pages[i] : NULL;
}

static int to_memfd(struct memobj *o)
{
    int fd;

    if (o->fd >= 0)
        return 0;
    fd = host_memfd_new("file", o->size);
    if (fd < 0)
        return fd == -EMFILE || fd == -ENFILE ? -ENFILE : -ENOMEM;
    for (size_t i = 0; i < o->npages; i++) {
        if (o->pages[i] && host_pwrite(fd, o->pages[i], PAGE_SIZE, i * PAGE_SIZE) != PAGE_SIZE) {
            host_close(fd);
            return -ENOMEM;
        }
    }
    /* The last page may reach beyond the end. */
    if (host_ftruncate(fd, o->size) < 0) {
        host_close(fd);
        return -ENOMEM;
    }
    o->fd = fd;
    drop_pages(o, 0);
    kfree(o->pages);
    o->pages = NULL;
    o->npages = 0;
    settle(o);
    return 0;
}

int memobj_host_fd(struct memobj *o, int *ret_fd)
{
    int r = to_memfd(o);

    if (r == 0)
        *ret_fd = o->fd;
    return r;
}

/* -- size
 * --------------------------------------------------------------------------------------------- */

static void zero_tail(struct memobj *o, uint64_t from)
{
    uint8_t *page = page_at(o, from);
    size_t off = (size_t)(from % PAGE_SIZE);

    if (page && off)
        memset(page + off, 0, PAGE_SIZE - off);
}

int memobj_resize(struct memobj *o, uint64_t size)
{
    int r = 0;

    if (size > SIZE_MAX_OBJ)
        return -EFBIG;
    if (o->fd >= 0) {
        r = host_ftruncate(o->fd, size);
        if (r < 0)
            return host_to_guest(r);
    } else if (size < o->size) {
        zero_tail(o, size);
        drop_pages(o, (size_t)(page_up(size) / PAGE_SIZE));
    }
    o->size = size;
    settle(o);
    return 0;
}

/* -- reading and writing
 * -------------------------------------------------------------------------------- */

static int64_t read_heap(struct memobj *o, uint64_t pos, struct uio *to, size_t n)
{
    uint8_t *page = page_at(o, pos);

    return page ? uio_copy_to(to, page + pos % PAGE_SIZE, n) : uio_zero(to, n);
}

static int64_t read_fd(struct memobj *o, uint64_t pos, struct uio *to, size_t n, uint8_t *bounce)
{
    int64_t got = host_pread(o->fd, bounce, n, pos);

    if (got <= 0)
        return got < 0 ? host_to_guest(got) : 0;
    return uio_copy_to(to, bounce, (size_t)got);
}

int64_t memobj_read(struct memobj *o, uint64_t pos, struct uio *to)
{
    uint8_t *bounce = NULL;
    int64_t done = 0, c = 0;

    if (pos >= o->size || to->left == 0)
        return 0;
    if (o->fd >= 0) {
        bounce = kalloc(MIN(to->left, (size_t)BOUNCE));
        if (!bounce)
            return -ENOMEM;
    }
    while (to->left && pos < o->size) {
        uint64_t step = o->fd < 0 ? PAGE_SIZE - pos % PAGE_SIZE : BOUNCE;
        uint64_t rest = MIN(o->size - pos, (uint64_t)to->left);
        size_t n = (size_t)MIN(step, rest);

        c = o->fd < 0 ? read_heap(o, pos, to, n) : read_fd(o, pos, to, n, bounce);
        if (c > 0) {
            done += c;
            pos += (uint64_t)c;
        }
        if (c < (int64_t)n)
            break;
    }
    kfree(bounce);
    return done ? done : c;
}

static int64_t write_heap(struct memobj *o, uint64_t pos, struct uio *from)
{
    size_t off = (size_t)(pos % PAGE_SIZE);
    uint8_t *page;
    int r = page_get(o, (size_t)(pos / PAGE_SIZE), &page);

    return r < 0 ? r : uio_copy_from(from, page + off, MIN(from->left, PAGE_SIZE - off));
}

/* One step of a write to the memfd; what it may allocate is charged before. */
static int64_t write_fd(struct memobj *o, uint64_t pos, struct uio *from, uint8_t *bounce)
{
    size_t n = MIN(from->left, (size_t)BOUNCE);
    uint64_t most = page_up(pos + n) - page_down(pos);
    int64_t c, w;
    int r = limit_charge(LIMIT_DISK_BYTES, most);

    if (r < 0) {
        /* Perhaps the pages are there already. */
        if (pos + n > o->size || host_seek_hole(o->fd, pos) < (int64_t)(pos + n))
            return r;
        most = 0;
    }
    o->charged += most;
    c = uio_copy_from(from, bounce, n);
    w = c > 0 ? host_pwrite(o->fd, bounce, (size_t)c, pos) : c;
    settle(o);
    if (c <= 0)
        return c;
    return w < 0 ? host_to_guest(w) : w;
}

int64_t memobj_write(struct memobj *o, uint64_t pos, struct uio *from)
{
    uint8_t *bounce = NULL;
    int64_t done = 0, c = 0;
    uint64_t end;

    if (from->left == 0)
        return 0;
    if (!checked_add(pos, (uint64_t)from->left, &end) || end > SIZE_MAX_OBJ)
        return -EFBIG;
    if (o->fd < 0 && end > HEAP_MAX) {
        int r = to_memfd(o);

        if (r < 0)
            return r;
    }
    if (o->fd >= 0) {
        bounce = kalloc(MIN(from->left, (size_t)BOUNCE));
        if (!bounce)
            return -ENOMEM;
    }
    while (from->left) {
        size_t before = from->left;

        c = o->fd < 0 ? write_heap(o, pos, from) : write_fd(o, pos, from, bounce);
        if (c <= 0)
            break;
        done += c;
        pos += (uint64_t)c;
        o->size = MAX(o->size, pos);
        if (before - from->left != (size_t)c)
            break;
    }
    kfree(bounce);
    return done ? done : c;
}

/* -- space
 * ---------------------------------------------------------------------------------------------- */

int memobj_allocate(struct memobj *o, uint64_t pos, uint64_t len)
{
    uint64_t end;
    int r;

    if (!checked_add(pos, len, &end) || end > SIZE_MAX_OBJ)
        return -EFBIG;
    if (o->fd < 0 && end > HEAP_MAX) {
        r = to_memfd(o);
        if (r < 0)
            return r;
    }
    if (o->fd >= 0) {
        r = limit_charge(LIMIT_DISK_BYTES, page_up(end) - page_down(pos));
        if (r < 0)
            return r;
        o->charged += page_up(end) - page_down(pos);
        r = host_fallocate(o->fd, pos, len);
        settle(o);
        return r < 0 ? host_to_guest(r) : 0;
    }
    for (uint64_t p = page_down(pos); p < end; p += PAGE_SIZE) {
        uint8_t *page;

        r = page_get(o, (size_t)(p / PAGE_SIZE), &page);
        if (r < 0)
            return r;
    }
    return 0;
}

static void punch_heap(struct memobj *o, uint64_t pos, uint64_t end)
{
    end = MIN(end, (uint64_t)o->npages * PAGE_SIZE);
    while (pos < end) {
        size_t i = (size_t)(pos / PAGE_SIZE), off = (size_t)(pos % PAGE_SIZE);
        size_t n = (size_t)MIN(end - pos, (uint64_t)(PAGE_SIZE - off));

        if (o->pages[i] && n == PAGE_SIZE) {
            kfree(o->pages[i]);
            o->pages[i] = NULL;
            o->charged -= PAGE_SIZE;
            limit_release(LIMIT_DISK_BYTES, PAGE_SIZE);
        } else if (o->pages[i]) {
            memset(o->pages[i] + off, 0, n);
        }
        pos += n;
    }
}

int memobj_punch(struct memobj *o, uint64_t pos, uint64_t len)
{
    uint64_t end;
    int r;

    if (!checked_add(pos, len, &end))
        end = UINT64_MAX;
    end = MIN(end, page_up(o->size));
    if (pos >= end)
        return 0;
    if (o->fd < 0) {
        punch_heap(o, pos, end);
        return 0;
    }
    r = host_punch_hole(o->fd, pos, end - pos);
    settle(o);
    return r < 0 ? host_to_guest(r) : 0;
}

int64_t memobj_seek_data(struct memobj *o, uint64_t pos)
{
    if (pos >= o->size)
        return -ENXIO;
    if (o->fd >= 0) {
        int64_t r = host_seek_data(o->fd, pos);

        return r < 0 ? -ENXIO : r;
    }
    for (uint64_t p = pos; p < MIN(o->size, (uint64_t)o->npages * PAGE_SIZE);
         p = page_down(p) + PAGE_SIZE) {
        if (page_at(o, p))
            return (int64_t)p;
    }
    return -ENXIO;
}

int64_t memobj_seek_hole(struct memobj *o, uint64_t pos)
{
    if (pos >= o->size)
        return -ENXIO;
    if (o->fd >= 0) {
        int64_t r = host_seek_hole(o->fd, pos);

        return r < 0 ? -ENXIO : r;
    }
    for (uint64_t p = pos; p < o->size; p = page_down(p) + PAGE_SIZE) {
        if (!page_at(o, p))
            return (int64_t)p;
    }
    return (int64_t)o->size;
}
