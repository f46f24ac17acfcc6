/*
 * create.c: a container from its bundle.
 *
 *   1. config.json becomes a boot description; what is wrong with it is found before anything
 * exists
 *   2. the state directory is made and locked, with "creating" in it
 *   3. the cgroup; the terminal; the control socket
 *   4. the monitor is forked: it enters the cgroup, adopts the terminal and waits; with
 *      --systemd-cgroup the cgroup is made only now, around it
 *   5. hooks run; the monitor may go on: it makes the sandbox and loads the first process
 *   6. state "created", pid file, and the shim ends; the engine waits for the monitor
 *
 * Whatever fails takes everything back. The monitor learns from the closed pipe when the shim was
 * killed before step 6, and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"
#include "lib/log.h"
#include "runsc-shim/cgroup_systemd.h"
#include "runsc-shim/console.h"
#include "runsc-shim/container.h"
#include "runsc-shim/hooks.h"
#include "runsc-shim/shim.h"
#include "runsc-shim/to_boot.h"
#include "runsc-shim/view.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/control.h"
#include "sentry/cli/monitor.h"

enum {
    MAX_TEXT = 1 << 20
};

/* What the monitor says to the shim. */
struct said {
    uint32_t kind; /* 1: created, 2: failed */
    int32_t sentry;
    char text[512];
};

struct creation {
    const struct create_options *o;
    struct container c;
    struct oci_config cfg;
    struct boot b;
    struct scope_names scope; /* with --systemd-cgroup */
    int bundle, console;
    int go, said; /* the shim's ends of two pipes */
    pid_t monitor;
    bool made_state, has_config;
};

/* -- the monitor ----------------------------------------------------------------------------------
 */

struct monitor_side {
    const struct boot *boot;
    int said;
    pid_t sentry;
    bool told;
};

static void tell(struct monitor_side *m, uint32_t kind, const char *text)
{
    struct said s = {.kind = kind, .sentry = m->sentry};

    if (m->told)
        return;
    m->told = true;
    (void)snprintf(s.text, sizeof(s.text), "%s", text);
    (void)!fd_write_full(m->said, &s, sizeof(s));
    (void)close(m->said);
}

static int monitor_made(void *ctx, const struct sandbox *sb, struct error *err)
{
    (void)err;
    ((struct monitor_side *)ctx)->sentry = sb->sentry;
    return 0;
}

static void monitor_created(void *ctx)
{
    struct monitor_side *m = ctx;

    view_enter(m->boot, m->sentry);
    tell(m, 1, "");
}

/* How the engine shall see the end. */
static int final_status(const struct monitor_result *res)
{
    switch (res->verdict) {
    case VERDICT_OK:
    case VERDICT_EXIT:
    case VERDICT_SIGNAL:
        return res->wait_status;
    case VERDICT_START_FAILED:
        return (res->exit_code & 0xff) << 8;
    case VERDICT_NONE:
    case VERDICT_INTERNAL_ERROR:
    case VERDICT_WALL_LIMIT:
    case VERDICT_CPU_LIMIT:
    case VERDICT_MEMORY_LIMIT:
    case VERDICT_PIDS_LIMIT:
    case VERDICT_OUTPUT_LIMIT:
    default:
        /* The sentry is gone: the host killed it, as it would have killed the program. */
        return SIGKILL;
    }
}

static void monitor_settle(struct creation *cr)
{
    struct error err;
    sigset_t none;

    (void)prctl(PR_SET_NAME, "sentry-monitor");
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    error_init(&err);
    if (cr->console >= 0) {
        (void)!console_adopt(cr->console, &err);
        fd_close(cr->console);
    } else if (!cr->o->foreground || !cr->b.tty) {
        (void)setsid();
    }
    /* The end of the terminal is the guest's to hear of. */
    (void)signal(SIGHUP, SIG_IGN);
    if (cr->cfg.process.has_oom_score_adj) {
        char text[16];
        int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        (void)snprintf(text, sizeof(text), "%d", cr->cfg.process.oom_score_adj);
        if (fd >= 0 && write(fd, text, strlen(text)) < 0)
            shim_note(SHIM_WARNING, "process.oomScoreAdj: %s", strerror(errno));
        fd_close(fd);
    }
    oci_cgroup_enter(&cr->c.cg);
    (void)!chdir("/");
}

