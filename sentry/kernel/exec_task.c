/*
 * exec_task.c: execve(2), the part that replaces a task's image.
 *
 * exec_load makes a complete new mm in a fresh address space; only when the first thread of it
 * exists nothing can fail any more. Then the other threads end, the old host process is killed, and
 * the task goes on with the registers of the new program (SYS_RESUME).
 */
#include "sentry/kernel/exec_task.h"

#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/prctl.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/exec.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/usage.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

enum {
    PATH_CAP = 4096
};

/* Capabilities after execve, capabilities(7), for files without file capabilities. */
static void exec_caps(struct cred *c, bool secure)
{
    bool root_euid = c->euid == 0 && !(c->securebits & (1u << LX_SECURE_NOROOT));
    bool root_uid = c->uid == 0 && !(c->securebits & (1u << LX_SECURE_NOROOT));
    if (secure)
        c->cap_ambient = 0;
    if (root_euid || root_uid) {
        c->cap_permitted = c->cap_inheritable | c->cap_bounding;
        c->cap_effective = root_euid ? c->cap_permitted : c->cap_ambient;
    } else {
        c->cap_permitted = c->cap_ambient;
        c->cap_effective = c->cap_ambient;
    }
    c->securebits &= ~(1u << LX_SECURE_KEEP_CAPS);
}

static struct cred *exec_cred(const struct task *t, const struct exec_image *img)
{
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return NULL;
    if (img->setuid_euid)
        c->euid = img->new_euid;
    if (img->setgid_egid)
        c->egid = img->new_egid;
    c->suid = c->fsuid = c->euid;
    c->sgid = c->fsgid = c->egid;
    exec_caps(c, img->setuid_euid || img->setgid_egid);
    return c;
}

/* A non-leader that executes becomes the leader and takes its pid. */
static void exec_become_leader(struct task *t)
{
    struct thread_group *tg = t->group;
    struct task *old = tg->leader;
    if (old == t)
        return;
    uint32_t own = t->pid;
    /* The table's references change places: own's entry goes, the leader's entry becomes t's. */
    list_del_init(&old->group_link);
    tg->nthreads--;
    pid_set(old->pid, task_get(t));
    t->pid = old->pid;
    pid_free(own);
    tg->leader = task_get(t);
    task_put(old); /* the table's */
    task_put(old); /* the leader field's */
    task_put(old); /* of creation */
}

static void exec_signals(struct task *t, struct sighand *sh)
{
    sighand_put(t->sighand);
    t->sighand = sh;
    sighand_reset_caught(sh);
    t->altstack = (struct lx_stack){.ss_flags = LX_SS_DISABLE};
    posix_timers_exec(t->group);
}

static void exec_fields(struct task *t, const struct exec_image *img)
{
    memcpy(t->comm, img->comm, sizeof(t->comm));
    t->clear_child_tid = GADDR_NULL;
    t->robust_list = GADDR_NULL;
    t->robust_list_len = 0;
    t->tls = GADDR_NULL;
    t->gs_base = GADDR_NULL;
    t->group->has_execed = true;
    t->group->dumpable = !(img->setuid_euid || img->setgid_egid);
    if (img->setuid_euid || img->setgid_egid)
        t->pdeath_signal = 0;
}

struct exec_new {
    struct plat_thread *pth;
    struct cred *cred;
    struct sighand *sighand;
    struct files *files;
};

static void exec_new_done(struct exec_new *n)
{
    cred_put(n->cred);
    sighand_put(n->sighand);
    if (n->files != NULL)
        files_put(n->files);
}

/* Everything that can fail. */
static int exec_prepare(struct task *t, struct exec_image *img, struct exec_new *n)
{
    n->cred = exec_cred(t, img);
    n->sighand = sighand_dup(t->sighand);
    if (n->cred == NULL || n->sighand == NULL)
        return -ENOMEM;
    if (t->files->ref > 1) {
        int r = files_dup(t->files, &n->files);
        if (r < 0)
            return r;
    }
    int r = plat_ops->thread_first(img->mm->as, t, &n->pth);
    if (r < 0)
        return r;
    return 0;
}

