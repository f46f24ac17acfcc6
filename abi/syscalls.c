/*
 * The table behind syscall_find. How it works: the list is expanded twice. First into an enum
 * of numbers by name, then into the table itself, indexed by number; a number that appears twice
 * is a compile error (-Woverride-init). Notes come from a list of their own and are tied to the
 * numbers through the enum, so a note about an unknown call does not compile either.
 */
#include "abi/syscalls.h"

#include "abi/errno.h"

enum {
#define SYSCALL(nr, name, ...)   NR_##name = (nr),
#define REFUSE(nr, name, errno_) NR_##name = (nr),
#include "abi/syscalls.def"
};

static const struct syscall_desc table[] = {
/* How many kinds were given. */
#define COUNT_(a, b, c, d, e, f, n, ...) n
#define NARGS(...)                       COUNT_(__VA_ARGS__ __VA_OPT__(, ) 6, 5, 4, 3, 2, 1, 0, 0)
#define SYSCALL(nr_, name_, status_, handler_, blocking_, ...) \
    [nr_] = {                                                  \
        .name = #name_,                                        \
        .nr = (nr_),                                           \
        .status = SYSCALL_##status_,                           \
        .blocking = SYSCALL_##blocking_,                       \
        .nargs = NARGS(__VA_ARGS__),                           \
        .kinds = {__VA_ARGS__},                                \
    },
#define REFUSE(nr_, name_, errno_) \
    [nr_] = {                      \
        .name = #name_,            \
        .nr = (nr_),               \
        .status = SYSCALL_REFUSED, \
        .refuse = (errno_),        \
    },
#include "abi/syscalls.def"
};

static const char *const notes[ARRAY_LEN(table)] = {
#define NOTE(name, text) [NR_##name] = (text),
#include "abi/syscall_notes.def"
};

const uint32_t syscall_count = (uint32_t)ARRAY_LEN(table);

const struct syscall_desc *syscall_find(uint64_t nr)
{
    if (nr >= ARRAY_LEN(table) || !table[nr].name)
        return NULL;
    return &table[nr];
}

const char *syscall_note(const struct syscall_desc *d)
{
    return notes[d->nr];
}
