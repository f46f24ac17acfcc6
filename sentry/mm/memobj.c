/*
 * File data in memory. As long as an object is small and unmapped its pages are heap blocks, found
 * through a sorted array of chunks (memobj_pages.c), so holes cost nothing and a small file needs
 * no host descriptor. It becomes a memfd when it is first mapped or owns more than HEAP_PAGES
 * pages, and stays one.
 *
 * Accounting: every allocated page is charged before it exists. A mapped memfd gets pages behind
 * our back, when a guest touches them; the next operation on the object charges those too
 * (settle), and the cgroup, or the monitor (usage.h), bounds them meanwhile.
 *
 * Guest memory is reached through a bounce buffer, one copy for up to BOUNCE bytes whatever the
 * number of pages; there is one buffer because there is one kernel thread and no copy nests.
 */
#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/checked.h"
#include "sentry/host/host.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/memobj_private.h"
#include "sentry/mm/usercopy.h"

enum {
    HEAP_PAGES = 256,
    BOUNCE = 65536
};
#define OBJ_MAX_SIZE ((uint64_t)INT64_MAX & PAGE_MASK)

static uint8_t bounce[BOUNCE];
static struct list_head mapped_objects = {&mapped_objects, &mapped_objects};

/* -- life ------------------------------------------------------------------------------------ */

int memobj_new_in(struct memobj_quota *q, uint64_t size, struct memobj **ret_obj)
{
    struct memobj *o;

    if (size > OBJ_MAX_SIZE)
        return -EFBIG;
    o = kalloc(sizeof(*o));
    if (!o)
        return -ENOMEM;
    o->ref = 1;
    o->fd = -1;
    list_init(&o->mapped);
    o->size = size;
    o->quota = q;
    if (q)
        q->ref++;
    *ret_obj = o;
    return 0;
}

int memobj_new(uint64_t size, struct memobj **ret_obj)
{
    return memobj_new_in(NULL, size, ret_obj);
}

struct memobj *memobj_get(struct memobj *o)
{
    KASSERT(o->ref > 0);
    o->ref++;
    return o;
}

void memobj_put(struct memobj *o)
{
    if (!o)
        return;
    KASSERT(o->ref > 0);
    if (--o->ref > 0)
        return;
    list_del_init(&o->mapped);
    usage_files(-(int64_t)o->counted);
    if (o->fd >= 0)
        host_close(o->fd);
    memobj_pages_free(o, 0, UINT64_MAX);
    memobj_uncharge(o, o->charged);
    memobj_quota_put(o->quota);
    kfree(o->chunks);
    kfree(o);
}

uint64_t memobj_size(const struct memobj *o)
{
    return o->size;
}

uint64_t memobj_allocated(const struct memobj *o)
{
    if (o->fd >= 0)
        return host_fd_blocks(o->fd) * 512;
    return (uint64_t)o->npages * PAGE_SIZE;
}

/* -- the memfd ------------------------------------------------------------------------------- */

static int write_all(int fd, const uint8_t *p, size_t n, uint64_t pos)
{
    while (n > 0) {
        int64_t done = host_pwrite(fd, p, n, pos);

        if (done <= 0)
            return done < 0 ? host_to_guest(done) : -EIO;
        p += done;
        n -= (size_t)done;
        pos += (uint64_t)done;
    }
    return 0;
}

