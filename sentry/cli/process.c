/*
 * process.c: a process from outside, as the kernel takes it.
 */
#include "sentry/cli/process.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"

static int find_ids(const struct process_words *w, struct user_ids *ret, struct error *err)
{
    const struct boot_process *p = w->process;
    if (p->ids_given) {
        *ret = (struct user_ids){
            .uid = p->uid, .gid = p->gid, .ngroups = MIN(p->ngroups, (uint32_t)BOOT_MAX_GROUPS)};
        memcpy(ret->groups, p->groups, ret->ngroups * sizeof(ret->groups[0]));
        return 0;
    }
    if (w->user == NULL && w->default_ids != NULL) {
        *ret = *w->default_ids;
        return 0;
    }
    return user_resolve(w->user, ret, err);
}

static size_t count(const char *const *list)
{
    size_t n = 0;
    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

/* The entry of the same key, or the end. */
static size_t find_key(const char *const *list, size_t n, const char *assignment)
{
    size_t len = strcspn(assignment, "=");
    size_t i = 0;
    while (i < n && (strcspn(list[i], "=") != len || strncmp(list[i], assignment, len) != 0))
        i++;
    return i;
}

static int make_env(const struct process_words *w, struct process *p, struct error *err)
{
    size_t nbase = count(w->base_env), nown = count(w->env), n = nbase;
    p->env = kalloc_array(nbase + nown + 2, sizeof(*p->env));
    if (p->env == NULL)
        return error_set(err, ENOMEM, "no memory");
    if (nbase > 0)
        memcpy(p->env, w->base_env, nbase * sizeof(*p->env));
    for (size_t i = 0; i < nown; i++) {
        size_t at = find_key(p->env, nbase, w->env[i]);
        p->env[at < nbase ? at : n++] = w->env[i];
    }
    if (w->process->find_home && find_key(p->env, n, "HOME=") == n) {
        char dir[sizeof(p->home) - 8];
        if (!user_home(p->ids.uid, dir, sizeof(dir)))
            memcpy(dir, "/", 2);
        (void)snprintf(p->home, sizeof(p->home), "HOME=%s", dir);
        p->env[n] = p->home;
    }
    return 0;
}

static void set_caps(const struct boot_process *b, struct kernel_start *s)
{
    if (b->caps_given) {
        s->caps.bounding = b->cap_bounding;
        s->caps.effective = b->cap_effective;
        s->caps.inheritable = b->cap_inheritable;
        s->caps.permitted = b->cap_permitted;
        s->caps.ambient = b->cap_ambient;
    } else if (s->uid == 0) {
        s->caps.bounding = s->caps.effective = s->caps.permitted = LX_CAP_FULL_SET;
    }
}

static void set_rest(const struct boot_process *b, struct kernel_start *s)
{
    s->no_new_privs = b->no_new_privs;
    s->umask = b->umask_given ? b->umask : 022;
    s->oom_score_adj = b->oom_given ? b->oom_score_adj : 0;
    s->rlimits_given = b->rlimits_given;
    for (size_t i = 0; i < MIN((size_t)BOOT_RLIMITS, ARRAY_LEN(s->rlimit)); i++)
        s->rlimit[i] = (struct lx_rlimit){b->rlimit[i].cur, b->rlimit[i].max};
}

int process_describe(const struct process_words *w, struct process *ret, struct error *err)
{
    *ret = (struct process){.start.stdio = {-1, -1, -1}};
    struct kernel_start *s = &ret->start;
    int r = find_ids(w, &ret->ids, err);
    if (r == 0)
        r = make_env(w, ret, err);
    if (r < 0)
        return r;
    s->argv = w->argv;
    s->envp = ret->env;
    s->cwd = w->cwd != NULL ? w->cwd : "/";
    s->uid = ret->ids.uid;
    s->gid = ret->ids.gid;
    s->ngroups = ret->ids.ngroups;
    s->groups = ret->ids.groups;
    set_caps(w->process, s);
    set_rest(w->process, s);
    return 0;
}

int process_add_files(struct process *p, int *fds, size_t n, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        int flags = fcntl(fds[i], F_GETFL);
        if (flags < 0 || (flags & O_PATH) != 0)
            return error_set(err, EBADF, "descriptor %zu cannot be passed on", i + 3);
        int r = host_file_new(fds[i], (uint32_t)flags & LX_O_ACCMODE, "passed", &p->files[i]);
        if (r < 0)
            return error_errno(err, -r, "descriptor %zu", i + 3);
        fds[i] = -1;
        p->start.nfiles = i + 1;
    }
    p->start.files = p->files;
    return 0;
}

void process_done(struct process *p)
{
    for (size_t i = 0; i < p->start.nfiles; i++)
        file_put(p->files[i]);
    p->start.nfiles = 0;
    kfree(p->env);
    p->env = NULL;
}
