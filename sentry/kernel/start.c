/*
 * start.c: processes that come from outside: the first one, and those that exec into a running
 * sandbox.
 *
 * Both are made without a parent, in a session of their own, and get their image like any execve.
 * On any failure an exec'd process is taken apart again; the failure of the first one ends the run.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/rlimit.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cpu_limit.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/exec.h"
#include "sentry/kernel/exec_task.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/seccomp.h"
#include "sentry/kernel/session.h"

enum {
    PATH_CAP = 4096
};

/* -- what it is and may --------------------------------------------------------------------------
 */

static void set_rlimits(struct thread_group *tg, const struct kernel_start *start)
{
    for (int i = 0; i < LX_RLIM_NLIMITS; i++)
        tg->rlimit[i] = (struct lx_rlimit){LX_RLIM_INFINITY, LX_RLIM_INFINITY};
    tg->rlimit[LX_RLIMIT_STACK] = (struct lx_rlimit){8u << 20, LX_RLIM_INFINITY};
    tg->rlimit[LX_RLIMIT_CORE] = (struct lx_rlimit){0, 0};
    tg->rlimit[LX_RLIMIT_NOFILE] = (struct lx_rlimit){kernel.start_files, kernel.start_files};
    tg->rlimit[LX_RLIMIT_FSIZE] =
        (struct lx_rlimit){kernel.start_file_size, kernel.start_file_size};
    tg->rlimit[LX_RLIMIT_NPROC] = (struct lx_rlimit){kernel.tasks_max, kernel.tasks_max};
    tg->rlimit[LX_RLIMIT_MEMLOCK] = (struct lx_rlimit){8u << 20, 8u << 20};
    tg->rlimit[LX_RLIMIT_SIGPENDING] = (struct lx_rlimit){4096, 4096};
    tg->rlimit[LX_RLIMIT_MSGQUEUE] = (struct lx_rlimit){819200, 819200};
    tg->rlimit[LX_RLIMIT_NICE] = (struct lx_rlimit){0, 0};
    tg->rlimit[LX_RLIMIT_RTPRIO] = (struct lx_rlimit){0, 0};
    for (int i = 0; i < LX_RLIM_NLIMITS; i++) {
        if (start->rlimits_given & (1u << i))
            tg->rlimit[i] = start->rlimit[i];
    }
    cpu_limit_changed(tg);
}

static int set_cred(struct task *t, const struct kernel_start *start)
{
    struct cred *c = cred_new();
    if (c == NULL)
        return -ENOMEM;
    c->uid = c->euid = c->suid = c->fsuid = start->uid;
    c->gid = c->egid = c->sgid = c->fsgid = start->gid;
    uint32_t ngroups = MIN(start->ngroups, CRED_NGROUPS);
    if (ngroups > 0) {
        struct group_list *l = group_list_new(ngroups);
        if (l == NULL) {
            cred_put(c);
            return -ENOMEM;
        }
        memcpy(l->gid, start->groups, ngroups * sizeof(l->gid[0]));
        group_list_sort(l);
        cred_set_groups(c, l);
    }
    c->cap_bounding = start->caps.bounding & LX_CAP_FULL_SET;
    c->cap_inheritable = start->caps.inheritable & LX_CAP_FULL_SET;
    c->cap_permitted = start->caps.permitted & LX_CAP_FULL_SET;
    c->cap_effective = start->caps.effective & c->cap_permitted;
    c->cap_ambient = start->caps.ambient & c->cap_permitted & c->cap_inheritable;
    t->cred = c;
    return 0;
}

/* -- files ---------------------------------------------------------------------------------------
 */

/* Takes over the reference of f. */
static int set_file(struct task *t, struct file *f CONSUMES, int fd)
{
    /* The program may open it again, through /dev/stdout. */
    f->inode->uid = t->cred->fsuid;
    f->inode->gid = t->cred->fsgid;
    int r = fd_replace(t, f, false, fd);
    if (r >= 0)
        return 0;
    file_put(f);
    return r;
}