static int copy_pages(const struct memobj *o, int fd)
{
    for (uint32_t at = 0; at < o->nchunks; at++) {
        const struct chunk *c = o->chunks[at];

        for (uint32_t i = 0; i < CHUNK_PAGES; i++) {
            uint64_t pos = (c->index * CHUNK_PAGES + i) * PAGE_SIZE;
            uint64_t n = pos < o->size ? MIN((uint64_t)PAGE_SIZE, o->size - pos) : 0;
            int r = c->page[i] && n ? write_all(fd, c->page[i], (size_t)n, pos) : 0;

            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int to_memfd(struct memobj *o)
{
    uint64_t charged = o->charged;
    int fd, r;

    if (o->fd >= 0)
        return 0;
    fd = host_memfd_new("guest", o->size);
    if (fd < 0)
        return fd == -EMFILE || fd == -ENFILE ? -ENFILE : -ENOMEM;
    r = copy_pages(o, fd);
    if (r < 0) {
        host_close(fd);
        return r;
    }
    o->charged = 0; /* the charge moves over to the memfd's pages */
    memobj_pages_free(o, 0, UINT64_MAX);
    kfree(o->chunks);
    o->chunks = NULL;
    o->cap = 0;
    o->charged = charged;
    o->fd = fd;
    (void)memobj_changed(o); /* the copy is no change */
    memobj_settle(o);
    return 0;
}

uint64_t memobj_changed(struct memobj *o)
{
    uint64_t at = o->fd >= 0 ? host_fd_mtime(o->fd) : 0;

    if (at <= o->changed)
        return 0;
    o->changed = at;
    return at;
}

int memobj_host_fd(struct memobj *o, int *ret_fd)
{
    int r = to_memfd(o);

    if (r < 0)
        return r;
    if (list_empty(&o->mapped)) {
        list_add_tail(&mapped_objects, &o->mapped);
        usage_watch_files();
    }
    *ret_fd = o->fd;
    return 0;
}

bool memobj_settle_mapped(void)
{
    struct memobj *o;

    list_for_each_entry (o, &mapped_objects, mapped)
        memobj_settle(o);
    return !list_empty(&mapped_objects);
}

/* -- size and holes -------------------------------------------------------------------------- */

int memobj_resize(struct memobj *o, uint64_t size)
{
    if (size > OBJ_MAX_SIZE)
        return -EFBIG;
    if (o->fd >= 0) {
        int r = host_ftruncate(o->fd, size);

        if (r < 0)
            return host_to_guest(r);
        memobj_settle(o);
    } else if (size < o->size) {
        memobj_pages_free(o, page_up(size) / PAGE_SIZE, UINT64_MAX);
        if (!page_aligned(size))
            memobj_zero_within_page(o, size, page_up(size) - size);
    }
    o->size = size;
    return 0;
}

int memobj_punch(struct memobj *o, uint64_t pos, uint64_t len)
{
    uint64_t end;

    if (pos >= o->size || len == 0)
        return 0;
    if (!checked_add(pos, len, &end) || end > page_up(o->size))
        end = page_up(o->size);
    if (o->fd >= 0) {
        int r = host_punch_hole(o->fd, pos, end - pos);

        memobj_settle(o);
        return r < 0 ? host_to_guest(r) : 0;
    }
    if (pos / PAGE_SIZE == end / PAGE_SIZE) {
        memobj_zero_within_page(o, pos, end - pos);
        return 0;
    }
    if (!page_aligned(pos))
        memobj_zero_within_page(o, pos, page_up(pos) - pos);
    if (!page_aligned(end))
        memobj_zero_within_page(o, page_down(end), end - page_down(end));
    memobj_pages_free(o, page_up(pos) / PAGE_SIZE, end / PAGE_SIZE);
    return 0;
}

/* Charges len more bytes of a memfd, and takes back what turned out to be there already. */
static int charge_ahead(struct memobj *o, uint64_t pos, uint64_t len)
{
    memobj_settle(o);
    return memobj_charge(o, page_up(pos + len) - page_down(pos));
}

int memobj_allocate(struct memobj *o, uint64_t pos, uint64_t len)
{
    uint64_t end, first = pos / PAGE_SIZE;
    int r;

    if (!checked_add(pos, len, &end) || end > OBJ_MAX_SIZE)
        return -EFBIG;
    uint64_t last = page_up(end) / PAGE_SIZE;
    if (o->fd < 0 && last - first + o->npages > HEAP_PAGES) {
        /* Refuse before making anything, if even the budget as a whole cannot hold it. */
        if (last - first > limit_max(LIMIT_DISK_BYTES) / PAGE_SIZE)
            return -ENOSPC;
        r = to_memfd(o);
        if (r < 0)
            return r;
    }
    if (o->fd >= 0) {
        r = charge_ahead(o, pos, len);
        if (r < 0)
            return r;
        r = host_fallocate(o->fd, pos, len);
        memobj_settle(o);
        return r < 0 ? host_to_guest(r) : 0;
    }
    for (uint64_t p = first; p < last; p++) {
        uint8_t *page;

        r = memobj_page_make(o, p, &page);
        if (r < 0)
            return r;
    }
    return 0;
}

int64_t memobj_seek_data(struct memobj *o, uint64_t pos)
{
    if (pos >= o->size)
        return -ENXIO;
    if (o->fd >= 0) {
        int64_t at = host_seek_data(o->fd, pos);

        return at < 0 && at != -ENXIO ? host_to_guest(at) : at;
    }
    uint64_t pageno = pos / PAGE_SIZE;
    for (uint32_t c = memobj_chunk_position(o, pageno / CHUNK_PAGES); c < o->nchunks; c++) {
        for (uint32_t i = 0; i < CHUNK_PAGES; i++) {
            uint64_t p = o->chunks[c]->index * CHUNK_PAGES + i;

            if (p < pageno || !o->chunks[c]->page[i] || p * PAGE_SIZE >= o->size)
                continue;
            return (int64_t)MAX(p * PAGE_SIZE, pos);
        }
    }
    return -ENXIO;
}

int64_t memobj_seek_hole(struct memobj *o, uint64_t pos)
{
    if (pos >= o->size)
        return -ENXIO;
    if (o->fd >= 0) {
        int64_t at = host_seek_hole(o->fd, pos);

        return at < 0 && at != -ENXIO ? host_to_guest(at) : at;
    }
    uint64_t pageno = pos / PAGE_SIZE;
    while (pageno * PAGE_SIZE < o->size && memobj_page(o, pageno))
        pageno++;
    return (int64_t)MIN(MAX(pageno * PAGE_SIZE, pos), o->size);
}

/* -- reading and writing --------------------------------------------------------------------- */

static int64_t fill_from_memfd(struct memobj *o, uint64_t pos, size_t n)
{
    int64_t got = host_pread(o->fd, bounce, n, pos);

    return got < 0 ? host_to_guest(got) : got;
}

static void fill_from_heap(const struct memobj *o, uint64_t pos, size_t n)
{
    for (size_t done = 0; done < n;) {
        size_t in = (size_t)((pos + done) % PAGE_SIZE);
        size_t step = MIN(n - done, (size_t)PAGE_SIZE - in);
        const uint8_t *page = memobj_page(o, (pos + done) / PAGE_SIZE);

        if (page)
            memcpy(bounce + done, page + in, step);
        else
            memset(bounce + done, 0, step);
        done += step;
    }
}

/* One page of heap: no bounce. */
static int64_t read_in_page(struct memobj *o, uint64_t pos, size_t n, struct uio *to)
{
    const uint8_t *page = memobj_page(o, pos / PAGE_SIZE);

    return page ? uio_copy_to(to, page + pos % PAGE_SIZE, n) : uio_zero(to, n);
}

static int64_t read_some(struct memobj *o, uint64_t pos, size_t n, struct uio *to)
{
    int64_t got = (int64_t)n;

    if (o->fd < 0 && pos % PAGE_SIZE + n <= PAGE_SIZE)
        return read_in_page(o, pos, n, to);
    if (o->fd >= 0)
        got = fill_from_memfd(o, pos, n);
    else
        fill_from_heap(o, pos, n);
    return got <= 0 ? got : uio_copy_to(to, bounce, (size_t)got);
}

int64_t memobj_read(struct memobj *o, uint64_t pos, struct uio *to)
{
    int64_t done = 0;

    while (to->left > 0 && pos < o->size) {
        size_t n = (size_t)MIN(MIN((uint64_t)to->left, (uint64_t)BOUNCE), o->size - pos);
        int64_t got = read_some(o, pos, n, to);

        if (got <= 0)
            return done ? done : got;
        done += got;
        pos += (uint64_t)got;
        if ((size_t)got < n)
            break;
    }
    return done;
}

/* n bytes of the bounce buffer to the pages: how many found room, or why none did. */
static int64_t spill_to_heap(struct memobj *o, uint64_t pos, size_t n)
{
    size_t done = 0;

    while (done < n) {
        size_t in = (size_t)((pos + done) % PAGE_SIZE);
        size_t step = MIN(n - done, (size_t)PAGE_SIZE - in);
        uint8_t *page = NULL;
        int r = memobj_page_make(o, (pos + done) / PAGE_SIZE, &page);

        if (r < 0 || !page)
            return done ? (int64_t)done : r;
        memcpy(page + in, bounce + done, step);
        done += step;
    }
    return (int64_t)done;
}

static int64_t spill_to_memfd(struct memobj *o, uint64_t pos, size_t n)
{
    int64_t done;

    if (charge_ahead(o, pos, n) < 0) {
        /* Overwriting what is there needs no budget; a page at a time finds the edge. */
        uint64_t data = (uint64_t)host_seek_data(o->fd, pos);
        uint64_t hole = (uint64_t)host_seek_hole(o->fd, pos);

        if (data != pos || hole <= pos || (int64_t)hole < 0) {
            n = MIN(n, (size_t)(PAGE_SIZE - pos % PAGE_SIZE));
            if (memobj_charge(o, PAGE_SIZE) < 0)
                return -ENOSPC;
        } else {
            n = (size_t)MIN((uint64_t)n, hole - pos);
        }
    }
    done = host_pwrite(o->fd, bounce, n, pos);
    memobj_settle(o);
    return done < 0 ? host_to_guest(done) : done;
}

/* Up to n bytes, no more than the bounce buffer holds: how many were written, or why none were. */
static int64_t write_piece(struct memobj *o, uint64_t pos, struct uio *from, size_t n)
{
    int64_t got, put;

    if (o->fd < 0 && o->npages + n / PAGE_SIZE > HEAP_PAGES) {
        int r = to_memfd(o);

        if (r < 0)
            return r;
    }
    got = uio_copy_from(from, bounce, n);
    if (got <= 0)
        return got;
    put = o->fd >= 0 ? spill_to_memfd(o, pos, (size_t)got) : spill_to_heap(o, pos, (size_t)got);
    if (put > 0)
        o->size = MAX(o->size, pos + (uint64_t)put);
    return put;
}

int64_t memobj_write(struct memobj *o, uint64_t pos, struct uio *from)
{
    int64_t done = 0;

    while (from->left > 0) {
        size_t n = MIN(from->left, (size_t)BOUNCE);
        int64_t put;

        if (pos >= OBJ_MAX_SIZE)
            return done ? done : -EFBIG;
        n = (size_t)MIN((uint64_t)n, OBJ_MAX_SIZE - pos);
        put = write_piece(o, pos, from, n);
        if (put <= 0)
            return done ? done : put;
        done += put;
        pos += (uint64_t)put;
        if ((size_t)put < n)
            break;
    }
    return done;
}
