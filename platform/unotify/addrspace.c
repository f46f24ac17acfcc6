/*
 * How this works: memory operations are stub commands in the helper thread of the address space. An
 * address space that came from a fork has no helper at first: its operations are done by one of its
 * own threads, borrowed where it waits; the third such operation makes a helper. Copies go
 * through process_vm_readv and process_vm_writev, which respect page protections.
 */
#include <sys/uio.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

enum {
    MAX_VEC = 64,
    MAX_REQS = 16,
    BORROW_LIMIT = 2
};

/* -- who does it ------------------------------------------------------------------------------- */

static struct plat_thread *any_thread(struct plat_as *as, enum host_state state)
{
    struct host_proc *proc;
    struct plat_thread *th;

    list_for_each_entry (proc, &as->procs, link) {
        if (proc->dead)
            continue;
        list_for_each_entry (th, &proc->threads, link) {
            if (th->host == state)
                return th;
        }
    }
    return NULL;
}

/* A parked thread of the address space. */
static int worker_get(struct plat_as *as, struct plat_thread **ret_th)
{
    struct plat_thread *th = as->helper && !as->helper->proc->dead ? as->helper : NULL;
    int err;

    if (!th)
        th = any_thread(as, HOST_PARKED);
    if (!th)
        th = any_thread(as, HOST_GATE);
    if (!th)
        th = any_thread(as, HOST_RUNNING);
    if (!th)
        return -EIO;
    err = thread_borrow(th);
    if (err)
        return err;
    if (!as->helper && ++as->borrowed_ops > BORROW_LIMIT && helper_make(as, th) == 0) {
        thread_return(th);
        th = as->helper;
        th->borrowed = true;
    }
    *ret_th = th;
    return 0;
}

static int64_t run_calls(struct plat_as *as, const struct host_call *calls, const int *fds,
                         size_t n)
{
    struct plat_thread *th = NULL;
    int64_t ret = worker_get(as, &th);

    if (ret)
        return ret;
    ret = stub_run(th, calls, fds, n);
    thread_return(th);
    return ret;
}

/* 0 or the error of a call whose good results are 0 or an address. */
static int plain(int64_t ret)
{
    return ret < 0 && ret >= -LX_MAX_ERRNO ? (int)ret : 0;
}

static int run_one(struct plat_as *as, const struct host_call *call)
{
    return plain(run_calls(as, call, NULL, 1));
}

/* -- operations -----------------------------------------------------------------------------------
 */

/* One chain of mmaps; installed descriptors are closed at its end, whatever its result. */
static int map_some(struct plat_as *as, const struct plat_map_req *reqs, size_t n)
{
    struct host_call calls[MAX_REQS + 1];
    int fds[MAX_REQS + 1];
    bool files = false;
    int64_t ret;

    for (size_t i = 0; i < n; i++) {
        int err = stub_call_mmap(reqs[i].addr, reqs[i].len, reqs[i].prot, reqs[i].flags,
                                 reqs[i].offset, &calls[i]);

        if (err)
            return err;
        fds[i] = reqs[i].flags & PLAT_MAP_ANON ? -1 : reqs[i].host_fd;
        files |= fds[i] >= 0;
    }
    if (!files)
        return plain(run_calls(as, calls, NULL, n));
    stub_call_close(&calls[n]);
    fds[n] = -1;
    ret = run_calls(as, calls, fds, n + 1);
    if (plain(ret))
        (void)run_one(as, &calls[n]);
    return plain(ret);
}

int unotify_map(struct plat_as *as, const struct plat_map_req *reqs, size_t n)
{
    for (size_t at = 0; at < n; at += MAX_REQS) {
        int err = map_some(as, reqs + at, MIN(n - at, (size_t)MAX_REQS));

        if (err)
            return err;
    }
    return 0;
}

int unotify_unmap(struct plat_as *as, uint64_t addr, uint64_t len)
{
    struct host_call call;
    int err = host_call_munmap(addr, len, &call);

    return err ? err : run_one(as, &call);
}

int unotify_protect(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot)
{
    struct host_call call;
    int err = host_call_mprotect(addr, len, prot & 2 ? prot | 1 : prot, &call);

    return err ? err : run_one(as, &call);
}

