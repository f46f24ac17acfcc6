/*
 * runtime.c: command lines of the runtimes. Each is used as its documentation says that a
 * stranger's program should be: everything unshared, no capability, a read-only root, /tmp in
 * memory.
 */
#include "escape-suite/harness/runtime.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/error.h"

static const char box_path[] = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/* Finds a program: beside us, then along PATH and where system programs are. */
static int find_program(const char *name, const char *bin, char *buf, size_t cap)
{
    char dirs[4096], real[PATH_MAX], *save = NULL;
    const char *path = getenv("PATH");
    if (strchr(name, '/') != NULL) {
        if (realpath(name, real) == NULL || strlen(real) >= cap || access(real, X_OK) < 0)
            return -ENOENT;
        (void)snprintf(buf, cap, "%s", real);
        return 0;
    }
    (void)snprintf(dirs, sizeof(dirs), "%s:%s:/usr/sbin:/sbin:/usr/local/sbin", bin,
                   path != NULL ? path : "/usr/bin:/bin");
    for (char *d = strtok_r(dirs, ":", &save); d != NULL; d = strtok_r(NULL, ":", &save)) {
        (void)snprintf(buf, cap, "%s/%s", d, name);
        if (access(buf, X_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

static void ask_version(struct runtime *r)
{
    char command[700];
    (void)snprintf(command, sizeof(command), "'%s' %s 2>/dev/null </dev/null", r->path,
                   r->kind == RUNTIME_SENTRY ? "version" : "--version");
    /* NOLINTNEXTLINE(cert-env33-c): the caller's own program, in the caller's own environment */
    FILE *f = strchr(r->path, '\'') == NULL ? popen(command, "re") : NULL;
    if (f == NULL || fgets(r->version, sizeof(r->version), f) == NULL)
        r->version[0] = '\0';
    r->version[strcspn(r->version, "\n")] = '\0';
    if (f != NULL)
        (void)pclose(f);
}

int runtime_find(struct runtime *r, const char *name, const char *bin, struct error *err)
{
    char word[256];
    const char *rest = name;
    *r = (struct runtime){.name = name, .kind = RUNTIME_SENTRY};
    if (strncmp(name, "oci:", 4) == 0) {
        r->kind = RUNTIME_OCI;
        rest = name + 4;
    }
    rest += strspn(rest, " ");
    size_t n = strcspn(rest, " ");
    if (n == 0 || n >= sizeof(word))
        return error_set(err, EINVAL, "--runtime '%s': no command", name);
    (void)snprintf(word, sizeof(word), "%.*s", (int)n, rest);
    const char *base = strrchr(word, '/') != NULL ? strrchr(word, '/') + 1 : word;
    if (r->kind != RUNTIME_OCI && strcmp(base, "bwrap") == 0)
        r->kind = RUNTIME_BWRAP;
    r->own_shim = r->kind == RUNTIME_OCI && strcmp(base, "runsc-shim") == 0;
    r->own_kernel = r->kind == RUNTIME_SENTRY || strncmp(base, "runsc", 5) == 0;
    if (find_program(word, bin, r->path, sizeof(r->path)) < 0)
        return error_set(err, ENOENT, "--runtime '%s': there is no %s", name, word);
    args_add(&r->command, r->path);
    args_add_words(&r->command, rest + n);
    ask_version(r);
    return r->command.failed ? error_set(err, ENOMEM, "no memory") : 0;
}

void runtime_done(struct runtime *r)
{
    args_done(&r->command);
}

const char *runtime_kind_name(enum runtime_kind k)
{
    static const char *const names[] = {"sentry", "bwrap", "oci"};
    return names[k];
}

const char *limit_value(const struct attack *a, const char *name, char *buf, size_t cap)
{
    char copy[256], *save = NULL;
    const char *found = NULL;
    (void)snprintf(copy, sizeof(copy), "%s", a != NULL ? a->limits : "");
    for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
        size_t n = strlen(name);
        if (strncmp(w, name, n) == 0 && w[n] == '=') {
            found = w + n + 1;
        } else if (strcmp(w, name) == 0) {
            found = strtok_r(NULL, " ", &save);
        }
        if (found != NULL) {
            (void)snprintf(buf, cap, "%s", found);
            return buf;
        }
    }
    return NULL;
}

const char *runtime_lacks(const struct runtime *r, const struct attack *a)
{
    if (r->kind == RUNTIME_SENTRY)
        return NULL;
    if (word_in(a->expect, '|', "output-limit"))
        return "this runtime has no limit on output";
    bool limited = a->group == GROUP_RESOURCES || strstr(a->limits, "--memory") != NULL ||
                   strstr(a->limits, "--pids") != NULL || word_in(a->expect, '|', "pids-limit") ||
                   word_in(a->expect, '|', "memory-limit");
    if (r->kind == RUNTIME_BWRAP && limited)
        return "bwrap sets no limits, and the attack would be the machine's";
    if (a->tty && r->own_shim)
        return "the OCI command takes a terminal from a console socket only";
    return NULL;
}

/* -- sentry -------------------------------------------------------------------------------------
 */

static void sentry_command(const struct runtime *r, const struct job *j, struct args *c)
{
    const struct attack *a = j->attack;
    for (size_t i = 0; i < r->command.n; i++)
        args_add(c, r->command.v[i]);
    args_add(c, "--report");
    args_add(c, j->report);
    args_add(c, "--timeout");
    args_add(c, j->endless ? "0" : "90s");
    if (j->endless)
        args_add_words(c, "--cpu-time 0");
    args_add(c, "--env");
    args_add(c, "SENTRY_SUITE=1");
    if (j->mount != NULL) {
        args_add(c, "--volume");
        args_addf(c, "%s:/attack:ro", j->mount);
    }
    if (a != NULL && a->user0)
        args_add_words(c, "--user 0");
    if (a != NULL && a->writable)
        args_add(c, "--writable");
    if (a != NULL && a->tty)
        args_add(c, "--tty");
    if (a != NULL)
        args_add_words(c, a->limits);
    args_add(c, j->image);
    args_add(c, "--");
    for (size_t i = 0; j->argv[i] != NULL; i++)
        args_add(c, j->argv[i]);
}

/* -- bubblewrap ---------------------------------------------------------------------------------
 */

/* The image's own entries one by one, so that /attack needs no directory in the image. */
static void bwrap_root(const struct job *j, struct args *c)
{
    DIR *d = opendir(j->image);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX], link[PATH_MAX];
        struct stat st;
        (void)snprintf(path, sizeof(path), "%s/%s", j->image, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) < 0 ||
            word_in("proc dev tmp sys", ' ', e->d_name))
            continue;
        ssize_t n = S_ISLNK(st.st_mode) ? readlink(path, link, sizeof(link) - 1) : -1;
        if (n > 0) {
            link[n] = '\0';
            args_add(c, "--symlink");
            args_add(c, link);
        } else {
            args_add(c, "--ro-bind");
            args_add(c, path);
        }
        args_addf(c, "/%s", e->d_name);
    }
    if (d != NULL)
        (void)closedir(d);
    if (j->mount != NULL) {
        args_add(c, "--ro-bind");
        args_add(c, j->mount);
        args_add(c, "/attack");
    }
}

