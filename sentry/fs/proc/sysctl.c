/*
 * /proc/sys: what libc, runtimes and build scripts read. Values are the sandbox's own or Linux's
 * defaults; the emulated root can change the names that uname reports, the limits of IPC, and
 * others that are the sandbox's own and that his programs set.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/list.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/host/host.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/uts.h"

#define FIXED(n, s)                                                                  \
    {                                                                                \
        .name = (n), .mode = LX_S_IFREG | 0644, .text = s "\n", .show = show_setting \
    }
/* A number of the guest's own IPC namespace: its root may change it. */
#define OWN(n, s)                                                                     \
    {                                                                                 \
        .name = (n), .mode = LX_S_IFREG | 0644, .text = s "\n", .show = show_setting, \
        .store = store_number                                                         \
    }
/* A number that counts, and that root may set between lo and hi (32 bits each). */
#define TUNED(n, s, lo, hi)                                                           \
    {                                                                                 \
        .name = (n), .mode = LX_S_IFREG | 0644, .text = s "\n", .show = show_setting, \
        .store = store_ranged, .arg = (uintptr_t)(lo) | (uintptr_t)(hi) << 32         \
    }
/* What root asks for and gets, since there is nothing to it here: no huge pages, no caches. */
#define IDLE(n, s)                                                                    \
    {                                                                                 \
        .name = (n), .mode = LX_S_IFREG | 0644, .text = s "\n", .show = show_setting, \
        .store = store_idle                                                           \
    }
#define RO(n, s)                                               \
    {                                                          \
        .name = (n), .mode = LX_S_IFREG | 0444, .text = s "\n" \
    }
#define END          \
    {                \
        .name = NULL \
    }

/* -- settings of the sandbox's configuration --------------------------------------------------- */

enum {
    SETTING_MAX = 256
};

struct setting {
    struct list_head link;
    const struct gen_node *node;
    char text[SETTING_MAX + 2];
};
static struct list_head settings = {&settings, &settings};

static struct setting *setting_of(const struct gen_node *node)
{
    struct setting *s;

    list_for_each_entry (s, &settings, link) {
        if (s->node == node)
            return s;
    }
    return NULL;
}

static int setting_store(const struct gen_node *node, const char *value, size_t len)
{
    struct setting *s = setting_of(node);

    if (!s) {
        s = kalloc(sizeof(*s));
        if (!s)
            return -ENOMEM;
        s->node = node;
        list_add_tail(&settings, &s->link);
    }
    memcpy(s->text, value, len);
    s->text[len] = '\n';
    s->text[len + 1] = 0;
    return 0;
}

static int store_number(struct gen_inode *gi, const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0 || len > 20 || strspn(text, "0123456789") != len)
        return -EINVAL;
    return setting_store(gi->node, text, len);
}

static bool parse_number(const char *text, size_t len, uint64_t *ret_v)
{
    uint64_t v = 0;

    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0 || len > 10 || strspn(text, "0123456789") != len)
        return false;
    for (size_t i = 0; i < len; i++)
        v = v * 10 + (uint64_t)(text[i] - '0');
    *ret_v = v;
    return true;
}

static int store_value(const struct gen_node *node, uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRIu64, v);

    return setting_store(node, text, (size_t)n);
}

static int store_ranged(struct gen_inode *gi, const char *text, size_t len)
{
    uint64_t v, lo = gi->node->arg & UINT32_MAX, hi = gi->node->arg >> 32;

    if (!parse_number(text, len, &v) || v < lo || v > hi)
        return -EINVAL;
    return store_value(gi->node, v);
}

static int store_idle(struct gen_inode *gi, const char *text, size_t len)
{
    uint64_t v;

    (void)gi;
    return parse_number(text, len, &v) ? 0 : -EINVAL;
}

/* Pipes have a power of two of pages. */
static int store_pipe_size(struct gen_inode *gi, const char *text, size_t len)
{
    uint64_t v, size = 4096;

    if (!parse_number(text, len, &v) || v == 0 || v > 1u << 31)
        return -EINVAL;
    while (size < v)
        size *= 2;
    return store_value(gi->node, size);
}

static int show_setting(struct gen_inode *gi, struct buf *out)
{
    const struct setting *s = setting_of(gi->node);

    return buf_puts(out, s ? s->text : gi->node->text);
}

/* -- kernel/random -------------------------------------------------------------------------------
 */

static void put_uuid(struct buf *out, const uint8_t *raw)
{
    uint8_t u[16];

    memcpy(u, raw, sizeof(u));
    u[6] = (uint8_t)((u[6] & 0x0f) | 0x40);
    u[8] = (uint8_t)((u[8] & 0x3f) | 0x80);
    for (int i = 0; i < 16; i++)
        (void)buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
    (void)buf_putc(out, '\n');
}

