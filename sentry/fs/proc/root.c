/* The top directory of /proc. */
#include "sentry/fs/flock.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/uts.h"

static int self_link(struct gen_inode *gi, struct buf *out)
{
    struct task *t = gen_caller();

    (void)gi;
    return t ? buf_printf(out, "%u", t->group->pid) : -ENOENT;
}

static int thread_self_link(struct gen_inode *gi, struct buf *out)
{
    struct task *t = gen_caller();

    (void)gi;
    return t ? buf_printf(out, "%u/task/%u", t->group->pid, t->pid) : -ENOENT;
}

static int proc_show_locks(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return locks_show(out);
}

static int show_version(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%s version %s (sentry@sentry) (gcc) %s\n", UTS_SYSNAME, UTS_RELEASE,
                      UTS_VERSION);
}

static int proc_show_sysvipc(struct gen_inode *gi, struct buf *out)
{
    static int (*const tables[])(struct buf *) = {msg_show, sem_show, shm_show};

    return tables[gi->node->arg](out);
}

extern const uint8_t proc_config_gz[], proc_config_gz_end[];

static int show_config(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_append(out, proc_config_gz, (size_t)(proc_config_gz_end - proc_config_gz));
}

#define SYSVIPC(n, which)                                                                 \
    {                                                                                     \
        .name = (n), .mode = LX_S_IFREG | 0444, .show = proc_show_sysvipc, .arg = (which) \
    }
static const struct gen_node sysvipc_children[] = {
    SYSVIPC("msg", 0),
    SYSVIPC("sem", 1),
    SYSVIPC("shm", 2),
    {.name = NULL},
};

static const struct gen_node root_children[] = {
    {.name = "self", .mode = LX_S_IFLNK | 0777, .link = self_link},
    {.name = "thread-self", .mode = LX_S_IFLNK | 0777, .link = thread_self_link},
    GEN_LINK("mounts", "self/mounts"),
    GEN_LINK("net", "self/net"),
    GEN_DIR("sys", proc_sys_children),
    GEN_DIR("sysvipc", sysvipc_children),
    GEN_FILE("meminfo", proc_show_meminfo),
    GEN_FILE("cpuinfo", proc_show_cpuinfo),
    GEN_FILE("stat", proc_show_kstat),
    GEN_FILE("uptime", proc_show_uptime),
    GEN_FILE("loadavg", proc_show_loadavg),
    GEN_FILE("version", show_version),
    GEN_FILE("vmstat", proc_show_vmstat),
    GEN_FILE("zoneinfo", proc_show_zoneinfo),
    GEN_FILE("interrupts", proc_show_interrupts),
    GEN_FILE("softirqs", proc_show_softirqs),
    GEN_TEXT("filesystems",
             "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tcgroup2\nnodev\tdevtmpfs\n"
             "nodev\tsockfs\nnodev\tpipefs\nnodev\tdevpts\n\terofs\nnodev\toverlay\n"),
    GEN_TEXT("cmdline", "\n"),
    GEN_TEXT("devices",
             "Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/console\n  5 /dev/ptmx\n"
             "128 ptm\n136 pts\n\nBlock devices:\n"),
    GEN_TEXT("diskstats", ""),
    GEN_TEXT("partitions", "major minor  #blocks  name\n\n"),
    GEN_TEXT("swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"),
    GEN_TEXT("buddyinfo", "Node 0, zone   Normal      0      0      0      0      0      0      0"
                          "      0      0      0      0 \n"),
    GEN_TEXT("modules", ""),
    GEN_FILE("locks", proc_show_locks),
    GEN_TEXT("misc", ""),
    GEN_TEXT("execdomains", "0-0\tLinux           \t[kernel]\n"),
    GEN_TEXT("cgroups",
             "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t0\t1\t1\nmemory\t0\t1\t1\n"
             "pids\t0\t1\t1\n"),
    GEN_FILE("config.gz", show_config),
    GEN_TEXT("crypto", ""),
    GEN_TEXT("dma", ""),
    {.name = NULL},
};

static const struct gen_node root_node = {
    .mode = LX_S_IFDIR | 0555,
    .children = root_children,
    .find = proc_dir_find_pid,
    .list = proc_dir_list_pid,
};

int procfs_mount_new(struct super **ret_sb)
{
    return gen_super_new(&root_node, "proc", LX_PROC_SUPER_MAGIC, ret_sb);
}