static void bwrap_command(const struct runtime *r, const struct job *j, struct args *c)
{
    const struct attack *a = j->attack;
    const char *id = a != NULL && a->user0 ? "0" : "65534";
    for (size_t i = 0; i < r->command.n; i++)
        args_add(c, r->command.v[i]);
    args_add_words(c, "--unshare-all --unshare-user --die-with-parent --cap-drop ALL --clearenv");
    args_add(c, "--uid");
    args_add(c, id);
    args_add(c, "--gid");
    args_add(c, id);
    args_add_words(c,
                   "--hostname sandbox --setenv SENTRY_SUITE 1 --setenv HOME /tmp --setenv PATH");
    args_add(c, box_path);
    if (a == NULL || !a->tty)
        args_add(c, "--new-session");
    bwrap_root(j, c);
    args_add_words(c, "--proc /proc --dev /dev --tmpfs /tmp");
    if (a == NULL || !a->writable)
        args_add_words(c, "--remount-ro /");
    args_add_words(c, "--chdir /tmp --");
    for (size_t i = 0; j->argv[i] != NULL; i++)
        args_add(c, j->argv[i]);
}

/* -- OCI ----------------------------------------------------------------------------------------
 */

static int oci_command(const struct runtime *r, const struct job *j, struct args *c,
                       struct args *cleanup, struct error *err)
{
    char bundle[512];
    struct args *both[2] = {c, cleanup};
    int rc = oci_bundle(r, j, bundle, sizeof(bundle), err);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < r->command.n; k++)
            args_add(both[i], r->command.v[k]);
        args_add(both[i], "--root");
        args_addf(both[i], "%s/oci-state", j->scratch);
        args_add_words(both[i], i == 0 ? "run --bundle" : "delete --force");
        if (i == 0)
            args_add(both[i], bundle);
        args_add(both[i], j->id);
    }
    return rc;
}

int runtime_command(const struct runtime *r, const struct job *j, struct args *command,
                    struct args *cleanup, struct error *err)
{
    int rc = 0;
    switch (r->kind) {
    case RUNTIME_SENTRY:
        sentry_command(r, j, command);
        break;
    case RUNTIME_BWRAP:
        bwrap_command(r, j, command);
        break;
    case RUNTIME_OCI:
    default:
        rc = oci_command(r, j, command, cleanup, err);
        break;
    }
    if (rc == 0 && (command->failed || cleanup->failed))
        rc = error_set(err, E2BIG, "the command has too many arguments");
    return rc;
}