static int show_uuid(struct gen_inode *gi, struct buf *out)
{
    uint8_t raw[16];

    (void)gi;
    host_random(raw, sizeof(raw));
    put_uuid(out, raw);
    return 0;
}

/* One per run of the sandbox. */
static int show_boot_id(struct gen_inode *gi, struct buf *out)
{
    static uint8_t boot_id[16];
    static bool known;

    (void)gi;
    if (!known) {
        host_random(boot_id, sizeof(boot_id));
        known = true;
    }
    put_uuid(out, boot_id);
    return 0;
}

static const struct gen_node random_children[] = {
    {.name = "boot_id", .mode = LX_S_IFREG | 0444, .show = show_boot_id},
    {.name = "uuid", .mode = LX_S_IFREG | 0444, .show = show_uuid},
    RO("entropy_avail", "256"),
    RO("poolsize", "256"),
    FIXED("urandom_min_reseed_secs", "60"),
    FIXED("write_wakeup_threshold", "256"),
    END,
};

/* -- kernel --------------------------------------------------------------------------------------
 */

static int show_hostname(struct gen_inode *gi, struct buf *out)
{
    return buf_printf(out, "%s\n", gi->node->arg ? kernel.domainname : kernel.hostname);
}

static int store_hostname(struct gen_inode *gi, const char *text, size_t len)
{
    char *name = gi->node->arg ? kernel.domainname : kernel.hostname;
    struct task *t = gen_caller();
    size_t n = strcspn(text, "\n");

    (void)len;
    if (t && !cred_capable(t->cred, LX_CAP_SYS_ADMIN))
        return -EPERM;
    n = MIN(n, sizeof(kernel.hostname) - 1);
    memcpy(name, text, n);
    name[n] = 0;
    return 0;
}

static int show_threads_max(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\n", MIN(limit_max(LIMIT_TASKS), (uint64_t)INT32_MAX));
}

static int show_last_pid(struct gen_inode *gi, struct buf *out)
{
    struct task *t = gen_caller();

    (void)gi;
    return t ? buf_printf(out, "%u\n", pid_last_used()) : buf_puts(out, "1\n");
}

static int store_last_pid(struct gen_inode *gi, const char *text, size_t len)
{
    struct task *t = gen_caller();
    uint64_t v;

    (void)gi;
    if (t && !cred_capable(t->cred, LX_CAP_SYS_ADMIN) &&
        !cred_capable(t->cred, LX_CAP_CHECKPOINT_RESTORE))
        return -EPERM;
    return parse_number(text, len, &v) && pid_set_last((uint32_t)MIN(v, (uint64_t)UINT32_MAX))
               ? 0
               : -EINVAL;
}

static const struct gen_node pty_children[] = {
    FIXED("max", "4096"),
    FIXED("reserve", "1024"),
    RO("nr", "0"),
    END,
};

static const struct gen_node yama_children[] = {FIXED("ptrace_scope", "0"), END};
static const struct gen_node keys_children[] = {FIXED("maxkeys", "200"), FIXED("maxbytes", "20000"),
                                                FIXED("gc_delay", "300"), END};
static const struct gen_node seccomp_children[] = {
    RO("actions_avail", "kill_process kill_thread trap errno trace log allow"),
    FIXED("actions_logged", "kill_process kill_thread trap errno trace log"), END};

