#pragma once
/*
 * The calls that the host may execute in a guest thread: at most 16, one constructor each that
 * re-derives every argument. There is no other way to make a `struct host_call`, and no CONTINUE
 * is ever sent without one that equals the pending notification.
 *
 * The constructors check what the call could do to the platform itself (its own ranges, foreign
 * flags) and return -EINVAL/-EPERM when refused. What the call means for the guest (vma tree,
 * limits) the kernel has checked before.
 */
#include "lib/compiler.h"

struct host_call {
    uint32_t nr;
    uint64_t args[6];
    uint32_t nargs;  /* arguments beyond nargs are not compared: the host ignores them */
    uint32_t narrow; /* bit i: the host reads only the low 32 bits of argument i */
};

/* Whether the notification's number and arguments are exactly this call. */
bool host_call_equals(const struct host_call *call, uint64_t nr, const uint64_t args[6]);

int host_call_munmap(uint64_t addr, uint64_t len, struct host_call *ret_call) MUST_CHECK;
int host_call_mprotect(uint64_t addr, uint64_t len, uint32_t prot, struct host_call *ret_call)
    MUST_CHECK;
int host_call_madvise(uint64_t addr, uint64_t len, int advice, struct host_call *ret_call)
    MUST_CHECK;
/* mmap(addr, len, prot, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED [|MAP_NORESERVE], fd, off): flags, fd
 * and off are passed as the guest gave them and checked. */
int host_call_mmap_fixed_anon(uint64_t addr, uint64_t len, uint64_t prot, uint64_t flags,
                              uint64_t fd, uint64_t off, struct host_call *ret_call) MUST_CHECK;
/* arch_prctl(ARCH_SET_FS | ARCH_SET_GS, addr) */
int host_call_arch_prctl(uint64_t code, uint64_t addr, struct host_call *ret_call) MUST_CHECK;
/* membarrier(cmd): the private, expedited commands and their registrations. They concern threads of
 * the caller's own address space, which is the same on the host. */
int host_call_membarrier(uint64_t cmd, uint64_t flags, struct host_call *ret_call) MUST_CHECK;

/*
 * The stub's own calls, composed by platform/unotify alone; the kernel never uses these.
 */

/* mmap at a fixed address. map_flags are enum plat_map_flags; a file mapping takes the descriptor
 * number at which the platform installs the file. */
int stub_call_mmap(uint64_t addr, uint64_t len, uint32_t prot, uint32_t map_flags, uint64_t offset,
                   struct host_call *ret_call) MUST_CHECK;
int stub_call_mremap(uint64_t old_addr, uint64_t old_len, uint64_t new_addr, uint64_t new_len,
                     bool dontunmap, struct host_call *ret_call) MUST_CHECK;
/* A thread of the same process, born on the given stack pointer. */
void stub_call_clone_thread(uint64_t stack, bool set_tls, uint64_t tls, struct host_call *ret_call);
/* A child of the zygote, with a copy of its address space. */
void stub_call_clone_zygote(struct host_call *ret_call);
/* A process beside the caller's; stack 0: a copy-on-write copy that goes on at the caller's rsp,
 * else one that shares the address space. */
void stub_call_clone_process(uint64_t stack, bool set_tls, uint64_t tls,
                             struct host_call *ret_call);
void stub_call_exit(uint64_t status, struct host_call *ret_call);
void stub_call_close(struct host_call *ret_call);
void stub_call_close_all(struct host_call *ret_call);
/* munmap of what the zygote was loaded with: the one unmapping without a range check. */
void stub_call_munmap_zygote(uint64_t addr, uint64_t len, struct host_call *ret_call);
/* The thread's own CPU time into the result field of its slot. */
void stub_call_cputime(uint64_t slot, struct host_call *ret_call);
