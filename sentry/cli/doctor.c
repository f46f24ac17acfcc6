/*
 * doctor.c: `sentry doctor`: tries each mechanism that a run needs and says what it found, what is
 * missing, and what that costs.
 */
#include "lib/compiler.h"

#include <stdio.h>

#include "platform/probe.h"

#include "lib/error.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/janitor.h"

/* What would hold the memory limit of a run started here and now. */
static void print_memory(void)
{
    static const char *const held[] = {"the monitor's own accounting", "cgroup v1", "cgroup v2"};
    const struct cgroup_want want = {.memory = 64u << 20};
    struct cgroup cg;
    struct error err;

    error_init(&err);
    if (cgroup_make(&cg, &want, &err) < 0)
        return;
    (void)printf("%-28s %s%s%s%s\n", "memory limit held by", held[cg.memory],
                 cg.missing[0] != '\0' ? " (" : "", cg.missing, cg.missing[0] != '\0' ? ")" : "");
    cgroup_remove(&cg);
    janitor_reap();
}

int cmd_doctor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int status = probe_print(stdout);
    print_memory();
    return status;
}
