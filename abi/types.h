#pragma once
/*
 * Scalar types of the guest ABI (x86-64 Linux). A guest address is a struct so that it can be
 * neither dereferenced nor mixed with a host pointer or a length by accident.
 */
#include "lib/compiler.h"

typedef struct {
    uint64_t v;
} gaddr_t;

#define GADDR(x)   ((gaddr_t){(uint64_t)(x)})
#define GADDR_NULL ((gaddr_t){0})

static inline gaddr_t gaddr_add(gaddr_t a, uint64_t n)
{
    return (gaddr_t){a.v + n};
}

static inline bool gaddr_is_null(gaddr_t a)
{
    return a.v == 0;
}

/* Highest address + 1 of a 47-bit user address space. */
#define LX_TASK_SIZE 0x7ffffffff000ull
