/*
 * The directories of processes (/proc/PID) and threads (/proc/PID/task/TID). Both are the same
 * table; entries below task/ carry GEN_THREAD and show one thread where it makes a difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sentry/fs/proc/pidfiles.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"

/* -- magic links ---------------------------------------------------------------------------------
 */

static int may_follow(const struct gen_inode *gi, const struct task *t)
{
    return !t || proc_may_access(t, gi->task) ? 0 : -EACCES;
}

static int exe_path(struct gen_inode *gi, const struct path **ret_p)
{
    struct mm *mm = proc_mm(gi);

    if (!mm || !mm->exe)
        return -ENOENT;
    *ret_p = &mm->exe->path;
    return 0;
}

static int cwd_path(struct gen_inode *gi, const struct path **ret_p)
{
    struct task *t = proc_live_task(gi);

    if (!t)
        return -ENOENT;
    *ret_p = &t->fs->cwd;
    return 0;
}

static int root_path(struct gen_inode *gi, const struct path **ret_p)
{
    struct task *t = proc_live_task(gi);

    if (!t)
        return -ENOENT;
    *ret_p = &t->fs->root;
    return 0;
}

typedef int link_path_fn(struct gen_inode *gi, const struct path **ret_p);

static link_path_fn *const link_paths[] = {exe_path, cwd_path, root_path};

static int pid_link(struct gen_inode *gi, struct buf *out)
{
    const struct path *p;
    int r = may_follow(gi, gen_caller());

    if (r == 0)
        r = link_paths[gi->node->arg](gi, &p);
    return r < 0 ? r : proc_put_path(out, p, NULL);
}

static int pid_get_link(struct gen_inode *gi, struct task *t, struct path *ret_path)
{
    const struct path *p;
    int r = may_follow(gi, t);

    if (r == 0)
        r = link_paths[gi->node->arg](gi, &p);
    if (r < 0)
        return r;
    path_get(p);
    *ret_path = *p;
    return 0;
}

/* There is one namespace of each kind, with Linux's own number for the first one. */
static int ns_link(struct gen_inode *gi, struct buf *out)
{
    const char *name = gi->node->name;
    size_t n = strcspn(name, "_");

    return buf_printf(out, "%.*s:[%" PRIu64 "]", (int)n, name, (uint64_t)gi->node->arg);
}

#define NS(n, nr)                                                            \
    {                                                                        \
        .name = (n), .mode = LX_S_IFLNK | 0777, .link = ns_link, .arg = (nr) \
    }
static const struct gen_node ns_children[] = {
    NS("cgroup", 4026531835u),
    NS("ipc", 4026531839u),
    NS("mnt", 4026531841u),
    NS("net", 4026531840u),
    NS("pid", 4026531836u),
    NS("pid_for_children", 4026531836u),
    NS("time", 4026531834u),
    NS("time_for_children", 4026531834u),
    NS("user", 4026531837u),
    NS("uts", 4026531838u),
    {.name = NULL},
};

/* -- task/ ---------------------------------------------------------------------------------------
 */

static int task_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c);
static int task_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c);

#define RO(n, fn)                                            \
    {                                                        \
        .name = (n), .mode = LX_S_IFREG | 0444, .show = (fn) \
    }
#define OWN(n, fn)                                                                \
    {                                                                             \
        .name = (n), .mode = LX_S_IFREG | 0400, .show = (fn), .flags = GEN_PTRACE \
    }
#define MAPS(n, op, fn)                                                         \
    {                                                                           \
        .name = (n), .mode = LX_S_IFREG | 0444, .op = (fn), .flags = GEN_PTRACE \
    }
/* Who watches the mount table waits for ever: it does not change. */
#define POLLED(n, fn)                                                           \
    {                                                                           \
        .name = (n), .mode = LX_S_IFREG | 0444, .show = (fn), .flags = GEN_POLL \
    }
#define FIXED(n, s)                                         \
    {                                                       \
        .name = (n), .mode = LX_S_IFREG | 0444, .text = (s) \
    }
#define RW(n, fn, st)                                                       \
    {                                                                       \
        .name = (n), .mode = LX_S_IFREG | 0644, .show = (fn), .store = (st) \
    }
#define MAGIC(n, which)                                                                     \
    {                                                                                       \
        .name = (n), .mode = LX_S_IFLNK | 0777, .link = pid_link, .get_link = pid_get_link, \
        .arg = (which)                                                                      \
    }

