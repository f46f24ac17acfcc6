/*
 * cgroup_kill.c: the end of every process of a group. v2 ends them by one write; for v1 they are
 * looked up, killed and waited for until none is listed, frozen first if they run away.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/fdio.h"
#include "sentry/cli/cgroup.h"
#include "sentry/cli/cgroup_file.h"

enum {
    KILL_TRIES = 1000,
    KILL_PAUSE_MS = 2,
    KILLED_MAX = 64, /* whose end is waited for at once */
    FREEZE_AFTER = 5
};

struct killed {
    struct pollfd p[KILLED_MAX];
    nfds_t n;
};

/* Signals every process listed in dir; the number of them. move: into that group first. */
static int kill_listed(const char *dir, const char *move, struct killed *ret)
{
    char text[8192];
    int n = 0;
    ret->n = 0;
    if (!cgroup_file_read(dir, "cgroup.procs", text, sizeof(text)))
        return 0;
    char *save = NULL;
    for (char *w = strtok_r(text, "\n", &save); w != NULL; w = strtok_r(NULL, "\n", &save)) {
        long pid = strtol(w, NULL, 10);
        if (pid <= 1 || pid == getpid())
            continue;
        int fd = ret->n < KILLED_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
        if (fd >= 0)
            ret->p[ret->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        if (move != NULL)
            (void)!cgroup_file_write(move, "cgroup.procs", w);
        (void)kill((pid_t)pid, SIGKILL);
        n++;
    }
    return n;
}

/* Until they have ended, or for a moment. */
static void await_killed(struct killed *k)
{
    nfds_t left = k->n;
    if (left == 0)
        (void)poll(NULL, 0, KILL_PAUSE_MS);
    while (left > 0 && poll(k->p, k->n, KILL_PAUSE_MS) > 0) {
        for (nfds_t i = 0; i < k->n; i++) {
            if (k->p[i].revents == 0)
                continue;
            (void)close(k->p[i].fd);
            k->p[i] = (struct pollfd){.fd = -1};
            left--;
        }
    }
    for (nfds_t i = 0; i < k->n; i++)
        fd_close(k->p[i].fd);
}

static bool make_freezer(const char *base, char *ret_dir, size_t cap)
{
    if (cgroup_dir_name(base, ret_dir, cap) && mkdir(ret_dir, 0755) == 0)
        return true;
    ret_dir[0] = '\0';
    return false;
}

/*
 * v1 has no kill of a whole group. The sentry is pid 1 of the sandbox's namespace, so with it
 * everything ends and nothing can be made any more; whoever still is there after a few looks is
 * frozen, so that it cannot run away from the list, and killed.
 */
static void v1_kill(const char *dir, const char *freezer)
{
    char frozen[512] = "";
    struct killed killed;
    for (int i = 0; i < KILL_TRIES; i++) {
        if (i == FREEZE_AFTER && freezer[0] != '\0' &&
            make_freezer(freezer, frozen, sizeof(frozen)))
            (void)!cgroup_file_write(frozen, "freezer.state", "FROZEN");
        int n = kill_listed(dir, frozen[0] != '\0' ? frozen : NULL, &killed);
        if (frozen[0] != '\0' && i > FREEZE_AFTER)
            (void)!cgroup_file_write(frozen, "freezer.state", "THAWED");
        if (n == 0)
            break;
        await_killed(&killed);
    }
    if (frozen[0] != '\0') {
        (void)!cgroup_file_write(frozen, "freezer.state", "THAWED");
        cgroup_dir_remove(frozen);
    }
}

void cgroup_clear(const char *dir)
{
    if (access(dir, F_OK) < 0)
        return;
    if (cgroup_file_write(dir, "cgroup.kill", "1") < 0)
        v1_kill(dir, "");
    cgroup_dir_remove(dir);
}

void cgroup_kill(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V2 || cg->cpu == CGROUP_V2)
        (void)!cgroup_file_write(cg->cpu_dir, "cgroup.kill", "1");
}

void cgroup_sweep(const struct cgroup *cg)
{
    if (cg->memory == CGROUP_V1)
        v1_kill(cg->memory_dir, cg->freezer);
    else if (cg->cpu == CGROUP_V1)
        v1_kill(cg->cpu_dir, cg->freezer);
}
