/*
 * start.c: the held first process of a container is let go.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/container.h"
#include "runsc-shim/guest_hooks.h"
#include "runsc-shim/hooks.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/control.h"

enum {
    MAX_TEXT = 1 << 20
};

static int let_go(struct container *c, struct error *err)
{
    int sock;
    int r = control_connect(c->dir, &sock, err);

    if (r < 0)
        return r;
    r = control_start(sock, err);
    (void)close(sock);
    /* Somebody let it go before and died before he could say so. */
    if (r == -EALREADY) {
        error_init(err);
        r = container_save(c, STATE_RUNNING, err);
        return r < 0 ? r : error_set(err, EALREADY, "cannot start an already running container");
    }
    return r;
}

static int check_status(const struct container *c, struct error *err)
{
    switch (c->status) {
    case STATE_CREATED:
        return 0;
    case STATE_STOPPED:
        return error_set(err, EINVAL, "cannot start a container that has stopped");
    case STATE_CREATING:
        return error_set(err, EINVAL, "cannot start a container that is being created");
    case STATE_RUNNING:
    case STATE_PAUSED:
    default:
        return error_set(err, EINVAL, "cannot start an already running container");
    }
}

int container_start(const char *id, struct error *err)
{
    struct container c;
    struct oci_config cfg;
    struct buf state;
    int bundle;
    int r = container_open(&c, id, true, err);

    if (r < 0)
        return r;
    r = check_status(&c, err);
    if (r == 0)
        r = container_config(&c, &cfg, &bundle, err);
    if (r < 0) {
        container_close(&c);
        return r;
    }
    buf_init(&state, MAX_TEXT);
    container_print(&c, "created", &state);
    r = guest_hooks_run(&c, &cfg, buf_cstr(&state), err);
    if (r == 0)
        r = let_go(&c, err);
    /* Who dies here leaves "created" behind a container that runs: the next start finds out. */
    if (r == 0)
        r = container_save(&c, STATE_RUNNING, err);
    if (r < 0 && r != -EALREADY)
        container_kill(&c);
    fd_close(c.lock);
    c.lock = -1;
    if (r == 0 && cfg.hooks[OCI_HOOK_POSTSTART].n > 0) {
        buf_reset(&state);
        container_print(&c, "running", &state);
        if (hooks_run(&cfg.hooks[OCI_HOOK_POSTSTART], OCI_HOOK_POSTSTART, buf_cstr(&state), bundle,
                      err) < 0) {
            shim_note(SHIM_WARNING, "%s", err->text);
            error_init(err);
        }
    }
    buf_done(&state);
    (void)close(bundle);
    oci_config_done(&cfg);
    container_close(&c);
    return r;
}
