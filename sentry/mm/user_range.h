#pragma once
/* Which guest addresses system calls may touch; shared by usercopy.c, uio.c and the mm operations.
 */
#include "lib/compiler.h"

#include "abi/mman.h"
#include "abi/types.h"

/* How many of the n bytes at addr may be touched, counted from addr on (0: none). */
size_t user_range_len(uint64_t addr, size_t n);

/* access_ok(): the range lies below the end of user space. */
static inline bool user_range_ok(uint64_t addr, uint64_t n)
{
    return n <= LX_TASK_SIZE && addr <= LX_TASK_SIZE - n;
}
