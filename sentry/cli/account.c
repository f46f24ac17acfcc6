/*
 * How this works: a process's page faults do not pass through us, so what guests really use is only
 * known to the host. The sentry knows what they could use at most: the mappings that were ever
 * accessible (struct usage). While that fits into the limit nobody has to look, and the sentry
 * wakes us when it no longer does. From then on we look as often as the distance to the limit could
 * be used up, if every processor did nothing but touch new pages.
 *
 * One look sums, for guests, sentry and gofer: anonymous pages, swap and page tables
 * (/proc/PID/status), the memfds behind files in memory (counted by the sentry), and a fixed price
 * for each task and mapping that the host keeps. Pages that processes share after a fork are
 * counted in each of them, which is too much; only when that sum crosses the limit is the exact
 * share read (smaps_rollup), and only if it can make a difference: reading it walks all page
 * tables, which takes seconds when a guest has made many of them, and meanwhile nobody looks. A
 * limit counts as crossed when two looks in a row say so: a pid may have been reused by a foreign
 * process between the list and the reading.
 *
 * Not counted: pages of the image, which the host shares between sandboxes and can drop.
 */
#include "sentry/cli/account.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/syscall.h>

#include "sentry/host/host.h"
#include "sentry/kernel/usage.h"

enum {
    LOOK_MIN_NS = 1000000,
    LOOK_MAX_NS = 100000000,
    BYTES_PER_NS = 2, /* new pages that one processor can touch */
    TASK_BYTES = 32768,
    MAPPING_BYTES = 4096 + 256,
    MAX_PROCESSES = 8192,
    LEVELS = 2 /* of children below the sentry */
};
#define SLACK (64ull << 20) /* what the sentry itself may grow by between two looks */

static uint64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- reading ------------------------------------------------------------------------------------
 */

