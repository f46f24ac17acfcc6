/*
 * How this works: each constructor checks what its call could do to the platform itself and writes
 * number and arguments anew, so that what is compared with the notification comes from here and not
 * from the guest. Argument registers that a call does not use are not compared (nargs).
 *
 * The whole list of calls that the host may execute in a guest thread:
 *
 *      mmap munmap mprotect mremap madvise         memory; never the platform's own range
 *      arch_prctl                                  fs and gs base
 *      membarrier                                  of the process itself
 *      clone                                       threads and processes, flags from three fixed
 * sets exit                                        end of one thread close close_range the slot
 * descriptor of a file mapping; start-up clock_gettime                               the thread's
 * own CPU time, into its own slot rt_sigreturn                                allowed by the
 * filter, from the stub only
 */
#include "platform/gate_policy.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include <sys/syscall.h>

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/mman.h"
#include "abi/sched.h"

#include "platform/platform.h"
#include "platform/stub/page.h"

#include "lib/checked.h"

static void call_set(struct host_call *c, uint32_t nr, uint32_t nargs, const uint64_t *args)
{
    memset(c, 0, sizeof(*c));
    c->nr = nr;
    c->nargs = nargs;
    memcpy(c->args, args, nargs * sizeof(args[0]));
}

#define CALL_SET(c, nr, ...)                                                              \
    call_set((c), (nr), (uint32_t)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), \
             (const uint64_t[]){__VA_ARGS__})

bool host_call_equals(const struct host_call *call, uint64_t nr, const uint64_t args[6])
{
    if (nr != call->nr)
        return false;
    for (uint32_t i = 0; i < call->nargs; i++) {
        uint64_t mask = call->narrow & (1u << i) ? UINT32_MAX : UINT64_MAX;

        if ((args[i] & mask) != (call->args[i] & mask))
            return false;
    }
    return true;
}

/* Whole pages below the end of user space that do not touch the platform's range. */
static int check_range(uint64_t addr, uint64_t len)
{
    uint64_t end;

    if (!page_aligned(addr) || !len || !checked_add(addr, page_up(len), &end) || len > end ||
        end > STUB_USER_END)
        return -EINVAL;
    if (addr < STUB_RANGE_END && end > STUB_RANGE_START)
        return -EPERM;
    return 0;
}

static int check_prot(uint64_t prot)
{
    return prot & ~(uint64_t)(LX_PROT_READ | LX_PROT_WRITE | LX_PROT_EXEC) ? -EINVAL : 0;
}

int host_call_munmap(uint64_t addr, uint64_t len, struct host_call *ret_call)
{
    int err = check_range(addr, len);

    if (err)
        return err;
    CALL_SET(ret_call, SYS_munmap, addr, len);
    return 0;
}

int host_call_mprotect(uint64_t addr, uint64_t len, uint32_t prot, struct host_call *ret_call)
{
    int err = check_range(addr, len);

    if (!err)
        err = check_prot(prot);
    if (err)
        return err;
    CALL_SET(ret_call, SYS_mprotect, addr, len, prot);
    return 0;
}

/* Advice that only changes the pages of the range itself, or what a fork does with them; nothing
 * that poisons or locks. */
static bool advice_allowed(int advice)
{
    return advice == LX_MADV_DONTFORK || advice == LX_MADV_DOFORK || advice == LX_MADV_WIPEONFORK ||
           advice == LX_MADV_KEEPONFORK ||
           (advice >= LX_MADV_NORMAL && advice <= LX_MADV_DONTNEED) || advice == LX_MADV_FREE ||
           (advice >= LX_MADV_HUGEPAGE && advice <= LX_MADV_NOHUGEPAGE) || advice == LX_MADV_COLD ||
           advice == LX_MADV_PAGEOUT || advice == LX_MADV_POPULATE_READ ||
           advice == LX_MADV_POPULATE_WRITE;
}

int host_call_madvise(uint64_t addr, uint64_t len, int advice, struct host_call *ret_call)
{
    int err = check_range(addr, len);

    if (err)
        return err;
    if (!advice_allowed(advice))
        return -EINVAL;
    CALL_SET(ret_call, SYS_madvise, addr, len, (uint32_t)advice);
    ret_call->narrow = 1u << 2;
    return 0;
}

int host_call_mmap_fixed_anon(uint64_t addr, uint64_t len, uint64_t prot, uint64_t flags,
                              uint64_t fd, uint64_t off, struct host_call *ret_call)
{
    const uint64_t need = LX_MAP_PRIVATE | LX_MAP_ANONYMOUS | LX_MAP_FIXED;
    const uint64_t may = need | LX_MAP_NORESERVE;
    int err = check_range(addr, len);

    if (!err)
        err = check_prot(prot);
    if (err)
        return err;
    if ((flags & need) != need || (flags & ~may) || !page_aligned(off))
        return -EINVAL;
    CALL_SET(ret_call, SYS_mmap, addr, len, prot, flags, fd, off);
    return 0;
}

