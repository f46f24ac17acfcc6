/*
 * cmd_exec.c: `exec`: the process object comes from a file, or from the container's own with the
 * options' changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <sys/capability.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/parse.h"
#include "runsc-shim/container.h"
#include "runsc-shim/exec.h"
#include "runsc-shim/shim.h"

enum {
    EXIT_FAILED = 255
};

struct flags {
    struct exec_options o;
    const char *process, *cwd, *user, *preserve;
    bool tty, no_new_privs, ignore_paused;
    struct shim_list env, groups, caps;
};

static int set_user(struct oci_process *p, const char *text, struct error *err)
{
    char uid[32];
    size_t n = strcspn(text, ":");
    uint64_t v;

    if (n == 0 || n >= sizeof(uid))
        return error_set(err, EINVAL, "--user: '%s' is not UID[:GID]", text);
    memcpy(uid, text, n);
    uid[n] = '\0';
    if (parse_u64(uid, 0, UINT32_MAX - 1, &v, NULL) < 0)
        return error_set(err, EINVAL, "--user: '%s' is not UID[:GID]", text);
    p->uid = (uint32_t)v;
    if (text[n] == '\0')
        return 0;
    if (parse_u64(text + n + 1, 0, UINT32_MAX - 1, &v, NULL) < 0)
        return error_set(err, EINVAL, "--user: '%s' is not UID[:GID]", text);
    p->gid = (uint32_t)v;
    return 0;
}

static int add_groups(struct oci_process *p, const struct shim_list *l, struct error *err)
{
    for (size_t i = 0; i < l->n; i++) {
        uint64_t v;
        if (parse_u64(l->v[i], 0, UINT32_MAX - 1, &v, NULL) < 0)
            return error_set(err, EINVAL, "--additional-gids: '%s' is not a group id", l->v[i]);
        if (p->ngroups == OCI_MAX_GROUPS)
            return error_set(err, E2BIG, "more than %d groups", OCI_MAX_GROUPS);
        p->groups[p->ngroups++] = (uint32_t)v;
    }
    return 0;
}

static int add_caps(struct oci_process *p, const struct shim_list *l, struct error *err)
{
    for (size_t i = 0; i < l->n; i++) {
        cap_value_t v;
        if (strncasecmp(l->v[i], "CAP_", 4) != 0 || cap_from_name(l->v[i], &v) < 0 || v < 0 ||
            v > 63)
            return error_set(err, EINVAL, "--cap: '%s' is not a capability", l->v[i]);
        for (size_t set = 0; set < OCI_CAP_SETS; set++) {
            if (set != OCI_CAP_INHERITABLE)
                p->caps[set] |= 1ull << v;
        }
    }
    return 0;
}

/* The later of two assignments of a variable counts, so the options' go behind. */
static int add_env(struct oci_process *p, const struct shim_list *l, struct error *err)
{
    const char **v = krealloc(p->env.v, (p->env.n + l->n + 1) * sizeof(*v));

    if (v == NULL)
        return error_set(err, ENOMEM, "no memory");
    memcpy(v + p->env.n, l->v, l->n * sizeof(*v));
    p->env.v = v;
    p->env.n += l->n;
    v[p->env.n] = NULL;
    return 0;
}

static int set_args(struct oci_process *p, int argc, char **argv, struct error *err)
{
    const char **v = kalloc_array((size_t)argc + 1, sizeof(*v));

    if (v == NULL)
        return error_set(err, ENOMEM, "no memory");
    for (int i = 0; i < argc; i++)
        v[i] = argv[i];
    kfree(p->args.v);
    p->args.v = v;
    p->args.n = (size_t)argc;
    return 0;
}

static int from_flags(struct container *c, const struct flags *f, int argc, char **argv,
                      struct oci_config *cfg, struct error *err)
{
    struct oci_process *p = &cfg->process;
    int bundle;
    int r = container_config(c, cfg, &bundle, err);

    if (r < 0)
        return r;
    (void)close(bundle);
    r = set_args(p, argc, argv, err);
    p->terminal = f->tty;
    if (f->cwd != NULL)
        p->cwd = f->cwd;
    if (f->no_new_privs)
        p->no_new_privileges = true;
    if (r == 0 && f->user != NULL)
        r = set_user(p, f->user, err);
    if (r == 0)
        r = add_groups(p, &f->groups, err);
    if (r == 0)
        r = add_caps(p, &f->caps, err);
    if (r == 0)
        r = add_env(p, &f->env, err);
    if (r < 0)
        oci_config_done(cfg);
    return r;
}

static int check_status(const struct container *c, const struct flags *f, struct error *err)
{
    if (c->status == STATE_STOPPED || c->status == STATE_CREATING)
        return error_set(err, ESRCH, "cannot exec in a stopped container");
    if (c->status == STATE_PAUSED && !f->ignore_paused)
        return error_set(err, EBUSY, "cannot exec in a paused container");
    return 0;
}

static int run(const char *id, const struct flags *f, int argc, char **argv, struct error *err)
{
    struct container c;
    struct oci_config cfg;

    if (f->process == NULL && argc < 1)
        return error_set(err, EINVAL, "needs a program to run, or --process");
    int r = container_open(&c, id, false, err);
    if (r < 0)
        return r;
    r = check_status(&c, f, err);
    if (r == 0 && f->process != NULL)
        r = oci_file_read(&cfg, AT_FDCWD, f->process, oci_process_parse, err);
    else if (r == 0)
        r = from_flags(&c, f, argc, argv, &cfg, err);
    if (r == 0) {
        shim_note_lines(SHIM_WARNING, buf_cstr(&cfg.warnings));
        if (f->tty)
            cfg.process.terminal = true;
        r = exec_run(&c, &cfg.process, &f->o, err);
        oci_config_done(&cfg);
    }
    container_close(&c);
    return r;
}

int cmd_exec(int argc, char **argv, struct error *err)
{
    struct flags *f = kalloc(sizeof(*f));
    const char *id;

    if (f == NULL)
        return error_set(err, ENOMEM, "no memory");
    const struct shim_option options[] = {
        {"console-socket", NULL, OPT_STRING, &f->o.console_socket},
        {"pid-file", NULL, OPT_STRING, &f->o.pid_file},
        {"detach", "d", OPT_FLAG, &f->o.detach},
        {"process", "p", OPT_STRING, &f->process},
        {"cwd", NULL, OPT_STRING, &f->cwd},
        {"user", "u", OPT_STRING, &f->user},
        {"env", "e", OPT_LIST, &f->env},
        {"additional-gids", "g", OPT_LIST, &f->groups},
        {"cap", "c", OPT_LIST, &f->caps},
        {"tty", "t", OPT_FLAG, &f->tty},
        {"no-new-privs", NULL, OPT_FLAG, &f->no_new_privs},
        {"ignore-paused", NULL, OPT_FLAG, &f->ignore_paused},
        {"preserve-fds", NULL, OPT_STRING, &f->preserve},
        {"process-label", NULL, OPT_IGNORED, NULL},
        {"apparmor", NULL, OPT_IGNORED, NULL},
        {"cgroup", NULL, OPT_IGNORED, NULL},
    };
    shim.fail_status = EXIT_FAILED;
    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), true, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 0, &id, err);
    if (r == 0)
        r = shim_preserve_fds(f->preserve, &f->o.preserve_fds, err);
    if (r == 0)
        r = run(id, f, argc - 1, argv + 1, err);
    kfree(f);
    return r;
}
