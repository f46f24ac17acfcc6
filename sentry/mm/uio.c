/*
 * How this works: a uio is a cursor over checked guest segments or one kernel buffer. A copy
 * gathers the segments below the cursor into vectors of at most UIO_BATCH pieces, so that a readv
 * into many small buffers costs one host call per batch. A segment that reaches a forbidden range
 * is cut there; the first short copy ends the operation, and the cursor stands behind the last byte
 * moved.
 */
#include <string.h>

#include "abi/errno.h"

#include "platform/platform.h"

#include "lib/alloc.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"
#include "sentry/mm/usercopy.h"

#define UIO_BATCH        16
#define UIO_MAX_RW_COUNT 0x7ffff000ull
#define UIO_MAX_SEGMENTS 1024u

static const uint8_t zeros[16384];

/* A single segment stands in the uio itself, which may have been copied. */
static const struct lx_iovec *uio_segments(const struct uio *u)
{
    return u->niov > 1 ? u->iov : &u->one;
}

void uio_init_kernel(struct uio *u, void *buf, size_t len)
{
    memset(u, 0, sizeof(*u));
    u->kbuf = buf;
    u->left = len;
}

void uio_init_kernel_const(struct uio *u, const void *buf, size_t len)
{
    uio_init_kernel(u, unconst(buf), len);
}

int uio_init_user(struct uio *u, struct task *t, gaddr_t buf, size_t len)
{
    memset(u, 0, sizeof(*u));
    if ((int64_t)len < 0 || !user_range_ok(buf.v, len))
        return -EFAULT;
    u->task = t;
    u->left = (size_t)MIN((uint64_t)len, UIO_MAX_RW_COUNT);
    u->one = (struct lx_iovec){buf, u->left};
    u->iov = &u->one;
    u->niov = 1;
    return 0;
}

/* Linux's checks on a copied vector; cuts the total at UIO_MAX_RW_COUNT. */
static int iovec_check(struct lx_iovec *iov, size_t n, size_t *ret_total)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        if ((int64_t)iov[i].iov_len < 0)
            return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!user_range_ok(iov[i].iov_base.v, iov[i].iov_len))
            return -EFAULT;
        iov[i].iov_len = MIN(iov[i].iov_len, UIO_MAX_RW_COUNT - total);
        total += iov[i].iov_len;
    }
    *ret_total = (size_t)total;
    return 0;
}

int uio_init_iovec(struct uio *u, struct task *t, gaddr_t iov, uint64_t count)
{
    memset(u, 0, sizeof(*u));
    if (count > UIO_MAX_SEGMENTS)
        return -EINVAL;
    u->task = t;
    u->niov = (size_t)count;
    u->iov = &u->one;
    if (count > 1) {
        u->heap = kalloc_array((size_t)count, sizeof(struct lx_iovec));
        if (!u->heap)
            return -ENOMEM;
        u->iov = u->heap;
    }
    int err = copy_from_user(t, u->iov, iov, (size_t)count * sizeof(struct lx_iovec));
    if (!err)
        err = iovec_check(u->iov, u->niov, &u->left);
    if (err)
        uio_done(u);
    return err;
}

void uio_done(struct uio *u)
{
    kfree(u->heap);
    u->heap = NULL;
    u->iov = NULL;
    u->niov = 0;
    u->left = 0;
}

void uio_advance(struct uio *u, size_t n)
{
    n = MIN(n, u->left);
    u->left -= n;
    if (!u->task) {
        u->off += n;
        return;
    }
    const struct lx_iovec *iov = uio_segments(u);
    while (n) {
        size_t room = (size_t)iov[u->cur].iov_len - u->off;
        if (n < room) {
            u->off += n;
            return;
        }
        n -= room;
        u->cur++;
        u->off = 0;
    }
}

/* Fills segs with at most UIO_BATCH pieces that cover up to n bytes from the cursor. */
static size_t uio_gather(const struct uio *u, size_t n, struct plat_seg *segs, size_t *ret_bytes)
{
    const struct lx_iovec *iov = uio_segments(u);
    size_t nsegs = 0, bytes = 0, off = u->off;
    for (size_t i = u->cur; i < u->niov && nsegs < UIO_BATCH && bytes < n; i++, off = 0) {
        size_t want = MIN((size_t)iov[i].iov_len - off, n - bytes);
        if (!want)
            continue;
        uint64_t addr = iov[i].iov_base.v + off;
        size_t ok = user_range_len(addr, want);
        if (ok) {
            segs[nsegs++] = (struct plat_seg){.addr = addr, .len = ok};
            bytes += ok;
        }
        if (ok < want)
            break;
    }
    *ret_bytes = bytes;
    return nsegs;
}

/* Moves up to n bytes between the guest and a kernel buffer; exactly one of src, dst is not NULL.
 */
static int64_t uio_move(struct uio *u, const void *src, void *dst, size_t n)
{
    struct plat_as *as = u->task->mm ? u->task->mm->as : NULL;
    size_t done = 0;
    n = MIN(n, u->left);
    while (as && done < n) {
        struct plat_seg segs[UIO_BATCH];
        size_t bytes;
        size_t nsegs = uio_gather(u, n - done, segs, &bytes);
        if (!nsegs)
            break;
        int64_t got = src ? plat_ops->write(as, segs, nsegs, (const char *)src + done, bytes)
                          : plat_ops->read(as, segs, nsegs, (char *)dst + done, bytes);
        if (got <= 0)
            break;
        uio_advance(u, (size_t)got);
        done += (size_t)got;
        if ((size_t)got < bytes)
            break;
    }
    return done || !n ? (int64_t)done : -EFAULT;
}

int64_t uio_copy_to(struct uio *u, const void *src, size_t n)
{
    if (u->task)
        return uio_move(u, src, NULL, n);
    n = MIN(n, u->left);
    if (n)
        memcpy((char *)u->kbuf + u->off, src, n);
    uio_advance(u, n);
    return (int64_t)n;
}

int64_t uio_copy_from(struct uio *u, void *dst, size_t n)
{
    if (u->task)
        return uio_move(u, NULL, dst, n);
    n = MIN(n, u->left);
    if (n)
        memcpy(dst, (const char *)u->kbuf + u->off, n);
    uio_advance(u, n);
    return (int64_t)n;
}

int64_t uio_zero(struct uio *u, size_t n)
{
    size_t done = 0;
    n = MIN(n, u->left);
    while (done < n) {
        size_t part = MIN(n - done, sizeof(zeros));
        int64_t put = uio_copy_to(u, zeros, part);
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (size_t)put;
        if ((size_t)put < part)
            break;
    }
    return (int64_t)done;
}
