/*
 * commands.c: global options and the table of commands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/state.h"

struct shim_globals shim;

static int not_supported(const char *what, struct error *err)
{
    return error_set(err, ENOTSUP, "%s is not supported: a sandbox cannot be saved or restored",
                     what);
}

static int cmd_checkpoint(int argc, char **argv, struct error *err)
{
    (void)argc;
    return not_supported(argv[0], err);
}

static const struct command {
    const char *name, *help;
    int (*run)(int argc, char **argv, struct error *err);
} commands[] = {
    {"create", "make a container from a bundle; its program is loaded and held", cmd_create},
    {"start", "let the program of a created container go", cmd_start},
    {"run", "create and start, and wait for the end", cmd_run},
    {"exec", "run a further program in a container", cmd_exec},
    {"state", "print a container's state as JSON", cmd_state},
    {"kill", "send a signal", cmd_kill},
    {"delete", "remove a container that has stopped (--force: any)", cmd_delete},
    {"list", "list containers", cmd_list},
    {"ps", "list the processes of a container", cmd_ps},
    {"pause", "stop all processes of a container", cmd_pause},
    {"resume", "let them go on", cmd_resume},
    {"events", "print statistics", cmd_events},
    {"update", "change limits of a container", cmd_update},
    {"spec", "write an example config.json", cmd_spec},
    {"features", "print what this runtime can do as JSON", cmd_features},
    {"checkpoint", "not supported", cmd_checkpoint},
    {"restore", "not supported", cmd_checkpoint},
};

static int print_version(void)
{
    (void)printf("runsc-shim version " SENTRY_VERSION "\nspec: 1.2.0\n");
    return 0;
}

static int print_help(void)
{
    (void)printf("usage: runsc-shim [global options] command [options] [arguments]\n\n"
                 "An OCI runtime whose containers run in the sentry, a kernel in user space.\n\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        (void)printf("  %-11s %s\n", commands[i].name, commands[i].help);
    (void)printf("\nglobal options: --root DIR, --log FILE, --log-format text|json, --debug,\n"
                 "--systemd-cgroup, --cgroup-manager cgroupfs|systemd|disabled,\n"
                 "--root-storage memory|bundle|annotation, --version\n");
    return 0;
}

static char default_root[STATE_PATH_MAX];

struct globals {
    const char *format, *manager, *storage;
    bool version, help;
};

static int check_storage(const char *word, struct error *err)
{
    static const char *const words[] = {
        [ROOT_MEMORY] = "memory", [ROOT_BUNDLE] = "bundle", [ROOT_ANNOTATION] = "annotation"};

    for (size_t i = 0; word != NULL && i < ARRAY_LEN(words); i++) {
        if (strcmp(word, words[i]) == 0) {
            shim.root_storage = (enum shim_root_storage)i;
            return 0;
        }
    }
    if (word != NULL)
        return error_set(err, EINVAL, "--root-storage: '%s' is not memory, bundle or annotation",
                         word);
    return 0;
}

static int check_globals(const struct globals *g, struct error *err)
{
    if (check_storage(g->storage, err) < 0)
        return -EINVAL;
    if (g->format != NULL && strcmp(g->format, "json") != 0 && strcmp(g->format, "text") != 0)
        return error_set(err, EINVAL, "--log-format: '%s' is neither text nor json", g->format);
    shim.log_json = g->format != NULL && strcmp(g->format, "json") == 0;
    if (g->manager != NULL) {
        shim.no_cgroup = strcmp(g->manager, "disabled") == 0;
        if (strcmp(g->manager, "systemd") == 0)
            shim.systemd_cgroup = true;
        else if (!shim.no_cgroup && strcmp(g->manager, "cgroupfs") != 0)
            return error_set(err, EINVAL, "--cgroup-manager: '%s' is not known", g->manager);
    }
    if (shim.root == NULL || shim.root[0] == '\0') {
        int r = state_default_root(default_root, sizeof(default_root), err);
        if (r < 0)
            return r;
        shim.root = default_root;
    }
    return 0;
}

static int dispatch(int argc, char **argv, struct error *err)
{
    struct globals g = {0};
    const struct shim_option options[] = {
        {"root", NULL, OPT_STRING, &shim.root},
        {"log", NULL, OPT_STRING, &shim.log_path},
        {"log-format", NULL, OPT_STRING, &g.format},
        {"debug", NULL, OPT_FLAG, &shim.debug},
        {"systemd-cgroup", NULL, OPT_FLAG, &shim.systemd_cgroup},
        {"cgroup-manager", NULL, OPT_STRING, &g.manager},
        {"root-storage", NULL, OPT_STRING, &g.storage},
        {"rootless", NULL, OPT_IGNORED, NULL},
        {"criu", NULL, OPT_IGNORED, NULL},
        {"version", "v", OPT_FLAG, &g.version},
        {"help", "h", OPT_FLAG, &g.help},
    };

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), true, err);
    if (r == 0)
        r = check_globals(&g, err);
    if (r < 0)
        return r;
    if (g.version)
        return print_version();
    if (g.help || (argc > 0 && strcmp(argv[0], "help") == 0))
        return print_help();
    if (argc == 0)
        return error_set(err, EINVAL, "no command (see runsc-shim --help)");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, argv[0]) == 0)
            return commands[i].run(argc, argv, err);
    }
    return error_set(err, EINVAL, "unknown command '%s' (see runsc-shim --help)", argv[0]);
}

int shim_main(int argc, char **argv)
{
    struct error err;

    error_init(&err);
    int r = fd_fill_standard();
    if (r < 0)
        r = error_errno(&err, -r, "/dev/null");
    else
        r = dispatch(argc, argv, &err);
    if (r >= 0) {
        shim_notes_flush();
        return r;
    }
    shim_fail(err.text);
    return shim.fail_status != 0 ? shim.fail_status : 1;
}