int host_call_arch_prctl(uint64_t code, uint64_t addr, struct host_call *ret_call)
{
    const uint32_t set_gs = 0x1001, set_fs = 0x1002;

    code = (uint32_t)code;
    if (code != set_fs && code != set_gs)
        return -EINVAL;
    CALL_SET(ret_call, SYS_arch_prctl, code, addr);
    ret_call->narrow = 1u << 0;
    return 0;
}

int host_call_membarrier(uint64_t cmd, uint64_t flags, struct host_call *ret_call)
{
    cmd = (uint32_t)cmd;
    if ((uint32_t)flags != 0 || (cmd != LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
                                 cmd != LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED &&
                                 cmd != LX_MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE &&
                                 cmd != LX_MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
        return -EINVAL;
    /* Without flags the host ignores the third argument. */
    CALL_SET(ret_call, SYS_membarrier, cmd, 0);
    ret_call->narrow = 1u << 0 | 1u << 1;
    return 0;
}

int stub_call_mmap(uint64_t addr, uint64_t len, uint32_t prot, uint32_t map_flags, uint64_t offset,
                   struct host_call *ret_call)
{
    bool anon = (map_flags & PLAT_MAP_ANON) != 0;
    uint64_t flags = LX_MAP_FIXED;
    int err = check_range(addr, len);

    if (!err)
        err = check_prot(prot);
    if (err)
        return err;
    if (!page_aligned(offset))
        return -EINVAL;
    /* On this architecture what can be written can be read; the copies of the platform insist. */
    if (prot & LX_PROT_WRITE)
        prot |= LX_PROT_READ;
    flags |= map_flags & PLAT_MAP_SHARED ? LX_MAP_SHARED : LX_MAP_PRIVATE;
    flags |= anon ? LX_MAP_ANONYMOUS : 0;
    flags |= map_flags & PLAT_MAP_NORESERVE ? LX_MAP_NORESERVE : 0;
    flags |= map_flags & PLAT_MAP_POPULATE ? LX_MAP_POPULATE : 0;
    CALL_SET(ret_call, SYS_mmap, addr, len, prot, flags, anon ? UINT64_MAX : STUB_MAP_FD, offset);
    return 0;
}

int stub_call_mremap(uint64_t old_addr, uint64_t old_len, uint64_t new_addr, uint64_t new_len,
                     bool dontunmap, struct host_call *ret_call)
{
    uint64_t flags = 0;
    int err = check_range(old_addr, old_len);

    if (!err)
        err = check_range(new_addr, new_len);
    if (err)
        return err;
    if (old_addr != new_addr)
        flags = LX_MREMAP_MAYMOVE | LX_MREMAP_FIXED | (dontunmap ? LX_MREMAP_DONTUNMAP : 0);
    else if (dontunmap)
        return -EINVAL;
    CALL_SET(ret_call, SYS_mremap, old_addr, old_len, new_len, flags, new_addr);
    return 0;
}

void stub_call_clone_thread(uint64_t stack, bool set_tls, uint64_t tls, struct host_call *ret_call)
{
    uint64_t flags = LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND |
                     LX_CLONE_THREAD | LX_CLONE_SYSVSEM | (set_tls ? LX_CLONE_SETTLS : 0);

    CALL_SET(ret_call, SYS_clone, flags, stack, 0, 0, set_tls ? tls : 0);
}

/* The zygote is pid 1 of the guests and has no parent there to share. */
void stub_call_clone_zygote(struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

void stub_call_clone_process(uint64_t stack, bool set_tls, uint64_t tls, struct host_call *ret_call)
{
    uint64_t flags =
        LX_CLONE_PARENT | SIGCHLD | (stack ? LX_CLONE_VM : 0) | (set_tls ? LX_CLONE_SETTLS : 0);

    CALL_SET(ret_call, SYS_clone, flags, stack, 0, 0, set_tls ? tls : 0);
}

void stub_call_exit(uint64_t status, struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_exit, status);
}

void stub_call_close(struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_close, STUB_MAP_FD);
}

void stub_call_close_all(struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_close_range, 0, UINT32_MAX, 0);
}

void stub_call_munmap_zygote(uint64_t addr, uint64_t len, struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_munmap, addr, len);
}

void stub_call_cputime(uint64_t slot, struct host_call *ret_call)
{
    CALL_SET(ret_call, SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, slot + STUB_SLOT_RESULT);
}
