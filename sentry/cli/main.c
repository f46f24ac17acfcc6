/*
 * sentry: runs programs that nobody trusts.
 *
 * The command table. Each command has a file of its own in this folder; `run` is run.c (the
 * monitor), spawn.c (the processes), sentry_main.c (the sentry itself).
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "sentry/cli/cli.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", cmd_run},         {"exec", cmd_exec},         {"ps", cmd_ps},
    {"kill", cmd_kill},       {"list", cmd_list},         {"pause", cmd_pause},
    {"resume", cmd_pause},    {"stats", cmd_stats},       {"doctor", cmd_doctor},
    {"version", cmd_version}, {"syscalls", cmd_syscalls}, {"help", cmd_help},
    {"--help", cmd_help},     {"-h", cmd_help},           {"--version", cmd_version},
    {"import", cmd_import},   {"pull", cmd_pull},         {"images", cmd_images},
    {"rmi", cmd_rmi},         {"prune", cmd_prune},
};

enum {
    EXIT_USAGE = 125
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)cmd_help(0, NULL);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
            return cmd_help(2, argv);
        return commands[i].run(argc - 1, argv + 1);
    }
    (void)fprintf(stderr, "sentry: unknown command '%s' (see 'sentry help')\n", argv[1]);
    return EXIT_USAGE;
}