/* Common to processes and threads. */
#define PID_ENTRIES                                                                               \
    {.name = "fd", .mode = LX_S_IFDIR | 0500, .find = proc_fd_find, .list = proc_fd_list},        \
        {.name = "fdinfo",                                                                        \
         .mode = LX_S_IFDIR | 0555,                                                               \
         .find = proc_fdinfo_find,                                                                \
         .list = proc_fdinfo_list},                                                               \
        {.name = "ns", .mode = LX_S_IFDIR | 0511, .children = ns_children},                       \
        {.name = "net", .mode = LX_S_IFDIR | 0555, .children = proc_net_children},                \
        OWN("environ", proc_show_environ), OWN("auxv", proc_show_auxv),                           \
        RO("status", proc_show_status), OWN("personality", proc_show_personality),                \
        RO("limits", proc_show_limits), RW("comm", proc_show_comm, proc_store_comm),              \
        RO("cmdline", proc_show_cmdline), RO("stat", proc_show_stat),                             \
        RO("statm", proc_show_statm), MAPS("maps", more, proc_more_maps),                         \
        {.name = "mem", .mode = LX_S_IFREG | 0600, .fops = &proc_mem_ops, .flags = GEN_PTRACE},   \
        MAGIC("cwd", 1), MAGIC("root", 2), MAGIC("exe", 0), POLLED("mounts", proc_show_mounts),   \
        POLLED("mountinfo", proc_show_mountinfo),                                                 \
        {.name = "clear_refs", .mode = LX_S_IFREG | 0200, .store = proc_store_nothing},           \
        MAPS("smaps", more, proc_more_smaps), MAPS("smaps_rollup", show, proc_show_smaps_rollup), \
        {.name = "attr", .mode = LX_S_IFDIR | 0555, .children = attr_children},                   \
        RO("wchan", proc_show_wchan), RO("schedstat", proc_show_schedstat),                       \
        FIXED("cpuset", "/\n"), FIXED("cgroup", "0::/\n"), RO("oom_score", proc_show_oom_score),  \
        RW("oom_score_adj", proc_show_oom_score_adj, proc_store_oom_score_adj),                   \
        RW("oom_adj", proc_show_oom_score_adj, proc_store_oom_score_adj),                         \
        FIXED("loginuid", "4294967295"), FIXED("sessionid", "4294967295"),                        \
        RW("coredump_filter", proc_show_coredump_filter, proc_store_nothing),                     \
        OWN("io", proc_show_io), RW("uid_map", proc_show_id_map, NULL),                           \
        RW("gid_map", proc_show_id_map, NULL), RW("projid_map", proc_show_id_map, NULL),          \
        RW("setgroups", proc_show_setgroups, NULL), OWN("syscall", proc_show_syscall)

static const struct gen_node attr_children[] = {
    RW("current", proc_show_attr, NULL),
    RW("exec", proc_show_attr, NULL),
    RW("fscreate", proc_show_attr, NULL),
    RW("keycreate", proc_show_attr, NULL),
    RO("prev", proc_show_attr),
    RW("sockcreate", proc_show_attr, NULL),
    {.name = NULL},
};

static const struct gen_node thread_children[] = {
    PID_ENTRIES,
    RO("children", proc_show_children),
    {.name = NULL},
};

static const struct gen_node thread_node = {
    .mode = LX_S_IFDIR | 0555,
    .children = thread_children,
};

static const struct gen_node pid_children[] = {
    {.name = "task", .mode = LX_S_IFDIR | 0555, .find = task_find, .list = task_list},
    PID_ENTRIES,
    OWN("mountstats", proc_show_mountstats),
    RO("timers", proc_show_timers),
    RW("timerslack_ns", proc_show_timerslack, proc_store_timerslack),
    {.name = NULL},
};

const struct gen_node proc_pid_node = {
    .mode = LX_S_IFDIR | 0555,
    .children = pid_children,
};

static int task_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c)
{
    struct task *t;
    uint32_t tid;

    if (!gen_parse_u32(name, len, &tid))
        return -ENOENT;
    t = task_by_pid(tid);
    if (!t || t->group != dir->task->group)
        return -ENOENT;
    *ret_c = (struct gen_child){.node = &thread_node, .task = t, .key = tid, .flags = GEN_THREAD};
    return 0;
}

static int task_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c)
{
    struct task *t, *best = NULL;

    list_for_each_entry (t, &dir->task->group->threads, group_link) {
        if (t->pid >= key && (!best || t->pid < best->pid))
            best = t;
    }
    /* A leader that ended before its threads is not on the list any more but still there. */
    t = dir->task->group->leader;
    if (t && t->pid >= key && (!best || t->pid < best->pid))
        best = t;
    if (!best)
        return -ENOENT;
    ret_c->node = &thread_node;
    ret_c->key = best->pid;
    (void)snprintf(ret_c->name, sizeof(ret_c->name), "%u", best->pid);
    return 0;
}

/* -- /proc/PID -----------------------------------------------------------------------------------
 */

struct thread_group *proc_dir_group(const struct file *f)
{
    const struct gen_inode *gi;

    if (!f->inode->super->generated || !LX_S_ISDIR(f->inode->mode))
        return NULL;
    gi = gen_inode_of(f->inode);
    return gi && gi->node == &proc_pid_node && gi->task ? gi->task->group : NULL;
}

int proc_dir_find_pid(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c)
{
    struct task *t;
    uint32_t pid;

    (void)dir;
    if (!gen_parse_u32(name, len, &pid))
        return -ENOENT;
    t = task_by_pid(pid);
    if (!t)
        return -ENOENT;
    *ret_c = (struct gen_child){.node = &proc_pid_node, .task = t, .key = pid};
    return 0;
}

int proc_dir_list_pid(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c)
{
    struct thread_group *best = NULL;

    (void)dir;
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        if (tg->pid >= key && task_by_pid(tg->pid) && (!best || tg->pid < best->pid))
            best = tg;
    }
    if (!best)
        return -ENOENT;
    ret_c->node = &proc_pid_node;
    ret_c->key = best->pid;
    (void)snprintf(ret_c->name, sizeof(ret_c->name), "%u", best->pid);
    return 0;
}