/* In the monitor, which was forked before there was a scope: where it is now. */
static void find_scope(struct boot *b)
{
    struct oci_cgroup cg = {.v2 = true};
    struct error err;

    error_init(&err);
    if (shim.systemd_cgroup && !shim.no_cgroup &&
        scope_own_dir(cg.dir[CG_MEMORY], sizeof(cg.dir[CG_MEMORY])) &&
        oci_cgroup_limits_memory(&cg) && boot_add_cgroup(b, cg.dir[CG_MEMORY], &err) < 0)
        LOG_W(CH_CLI, "%s", err.text);
}

NORETURN static void monitor_main(struct creation *cr, int go, int said)
{
    struct monitor_side side = {.boot = &cr->b, .said = said};
    const struct monitor_hooks hooks = {
        .ctx = &side, .made = monitor_made, .created = monitor_created};
    struct monitor_result *res = kalloc(sizeof(*res));
    char byte;

    monitor_settle(cr);
    if (res == NULL || fd_read_full(go, &byte, 1) != 1)
        _exit(125);
    (void)close(go);
    find_scope(&cr->b);
    monitor_run(&cr->b, &hooks, res);
    tell(&side, 2, res->text);
    exit_like(final_status(res));
}

/* -- the shim -------------------------------------------------------------------------------------
 */

static int preserve(struct boot *b, int count, struct error *err)
{
    for (int i = 0; i < count; i++) {
        int fd = fcntl(3 + i, F_DUPFD_CLOEXEC, 64);
        if (fd < 0)
            return error_errno(err, errno, "--preserve-fds");
        b->preserved[b->npreserved++] = fd;
    }
    return 0;
}

static int read_bundle(struct creation *cr, struct error *err)
{
    const char *path = cr->o->bundle != NULL ? cr->o->bundle : ".";
    char real[4096];

    cr->bundle = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (cr->bundle < 0)
        return error_errno(err, errno, "--bundle: %s", path);
    int r = oci_file_read(&cr->cfg, cr->bundle, "config.json", oci_config_parse, err);
    if (r < 0)
        return r;
    cr->has_config = true;
    shim_note_lines(SHIM_WARNING, buf_cstr(&cr->cfg.warnings));
    boot_init_oci(&cr->b);
    cr->b.wait_start = true;
    cr->b.limits.cgroup = CGROUP_OFF;
    r = preserve(&cr->b, cr->o->preserve_fds, err);
    if (r == 0)
        r = boot_from_config(&cr->b, &cr->cfg, cr->bundle, err);
    if (r < 0)
        return r;
    if (realpath(path, real) == NULL)
        return error_errno(err, errno, "--bundle: %s", path);
    r = boot_set_string(&cr->c.s.bundle, real, err);
    if (r == 0 && cr->cfg.root_path[0] == '/')
        r = boot_set_string(&cr->c.s.image, cr->cfg.root_path, err);
    if (r == 0 && cr->cfg.root_path[0] != '/') {
        size_t n = strlen(real);
        (void)snprintf(real + n, sizeof(real) - n, "/%s", cr->cfg.root_path);
        r = boot_set_string(&cr->c.s.image, real, err);
    }
    return r;
}

static int check_terminal(const struct creation *cr, struct error *err)
{
    if (cr->b.tty && cr->o->console_socket == NULL && !cr->o->foreground)
        return error_set(err, EINVAL,
                         "cannot allocate a terminal without a console socket (--console-socket)");
    if (!cr->b.tty && cr->o->console_socket != NULL)
        return error_set(err, EINVAL, "a console socket makes no sense: process.terminal is false");
    return 0;
}

