/*
 * container.c: the state directory of a container.
 */
#include "runsc-shim/container.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/hooks.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/control.h"

enum {
    KILL_TIMEOUT_MS = 10000,
    MAX_STATE_TEXT = 1 << 20
};

/* -- opening --------------------------------------------------------------------------------------
 */

static enum state_status status_now(const struct container *c)
{
    if (!state_alive(&c->s))
        return STATE_STOPPED;
    return c->s.status != STATE_STOPPED ? c->s.status : STATE_CREATING;
}

int container_open(struct container *c, const char *id, bool lock, struct error *err)
{
    *c = CONTAINER_NONE;
    state_init(&c->s);
    int r = state_open(shim.root, id, &c->dir, err);
    if (r == 0 && lock)
        r = state_lock(c->dir, &c->lock, err);
    if (r == -ENOENT)
        (void)error_set(err, ENOENT, "container does not exist");
    if (r == 0) {
        r = state_read(c->dir, &c->s, err);
        if (r == -ENOENT) {
            error_init(err);
            c->s.status = STATE_CREATING;
            (void)snprintf(c->s.id, sizeof(c->s.id), "%s", id);
            r = 0;
        }
    }
    if (r == 0)
        r = oci_cgroup_parse(&c->cg, c->s.cgroups_json, err);
    if (r < 0) {
        container_close(c);
        return r;
    }
    c->status = status_now(c);
    return 0;
}

void container_close(struct container *c)
{
    fd_close(c->lock);
    fd_close(c->dir);
    state_done(&c->s);
    c->lock = c->dir = -1;
}

int container_save(struct container *c, enum state_status status, struct error *err)
{
    c->s.status = status;
    c->status = status;
    return state_write(c->dir, &c->s, false, err);
}

int container_config(const struct container *c, struct oci_config *ret, int *ret_bundle_fd,
                     struct error *err)
{
    if (c->s.bundle == NULL)
        return error_set(err, ENOENT, "the container has no bundle");
    int fd = open(c->s.bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "%s", c->s.bundle);
    int r = oci_file_read(ret, fd, "config.json", oci_config_parse, err);
    if (r < 0) {
        (void)close(fd);
        return r;
    }
    *ret_bundle_fd = fd;
    return 0;
}

/* -- words ----------------------------------------------------------------------------------------
 */

void print_json_string(struct buf *out, const char *s)
{
    (void)buf_putc(out, '"');
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            (void)buf_printf(out, "\\%c", *p);
        else if (*p < 0x20)
            (void)buf_printf(out, "\\u%04x", *p);
        else
            (void)buf_putc(out, (char)*p);
    }
    (void)buf_putc(out, '"');
}

void container_print(const struct container *c, const char *status, struct buf *out)
{
    bool lives = strcmp(status, "stopped") != 0;

    (void)buf_puts(out, "{\n  \"ociVersion\": \"1.2.0\",\n  \"id\": ");
    print_json_string(out, c->s.id);
    (void)buf_printf(out, ",\n  \"pid\": %d,\n  \"status\": \"%s\",\n  \"bundle\": ",
                     lives ? (int)c->s.monitor : 0, status);
    print_json_string(out, c->s.bundle != NULL ? c->s.bundle : "");
    (void)buf_puts(out, ",\n  \"rootfs\": ");
    print_json_string(out, c->s.image != NULL ? c->s.image : "");
    (void)buf_printf(out, ",\n  \"created\": \"%s\"", c->s.created);
    if (c->s.annotations_json != NULL)
        (void)buf_printf(out, ",\n  \"annotations\": %s", c->s.annotations_json);
    (void)buf_puts(out, ",\n  \"owner\": \"\"\n}\n");
}

int print_out(const struct buf *out, struct error *err)
{
    int r = buf_error(out);

    if (r == 0)
        r = fd_write_full(1, buf_cstr(out), out->len);
    return r < 0 ? error_errno(err, -r, "standard output") : 0;
}

/* By rename; but never in the place of a device or a socket that somebody named by mistake. */
int write_pid_file(const char *path, pid_t pid, struct error *err)
{
    struct stat st;
    char text[32], temp[4096];
    int n = snprintf(temp, sizeof(temp), "%s.tmp-%d", path, (int)getpid());

    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return error_set(err, EEXIST, "--pid-file: %s exists and is not a regular file", path);
    if (n < 0 || (size_t)n >= sizeof(temp))
        return error_set(err, ENAMETOOLONG, "--pid-file: the path is too long");
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(err, errno, "--pid-file: %s", path);
    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    int r = fd_write_full(fd, text, strlen(text));
    (void)close(fd);
    if (r == 0 && rename(temp, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(temp);
        return error_errno(err, -r, "--pid-file: %s", path);
    }
    return 0;
}

void exit_like(int wait_status)
{
    if (WIFSIGNALED(wait_status)) {
        const struct rlimit none = {0, 0};
        sigset_t set;
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)prctl(PR_SET_DUMPABLE, 0);
        (void)signal(WTERMSIG(wait_status), SIG_DFL);
        (void)sigemptyset(&set);
        (void)sigprocmask(SIG_SETMASK, &set, NULL);
        (void)kill(getpid(), WTERMSIG(wait_status));
        /* A signal that does not end a process: the shell's convention. */
        _exit(128 + WTERMSIG(wait_status));
    }
    _exit(WEXITSTATUS(wait_status));
}

