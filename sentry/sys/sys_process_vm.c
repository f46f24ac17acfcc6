/*
 * sys_process_vm.c: process_vm_readv and process_vm_writev between processes of the sandbox. Bytes
 * pass through a kernel buffer, piece by piece; the first fault ends the call with what was moved.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/file.h"

#include "lib/alloc.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/user_range.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

enum {
    IOV_MAX_COUNT = 1024,
    PIECE = 65536,
    STEP = 16 << 20 /* in one go */
};

struct vm_copy {
    struct uio local;
    struct plat_as *remote_as;
    bool write; /* to the other process */
    uint8_t *buf;
};

/* Moves up to PIECE bytes; fewer than asked for: a fault on either side. */
static size_t move_piece(struct vm_copy *c, uint64_t addr, size_t n)
{
    struct plat_seg seg = {.addr = addr, .len = user_range_len(addr, n)};
    int64_t got;
    if (seg.len == 0)
        return 0;
    if (c->write) {
        got = uio_copy_from(&c->local, c->buf, seg.len);
        if (got <= 0)
            return 0;
        seg.len = (size_t)got;
        got = plat_ops->write(c->remote_as, &seg, 1, c->buf, seg.len);
    } else {
        got = plat_ops->read(c->remote_as, &seg, 1, c->buf, seg.len);
        if (got > 0)
            got = uio_copy_to(&c->local, c->buf, (size_t)got);
    }
    return got > 0 ? (size_t)got : 0;
}

/* Goes on after the first *done bytes, until *done is stop; -EFAULT ends it there. */
static int move_all(struct vm_copy *c, const struct lx_iovec *remote, size_t n, uint64_t stop,
                    uint64_t *done)
{
    uint64_t skip = *done;
    for (size_t i = 0; i < n; i++) {
        uint64_t part = MIN(skip, remote[i].iov_len);
        uint64_t addr = remote[i].iov_base.v + part, left = remote[i].iov_len - part;
        skip -= part;
        while (left > 0 && c->local.left > 0 && *done < stop) {
            size_t room = MIN(c->local.left, (size_t)PIECE);
            size_t want = (size_t)MIN(left, (uint64_t)room);
            size_t got = move_piece(c, addr, want);
            *done += got;
            if (got < want)
                return -EFAULT;
            addr += got;
            left -= got;
        }
    }
    return 0;
}

static int copy_remote_vector(struct task *t, gaddr_t vec, uint64_t count,
                              struct lx_iovec **ret_vec)
{
    struct lx_iovec *v;
    if (count > IOV_MAX_COUNT)
        return -EINVAL;
    v = kalloc_array((size_t)count, sizeof(*v));
    if (v == NULL)
        return -ENOMEM;
    int r = copy_from_user(t, v, vec, (size_t)count * sizeof(*v));
    for (uint64_t i = 0; i < count && r == 0; i++) {
        if ((int64_t)v[i].iov_len < 0)
            r = -EINVAL;
    }
    if (r < 0) {
        kfree(v);
        return r;
    }
    *ret_vec = v;
    return 0;
}

static int find_remote(const struct task *t, uint32_t pid, struct plat_as **ret_as)
{
    const struct task *other = task_by_pid(pid);
    if (other == NULL || other->mm == NULL || other->mm->as == NULL)
        return -ESRCH;
    if (!ptrace_may_access(t, other, PTRACE_MODE_REALCREDS))
        return -EPERM;
    *ret_as = other->mm->as;
    return 0;
}

static struct sys_res process_vm(struct task *t, const struct sys_args *a, bool write)
{
    struct vm_copy c = {.write = write};
    struct lx_iovec *remote = NULL;

    if (a->v[5] != 0)
        return sys_ret(-EINVAL);
    int r = uio_init_iovec(&c.local, t, sys_addr(a, 1), a->v[2]);
    if (r < 0)
        return sys_ret(r);
    uint64_t done = t->restart.progress, stop = done + STEP;
    int n = 0;
    uio_advance(&c.local, done);
    if (c.local.left > 0) {
        n = copy_remote_vector(t, sys_addr(a, 3), a->v[4], &remote);
        if (n == 0)
            n = find_remote(t, sys_uint(a, 0), &c.remote_as);
        if (n == 0) {
            c.buf = kalloc(PIECE);
            n = c.buf != NULL ? move_all(&c, remote, (size_t)a->v[4], stop, &done) : -ENOMEM;
        }
    }
    kfree(c.buf);
    kfree(remote);
    uio_done(&c.local);
    t->restart.progress = done;
    if (n == 0 && done == stop)
        return task_yield(t, (int)done);
    return sys_ret(done > 0 ? (int64_t)done : n);
}

struct sys_res sys_process_vm_readv(struct task *t, const struct sys_args *a)
{
    return process_vm(t, a, false);
}

struct sys_res sys_process_vm_writev(struct task *t, const struct sys_args *a)
{
    return process_vm(t, a, true);
}
