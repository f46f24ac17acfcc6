/*
 * kernel.c: the root object, and the first process.
 */
#include "sentry/kernel/kernel.h"

#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/rlimit.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "sentry/fs/anon/anon.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/exec.h"
#include "sentry/kernel/exec_task.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/session.h"

struct kernel kernel;

int kernel_init(struct plat *p, struct error *err)
{
    uint64_t seed;
    (void)err;
    kernel = (struct kernel){.plat = p};
    list_init(&kernel.mounts);
    list_init(&kernel.groups);
    memcpy(kernel.hostname, "sentry", 7);
    memcpy(kernel.domainname, "(none)", 7);
    host_random(&seed, sizeof(seed));
    hash_set_seed(seed);
    kernel.seed = (uint32_t)seed;
    kernel.boot_monotonic = host_clock_monotonic();
    kernel.boot_realtime = host_clock_realtime();
    limits_init();
    if (p != NULL)
        plat_ops->layout(p, &kernel.layout);
    return 0;
}

static struct thread_group *any_live_group(void)
{
    struct thread_group *tg;
    list_for_each_entry (tg, &kernel.groups, all_link) {
        if (tg != kernel.init && !tg->zombie)
            return tg;
    }
    return NULL;
}

/* The first process last: it inherits what the others leave. */
static void end_groups(void)
{
    struct thread_group *tg;
    while ((tg = any_live_group()) != NULL)
        thread_group_exit(tg, LX_SIGKILL);
    if (kernel.init != NULL)
        thread_group_exit(kernel.init, LX_SIGKILL);
    while (!list_empty(&kernel.groups))
        thread_group_reap(list_first(&kernel.groups, struct thread_group, all_link));
    thread_group_put(kernel.init);
    kernel.init = NULL;
}

void kernel_done(void)
{
    end_groups();
    ipc_done();
    mounts_done();
    tmpfs_anon_done();
    sysctl_done();
    anon_super_done();
    pid_table_reset();
}

static void rlimits_default(struct thread_group *tg)
{
    for (int i = 0; i < LX_RLIM_NLIMITS; i++)
        tg->rlimit[i] = (struct lx_rlimit){LX_RLIM_INFINITY, LX_RLIM_INFINITY};
    tg->rlimit[LX_RLIMIT_STACK] = (struct lx_rlimit){8u << 20, LX_RLIM_INFINITY};
    tg->rlimit[LX_RLIMIT_CORE] = (struct lx_rlimit){0, 0};
    tg->rlimit[LX_RLIMIT_NOFILE] = (struct lx_rlimit){kernel.start_files, kernel.start_files};
    tg->rlimit[LX_RLIMIT_FSIZE] =
        (struct lx_rlimit){kernel.start_file_size, kernel.start_file_size};
    tg->rlimit[LX_RLIMIT_NPROC] =
        (struct lx_rlimit){limit_max(LIMIT_TASKS), limit_max(LIMIT_TASKS)};
    tg->rlimit[LX_RLIMIT_MEMLOCK] = (struct lx_rlimit){8u << 20, 8u << 20};
    tg->rlimit[LX_RLIMIT_SIGPENDING] = (struct lx_rlimit){4096, 4096};
    tg->rlimit[LX_RLIMIT_MSGQUEUE] = (struct lx_rlimit){819200, 819200};
    tg->rlimit[LX_RLIMIT_NICE] = (struct lx_rlimit){0, 0};
    tg->rlimit[LX_RLIMIT_RTPRIO] = (struct lx_rlimit){0, 0};
}

static int init_cred(const struct kernel_start *start, struct task *t)
{
    struct cred *c = cred_new();
    if (c == NULL)
        return -ENOMEM;
    c->uid = c->euid = c->suid = c->fsuid = start->uid;
    c->gid = c->egid = c->sgid = c->fsgid = start->gid;
    c->ngroups = MIN(start->ngroups, (uint32_t)CRED_NGROUPS);
    memcpy(c->groups, start->groups, c->ngroups * sizeof(c->groups[0]));
    c->cap_bounding = start->caps;
    if (start->uid == 0) {
        c->cap_permitted = start->caps;
        c->cap_effective = start->caps;
    }
    t->cred = c;
    return 0;
}

