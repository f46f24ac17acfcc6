#pragma once
/*
 * The only door to guest memory for syscall code. Every structure is copied exactly once; what was
 * copied is checked and used. All return 0 (or a length) or -EFAULT unless said otherwise.
 */
#include "lib/compiler.h"

#include "abi/file.h"
#include "abi/types.h"

struct task;

int copy_from_user(struct task *t, void *dst, gaddr_t src, size_t n) MUST_CHECK;
int copy_to_user(struct task *t, gaddr_t dst, const void *src, size_t n) MUST_CHECK;
/* Bytes copied, at least 1, or -EFAULT: for read/write style calls. */
int64_t copy_from_user_partial(struct task *t, void *dst, gaddr_t src, size_t n) MUST_CHECK;
int64_t copy_to_user_partial(struct task *t, gaddr_t dst, const void *src, size_t n) MUST_CHECK;
int clear_user(struct task *t, gaddr_t dst, size_t n) MUST_CHECK;
/* Length without the NUL; -EFAULT; -ENAMETOOLONG if no NUL within cap. */
int64_t strncpy_from_user(struct task *t, char *dst, gaddr_t src, size_t cap) MUST_CHECK;
/* An extensible structure (openat2, clone3, sched_setattr): copies min(usize, ksize), zero-fills,
 * -E2BIG when the guest's extra bytes are not zero. */
int copy_struct_from_user(struct task *t, void *dst, size_t ksize, gaddr_t src, size_t usize)
    MUST_CHECK;

/* Changes a 32-bit word of the guest from expected to desired if it is expected; atomic towards
 * guest threads. *ret_found is what it was. 0, -EFAULT, or -EIO when the process is going. */
int user_compare_exchange(struct task *t, gaddr_t addr, uint32_t expected, uint32_t desired,
                          uint32_t *ret_found) MUST_CHECK;

#define get_user(t, ret, addr) copy_from_user((t), (ret), (addr), sizeof(*(ret)))
#define put_user(t, addr, ptr) copy_to_user((t), (addr), (ptr), sizeof(*(ptr)))

/*
 * uio: a cursor over guest segments or one kernel buffer, the source or destination of file ops.
 */
struct uio {
    struct task *task;    /* whose memory; NULL: kbuf is kernel memory */
    struct lx_iovec *iov; /* checked segments (guest) */
    size_t niov, cur;
    size_t off;  /* into iov[cur] or kbuf */
    size_t left; /* bytes still to go */
    void *kbuf;
    struct lx_iovec one;   /* the segment itself when niov is 1 (so that a uio can be copied) */
    struct lx_iovec *heap; /* storage to free */
};

void uio_init_kernel(struct uio *u, void *buf, size_t len);
/* For sources that are never written: casts const away in one place. */
void uio_init_kernel_const(struct uio *u, const void *buf, size_t len);
/* One guest buffer; len is cut at LX_MAX_RW_COUNT (0x7ffff000). -EFAULT if the range is not user
 * space. */
int uio_init_user(struct uio *u, struct task *t, gaddr_t buf, size_t len) MUST_CHECK;
/* Copies in the iovec array once and checks it as Linux does (-EINVAL, -EFAULT). Release with
 * uio_done. */
int uio_init_iovec(struct uio *u, struct task *t, gaddr_t iov, uint64_t count) MUST_CHECK;
void uio_done(struct uio *u);
/* Skips n bytes (progress of an earlier run). */
void uio_advance(struct uio *u, size_t n);
/* Copies to the destination / from the source at the cursor and advances: bytes copied (may be
 * short at a fault), or -EFAULT when nothing was. */
int64_t uio_copy_to(struct uio *u, const void *src, size_t n) MUST_CHECK;
int64_t uio_copy_from(struct uio *u, void *dst, size_t n) MUST_CHECK;
int64_t uio_zero(struct uio *u, size_t n) MUST_CHECK;
