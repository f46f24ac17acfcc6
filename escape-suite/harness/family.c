/*
 * family.c: who is left of a run. A subreaper's descendants are found by walking the parents that
 * /proc/PID/stat names; a process that got out of that tree is found by its environment.
 */
#include "escape-suite/harness/family.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

struct entry {
    pid_t pid, parent;
    char state;
    bool ours;
};

static bool read_stat(const char *name, struct entry *e)
{
    char path[64], text[512], *p;
    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", name);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = fd >= 0 ? fd_read_full(fd, text, sizeof(text) - 1) : -1;
    if (n <= 0)
        return false;
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name may hold anything */
    e->pid = (pid_t)strtol(name, NULL, 10);
    e->ours = false;
    if (p == NULL || strlen(p) < 5)
        return false;
    e->state = p[2]; /* ") S 1 ..." */
    e->parent = (pid_t)strtol(p + 3, NULL, 10);
    return true;
}

static size_t read_all(struct entry *all, size_t max)
{
    DIR *d = opendir("/proc");
    size_t n = 0;
    for (struct dirent *e; d != NULL && n < max && (e = readdir(d)) != NULL;)
        if (isdigit((unsigned char)e->d_name[0]) && read_stat(e->d_name, &all[n]))
            n++;
    if (d != NULL)
        (void)closedir(d);
    return n;
}

/* A parent may be listed after its child: repeated until nothing changes. */
static void mark(struct entry *all, size_t n, pid_t root, pid_t except)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            bool below = all[i].parent == root;
            for (size_t k = 0; k < n && !below; k++)
                below = all[k].ours && all[k].pid == all[i].parent;
            if (below && !all[i].ours && all[i].pid != except) {
                all[i].ours = true;
                changed = true;
            }
        }
    }
}

void family_take(struct family *f)
{
    enum {
        MAX = 32768
    };
    auto_free struct entry *all = kalloc_array(MAX, sizeof(*all));
    size_t n = all != NULL ? read_all(all, MAX) : 0;
    f->n = 0;
    mark(all, n, getpid(), f->except);
    for (size_t i = 0; i < n && f->n < FAMILY_MAX; i++) {
        if (all[i].ours && all[i].state == 'Z' && all[i].parent == getpid())
            continue;
        if (all[i].ours)
            f->pids[f->n++] = all[i].pid;
    }
}

bool family_has(const struct family *f, pid_t pid)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->pids[i] == pid)
            return true;
    return false;
}

static bool has_marker(const char *name, const char *marker)
{
    char path[64], *text = NULL;
    size_t len = 0;
    bool found = false;
    (void)snprintf(path, sizeof(path), "/proc/%.20s/environ", name);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fd_read_all(fd, 1 << 20, &text, &len) == 0)
        found = memmem(text, len, marker, strlen(marker)) != NULL;
    kfree(text);
    return found;
}

void family_new(const struct family *before, const char *marker, struct family *ret)
{
    auto_free struct family *now = kalloc(sizeof(*now));
    ret->n = 0;
    if (now == NULL)
        return;
    now->except = before->except;
    family_take(now);
    for (size_t i = 0; i < now->n; i++)
        if (!family_has(before, now->pids[i]))
            ret->pids[ret->n++] = now->pids[i];
    DIR *d = marker != NULL ? opendir("/proc") : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;
        if (pid > 0 && pid != getpid() && ret->n < FAMILY_MAX && !family_has(ret, pid) &&
            !family_has(before, pid) && has_marker(e->d_name, marker))
            ret->pids[ret->n++] = pid;
    }
    if (d != NULL)
        (void)closedir(d);
}

bool family_dying(pid_t pid)
{
    enum {
        EXITING = 0x4, /* PF_EXITING of the kernel */
        KILL_BIT = 1 << (9 - 1)
    };
    char path[64], text[4096];
    unsigned long long flags = 0, pending[2] = {0, 0};
    char state = 'X';
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = fd >= 0 ? fd_read_full(fd, text, sizeof(text) - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    char *p = strrchr(text, ')');
    if (p == NULL)
        return true; /* gone */
    if (p[1] == ' ')
        state = p[2];
    p++;
    for (int field = 0; field < 6; field++) {
        p += strspn(p, " ");
        p += strcspn(p, " ");
    }
    flags = strtoull(p, NULL, 10);
    if (state == 'Z' || state == 'X' || (flags & EXITING) != 0)
        return true;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    auto_fd int status = open(path, O_RDONLY | O_CLOEXEC);
    n = status >= 0 ? fd_read_full(status, text, sizeof(text) - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        p = strstr(text, i == 0 ? "\nSigPnd:" : "\nShdPnd:");
        pending[i] = p != NULL ? strtoull(p + sizeof("\nSigPnd:") - 1, NULL, 16) : 0;
    }
    return n <= 0 || ((pending[0] | pending[1]) & KILL_BIT) != 0;
}

void family_name(pid_t pid, char *buf, size_t cap)
{
    char path[64], text[32] = "";
    (void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = fd >= 0 ? fd_read_full(fd, text, sizeof(text) - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    (void)snprintf(buf, cap, "%d (%s)", (int)pid, text);
}
