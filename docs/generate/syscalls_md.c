/*
 * Prints docs/syscalls.md from abi/syscalls.def. `ninja docs` writes the file; the test
 * docs/syscalls compares it with what this program prints, so a change of the list cannot leave it
 * behind.
 */
#include "lib/compiler.h"

#include <stdio.h>

#include "abi/errno.h"
#include "abi/syscalls.h"

static const char *refusal(const struct syscall_desc *d)
{
    switch (d->refuse) {
    case EPERM:
        return "EPERM";
    case ENOSYS:
        return "ENOSYS";
    case EOPNOTSUPP:
        return "EOPNOTSUPP";
    default:
        return "?";
    }
}

static unsigned count(enum syscall_status status)
{
    unsigned n = 0;
    for (uint32_t nr = 0; nr < syscall_count; nr++) {
        const struct syscall_desc *d = syscall_find(nr);
        n += d != NULL && d->status == status;
    }
    return n;
}

static void print_row(const struct syscall_desc *d)
{
    const char *note = syscall_note(d);
    if (d->status == SYSCALL_REFUSED)
        (void)printf("| %u | %s | %s | %s |\n", d->nr, d->name, refusal(d), note ? note : "");
    else
        (void)printf("| %u | %s | %s%s | %s |\n", d->nr, d->name,
                     d->status == SYSCALL_FULL ? "full" : "partial",
                     d->blocking == SYSCALL_MAY_BLOCK ? ", may block" : "", note ? note : "");
}

int main(void)
{
    (void)printf(
        "# System calls\n\n"
        "Generated from `abi/syscalls.def` by `ninja docs`; do not edit. `sentry syscalls` prints\n"
        "the same table. Of the %u calls of x86-64 Linux, %u are complete, %u partial and %u\n"
        "refused with the errno that an unprivileged process in an ordinary container sees:\n"
        "EPERM for what needs a privilege that nobody has here, ENOSYS for what is not built.\n"
        "Numbers that are not in the table get ENOSYS.\n\n"
        "| nr | name | status | remarks |\n|---|---|---|---|\n",
        count(SYSCALL_FULL) + count(SYSCALL_PARTIAL) + count(SYSCALL_REFUSED), count(SYSCALL_FULL),
        count(SYSCALL_PARTIAL), count(SYSCALL_REFUSED));
    for (uint32_t nr = 0; nr < syscall_count; nr++) {
        const struct syscall_desc *d = syscall_find(nr);
        if (d != NULL)
            print_row(d);
    }
    return 0;
}