static size_t read_file(int proc, pid_t pid, const char *name, char *buf, size_t cap)
{
    char path[64];
    size_t n = 0;
    (void)snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (n < cap - 1) {
        ssize_t r = read(fd, buf + n, cap - 1 - n);
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    (void)close(fd);
    buf[n] = '\0';
    return n;
}

/* "KEY:   N kB" in bytes. */
static uint64_t field(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static void add_process(int proc, pid_t pid, bool exact, struct account_sum *sum)
{
    char status[4096], rollup[4096];
    if (read_file(proc, pid, "status", status, sizeof(status)) == 0)
        return;
    uint64_t anon = field(status, "\nRssAnon:");
    if (exact && read_file(proc, pid, "smaps_rollup", rollup, sizeof(rollup)) != 0 &&
        strstr(rollup, "\nPss_Anon:") != NULL)
        anon = field(rollup, "\nPss_Anon:");
    sum->anon += anon;
    sum->largest = MAX(sum->largest, anon);
    sum->swap += field(status, "\nVmSwap:");
    sum->tables += field(status, "\nVmPTE:");
    sum->processes++;
}

/* The pids in /proc/PID/task/PID/children; -1: there is no such file. */
static int children(int proc, pid_t pid, pid_t *ret_pids, int max)
{
    static char text[MAX_PROCESSES * 12];
    char name[64];
    int n = 0;
    (void)snprintf(name, sizeof(name), "task/%d/children", (int)pid);
    if (read_file(proc, pid, name, text, sizeof(text)) == 0) {
        (void)snprintf(text, sizeof(text), "%d/%s", (int)pid, name);
        return faccessat(proc, text, R_OK, 0) < 0 ? -1 : 0;
    }
    char *save = NULL;
    for (char *w = strtok_r(text, " \n", &save); w != NULL && n < max;
         w = strtok_r(NULL, " \n", &save))
        ret_pids[n++] = (pid_t)strtol(w, NULL, 10);
    return n;
}

/* Guests are children of the guests' init, which is the sentry's child. */
void account_read(int proc, const pid_t roots[3], bool exact, struct account_sum *ret_sum)
{
    static pid_t pids[MAX_PROCESSES];
    struct account_sum sum = {0};
    char status[4096];
    int n = 0, level = 0, end;

    for (int i = 0; i < 3; i++) {
        if (roots[i] > 0)
            pids[n++] = roots[i];
    }
    end = n;
    if (read_file(proc, roots[0], "status", status, sizeof(status)) != 0)
        sum.shmem = field(status, "\nRssShmem:");
    for (int i = 0; i < n; i++) {
        if (i == end) {
            level++;
            end = n;
        }
        add_process(proc, pids[i], exact && level > 0, &sum);
        if (level == LEVELS)
            continue;
        int more = children(proc, pids[i], pids + n, MAX_PROCESSES - n);
        sum.failed |= more < 0 && pids[i] == roots[0];
        n += MAX(more, 0);
    }
    *ret_sum = sum;
}

/* -- the limit ----------------------------------------------------------------------------------
 */

/* *ret_sure: how much of it no exact reading would take away. */
static uint64_t total(const struct account *a, bool exact, uint64_t *ret_sure)
{
    struct account_sum s;
    uint64_t host = a->u->tasks * TASK_BYTES + a->u->mappings * 256;
    if (a->proc < 0) {
        *ret_sure = 0;
        return a->u->touchable + a->u->files + host;
    }
    account_read(a->proc, a->roots, exact, &s);
    uint64_t sum = s.anon + s.swap + s.tables + s.shmem + a->u->files + host;
    *ret_sure = sum - s.anon + s.largest;
    return s.failed ? sum + a->u->touchable : sum;
}

/* What the guests could use at most beside `used`, as long as they map nothing more. */
static uint64_t reserve(const struct account *a)
{
    const struct usage *u = a->u;
    uint64_t most = u->touchable + u->touchable / 512 + u->mappings * MAPPING_BYTES;
    return most > a->used ? most - a->used : 0;
}

static void plan_next(struct account *a, uint64_t now, uint64_t cost)
{
    uint64_t headroom = a->limit > a->used ? a->limit - a->used : 0;
    uint64_t more = reserve(a) + SLACK, wait = LOOK_MAX_NS;

    a->u->wake_at = UINT64_MAX;
    if (a->limit == 0)
        wait = LOOK_MAX_NS;
    else if (more <= headroom)
        a->u->wake_at = a->u->touchable + (headroom - more);
    else
        wait = headroom / BYTES_PER_NS / host_ncpus();
    wait = MIN(MAX(wait, MAX(cost * 2, (uint64_t)LOOK_MIN_NS)), (uint64_t)LOOK_MAX_NS);
    a->next_ns = now + wait;
}

void account_begin(struct account *a, struct usage *u, uint64_t limit, const pid_t roots[3])
{
    *a = (struct account){.u = u, .limit = limit};
    memcpy(a->roots, roots, sizeof(a->roots));
    a->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    u->wake_at = UINT64_MAX;
    __atomic_store_n(&u->sampling, 1, __ATOMIC_RELEASE);
    a->next_ns = now_ns() + LOOK_MIN_NS;
}

void account_end(struct account *a)
{
    if (a->u != NULL && a->proc >= 0)
        (void)close(a->proc);
    a->proc = -1;
}

int account_timeout_ms(const struct account *a)
{
    if (a->u == NULL)
        return -1;
    uint64_t now = now_ns();
    return now >= a->next_ns ? 0 : (int)((a->next_ns - now + 999999) / 1000000);
}

bool account_look(struct account *a, bool woken)
{
    uint64_t begin, sure;
    if (a->u == NULL || ((begin = now_ns()) < a->next_ns && !woken))
        return false;
    a->used = total(a, false, &sure);
    for (int i = 0; i < 2 && a->limit != 0 && a->used > a->limit; i++)
        a->used = total(a, sure <= a->limit, &sure);
    a->peak = MAX(a->peak, a->used);
    (void)__atomic_add_fetch(&a->u->samples, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &a->u->samples, FUTEX_WAKE, 1, NULL, NULL, 0);
    uint64_t now = now_ns();
    plan_next(a, now, now - begin);
    return a->limit != 0 && a->used > a->limit;
}
