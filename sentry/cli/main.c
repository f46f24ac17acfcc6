/*
 * sentry: runs programs that nobody trusts.
 *
 * The command table. Each command has a file of its own in this folder; `run` is run.c (the
 * monitor), spawn.c (the processes), sentry_main.c (the sentry itself).
 */
#include "lib/compiler.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/fdio.h"
#include "sentry/cli/cli.h"

enum {
    EXIT_USAGE = 125,
    ANY_WORDS = -1
};

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    int words; /* at most so many follow; ANY_WORDS: what follows is the command's own business */
} commands[] = {
    {"run", cmd_run, ANY_WORDS},
    {"exec", cmd_exec, ANY_WORDS},
    {"ps", cmd_ps, ANY_WORDS},
    {"kill", cmd_kill, ANY_WORDS},
    {"list", cmd_list, ANY_WORDS},
    {"pause", cmd_pause, ANY_WORDS},
    {"resume", cmd_pause, ANY_WORDS},
    {"stats", cmd_stats, ANY_WORDS},
    {"doctor", cmd_doctor, 0},
    {"version", cmd_version, 0},
    {"syscalls", cmd_syscalls, ANY_WORDS},
    {"help", cmd_help, 1},
    {"--help", cmd_help, 1},
    {"-h", cmd_help, 1},
    {"--version", cmd_version, 0},
    {"import", cmd_import, ANY_WORDS},
    {"pull", cmd_pull, ANY_WORDS},
    {"images", cmd_images, ANY_WORDS},
    {"rmi", cmd_rmi, ANY_WORDS},
    {"prune", cmd_prune, ANY_WORDS},
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    (void)fprintf(stderr, "sentry: unknown command '%s' (see 'sentry help')\n", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    /* The caller may have ignored it; then nobody's end could be waited for. */
    (void)signal(SIGCHLD, SIG_DFL);
    int r = fd_fill_standard();
    if (r < 0) {
        (void)fprintf(stderr, "sentry: /dev/null: %s\n", strerror(-r));
        return EXIT_USAGE;
    }
    if (argc < 2) {
        (void)cmd_help(0, NULL);
        return EXIT_USAGE;
    }
    const struct command *c = find(argv[1]);
    if (c == NULL)
        return unknown(argv[1]);
    if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        return cmd_help(2, argv);
    if (c->words != ANY_WORDS && argc > 2 + c->words) {
        (void)fprintf(stderr, "sentry: %s: '%s' is one word too many\n", argv[1],
                      argv[2 + c->words]);
        return EXIT_USAGE;
    }
    if (c->run == cmd_help && argc > 2 && find(argv[2]) == NULL)
        return unknown(argv[2]);
    return c->run(argc - 1, argv + 1);
}