static int init_stdio(struct task *t, const struct kernel_start *start)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    for (int i = 0; i < 3; i++) {
        struct file *f;
        int r;
        if (start->stdio_files[i] != NULL) {
            f = file_get(start->stdio_files[i]);
        } else {
            if (start->stdio[i] < 0)
                continue;
            r = host_file_new(start->stdio[i], i == 0 ? LX_O_RDONLY : LX_O_WRONLY, names[i], &f);
            if (r < 0)
                return r;
        }
        /* The program may open it again, through /dev/stdout. */
        f->inode->uid = t->cred->fsuid;
        f->inode->gid = t->cred->fsgid;
        r = fd_replace(t, f, false, i);
        if (r < 0) {
            file_put(f);
            return r;
        }
    }
    return 0;
}

static int init_fs(struct task *t, const struct kernel_start *start, struct error *err)
{
    struct path root = {kernel.root_mount, kernel.root_mount->root};
    struct path cwd;
    int r = files_new(&t->files);
    if (r < 0)
        return r;
    r = fs_info_new(&root, &root, &t->fs);
    if (r < 0)
        return r;
    r = path_lookup(t, LX_AT_FDCWD, start->cwd, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &cwd);
    if (r < 0)
        return error_errno(err, -r, "working directory %s", start->cwd);
    path_put(&t->fs->cwd);
    t->fs->cwd = cwd;
    return init_stdio(t, start);
}

static int init_make(const struct kernel_start *start, struct task **ret_t, struct error *err)
{
    struct thread_group *tg;
    struct task *t;
    int r = thread_group_new(&tg);
    if (r < 0)
        return r;
    r = task_new(tg, &t);
    if (r < 0)
        return r;
    rlimits_default(tg);
    r = limit_charge(LIMIT_TASKS, 1);
    if (r == 0)
        r = init_cred(start, t);
    if (r == 0)
        r = pid_alloc(t);
    if (r < 0)
        return r;
    t->sighand = sighand_new();
    if (t->sighand == NULL)
        return -ENOMEM;
    tg->pid = t->pid;
    tg->exit_signal = LX_SIGCHLD;
    task_link(t, tg);
    list_add_tail(&kernel.groups, &tg->all_link);
    kernel.init = thread_group_get(tg);
    r = session_new(tg);
    if (r == 0)
        r = init_fs(t, start, err);
    *ret_t = t;
    return r;
}

/* PATH search as execvp(3): only names without a slash, EACCES remembered. */
static int init_find(struct task *t, const struct kernel_start *start, char *path, size_t cap,
                     struct file **ret_file)
{
    const char *name = start->argv[0];
    const char *dirs = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    int result = -ENOENT;

    if (strchr(name, '/') != NULL) {
        if (strlen(name) >= cap)
            return -ENAMETOOLONG;
        memcpy(path, name, strlen(name) + 1);
        return vfs_open_exec(t, LX_AT_FDCWD, path, LOOKUP_FOLLOW, ret_file);
    }
    for (const char *const *e = start->envp; *e != NULL; e++) {
        if (strncmp(*e, "PATH=", 5) == 0)
            dirs = *e + 5;
    }
    for (;;) {
        size_t n = strcspn(dirs, ":");
        if (n + 1 + strlen(name) + 1 <= cap && name[0] != '\0') {
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

int kernel_start_init(const struct kernel_start *start, bool *ret_exec, struct error *err)
{
    struct task *t = NULL;
    struct exec_strings strings = {0};
    struct file *file = NULL;

    *ret_exec = false;
    int r = init_make(start, &t, err);
    if (r < 0)
        return err->code != 0 ? r : error_errno(err, -r, "first process");
    char *path = kalloc(4096);
    if (path == NULL)
        return error_set(err, ENOMEM, "no memory");
    r = init_find(t, start, path, 4096, &file);
    if (r == 0)
        r = exec_strings_from_kernel(start->argv, start->envp, &strings);
    if (r == 0)
        r = exec_replace(t, file, path, &strings);
    exec_strings_done(&strings);
    file_put(file);
    kfree(path);
    if (r < 0) {
        *ret_exec = true;
        return error_errno(err, -r, "%s", start->argv[0]);
    }
    if (start->console != NULL)
        tty_console_control(start->console, task_session(t), t->group->pgrp->id);
    dispatch_start(t);
    return 0;
}
