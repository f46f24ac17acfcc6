/*
 * System-wide figures: memory, CPU time, load. Total memory is the sandbox's limit and use is the
 * kernel's own estimate; CPU time is the sandbox's.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/alloc.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/kernel/timer.h"

static void put_kb(struct buf *out, const char *name, uint64_t bytes)
{
    (void)buf_printf(out, "%-16s%8" PRIu64 " kB\n", name, bytes >> 10);
}

static void put_zeros(struct buf *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_kb(out, names[i], 0);
}

int proc_show_meminfo(struct gen_inode *gi, struct buf *out)
{
    static const char *const middle[] = {"Unevictable:", "Mlocked:",  "SwapTotal:", "SwapFree:",
                                         "Zswap:",       "Zswapped:", "Dirty:",     "Writeback:"};
    static const char *const huge[] = {
        "AnonHugePages:", "ShmemHugePages:", "ShmemPmdMapped:", "FileHugePages:", "FilePmdMapped:"};
    uint64_t total = proc_memory_total(), used = proc_memory_used(), left = total - used;
    uint64_t shmem = MIN(limit_used(LIMIT_DISK_BYTES), used), slab = MIN(kalloc_balance(), used);
    uint64_t anon = used - MIN(used, shmem + slab);

    (void)gi;
    put_kb(out, "MemTotal:", total);
    put_kb(out, "MemFree:", left);
    put_kb(out, "MemAvailable:", left);
    put_kb(out, "Buffers:", 0);
    put_kb(out, "Cached:", shmem);
    put_kb(out, "SwapCached:", 0);
    put_kb(out, "Active:", anon);
    put_kb(out, "Inactive:", shmem);
    put_kb(out, "Active(anon):", anon);
    put_kb(out, "Inactive(anon):", shmem);
    put_kb(out, "Active(file):", 0);
    put_kb(out, "Inactive(file):", 0);
    put_zeros(out, middle, ARRAY_LEN(middle));
    put_kb(out, "AnonPages:", anon);
    put_kb(out, "Mapped:", anon / 4);
    put_kb(out, "Shmem:", shmem);
    put_kb(out, "KReclaimable:", 0);
    put_kb(out, "Slab:", slab);
    put_kb(out, "SReclaimable:", 0);
    put_kb(out, "SUnreclaim:", slab);
    put_kb(out, "KernelStack:", limit_used(LIMIT_TASKS) * 16384);
    put_kb(out, "PageTables:", limit_used(LIMIT_TASKS) * 65536);
    put_kb(out, "SecPageTables:", 0);
    put_kb(out, "NFS_Unstable:", 0);
    put_kb(out, "Bounce:", 0);
    put_kb(out, "WritebackTmp:", 0);
    put_kb(out, "CommitLimit:", total);
    put_kb(out, "Committed_AS:", used);
    put_kb(out, "VmallocTotal:", 34359738367ull << 10);
    put_kb(out, "VmallocUsed:", 0);
    put_kb(out, "VmallocChunk:", 0);
    put_kb(out, "Percpu:", 0);
    put_zeros(out, huge, ARRAY_LEN(huge));
    (void)buf_puts(out, "HugePages_Total:       0\nHugePages_Free:        0\n"
                        "HugePages_Rsvd:        0\nHugePages_Surp:        0\n");
    put_kb(out, "Hugepagesize:", 2048 << 10);
    put_kb(out, "Hugetlb:", 0);
    put_kb(out, "DirectMap4k:", 0);
    put_kb(out, "DirectMap2M:", total);
    return 0;
}

/* CPU time of all processes that are still known, in ticks. */
static uint64_t busy_ticks(void)
{
    uint64_t ns = 0;

    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg))
        ns += thread_group_cputime(tg) + tg->cpu_children;
    return ns / (NSEC_PER_SEC / 100);
}

static void count_tasks(uint32_t *ret_running, uint32_t *ret_all, uint32_t *ret_last)
{
    *ret_running = *ret_all = *ret_last = 0;
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        struct task *t;

        list_for_each_entry (t, &tg->threads, group_link) {
            ++*ret_all;
            *ret_running += task_state_letter(t) == 'R';
            *ret_last = MAX(*ret_last, t->pid);
        }
    }
}