static int annotations_text(struct creation *cr, struct error *err)
{
    const struct oci_pairs *a = &cr->cfg.annotations;
    struct buf out;

    if (a->n == 0)
        return 0;
    buf_init(&out, MAX_TEXT);
    for (size_t i = 0; i < a->n; i++) {
        (void)buf_putc(&out, i == 0 ? '{' : ',');
        print_json_string(&out, a->v[i].key);
        (void)buf_putc(&out, ':');
        print_json_string(&out, a->v[i].value);
    }
    (void)buf_putc(&out, '}');
    int r = buf_error(&out);
    if (r == 0)
        r = boot_set_string(&cr->c.s.annotations_json, buf_cstr(&out), err);
    buf_done(&out);
    return r < 0 ? error_set(err, -r, "annotations: too long") : 0;
}

static int make_state(struct creation *cr, const char *id, struct error *err)
{
    struct state *s = &cr->c.s;
    int r = state_create(shim.root, id, &cr->c.dir, err);

    if (r == -EEXIST)
        return error_set(err, EEXIST, "container with id exists already: %s", id);
    if (r < 0)
        return r;
    cr->made_state = true;
    r = state_lock(cr->c.dir, &cr->c.lock, err);
    if (r < 0)
        return r;
    (void)snprintf(s->id, sizeof(s->id), "%s", id);
    state_set_created_now(s);
    r = annotations_text(cr, err);
    if (r == 0)
        r = boot_set_string(&s->command, cr->cfg.process.args.v[0], err);
    return r;
}

/* The directories are in state.json before they exist (planned), so that whoever comes after a
 * crash knows them; those that turned out to be of no use are taken out afterwards. */
static int save_cgroup(struct creation *cr, struct error *err)
{
    struct buf out;

    buf_init(&out, MAX_TEXT);
    oci_cgroup_print(&cr->c.cg, &out);
    int r = buf_error(&out);
    if (r == 0)
        r = boot_set_string(&cr->c.s.cgroups_json, buf_cstr(&out), err);
    buf_done(&out);
    return r < 0 ? r : container_save(&cr->c, STATE_CREATING, err);
}

static int make_cgroup(struct creation *cr, struct error *err)
{
    int r;

    if (shim.no_cgroup)
        return container_save(&cr->c, STATE_CREATING, err);
    if (shim.systemd_cgroup) {
        r = scope_check(err);
        if (r == 0)
            r = scope_parse(cr->cfg.cgroups_path, cr->c.s.id, idmap_rootless(), &cr->scope, err);
        return r < 0 ? r : container_save(&cr->c, STATE_CREATING, err);
    }
    r = oci_cgroup_plan(&cr->c.cg, cr->cfg.cgroups_path, cr->c.s.id, err);
    if (r == 0)
        r = save_cgroup(cr, err);
    if (r == 0)
        r = oci_cgroup_make(&cr->c.cg, &cr->cfg.resources, err);
    if (r == 0)
        r = save_cgroup(cr, err);
    /* Where the group limits memory, the monitor does not count it itself. */
    if (r == 0 && oci_cgroup_limits_memory(&cr->c.cg))
        r = boot_add_cgroup(&cr->b, cr->c.cg.dir[CG_MEMORY], err);
    return r;
}

/* A scope is made of a process, the monitor. If the shim is killed here the monitor ends, and with
 * it the scope. */
static int make_scope(struct creation *cr, struct error *err)
{
    char dir[CG_PATH_MAX];

    if (!shim.systemd_cgroup || shim.no_cgroup)
        return 0;
    int r = scope_make(&cr->scope, cr->monitor, idmap_rootless(), dir, sizeof(dir), err);
    if (r < 0)
        return r;
    oci_cgroup_adopt(&cr->c.cg, dir, &cr->cfg.resources);
    return save_cgroup(cr, err);
}

static int make_console(struct creation *cr, struct error *err)
{
    int master;

    if (cr->o->console_socket == NULL)
        return 0;
    int r = console_open(cr->cfg.process.rows, cr->cfg.process.cols, &master, &cr->console, err);
    if (r < 0)
        return r;
    r = console_send(cr->o->console_socket, master, err);
    (void)close(master);
    return r;
}

