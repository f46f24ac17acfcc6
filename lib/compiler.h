#pragma once
/*
 * Compiler attributes used all over the tree. Included first by every header.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK   __attribute__((warn_unused_result))
#define NORETURN     __attribute__((noreturn))
#define UNUSED       __attribute__((unused))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define PURE         __attribute__((pure))
#define FALLTHROUGH  __attribute__((fallthrough))
#define PACKED       __attribute__((packed))
#define LIKELY(x)    __builtin_expect(!!(x), 1)
#define UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* Marks a pointer parameter whose reference is taken even when the call fails. */
#define CONSUMES

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* For interfaces that do not write through a pointer and do not say so: the one place where const
 * goes. */
static inline void *unconst(const void *p)
{
    union {
        const void *in;
        void *out;
    } u = {.in = p};

    return u.out;
}

/* Each use has names of its own, so uses may be nested. */
#define COMPILER_PASTE_(a, b)      a##b
#define COMPILER_NAME_(prefix, id) COMPILER_PASTE_(prefix, id)
#define COMPILER_PICK_(a, op, b, id)                                  \
    ({                                                                \
        __typeof__(a) COMPILER_NAME_(pick_a_, id) = (a);              \
        __typeof__(b) COMPILER_NAME_(pick_b_, id) = (b);              \
        COMPILER_NAME_(pick_a_, id)                                   \
        op COMPILER_NAME_(pick_b_, id) ? COMPILER_NAME_(pick_a_, id)  \
                                       : COMPILER_NAME_(pick_b_, id); \
    })
#define MIN(a, b) COMPILER_PICK_(a, <, b, __COUNTER__)
#define MAX(a, b) COMPILER_PICK_(a, >, b, __COUNTER__)