static const struct gen_node kernel_children[] = {
    RO("ostype", UTS_SYSNAME),
    RO("osrelease", UTS_RELEASE),
    RO("version", UTS_VERSION),
    RO("arch", UTS_MACHINE),
    {.name = "hostname", .mode = LX_S_IFREG | 0644, .show = show_hostname, .store = store_hostname},
    {.name = "domainname",
     .mode = LX_S_IFREG | 0644,
     .show = show_hostname,
     .store = store_hostname,
     .arg = 1},
    {.name = "threads-max", .mode = LX_S_IFREG | 0644, .show = show_threads_max},
    {.name = "ns_last_pid",
     .mode = LX_S_IFREG | 0644,
     .show = show_last_pid,
     .store = store_last_pid},
    GEN_DIR("random", random_children),
    GEN_DIR("pty", pty_children),
    GEN_DIR("yama", yama_children),
    GEN_DIR("keys", keys_children),
    GEN_DIR("seccomp", seccomp_children),
    FIXED("pid_max", "32768"),
    RO("cap_last_cap", "40"),
    RO("ngroups_max", "65536"),
    FIXED("overflowuid", "65534"),
    FIXED("overflowgid", "65534"),
    FIXED("sem", "32000\t1024000000\t500\t1024"),
    OWN("shmmax", "18446744073692774399"),
    OWN("shmall", "18446744073692774399"),
    OWN("shmmni", "1024"),
    FIXED("shm_rmid_forced", "0"),
    OWN("msgmax", "8192"),
    OWN("msgmnb", "16384"),
    OWN("msgmni", "1024"),
    FIXED("core_pattern", "core"),
    FIXED("core_uses_pid", "0"),
    FIXED("core_pipe_limit", "0"),
    FIXED("tainted", "0"),
    FIXED("randomize_va_space", "2"),
    FIXED("kptr_restrict", "1"),
    FIXED("dmesg_restrict", "1"),
    FIXED("perf_event_paranoid", "3"),
    FIXED("unprivileged_bpf_disabled", "2"),
    FIXED("io_uring_disabled", "2"),
    FIXED("panic", "0"),
    FIXED("panic_on_oops", "0"),
    FIXED("printk", "4\t4\t1\t7"),
    FIXED("sysrq", "0"),
    FIXED("sched_rr_timeslice_ms", "100"),
    FIXED("sched_rt_period_us", "1000000"),
    FIXED("sched_rt_runtime_us", "950000"),
    FIXED("sched_autogroup_enabled", "0"),
    FIXED("numa_balancing", "0"),
    FIXED("modprobe", ""),
    FIXED("watchdog", "0"),
    END,
};

/* -- vm, fs, net, user ----------------------------------------------------------------------------
 */

static const struct gen_node vm_children[] = {
    TUNED("overcommit_memory", "0", 0, 1),
    FIXED("overcommit_ratio", "50"),
    FIXED("overcommit_kbytes", "0"),
    FIXED("max_map_count", "65530"), /* the host has one */
    FIXED("mmap_min_addr", "65536"),
    FIXED("mmap_rnd_bits", "28"),
    TUNED("swappiness", "60", 0, 200),
    IDLE("drop_caches", "0"),
    FIXED("dirty_ratio", "20"),
    FIXED("dirty_background_ratio", "10"),
    FIXED("min_free_kbytes", "4096"),
    IDLE("nr_hugepages", "0"),
    IDLE("nr_overcommit_hugepages", "0"),
    FIXED("hugetlb_shm_group", "0"),
    FIXED("panic_on_oom", "0"),
    FIXED("oom_kill_allocating_task", "0"),
    FIXED("page-cluster", "3"),
    FIXED("vfs_cache_pressure", "100"),
    FIXED("zone_reclaim_mode", "0"),
    FIXED("unprivileged_userfaultfd", "0"),
    FIXED("memfd_noexec", "0"),
    FIXED("legacy_va_layout", "0"),
    FIXED("user_reserve_kbytes", "0"),
    FIXED("admin_reserve_kbytes", "0"),
    END,
};

static const struct gen_node inotify_children[] = {
    TUNED("max_queued_events", "16384", 0, 131072),
    TUNED("max_user_instances", "128", 0, INT32_MAX),
    TUNED("max_user_watches", "65536", 0, 131072),
    END,
};
static const struct gen_node epoll_children[] = {FIXED("max_user_watches", "65536"), END};
static const struct gen_node mqueue_children[] = {
    OWN("msg_default", "10"),   OWN("msg_max", "10"),     OWN("msgsize_default", "8192"),
    OWN("msgsize_max", "8192"), OWN("queues_max", "256"), END};

static int show_file_max(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\n", MIN(limit_max(LIMIT_FILES), (uint64_t)INT64_MAX));
}

static int show_file_nr(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\t0\t%" PRIu64 "\n", limit_used(LIMIT_FILES),
                      MIN(limit_max(LIMIT_FILES), (uint64_t)INT64_MAX));
}

static int show_inode_nr(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    return buf_printf(out, "%" PRIu64 "\t0\n", limit_used(LIMIT_DENTRIES));
}

static const struct gen_node fs_children[] = {
    {.name = "file-max", .mode = LX_S_IFREG | 0644, .show = show_file_max},
    {.name = "file-nr", .mode = LX_S_IFREG | 0444, .show = show_file_nr},
    {.name = "inode-nr", .mode = LX_S_IFREG | 0444, .show = show_inode_nr},
    GEN_DIR("inotify", inotify_children),
    GEN_DIR("epoll", epoll_children),
    GEN_DIR("mqueue", mqueue_children),
    FIXED("nr_open", "1048576"),
    {.name = "pipe-max-size",
     .mode = LX_S_IFREG | 0644,
     .text = "1048576\n",
     .show = show_setting,
     .store = store_pipe_size},
    FIXED("pipe-user-pages-hard", "0"),
    FIXED("pipe-user-pages-soft", "16384"),
    FIXED("protected_fifos", "0"),
    FIXED("protected_hardlinks", "1"),
    FIXED("protected_regular", "0"),
    FIXED("protected_symlinks", "1"),
    FIXED("suid_dumpable", "0"),
    FIXED("overflowuid", "65534"),
    FIXED("overflowgid", "65534"),
    FIXED("leases-enable", "1"),
    FIXED("lease-break-time", "45"),
    FIXED("aio-max-nr", "65536"),
    RO("aio-nr", "0"),
    FIXED("mount-max", "100000"),
    END,
};

