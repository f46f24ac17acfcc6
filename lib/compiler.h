#pragma once
/*
 * Compiler attributes used all over the tree. Included first by every header.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK      __attribute__((warn_unused_result))
#define NORETURN        __attribute__((noreturn))
#define UNUSED          __attribute__((unused))
#define PRINTF(f, a)    __attribute__((format(printf, f, a)))
#define PURE            __attribute__((pure))
#define FALLTHROUGH     __attribute__((fallthrough))
#define PACKED          __attribute__((packed))
#define LIKELY(x)       __builtin_expect(!!(x), 1)
#define UNLIKELY(x)     __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a)    (sizeof(a) / sizeof((a)[0]))
/* Marks a pointer parameter whose reference is taken even when the call fails. */
#define CONSUMES

#define container_of(ptr, type, member)                                                            \
    ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a_ = (a);                                                                \
        __typeof__(b) min_b_ = (b);                                                                \
        min_a_ < min_b_ ? min_a_ : min_b_;                                                         \
    })
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a_ = (a);                                                                \
        __typeof__(b) max_b_ = (b);                                                                \
        max_a_ > max_b_ ? max_a_ : max_b_;                                                         \
    })