static int fork_monitor(struct creation *cr, struct error *err)
{
    int go[2], said[2];

    if (pipe2(go, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    if (pipe2(said, O_CLOEXEC) < 0) {
        int e = errno;
        (void)close(go[0]);
        (void)close(go[1]);
        return error_errno(err, e, "pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        (void)close(said[0]);
        /* The lock belongs to the open file, which a fork shares. */
        fd_close(cr->c.lock);
        fd_close(cr->c.dir);
        fd_close(cr->bundle);
        cr->c.lock = cr->c.dir = cr->bundle = -1;
        monitor_main(cr, go[0], said[1]);
    }
    int e = errno;
    (void)close(go[0]);
    (void)close(said[1]);
    cr->go = go[1];
    cr->said = said[0];
    if (pid < 0)
        return error_errno(err, e, "fork");
    cr->monitor = pid;
    cr->c.s.monitor = pid;
    cr->c.s.monitor_time = state_process_time(pid);
    return container_save(&cr->c, STATE_CREATING, err);
}

static int run_create_hooks(struct creation *cr, struct error *err)
{
    static const enum oci_hook_kind kinds[] = {OCI_HOOK_PRESTART, OCI_HOOK_CREATE_RUNTIME,
                                               OCI_HOOK_CREATE_CONTAINER};
    struct buf state;
    int r = 0;

    buf_init(&state, MAX_TEXT);
    container_print(&cr->c, "creating", &state);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(kinds); i++)
        r = hooks_run(&cr->cfg.hooks[kinds[i]], kinds[i], buf_cstr(&state), cr->bundle, err);
    buf_done(&state);
    return r;
}

static int wait_created(struct creation *cr, struct error *err)
{
    struct said s = {0};

    if (fd_write_full(cr->go, "g", 1) < 0)
        return error_set(err, EIO, "the monitor has ended");
    int64_t n = fd_read_full(cr->said, &s, sizeof(s));
    s.text[sizeof(s.text) - 1] = '\0';
    if (n != (int64_t)sizeof(s))
        return error_set(err, EIO, "the monitor has ended");
    if (s.kind != 1)
        return error_set(err, EINVAL, "%s", s.text);
    cr->c.s.sentry = s.sentry;
    return container_save(&cr->c, STATE_CREATED, err);
}

static void take_back(struct creation *cr)
{
    struct error ignored;

    fd_close(cr->go);
    fd_close(cr->said);
    if (cr->monitor > 0) {
        (void)kill(cr->monitor, SIGKILL);
        while (waitpid(cr->monitor, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    error_init(&ignored);
    if (cr->made_state) {
        container_kill(&cr->c);
        container_run_poststop(&cr->c);
        (void)!container_remove(&cr->c, &ignored);
    }
}

static int create(struct creation *cr, const char *id, struct error *err)
{
    int r = read_bundle(cr, err);

    if (r == 0)
        r = check_terminal(cr, err);
    if (r == 0)
        r = make_state(cr, id, err);
    if (r == 0)
        r = make_cgroup(cr, err);
    if (r == 0)
        r = make_console(cr, err);
    if (r == 0)
        r = control_listen(cr->c.dir, &cr->b.listen_fd, err);
    if (r == 0)
        r = fork_monitor(cr, err);
    if (r == 0)
        r = make_scope(cr, err);
    if (r == 0)
        r = run_create_hooks(cr, err);
    if (r == 0)
        r = wait_created(cr, err);
    if (r == 0 && cr->o->pid_file != NULL)
        r = write_pid_file(cr->o->pid_file, cr->monitor, err);
    return r;
}

int container_create(const char *id, const struct create_options *o, pid_t *ret_monitor,
                     struct error *err)
{
    auto_free struct creation *cr = kalloc(sizeof(*cr)); /* too large for the stack */

    if (cr == NULL)
        return error_set(err, ENOMEM, "no memory");
    cr->o = o;
    cr->c = CONTAINER_NONE;
    cr->bundle = cr->console = cr->go = cr->said = -1;
    boot_init(&cr->b);
    state_init(&cr->c.s);
    int r = create(cr, id, err);
    if (r < 0)
        take_back(cr);
    *ret_monitor = cr->monitor;
    fd_close(cr->go);
    fd_close(cr->said);
    fd_close(cr->console);
    fd_close(cr->bundle);
    boot_done(&cr->b);
    if (cr->has_config)
        oci_config_done(&cr->cfg);
    container_close(&cr->c);
    return r;
}
