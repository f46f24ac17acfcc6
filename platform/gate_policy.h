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
/* mmap(addr, len, prot, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED [|MAP_NORESERVE], fd, off): flags, fd and off are passed
 * as the guest gave them and checked. */
int host_call_mmap_fixed_anon(uint64_t addr, uint64_t len, uint64_t prot, uint64_t flags, uint64_t fd,
                              uint64_t off, struct host_call *ret_call) MUST_CHECK;
/* arch_prctl(ARCH_SET_FS | ARCH_SET_GS, addr) */
int host_call_arch_prctl(uint64_t code, uint64_t addr, struct host_call *ret_call) MUST_CHECK;
