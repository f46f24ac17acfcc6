/*
 * /sys: a small tree of generated files. CPUs are those that the guest sees; the cgroup directory
 * shows the limits of the sandbox as a cgroup2 leaf would.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/proc/gen.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/timer.h"

#define TEXT(n, s)                                             \
    {                                                          \
        .name = (n), .mode = LX_S_IFREG | 0444, .text = s "\n" \
    }
#define FILE_(n, fn)                                         \
    {                                                        \
        .name = (n), .mode = LX_S_IFREG | 0444, .show = (fn) \
    }
#define DIR_(n, kids)                                              \
    {                                                              \
        .name = (n), .mode = LX_S_IFDIR | 0755, .children = (kids) \
    }
#define END          \
    {                \
        .name = NULL \
    }

static const struct gen_node empty[] = {END};

static uint64_t cpu_mask(void)
{
    uint32_t n = proc_ncpus();

    return n >= 64 ? ~0ull : (1ull << n) - 1;
}

static int show_cpu_list(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    proc_put_cpu_list(out, cpu_mask());
    return buf_putc(out, '\n');
}

static int show_cpu_map(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%08" PRIx64 "\n", cpu_mask());
}

static int show_self_list(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%" PRIu64 "\n", gi->key);
}

static int show_self_map(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%08" PRIx64 "\n", (uint64_t)1 << gi->key);
}

/* -- cpuN -------------------------------------------------------------------------------------- */

static const struct gen_node topology[] = {
    FILE_("core_id", show_self_list),
    FILE_("core_cpus", show_self_map),
    FILE_("core_cpus_list", show_self_list),
    FILE_("thread_siblings", show_self_map),
    FILE_("thread_siblings_list", show_self_list),
    FILE_("core_siblings", show_cpu_map),
    FILE_("core_siblings_list", show_cpu_list),
    FILE_("package_cpus", show_cpu_map),
    FILE_("package_cpus_list", show_cpu_list),
    TEXT("physical_package_id", "0"),
    TEXT("die_id", "0"),
    END,
};

#define CACHE(var, lvl, kind, kb, shared_list, shared_map) \
    static const struct gen_node var[] = {                 \
        TEXT("level", lvl),                                \
        TEXT("type", kind),                                \
        TEXT("size", kb "K"),                              \
        TEXT("coherency_line_size", "64"),                 \
        TEXT("ways_of_associativity", "8"),                \
        TEXT("physical_line_partition", "1"),              \
        FILE_("shared_cpu_list", shared_list),             \
        FILE_("shared_cpu_map", shared_map),               \
        END,                                               \
    }

CACHE(cache0, "1", "Data", "32", show_self_list, show_self_map);
CACHE(cache1, "1", "Instruction", "32", show_self_list, show_self_map);
CACHE(cache2, "2", "Unified", "512", show_self_list, show_self_map);
CACHE(cache3, "3", "Unified", "16384", show_cpu_list, show_cpu_map);

static const struct gen_node caches[] = {
    DIR_("index0", cache0),
    DIR_("index1", cache1),
    DIR_("index2", cache2),
    DIR_("index3", cache3),
    END,
};

static const struct gen_node cpu_children[] = {
    DIR_("topology", topology),
    DIR_("cache", caches),
    DIR_("node0", empty),
    END,
};

static const struct gen_node cpu_node = {.mode = LX_S_IFDIR | 0755, .children = cpu_children};

static int cpu_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c)
{
    uint32_t i;

    (void)dir;
    if (len < 4 || memcmp(name, "cpu", 3) != 0 || !gen_parse_u32(name + 3, len - 3, &i) ||
        i >= proc_ncpus())
        return -ENOENT;
    ret_c->node = &cpu_node;
    ret_c->key = i;
    return 0;
}

static int cpu_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c)
{
    (void)dir;
    if (key >= proc_ncpus())
        return -ENOENT;
    ret_c->node = &cpu_node;
    ret_c->key = key;
    (void)snprintf(ret_c->name, sizeof(ret_c->name), "cpu%u", (unsigned)key);
    return 0;
}

static const struct gen_node smt[] = {TEXT("active", "0"), TEXT("control", "notsupported"), END};

static const struct gen_node cpu_dir[] = {
    FILE_("online", show_cpu_list),
    FILE_("possible", show_cpu_list),
    FILE_("present", show_cpu_list),
    TEXT("offline", ""),
    TEXT("isolated", ""),
    TEXT("kernel_max", "63"),
    DIR_("smt", smt),
    END,
};

/* -- nodes ------------------------------------------------------------------------------------- */

static int show_node_meminfo(struct gen_inode *gi, struct buf *out)
{
    uint64_t total = proc_memory_total() >> 10, used = proc_memory_used() >> 10;

    (void)gi;
    return buf_printf(out,
                      "Node 0 MemTotal:       %8" PRIu64 " kB\nNode 0 MemFree:        %8" PRIu64
                      " kB\nNode 0 MemUsed:        %8" PRIu64 " kB\n",
                      total, total - used, used);
}

static const struct gen_node node0[] = {
    FILE_("cpulist", show_cpu_list),
    FILE_("cpumap", show_cpu_map),
    FILE_("meminfo", show_node_meminfo),
    TEXT("distance", "10"),
    END,
};

