/*
 * cmd_create.c: `create`, `start` and `delete`.
 */
#include <errno.h>

#include "lib/error.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"

int cmd_create(int argc, char **argv, struct error *err)
{
    struct create_options o = {0};
    const char *preserve = NULL, *id;
    bool ignored = false;
    const struct shim_option options[] = {
        {"bundle", "b", OPT_STRING, &o.bundle},
        {"console-socket", NULL, OPT_STRING, &o.console_socket},
        {"pid-file", NULL, OPT_STRING, &o.pid_file},
        {"preserve-fds", NULL, OPT_STRING, &preserve},
        {"no-pivot", NULL, OPT_FLAG, &ignored},
        {"no-new-keyring", NULL, OPT_FLAG, &ignored},
    };
    pid_t monitor;

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0)
        r = shim_preserve_fds(preserve, &o.preserve_fds, err);
    if (r != 0)
        return r;
    return container_create(id, &o, &monitor, err);
}

int cmd_start(int argc, char **argv, struct error *err)
{
    const char *id;
    int r = shim_options(&argc, argv, NULL, 0, false, err);

    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    return r != 0 ? r : container_start(id, err);
}

int cmd_delete(int argc, char **argv, struct error *err)
{
    bool force = false;
    const char *id;
    const struct shim_option options[] = {{"force", "f", OPT_FLAG, &force}};
    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);

    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    return r != 0 ? r : container_delete(id, force, err);
}
