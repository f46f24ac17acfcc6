/*
 * guest_hooks.c: startContainer hooks. Their paths are those of the container, so they are guests:
 * each is an exec, as the container's user and with its rights, with the state on standard input.
 */
#include "runsc-shim/guest_hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/container.h"
#include "runsc-shim/to_boot.h"
#include "sentry/cli/control.h"

static int open_state(const char *state, struct error *err)
{
    int p[2];

    /* A pipe holds a state of usual size; a longer one is cut rather than waited for. */
    if (pipe2(p, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    (void)!fd_set_nonblock(p[1], true);
    (void)!write(p[1], state, strlen(state));
    (void)close(p[1]);
    return p[0];
}

static int run_one(struct container *c, const struct oci_config *cfg, const struct oci_hook *h,
                   const char *state, struct error *err)
{
    const char *const no_args[] = {h->path, NULL};
    struct control_exec ex = {
        .argv = h->args.n != 0 ? (const char *const *)h->args.v : no_args,
        .env = (const char *const *)h->env.v,
        .cwd = cfg->process.cwd,
    };
    int sock, exit_code, status;
    int32_t pid;

    boot_process_from(&ex.process, &cfg->process);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int in = open_state(state, err);
    int r = in < 0 ? in : control_connect(c->dir, &sock, err);
    if (r == 0) {
        const int stdio[3] = {in, null, null};
        r = control_exec(sock, &ex, stdio, &pid, &exit_code, err);
        struct pollfd p = {.fd = sock, .events = POLLIN};
        if (r == 0 && h->timeout > 0 && poll(&p, 1, (int)h->timeout * 1000) == 0) {
            control_signal_own(sock, SIGKILL);
            r = error_set(err, ETIMEDOUT, "%s: not ready after %lld s", h->path,
                          (long long)h->timeout);
        }
        if (r == 0)
            r = control_wait_exit(sock, &status, err);
        (void)close(sock);
        if (r == 0 && status != 0)
            r = error_set(err, EIO, "%s: %s %d", h->path,
                          WIFSIGNALED(status) ? "ended by signal" : "exit status",
                          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    if (in >= 0)
        (void)close(in);
    fd_close(null);
    return r;
}

int guest_hooks_run(struct container *c, const struct oci_config *cfg, const char *state,
                    struct error *err)
{
    const struct oci_hooks *hooks = &cfg->hooks[OCI_HOOK_START_CONTAINER];

    for (size_t i = 0; i < hooks->n; i++) {
        int r = run_one(c, cfg, &hooks->v[i], state, err);
        if (r < 0)
            return error_prefix(err, "startContainer hook %zu", i);
    }
    return 0;
}
