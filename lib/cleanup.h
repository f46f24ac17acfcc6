#pragma once
/*
 * Values that are released when their scope ends. A variable is always initialised at its
 * declaration; take_ptr and take_fd hand it over to somebody else.
 *
 *      auto_free char *text = kstrdup(s);
 *      auto_fd int fd = open(...);
 *      *ret_fd = take_fd(fd);
 *
 * A type of its own gets its `auto_` word with
 *      DEFINE_AUTO(put_file, struct file *, file_put)
 *      #define auto_put_file AUTO(put_file)
 */
#include "lib/compiler.h"

#include "lib/alloc.h"

#define AUTO(name) __attribute__((cleanup(cleanup_##name)))

/* Defines cleanup_NAME, which calls release(value) unless the value is zero. */
#define DEFINE_AUTO(name, type, release)                                \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): a type takes none */ \
    UNUSED static inline void cleanup_##name(type *p)                   \
    {                                                                   \
        if (*p)                                                         \
            release(*p);                                                \
    }

static inline void cleanup_free(void *p)
{
    kfree(*(void **)p);
}
#define auto_free AUTO(free)

/* Closes *fd unless it is negative; errno is kept. */
void cleanup_fd(const int *fd);
#define auto_fd AUTO(fd)

/* The value of the pointer, which is NULL afterwards. */
#define take_ptr(p)                     \
    ({                                  \
        __typeof__(p) taken_ptr_ = (p); \
        (p) = NULL;                     \
        taken_ptr_;                     \
    })

/* The value of the descriptor, which is -1 afterwards. */
#define take_fd(fd)           \
    ({                        \
        int taken_fd_ = (fd); \
        (fd) = -1;            \
        taken_fd_;            \
    })