static const struct gen_node core_children[] = {TUNED("somaxconn", "4096", 0, INT32_MAX),
                                                FIXED("rmem_default", "212992"),
                                                FIXED("rmem_max", "212992"),
                                                FIXED("wmem_default", "212992"),
                                                FIXED("wmem_max", "212992"),
                                                FIXED("optmem_max", "131072"),
                                                FIXED("netdev_max_backlog", "1000"),
                                                END};
static const struct gen_node unix_children[] = {TUNED("max_dgram_qlen", "10", 0, 65536), END};
static const struct gen_node ipv4_children[] = {
    FIXED("ip_local_port_range", "32768\t60999"), FIXED("ip_forward", "0"),
    FIXED("tcp_fin_timeout", "60"), FIXED("ip_unprivileged_port_start", "1024"), END};
static const struct gen_node net_children[] = {GEN_DIR("core", core_children),
                                               GEN_DIR("unix", unix_children),
                                               GEN_DIR("ipv4", ipv4_children), END};

static const struct gen_node user_children[] = {FIXED("max_user_namespaces", "0"),
                                                FIXED("max_pid_namespaces", "0"),
                                                FIXED("max_net_namespaces", "0"),
                                                FIXED("max_mnt_namespaces", "0"),
                                                FIXED("max_inotify_instances", "128"),
                                                FIXED("max_inotify_watches", "65536"),
                                                END};

static const struct gen_node abi_children[] = {FIXED("vsyscall32", "0"), END};
static const struct gen_node debug_children[] = {FIXED("exception-trace", "0"), END};
static const struct gen_node empty_children[] = {END};

const struct gen_node proc_sys_children[] = {GEN_DIR("abi", abi_children),
                                             GEN_DIR("debug", debug_children),
                                             GEN_DIR("dev", empty_children),
                                             GEN_DIR("fs", fs_children),
                                             GEN_DIR("kernel", kernel_children),
                                             GEN_DIR("net", net_children),
                                             GEN_DIR("user", user_children),
                                             GEN_DIR("vm", vm_children),
                                             END};

/* The node of "kernel.shmmax" or "kernel/shmmax", or NULL. */
static const struct gen_node *node_of(const char *name)
{
    const struct gen_node *at = proc_sys_children;

    for (;;) {
        size_t n = strcspn(name, "./");

        while (at->name && (strlen(at->name) != n || memcmp(at->name, name, n) != 0))
            at++;
        if (!at->name)
            return NULL;
        if (!name[n])
            return at;
        if (!at->children)
            return NULL;
        at = at->children;
        name += n + 1;
    }
}

int sysctl_set(const char *name, const char *value)
{
    const struct gen_node *node = node_of(name);
    size_t len = strlen(value);

    if (!node || !LX_S_ISREG(node->mode))
        return -ENOENT;
    if (len == 0 || len > SETTING_MAX || strchr(value, '\n'))
        return -EINVAL;
    if (node->store == store_hostname) {
        struct gen_inode gi = {.node = node};

        return len < sizeof(kernel.hostname) ? store_hostname(&gi, value, len) : -EINVAL;
    }
    if (node->show != show_setting)
        return -EACCES;
    /* What depends on the range depends on it whoever sets it. */
    if (node->store == store_ranged || node->store == store_pipe_size) {
        struct gen_inode gi = {.node = node};

        return node->store(&gi, value, len);
    }
    return setting_store(node, value, len);
}

uint64_t sysctl_number(const char *name, uint64_t otherwise)
{
    const struct setting *s = list_empty(&settings) ? NULL : setting_of(node_of(name));
    uint64_t v = 0;

    if (!s || s->text[0] < '0' || s->text[0] > '9')
        return otherwise;
    for (const char *c = s->text; *c >= '0' && *c <= '9'; c++)
        v = v > UINT32_MAX ? UINT64_MAX >> 1 : v * 10 + (uint64_t)(*c - '0');
    return v;
}

void sysctl_done(void)
{
    while (!list_empty(&settings)) {
        struct setting *s = list_first(&settings, struct setting, link);

        list_del_init(&s->link);
        kfree(s);
    }
}
