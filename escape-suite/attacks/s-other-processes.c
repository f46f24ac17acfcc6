/* tries: every process id to 70000 and those of the neighbour, the victim and the harness, by
   /proc, kill 0, process_vm_readv, ptrace, pidfd_open, getpgid, sched_getaffinity, prlimit, kcmp,
   and /proc entries of tasks that are not listed */
/* must fail because: a process id is a number of the supervisor's own table */
/* an escape would: find a process of another run, and read its memory, environment or arguments */
/* source: ATTACKS.md S3 P2 */
#include <dirent.h>
#include <fcntl.h>

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "child.h"

static int strangers, secrets;

/* Ourselves and whoever the box itself has started before us. */
static int is_ours(int pid)
{
    return pid <= 3 || pid == getpid() || pid == getppid();
}

static void read_all(int pid)
{
    static const char *const files[] = {"cmdline", "environ", "maps", "stat",
                                        "auxv",    "mem",     "fd/0", "root/etc/hostname",
                                        "cwd/.",   "exe"};
    char path[64], buf[8192];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
        int fd = open(path, O_RDONLY | O_NONBLOCK);
        ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf)) : -1;
        if (fd >= 0 && !is_ours(pid)) {
            step("%s can be opened", path);
            strangers++;
        }
        secrets += n > 0 && has_canary(buf, (size_t)n);
        if (fd >= 0)
            close(fd);
    }
}

static void probe(int pid)
{
    char buf[64];
    struct rlimit rl;
    struct iovec local = {buf, sizeof(buf)},
                 remote = {(void *)fact_number("victim_addr", 0x400000), 64};
    long got[] = {sys(SYS_kill, pid, 0),
                  sys(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0),
                  sys(SYS_pidfd_open, pid, 0),
                  sys(SYS_getpgid, pid),
                  sys(SYS_sched_getaffinity, pid, 8, buf),
                  sys(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL, &rl),
                  sys(SYS_kcmp, getpid(), pid, 0, 0, 0),
                  sys(SYS_getpriority, PRIO_PROCESS, pid)};
    if (is_ours(pid))
        return;
    for (size_t i = 0; i < sizeof(got) / sizeof(got[0]); i++)
        if (got[i] >= 0 || (got[i] == -EPERM && i != 6)) {
            step("process %d: probe %zu says %s", pid, i, got[i] < 0 ? err_name(got[i]) : "yes");
            strangers++;
        }
    secrets += has_canary(buf, sizeof(buf));
}

static int attack(void)
{
    const int named[] = {(int)fact_number("neighbour_pid", 0), (int)fact_number("victim_pid", 0),
                         (int)fact_number("harness_pid", 0)};
    int listed = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9') {
            int pid = atoi(e->d_name);
            listed++;
            if (!is_ours(pid)) {
                step("/proc lists %d", pid);
                strangers++;
            }
            read_all(pid);
        }
    for (int i = 0; i < 3; i++)
        if (named[i] > 3) {
            read_all(named[i]);
            probe(named[i]);
            if (sys(SYS_ptrace, PTRACE_SEIZE, named[i], 0, 0) == 0)
                strangers++;
        }
    for (int pid = 1; pid <= 70000; pid += pid < 2000 ? 1 : 37)
        probe(pid);
    if (strangers || secrets)
        return escaped("%d signs of processes of others, %d secrets", strangers, secrets);
    return contained("%d processes are listed, all of this run", listed);
}

static int twin(void)
{
    char path[64];
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int seen = access(path, R_OK) == 0 && kill(pid, 0) == 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return seen ? works("a child of one's own is seen") : broken("a child is not in /proc");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
