#pragma once
/*
 * Overflow-checked arithmetic for numbers that a guest or a file chose. Each returns true when
 * the result fits and stores it; on false *ret is unspecified.
 */
#include "lib/compiler.h"

#define checked_add(a, b, ret) (!__builtin_add_overflow((a), (b), (ret)))
#define checked_sub(a, b, ret) (!__builtin_sub_overflow((a), (b), (ret)))
#define checked_mul(a, b, ret) (!__builtin_mul_overflow((a), (b), (ret)))

#define PAGE_SIZE 4096u
#define PAGE_MASK (~(uint64_t)(PAGE_SIZE - 1))

static inline uint64_t page_down(uint64_t v)
{
    return v & PAGE_MASK;
}

/* Rounds up to a page; wraps to 0 for the last partial page of the 64-bit range. */
static inline uint64_t page_up(uint64_t v)
{
    return (v + PAGE_SIZE - 1) & PAGE_MASK;
}

static inline bool page_aligned(uint64_t v)
{
    return (v & (PAGE_SIZE - 1)) == 0;
}

static inline uint64_t align_up(uint64_t v, uint64_t to)
{
    return (v + to - 1) & ~(to - 1);
}
