#pragma once
/*
 * What the stub (assembly), the zygote (freestanding C) and the sentry agree on: where the
 * platform's range lies in every guest address space, what is in it, and how a parked thread
 * speaks. Included from assembly too: only the last part is C.
 *
 *      STUB_RANGE_START   one page of code, r-x          (STUB_CODE)
 *      STUB_SLOTS         slot 0, slot 1, ...  rw-       each STUB_SLOT_SIZE: a block, then a stack
 *      STUB_RANGE_END
 *
 * A slot belongs to one host thread of the address space. Everything in it is hostile input.
 */
#define STUB_RANGE_START 0x6fff00000000
#define STUB_CODE        STUB_RANGE_START
#define STUB_SLOTS       0x6fff00010000
#define STUB_RANGE_END   0x6fff40000000
#define STUB_USER_END    0x7ffffffff000

#define STUB_SLOT_SIZE 0x8000
#define STUB_MAX_SLOTS 0x7ffe
/* Bytes at the start of a slot that hold command blocks and small results; the rest is the host
 * alternate stack. */
#define STUB_SLOT_STACK  0x1000
#define STUB_SLOT_RESULT 0x0f00

/* Offsets in the code page; stub.S puts its code there. The return address of the one syscall
 * instruction of each kind is what the sentry and the filter compare with. */
#define STUB_OFF_PARK   0x000
#define STUB_OFF_SIGNAL 0x0a0
#define STUB_OFF_RESUME 0x0e0
#define STUB_IP_PARK    0x020
#define STUB_IP_COMMAND 0x060
#define STUB_IP_RETURN  0x100
#define STUB_OFF_CAS    0x110

/* The "system call" by which a thread parks:
 * rdi kind | signo << 8 | si_code << 32, rsi result, rdx rsp, r10 token, r8 fault address. */
#define STUB_PARK_NR     0x5e17
#define STUB_KIND_DONE   1
#define STUB_KIND_SIGNAL 2
#define STUB_KIND_CAS    3
/* In place of a call's number: compare and exchange the 32-bit word at args[0]. */
#define STUB_CAS_NR 0x5e18

/* Command block: u64 nr, args[6], next (address of the next block, 0: the last), token. */
#define STUB_BLOCK_ARGS  8
#define STUB_BLOCK_NEXT  56
#define STUB_BLOCK_TOKEN 64
#define STUB_BLOCK_SIZE  72

/* The host signal that kicks (SIGRTMAX of the host kernel). */
#define STUB_KICK_SIGNAL 64
/* Descriptor number at which a file mapping's descriptor is installed, and closed again. */
#define STUB_MAP_FD 0

#ifndef __ASSEMBLER__
#include "lib/compiler.h"

struct stub_block {
    uint64_t nr;
    uint64_t args[6];
    uint64_t next;
    uint64_t token;
};

_Static_assert(offsetof(struct stub_block, args) == STUB_BLOCK_ARGS, "stub.S reads it");
_Static_assert(offsetof(struct stub_block, next) == STUB_BLOCK_NEXT, "stub.S reads it");
_Static_assert(offsetof(struct stub_block, token) == STUB_BLOCK_TOKEN, "stub.S reads it");
_Static_assert(sizeof(struct stub_block) == STUB_BLOCK_SIZE, "stub.S reads it");

static inline uint64_t stub_slot_addr(uint32_t slot)
{
    return STUB_SLOTS + (uint64_t)slot * STUB_SLOT_SIZE;
}
#endif
