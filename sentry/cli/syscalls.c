/*
 * syscalls.c: `sentry syscalls [--json]`, the support table from the list that the kernel uses.
 */
#include "abi/syscalls.h"

#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "abi/syscall_kinds.h"

#include "sentry/cli/cli.h"

static const char *status_text(const struct syscall_desc *d)
{
    switch (d->status) {
    case SYSCALL_FULL:
        return "full";
    case SYSCALL_PARTIAL:
        return "partial";
    default:
        return "refused";
    }
}

int cmd_syscalls(int argc, char **argv)
{
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    bool first = true;
    if (argc > 2 || (argc == 2 && !json)) {
        (void)fprintf(stderr, "sentry: usage: sentry syscalls [--json]\n");
        return 125;
    }
    if (json)
        (void)fputs("[\n", stdout);
    for (uint32_t nr = 0; nr < syscall_count; nr++) {
        const struct syscall_desc *d = syscall_find(nr);
        if (d == NULL)
            continue;
        const char *note = syscall_note(d);
        if (json)
            (void)printf("%s  {\"nr\": %u, \"name\": \"%s\", \"status\": \"%s\", \"errno\": %u}",
                         first ? "" : ",\n", nr, d->name, status_text(d), d->refuse);
        else
            (void)printf("%3u  %-24s %-8s %s\n", nr, d->name, status_text(d),
                         note != NULL ? note : "");
        first = false;
    }
    if (json)
        (void)fputs("\n]\n", stdout);
    return 0;
}