static int set_stdio(struct task *t, const struct kernel_start *start)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    int r = 0;
    for (int i = 0; i < 3 && r == 0; i++) {
        struct file *f;
        if (start->stdio_files[i] != NULL) {
            f = file_get(start->stdio_files[i]);
        } else {
            if (start->stdio[i] < 0)
                continue;
            r = host_file_new(start->stdio[i], i == 0 ? LX_O_RDONLY : LX_O_WRONLY, names[i], &f);
            if (r < 0)
                return r;
        }
        r = set_file(t, f, i);
    }
    for (size_t i = 0; i < start->nfiles && r == 0; i++)
        r = set_file(t, file_get(start->files[i]), 3 + (int)i);
    return r;
}

static int set_files(struct task *t, const struct kernel_start *start, struct error *err)
{
    struct path root = {kernel.root_mount, kernel.root_mount->root};
    struct path cwd;
    int r = files_new(&t->files);
    if (r < 0)
        return r;
    r = fs_info_new(&root, &root, &t->fs);
    if (r < 0)
        return r;
    t->fs->umask = start->umask & 0777;
    r = path_lookup(t, LX_AT_FDCWD, start->cwd, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &cwd);
    if (r < 0)
        return error_errno(err, -r, "working directory %s", start->cwd);
    path_put(&t->fs->cwd);
    t->fs->cwd = cwd;
    return set_stdio(t, start);
}

/* -- the process ---------------------------------------------------------------------------------
 */

static void process_publish(struct task *t)
{
    struct thread_group *tg = t->group;
    tg->pid = t->pid;
    tg->exit_signal = LX_SIGCHLD;
    task_link(t, tg);
    list_add_tail(&kernel.groups, &tg->all_link);
}

/* Takes apart a process that has no image yet, however far it got. */
static void process_undo(struct task *t)
{
    struct thread_group *tg = t->group;
    pgrp_leave(tg);
    list_del_init(&tg->all_link);
    if (!list_empty(&t->group_link)) {
        list_del_init(&t->group_link);
        tg->nthreads--;
        task_put(tg->leader);
        tg->leader = NULL;
    }
    if (t->pid != 0)
        pid_free(t->pid);
    task_release_resources(t);
    task_put(t);
    thread_group_put(tg);
}

static int process_fill(struct task *t, const struct kernel_start *start, struct error *err)
{
    struct thread_group *tg = t->group;
    set_rlimits(tg, start);
    tg->oom_score_adj = start->oom_score_adj;
    t->no_new_privs = start->no_new_privs;
    if (kernel.seccomp_profile != NULL) {
        t->seccomp_mode = LX_SECCOMP_MODE_FILTER;
        t->seccomp = seccomp_filter_get(kernel.seccomp_profile);
    }
    int r = set_cred(t, start);
    if (r == 0)
        r = pid_alloc(t);
    if (r < 0)
        return r;
    t->sighand = sighand_new();
    if (t->sighand == NULL)
        return -ENOMEM;
    process_publish(t);
    r = session_new(tg);
    return r < 0 ? r : set_files(t, start, err);
}

static int process_make(const struct kernel_start *start, struct task **ret_t, struct error *err)
{
    struct thread_group *tg;
    struct task *t;
    int r = limit_charge(LIMIT_TASKS, 1);
    if (r < 0)
        return error_set(err, EAGAIN, "the limit of %llu tasks is reached",
                         (unsigned long long)limit_max(LIMIT_TASKS));
    r = thread_group_new(&tg);
    if (r < 0) {
        limit_release(LIMIT_TASKS, 1);
        return r;
    }
    r = task_new(tg, &t);
    if (r < 0) {
        thread_group_put(tg);
        limit_release(LIMIT_TASKS, 1);
        return r;
    }
    r = process_fill(t, start, err);
    if (r < 0) {
        process_undo(t);
        return r;
    }
    *ret_t = t;
    return 0;
}

/* -- the program ---------------------------------------------------------------------------------
 */

static const char *search_path(const struct kernel_start *start)
{
    const char *dirs = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    for (const char *const *e = start->envp; *e != NULL; e++) {
        if (strncmp(*e, "PATH=", 5) == 0)
            dirs = *e + 5;
    }
    return dirs;
}

/* PATH search as execvp(3): only names without a slash, EACCES remembered. */
static int find_program(struct task *t, const struct kernel_start *start, char *path,
                        struct file **ret_file)
{
    const char *name = start->argv[0];
    const char *dirs = search_path(start);
    int result = -ENOENT;