int unotify_remap(struct plat_as *as, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                  uint64_t new_len, bool dontunmap)
{
    struct host_call call;
    int err = stub_call_mremap(old_addr, old_len, new_addr, new_len, dontunmap, &call);

    return err ? err : run_one(as, &call);
}

int unotify_advise(struct plat_as *as, uint64_t addr, uint64_t len, int advice)
{
    struct host_call call;
    int err = host_call_madvise(addr, len, advice, &call);

    return err ? err : run_one(as, &call);
}

int unotify_compare_exchange(struct plat_as *as, uint64_t addr, uint32_t expected, uint32_t desired,
                             uint32_t *ret_found)
{
    struct stub_cas cas = {addr, expected, desired};
    struct plat_thread *th = NULL;
    int64_t ret;

    if ((addr & 3) || addr >= STUB_USER_END || (addr < STUB_RANGE_END && addr >= STUB_RANGE_START))
        return -EFAULT;
    ret = worker_get(as, &th);
    if (ret)
        return (int)ret;
    ret = stub_cas(th, &cas);
    thread_return(th);
    if (ret < 0)
        return (int)ret;
    *ret_found = (uint32_t)ret;
    return 0;
}

/* -- copies ------------------------------------------------------------------------------------ */

/* A guest address where the host wants a pointer, which nobody here follows. */
static void *remote_base(uint64_t addr)
{
    return (void *)(uintptr_t)addr; /* NOLINT(performance-no-int-to-ptr) */
}

static int64_t vm_copy(pid_t tid, struct iovec *local, struct iovec *remote, size_t n, bool write)
{
    int64_t got = write ? process_vm_writev(tid, local, 1, remote, n, 0)
                        : process_vm_readv(tid, local, 1, remote, n, 0);

    return got < 0 ? -errno : got;
}

static int64_t as_copy(struct plat_as *as, const struct plat_seg *segs, size_t n, void *buf,
                       size_t len, bool write)
{
    struct plat_thread *th = as->helper && !as->helper->proc->dead ? as->helper : NULL;
    size_t done = 0;

    for (enum host_state s = HOST_RUNNING; !th && s <= HOST_COMMAND; s++)
        th = any_thread(as, s);
    if (!th)
        return -EFAULT;
    for (size_t i = 0; i < n && done < len;) {
        struct iovec remote[MAX_VEC], local = {.iov_base = (uint8_t *)buf + done};
        size_t k = 0;
        int64_t got;

        for (; i < n && k < MAX_VEC && done + local.iov_len < len; i++, k++) {
            remote[k].iov_base = remote_base(segs[i].addr);
            remote[k].iov_len = MIN(segs[i].len, len - done - local.iov_len);
            local.iov_len += remote[k].iov_len;
        }
        if (!local.iov_len)
            continue;
        got = vm_copy(th->tid, &local, remote, k, write);
        if (got > 0)
            done += (size_t)got;
        if (got < (int64_t)local.iov_len)
            return done ? (int64_t)done : -EFAULT;
    }
    return (int64_t)done;
}

int64_t unotify_read(struct plat_as *as, const struct plat_seg *segs, size_t n, void *buf,
                     size_t len)
{
    return as_copy(as, segs, n, buf, len, false);
}

int64_t unotify_write(struct plat_as *as, const struct plat_seg *segs, size_t n, const void *buf,
                      size_t len)
{
    return as_copy(as, segs, n, unconst(buf), len, true);
}

int raw_read(struct plat_thread *th, uint64_t addr, void *buf, size_t len)
{
    struct iovec local = {buf, len}, remote = {remote_base(addr), len};

    return vm_copy(th->tid, &local, &remote, 1, false) == (int64_t)len ? 0 : -EFAULT;
}

int raw_write(struct plat_thread *th, uint64_t addr, const void *buf, size_t len)
{
    struct iovec local = {unconst(buf), len}, remote = {remote_base(addr), len};

    return vm_copy(th->tid, &local, &remote, 1, true) == (int64_t)len ? 0 : -EFAULT;
}