static const struct gen_node node_dir[] = {
    TEXT("online", "0"),
    TEXT("possible", "0"),
    TEXT("has_cpu", "0"),
    TEXT("has_memory", "0"),
    TEXT("has_normal_memory", "0"),
    DIR_("node0", node0),
    END,
};

/* -- kernel/mm --------------------------------------------------------------------------------- */

static const struct gen_node khugepaged[] = {TEXT("defrag", "1"), TEXT("pages_to_scan", "4096"),
                                             END};

static const struct gen_node thp[] = {
    TEXT("enabled", "always [madvise] never"),
    TEXT("defrag", "always defer defer+madvise [madvise] never"),
    TEXT("shmem_enabled", "always within_size advise [never] deny force"),
    TEXT("use_zero_page", "1"),
    TEXT("hpage_pmd_size", "2097152"),
    DIR_("khugepaged", khugepaged),
    END,
};

static const struct gen_node mm_dir[] = {DIR_("transparent_hugepage", thp),
                                         DIR_("hugepages", empty), END};

static const struct gen_node kernel_dir[] = {DIR_("mm", mm_dir), DIR_("debug", empty),
                                             DIR_("security", empty), DIR_("tracing", empty), END};

/* -- fs/cgroup --------------------------------------------------------------------------------- */

static int show_cpu_max(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    if (!kernel.cpu_milli)
        return buf_puts(out, "max 100000\n");
    return buf_printf(out, "%" PRIu64 " 100000\n", kernel.cpu_milli * 100);
}

static int show_memory_max(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    if (!kernel.memory_limit)
        return buf_puts(out, "max\n");
    return buf_printf(out, "%" PRIu64 "\n", proc_memory_total());
}

static int show_memory_current(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\n", proc_memory_used());
}

static int show_pids_max(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\n", limit_max(LIMIT_TASKS));
}

static int show_pids_current(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\n", limit_used(LIMIT_TASKS));
}

static int show_procs(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg))
        (void)buf_printf(out, "%u\n", tg->pid);
    return buf_error(out);
}

static int show_cpu_stat(struct gen_inode *gi, struct buf *out)
{
    uint64_t ns = 0;

    (void)gi;
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg))
        ns += thread_group_cputime(tg) + tg->cpu_children;
    return buf_printf(out, "usage_usec %" PRIu64 "\nuser_usec %" PRIu64 "\nsystem_usec 0\n",
                      ns / 1000, ns / 1000);
}

static const struct gen_node cgroup_dir[] = {
    TEXT("cgroup.controllers", "cpu memory pids"),
    FILE_("cgroup.procs", show_procs),
    TEXT("cgroup.type", "domain"),
    TEXT("cgroup.subtree_control", ""),
    FILE_("cpu.max", show_cpu_max),
    FILE_("cpu.stat", show_cpu_stat),
    TEXT("cpu.weight", "100"),
    FILE_("cpuset.cpus.effective", show_cpu_list),
    TEXT("cpuset.mems.effective", "0"),
    FILE_("memory.max", show_memory_max),
    TEXT("memory.high", "max"),
    TEXT("memory.min", "0"),
    TEXT("memory.low", "0"),
    FILE_("memory.current", show_memory_current),
    TEXT("memory.swap.max", "0"),
    TEXT("memory.swap.current", "0"),
    FILE_("pids.max", show_pids_max),
    FILE_("pids.current", show_pids_current),
    END,
};

/* -- top --------------------------------------------------------------------------------------- */

static const struct gen_node system_dir[] = {
    {.name = "cpu",
     .mode = LX_S_IFDIR | 0755,
     .children = cpu_dir,
     .find = cpu_find,
     .list = cpu_list},
    DIR_("node", node_dir),
    END,
};
static const struct gen_node devices_dir[] = {DIR_("system", system_dir), DIR_("virtual", empty),
                                              END};
static const struct gen_node fs_dir[] = {DIR_("cgroup", cgroup_dir), END};
static const struct gen_node class_dir[] = {DIR_("net", empty), DIR_("block", empty),
                                            DIR_("tty", empty), DIR_("dmi", empty), END};

static const struct gen_node root_children[] = {
    DIR_("block", empty),         DIR_("bus", empty),
    DIR_("class", class_dir),     DIR_("dev", empty),
    DIR_("devices", devices_dir), DIR_("firmware", empty),
    DIR_("fs", fs_dir),           DIR_("kernel", kernel_dir),
    DIR_("module", empty),        END,
};

static const struct gen_node root_node = {.mode = LX_S_IFDIR | 0555, .children = root_children};

int sysfs_mount_new(struct super **ret_sb)
{
    return gen_super_new(&root_node, "sysfs", LX_SYSFS_MAGIC, ret_sb);
}

static const struct gen_node cgroup_root = {.mode = LX_S_IFDIR | 0555, .children = cgroup_dir};

int cgroupfs_mount_new(struct super **ret_sb)
{
    return gen_super_new(&cgroup_root, "cgroup2", LX_CGROUP2_SUPER_MAGIC, ret_sb);
}