    if (strchr(name, '/') != NULL) {
        if (strlen(name) >= PATH_CAP)
            return -ENAMETOOLONG;
        memcpy(path, name, strlen(name) + 1);
        return vfs_open_exec(t, LX_AT_FDCWD, path, LOOKUP_FOLLOW, ret_file);
    }
    for (;;) {
        size_t n = strcspn(dirs, ":");
        if (n + 1 + strlen(name) + 1 <= PATH_CAP && name[0] != '\0') {
            memcpy(path, dirs, n);
            if (n > 0)
                path[n++] = '/';
            memcpy(path + n, name, strlen(name) + 1);
            int r = vfs_open_exec(t, LX_AT_FDCWD, path, LOOKUP_FOLLOW, ret_file);
            if (r == 0)
                return 0;
            if (r == -EACCES)
                result = r;
            else if (r != -ENOENT && r != -ENOTDIR)
                return r;
        }
        dirs += strcspn(dirs, ":");
        if (*dirs == '\0')
            return result;
        dirs++;
    }
}

/* In the words of other runtimes: what drives them looks for these. */
static int program_error(const char *name, int r, struct error *err)
{
    switch (r) {
    case -ENOENT:
        if (strchr(name, '/') == NULL)
            return error_set(err, ENOENT, "exec: \"%s\": executable file not found in $PATH", name);
        return error_set(err, ENOENT, "exec: \"%s\": stat %s: no such file or directory", name,
                         name);
    case -EACCES:
        return error_set(err, EACCES, "exec: \"%s\": permission denied", name);
    case -ENOEXEC:
        return error_set(err, ENOEXEC, "exec %s: exec format error", name);
    default:
        return error_errno(err, -r, "exec %s", name);
    }
}

static int load_program(struct task *t, const struct kernel_start *start)
{
    struct exec_strings strings = {0};
    struct file *file = NULL;
    char *path = kalloc(PATH_CAP);
    if (path == NULL)
        return -ENOMEM;
    int r = find_program(t, start, path, &file);
    if (r == 0)
        r = exec_strings_from_kernel(start->argv, start->envp, &strings);
    if (r == 0)
        r = exec_replace(t, file, path, &strings);
    exec_strings_done(&strings);
    file_put(file);
    kfree(path);
    /* Its thread may have ended before it had registers. */
    return r == 0 && t->pth == NULL ? -EIO : r;
}

static void take_console(const struct task *t, const struct kernel_start *start)
{
    if (start->console != NULL)
        tty_console_control(start->console, task_session(t), t->group->pgrp->id);
}

int kernel_start_init(const struct kernel_start *start, bool *ret_exec, struct error *err)
{
    struct task *t = NULL;

    *ret_exec = false;
    int r = process_make(start, &t, err);
    if (r < 0)
        return err->code != 0 ? r : error_errno(err, -r, "first process");
    kernel.init = thread_group_get(t->group);
    r = load_program(t, start);
    if (r < 0) {
        *ret_exec = true;
        return program_error(start->argv[0], r, err);
    }
    take_console(t, start);
    if (start->hold)
        kernel.held = task_get(t);
    else
        dispatch_start(t);
    return 0;
}

bool kernel_release_init(void)
{
    struct task *t = kernel.held;
    if (t == NULL)
        return false;
    kernel.held = NULL;
    /* A signal may have ended it meanwhile. */
    if (t->pth != NULL)
        dispatch_start(t);
    task_put(t);
    return true;
}

int kernel_exec_process(const struct kernel_start *start, struct thread_group **ret_tg,
                        bool *ret_exec, struct error *err)
{
    struct task *t = NULL;

    *ret_exec = false;
    int r = process_make(start, &t, err);
    if (r < 0)
        return err->code != 0 ? r : error_errno(err, -r, "new process");
    task_get(t);
    r = load_program(t, start);
    if (r < 0) {
        *ret_exec = true;
        if (t->state != TASK_DEAD)
            process_undo(t);
        task_put(t);
        return program_error(start->argv[0], r, err);
    }
    take_console(t, start);
    *ret_tg = thread_group_get(t->group);
    dispatch_start(t);
    task_put(t);
    return 0;
}
