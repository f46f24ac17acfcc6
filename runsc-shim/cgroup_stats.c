/*
 * cgroup_stats.c: what `events --stats` says, in runc's words. The numbers are the host's: sentry,
 * gofer and guests together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "runsc-shim/cgroup_oci.h"
#include "sentry/cli/cgroup_file.h"

#define TICK_NS 10000000ull /* USER_HZ is 100 on every Linux that we run on */

static void cpu(const struct oci_cgroup *cg, struct buf *out)
{
    uint64_t total, user, kernel, periods, throttled, throttled_ns;
    char percpu[2048] = "";

    if (cg->v2) {
        const char *d = cg->dir[CG_CPU];
        total = cgroup_file_key(d, "cpu.stat", "usage_usec") * 1000;
        user = cgroup_file_key(d, "cpu.stat", "user_usec") * 1000;
        kernel = cgroup_file_key(d, "cpu.stat", "system_usec") * 1000;
        periods = cgroup_file_key(d, "cpu.stat", "nr_periods");
        throttled = cgroup_file_key(d, "cpu.stat", "nr_throttled");
        throttled_ns = cgroup_file_key(d, "cpu.stat", "throttled_usec") * 1000;
    } else {
        const char *d = cg->dir[CG_CPUACCT];
        total = cgroup_file_number(d, "cpuacct.usage");
        user = cgroup_file_key(d, "cpuacct.stat", "user") * TICK_NS;
        kernel = cgroup_file_key(d, "cpuacct.stat", "system") * TICK_NS;
        (void)cgroup_file_read(d, "cpuacct.usage_percpu", percpu, sizeof(percpu));
        d = cg->dir[CG_CPU];
        periods = cgroup_file_key(d, "cpu.stat", "nr_periods");
        throttled = cgroup_file_key(d, "cpu.stat", "nr_throttled");
        throttled_ns = cgroup_file_key(d, "cpu.stat", "throttled_time");
    }
    (void)buf_printf(out, "\"cpu\":{\"usage\":{\"total\":%" PRIu64, total);
    for (char *p = percpu, *save = NULL, *w; (w = strtok_r(p, " ", &save)) != NULL; p = NULL)
        (void)buf_printf(out, "%s%" PRIu64, p != NULL ? ",\"percpu\":[" : ",",
                         (uint64_t)strtoull(w, NULL, 10));
    (void)buf_printf(out, "%s,\"kernel\":%" PRIu64 ",\"user\":%" PRIu64 "},",
                     percpu[0] != '\0' ? "]" : "", kernel, user);
    (void)buf_printf(out,
                     "\"throttling\":{\"periods\":%" PRIu64 ",\"throttledPeriods\":%" PRIu64
                     ",\"throttledTime\":%" PRIu64 "}}",
                     periods, throttled, throttled_ns);
}

struct memory {
    uint64_t usage, max, limit, failcnt;
};

static void memory_entry(struct buf *out, const char *name, const struct memory *m)
{
    (void)buf_printf(out,
                     ",\"%s\":{\"limit\":%" PRIu64 ",\"usage\":%" PRIu64 ",\"max\":%" PRIu64
                     ",\"failcnt\":%" PRIu64 "}",
                     name, m->limit, m->usage, m->max, m->failcnt);
}

/* memory.stat is "key number" a line in both versions. */
static void memory_raw(const char *dir, struct buf *out)
{
    char text[8192];
    bool first = true;

    (void)buf_puts(out, ",\"raw\":{");
    if (cgroup_file_read(dir, "memory.stat", text, sizeof(text))) {
        char *save = NULL;
        for (char *l = strtok_r(text, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
            size_t n = strcspn(l, " ");
            if (l[n] != ' ' || strspn(l, "abcdefghijklmnopqrstuvwxyz_0123456789") != n)
                continue;
            (void)buf_printf(out, "%s\"%.*s\":%" PRIu64, first ? "" : ",", (int)n, l,
                             (uint64_t)strtoull(l + n + 1, NULL, 10));
            first = false;
        }
    }
    (void)buf_putc(out, '}');
}

static void memory(const struct oci_cgroup *cg, struct buf *out)
{
    const char *d = cg->dir[CG_MEMORY];
    struct memory m, swap = {0};

    if (cg->v2) {
        m = (struct memory){
            cgroup_file_number(d, "memory.current"), cgroup_file_number(d, "memory.peak"),
            cgroup_file_number(d, "memory.max"), cgroup_file_key(d, "memory.events", "max")};
        swap.usage = cgroup_file_number(d, "memory.swap.current");
        swap.limit = cgroup_file_number(d, "memory.swap.max");
    } else {
        m = (struct memory){cgroup_file_number(d, "memory.usage_in_bytes"),
                            cgroup_file_number(d, "memory.max_usage_in_bytes"),
                            cgroup_file_number(d, "memory.limit_in_bytes"),
                            cgroup_file_number(d, "memory.failcnt")};
        swap = (struct memory){cgroup_file_number(d, "memory.memsw.usage_in_bytes"),
                               cgroup_file_number(d, "memory.memsw.max_usage_in_bytes"),
                               cgroup_file_number(d, "memory.memsw.limit_in_bytes"),
                               cgroup_file_number(d, "memory.memsw.failcnt")};
    }
    uint64_t cache = cgroup_file_key(d, "memory.stat", cg->v2 ? "file" : "cache");
    (void)buf_printf(out, ",\"memory\":{\"cache\":%" PRIu64, cache);
    memory_entry(out, "usage", &m);
    memory_entry(out, "swap", &swap);
    memory_raw(d, out);
    (void)buf_putc(out, '}');
}

void oci_cgroup_stats(const struct oci_cgroup *cg, struct buf *out)
{
    const char *pids = cg->dir[CG_PIDS];
    uint64_t max = cgroup_file_number(pids, "pids.max");

    (void)buf_putc(out, '{');
    cpu(cg, out);
    (void)buf_puts(out, ",\"cpuset\":{}");
    memory(cg, out);
    (void)buf_printf(out, ",\"pids\":{\"current\":%" PRIu64,
                     cgroup_file_number(pids, "pids.current"));
    if (max != 0 && max != UINT64_MAX)
        (void)buf_printf(out, ",\"limit\":%" PRIu64, max);
    (void)buf_puts(out,
                   "},\"blkio\":{},\"hugetlb\":{},\"intel_rdt\":{},\"network_interfaces\":[]}");
}