/* -- the end --------------------------------------------------------------------------------------
 */

void container_kill(struct container *c)
{
    if (state_alive(&c->s)) {
        int pidfd = (int)syscall(SYS_pidfd_open, c->s.monitor, 0);
        /* Looked at again: the pid now belongs to the descriptor. */
        if (pidfd >= 0 && state_alive(&c->s)) {
            struct pollfd p = {.fd = pidfd, .events = POLLIN};
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
            if (oci_cgroup_exists(&c->cg))
                oci_cgroup_kill(&c->cg, KILL_TIMEOUT_MS);
            (void)poll(&p, 1, KILL_TIMEOUT_MS);
        }
        fd_close(pidfd);
    }
    if (oci_cgroup_exists(&c->cg))
        oci_cgroup_kill(&c->cg, KILL_TIMEOUT_MS);
}

void container_run_poststop(struct container *c)
{
    struct oci_config cfg;
    struct error err;
    struct buf state;
    int bundle;

    error_init(&err);
    if (container_config(c, &cfg, &bundle, &err) < 0) {
        shim_note(SHIM_DEBUG, "poststop hooks: %s", err.text);
        return;
    }
    buf_init(&state, MAX_STATE_TEXT);
    container_print(c, "stopped", &state);
    /* They may not keep a container from going. */
    if (hooks_run(&cfg.hooks[OCI_HOOK_POSTSTOP], OCI_HOOK_POSTSTOP, buf_cstr(&state), bundle,
                  &err) < 0)
        shim_note(SHIM_WARNING, "%s", err.text);
    buf_done(&state);
    (void)close(bundle);
    oci_config_done(&cfg);
}

int container_remove(struct container *c, struct error *err)
{
    container_kill(c);
    if (oci_cgroup_exists(&c->cg))
        oci_cgroup_remove(&c->cg);
    return state_remove(shim.root, c->s.id, err);
}

int container_pause(struct container *c, bool pause, struct error *err)
{
    int sock;

    /* Whoever dies on the way leaves "paused", from which resume leads back. */
    int r = pause ? container_save(c, STATE_PAUSED, err) : 0;
    if (r == 0)
        r = control_connect(c->dir, &sock, err);
    if (r != 0)
        return r;
    r = control_pause(sock, pause, err);
    (void)close(sock);
    struct error ignored;
    error_init(&ignored);
    if (pause && r < 0)
        (void)!container_save(c, STATE_RUNNING, &ignored);
    else if (!pause && r == 0)
        r = container_save(c, STATE_RUNNING, err);
    return r;
}

/* -- signals --------------------------------------------------------------------------------------
 */

int container_signal(struct container *c, int signo, bool all, struct error *err)
{
    int sock;

    if (c->status == STATE_STOPPED || c->status == STATE_CREATING)
        return error_set(err, ESRCH, "container not running");
    int r = control_connect(c->dir, &sock, err);
    if (r == 0) {
        r = control_signal(sock, all ? -1 : 0, signo, err);
        (void)close(sock);
    }
    if (r < 0 && !state_alive(&c->s))
        return error_set(err, ESRCH, "container not running");
    /* A sentry that does not answer is no reason to live on. */
    if (r < 0 && signo == SIGKILL && r != -ESRCH) {
        error_init(err);
        (void)kill(c->s.monitor, SIGKILL);
        return 0;
    }
    return r;
}

int container_delete(const char *id, bool force, struct error *err)
{
    struct container c;
    int r = container_open(&c, id, true, err);

    if (r == -ENOENT && force) {
        error_init(err);
        return 0;
    }
    if (r < 0)
        return r;
    bool lives = c.status == STATE_RUNNING || c.status == STATE_PAUSED;
    if (lives && !force) {
        r = error_set(err, EBUSY, "cannot delete container %s that is not stopped: %s", id,
                      state_status_name(c.status));
    } else {
        container_kill(&c);
        container_run_poststop(&c);
        r = container_remove(&c, err);
    }
    container_close(&c);
    return r;
}
