/*
 * doctor.c: `sentry doctor`: tries each mechanism that a run needs and says what it found, what is
 * missing, and what that costs.
 */
#include "lib/compiler.h"

#include <stdio.h>

#include "platform/probe.h"

#include "sentry/cli/cli.h"

int cmd_doctor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return probe_print(stdout);
}
