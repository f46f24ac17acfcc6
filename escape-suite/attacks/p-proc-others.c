/* tries: /proc of others: mem, environ, maps, syscall, stack, auxv of every pid up to 65536 read,
 * mem, oom_score_adj, uid_map, clear_refs, comm, attr and timerslack written */
/* must fail because: the box's /proc has directories for its own tasks only */
/* an escape would: read another process's memory or environment, or make the host's kernel prefer
 * it as a victim */
/* source: ATTACKS.md P2, S3 */
#include "tricks.h"

static int attack(void)
{
    static const char *const readable[] = {"environ", "maps",    "mem",    "syscall", "stack",
                                           "auxv",    "cmdline", "status", "fdinfo/0"};
    static const char *const writable[] = {
        "mem",  "oom_score_adj", "uid_map",       "gid_map",         "setgroups", "clear_refs",
        "comm", "attr/current",  "timerslack_ns", "coredump_filter", "loginuid",  "sched"};
    long facts[] = {fact_number("victim_pid", 0), fact_number("neighbour_pid", 0),
                    fact_number("harness_pid", 0)};
    static char buf[65536];
    char path[128];
    int foreign = 0, hits = 0;
    for (int pid = 2 - COUNT(facts); pid < 65536; pid++) {
        long p = pid < 2 ? facts[pid - 2 + COUNT(facts)] : pid;
        snprintf(path, sizeof(path), "/proc/%ld", p);
        if (p <= 0 || is_family((pid_t)p) || access(path, F_OK) < 0)
            continue;
        foreign++;
        for (int i = 0; i < COUNT(readable); i++) {
            snprintf(path, sizeof(path), "/proc/%ld/%s", p, readable[i]);
            int fd = open(path, O_RDONLY);
            ssize_t n = fd < 0 ? -1
                               : pread(fd, buf, sizeof(buf),
                                       i == 2 ? fact_number("victim_addr", 0x400000) : 0);
            close(fd);
            if (n > 0)
                hits++, step("%s: %zd bytes%s", path, n,
                             has_canary(buf, (size_t)n) ? ", the secret" : "");
        }
        for (int i = 0; i < COUNT(writable); i++) {
            snprintf(path, sizeof(path), "/proc/%ld/%s", p, writable[i]);
            int fd = open(path, O_WRONLY);
            if (fd >= 0)
                hits++, step("%s opens for writing", path);
            close(fd);
        }
    }
    if (foreign)
        return escaped("%d processes that are not ours, %d of their files open", foreign, hits);
    return contained("no process but ours has a directory");
}

static int twin(void)
{
    char buf[4096] = "";
    static volatile char here = 'h';
    char c = 0;
    int fd = open("/proc/self/status", O_RDONLY);
    if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0 || !strstr(buf, "Pid:"))
        return broken("/proc/self/status: %s", err_name(errno));
    fd = open("/proc/self/mem", O_RDONLY);
    if (fd < 0 || pread(fd, &c, 1, (off_t)(uintptr_t)&here) != 1 || c != 'h')
        return broken("/proc/self/mem: %s", err_name(errno));
    return works("status and memory of our own can be read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