static void exec_commit(struct task *t, struct exec_image *img, struct exec_new *n)
{
    struct thread_group *tg = t->group;
    uint32_t old_pid = t->pid;
    if (t->pth != NULL) {
        tg->cpu_dead += plat_ops->process_cputime(t->pth);
        futex_exit_robust(t);
        futex_exit_pi(t);
        thread_group_kill_others(t);
        usage_before_loss(t->mm->total);
        plat_ops->process_kill(t->pth);
        exec_become_leader(t);
        mm_put(t->mm);
    }
    t->pth = n->pth;
    t->mm = img->mm;
    t->in_context = true;
    cred_put(t->cred);
    t->cred = n->cred;
    if (n->files != NULL) {
        files_put(t->files);
        t->files = n->files;
    }
    exec_signals(t, n->sighand);
    files_close_on_exec(t, t->files);
    exec_fields(t, img);
    if (UNLIKELY(t->ptrace != NULL))
        ptrace_exec(t, old_pid);
    vfork_done(t);
}

static int exec_registers(struct task *t, const struct exec_image *img)
{
    struct plat_regs regs;
    int r = plat_ops->get_regs(t->pth, &regs);
    if (r < 0)
        return r;
    regs.rip = img->entry;
    regs.rsp = img->stack;
    t->regs = regs;
    return 0;
}

int exec_replace(struct task *t, struct file *file, const char *path, struct exec_strings *strings)
{
    struct exec_image img = {0};
    struct exec_new n = {0};

    int r = exec_load(t, file, path, strings, &img);
    if (r < 0)
        return r;
    r = exec_prepare(t, &img, &n);
    if (r < 0) {
        exec_new_done(&n);
        exec_image_done(&img);
        return r;
    }
    exec_commit(t, &img, &n);
    file_put(img.file);
    if (exec_registers(t, &img) < 0)
        thread_group_exit(t->group, LX_SIGKILL);
    return 0;
}

/* A program named by a descriptor is known as /dev/fd/N[/path]. A script whose descriptor closes on
 * exec could not be opened by its interpreter: -ENOENT. */
static int name_by_fd(struct task *t, int dfd, struct file *file, char *path)
{
    char rel[PATH_CAP], magic[2];
    if (dfd == LX_AT_FDCWD || path[0] == '/')
        return 0;
    memcpy(rel, path, strlen(path) + 1);
    int n = snprintf(path, PATH_CAP, "/dev/fd/%d%s%s", dfd, rel[0] != '\0' ? "/" : "", rel);
    if (n >= PATH_CAP)
        return -ENAMETOOLONG;
    if ((uint32_t)dfd >= t->files->nslots || !t->files->slots[dfd].cloexec)
        return 0;
    return kernel_read(file, magic, 2, 0) == 2 && memcmp(magic, "#!", 2) == 0 ? -ENOENT : 0;
}

static struct sys_res do_execve(struct task *t, int dfd, gaddr_t name, gaddr_t argv, gaddr_t envp,
                                uint32_t lookup_flags)
{
    char *path = kalloc(PATH_CAP);
    struct exec_strings strings = {0};
    struct file *file = NULL;

    if (path == NULL)
        return sys_ret(-ENOMEM);
    int64_t r = strncpy_from_user(t, path, name, PATH_CAP);
    if (r == 0 && !(lookup_flags & LOOKUP_EMPTY))
        r = -ENOENT;
    if (r >= 0)
        r = vfs_open_exec(t, dfd, path, lookup_flags, &file);
    if (r >= 0)
        r = name_by_fd(t, dfd, file, path);
    if (r >= 0)
        r = exec_copy_strings(t, argv, envp, &strings);
    if (r >= 0)
        r = exec_replace(t, file, path, &strings);
    exec_strings_done(&strings);
    file_put(file);
    kfree(path);
    if (r < 0)
        return sys_ret(r);
    if (t->pth == NULL)
        return (struct sys_res){SYS_GONE, 0};
    return (struct sys_res){SYS_RESUME, 0};
}

struct sys_res sys_execve(struct task *t, const struct sys_args *a)
{
    return do_execve(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), sys_addr(a, 2), LOOKUP_FOLLOW);
}

struct sys_res sys_execveat(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 4);
    uint32_t lookup = 0;
    if (flags & ~(uint32_t)(LX_AT_EMPTY_PATH | LX_AT_SYMLINK_NOFOLLOW))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    if (!(flags & LX_AT_SYMLINK_NOFOLLOW))
        lookup |= LOOKUP_FOLLOW;
    return do_execve(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2), sys_addr(a, 3), lookup);
}