int proc_show_kstat(struct gen_inode *gi, struct buf *out)
{
    uint32_t n = proc_ncpus(), running, all, last;
    uint64_t up = clock_monotonic() / (NSEC_PER_SEC / 100), busy = MIN(busy_ticks(), up * n);

    (void)gi;
    count_tasks(&running, &all, &last);
    (void)buf_printf(out, "cpu  %" PRIu64 " 0 0 %" PRIu64 " 0 0 0 0 0 0\n", busy, up * n - busy);
    for (uint32_t i = 0; i < n; i++)
        (void)buf_printf(out, "cpu%u %" PRIu64 " 0 0 %" PRIu64 " 0 0 0 0 0 0\n", i, busy / n,
                         up - busy / n);
    (void)buf_printf(out, "intr 0\nctxt %" PRIu64 "\nbtime %" PRIu64 "\nprocesses %u\n",
                     kernel.nsyscalls, (uint64_t)(kernel.boot_realtime / NSEC_PER_SEC), last);
    (void)buf_printf(out, "procs_running %u\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
                     MAX(running, 1u));
    return 0;
}

int proc_show_uptime(struct gen_inode *gi, struct buf *out)
{
    uint64_t up = clock_monotonic() / (NSEC_PER_SEC / 100), n = proc_ncpus();
    uint64_t idle = up * n - MIN(busy_ticks(), up * n);

    (void)gi;
    return buf_printf(out, "%" PRIu64 ".%02u %" PRIu64 ".%02u\n", up / 100, (unsigned)(up % 100),
                      idle / 100, (unsigned)(idle % 100));
}

int proc_show_loadavg(struct gen_inode *gi, struct buf *out)
{
    uint32_t running, all, last;

    (void)gi;
    count_tasks(&running, &all, &last);
    return buf_printf(out, "0.00 0.00 0.00 %u/%u %u\n", MAX(running, 1u), all, last);
}

int proc_show_vmstat(struct gen_inode *gi, struct buf *out)
{
    static const char *const zero[] = {
        "nr_active_file", "nr_inactive_file", "nr_unevictable", "nr_mlock",   "nr_dirty",
        "nr_writeback",   "pgpgin",           "pgpgout",        "pswpin",     "pswpout",
        "pgfault",        "pgmajfault",       "pgfree",         "pgactivate", "pgdeactivate",
        "oom_kill",       "thp_fault_alloc",  "compact_stall",
    };
    uint64_t used = proc_memory_used() / 4096;

    (void)gi;
    (void)buf_printf(out,
                     "nr_free_pages %" PRIu64 "\nnr_anon_pages %" PRIu64 "\nnr_shmem %" PRIu64 "\n",
                     proc_memory_total() / 4096 - used, used, limit_used(LIMIT_DISK_BYTES) / 4096);
    for (size_t i = 0; i < ARRAY_LEN(zero); i++)
        (void)buf_printf(out, "%s 0\n", zero[i]);
    return 0;
}

int proc_show_zoneinfo(struct gen_inode *gi, struct buf *out)
{
    uint64_t total = proc_memory_total() / 4096, used = proc_memory_used() / 4096;

    (void)gi;
    return buf_printf(out,
                      "Node 0, zone   Normal\n  pages free     %" PRIu64
                      "\n        boost    0\n        min      0\n        low      0\n"
                      "        high     0\n        spanned  %" PRIu64 "\n        present  %" PRIu64
                      "\n        managed  %" PRIu64 "\n",
                      total - used, total, total, total);
}

static void put_cpu_heads(struct buf *out, const char *before, const char *sep)
{
    (void)buf_puts(out, before);
    for (uint32_t i = 0; i < proc_ncpus(); i++)
        (void)buf_printf(out, "%sCPU%-8u", sep, i);
    (void)buf_putc(out, '\n');
}

int proc_show_interrupts(struct gen_inode *gi, struct buf *out)
{
    (void)gi;
    put_cpu_heads(out, "           ", "");
    (void)buf_puts(out, "ERR:          0\nMIS:          0\n");
    return 0;
}

int proc_show_softirqs(struct gen_inode *gi, struct buf *out)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

    (void)gi;
    put_cpu_heads(out, "                    ", "");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)buf_printf(out, "%12s:", names[i]);
        for (uint32_t c = 0; c < proc_ncpus(); c++)
            (void)buf_printf(out, " %10u", 0);
        (void)buf_putc(out, '\n');
    }
    return 0;
}
