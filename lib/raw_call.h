#pragma once
/*
 * A system call without errno, for a process that shares its maker's memory (clone(2) with
 * CLONE_VM) and so must not use functions of the C library. Returns -errno.
 */
#include "lib/compiler.h"

static inline long raw_call(long nr, long a, long b, long c)
{
    long r;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(nr), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return r;
}
