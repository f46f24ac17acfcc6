#pragma once
/*
 * What several attack programs need beyond attack.h: a clock, the reach for a canary file, and who
 * belongs to the box.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attack.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

__attribute__((unused)) static long now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Opens name below dfd and reads: 1 when a canary's text came, 0 when something else did, or
 * -errno. */
__attribute__((unused)) static int reach(int dfd, const char *name)
{
    char buf[4096];
    int fd = openat(dfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, buf, sizeof(buf));
    int e = errno;
    close(fd);
    if (n < 0)
        return -e;
    return has_canary(buf, (size_t)n);
}

/* The same for "prefix" + "name" of the canary (which begins with '/'). */
__attribute__((unused)) static int reach_by(int dfd, const char *prefix, const char *name)
{
    char path[8192];
    if (snprintf(path, sizeof(path), "%s%s", prefix, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return reach(dfd, path);
}

/* Pids that may be seen: ourselves, the box's init, our parent, children that were noted. */
static pid_t family[64];
static int nfamily;

__attribute__((unused)) static pid_t family_add(pid_t pid)
{
    if (pid > 0 && nfamily < COUNT(family))
        family[nfamily++] = pid;
    return pid;
}

__attribute__((unused)) static bool is_family(pid_t pid)
{
    if (pid <= 1 || pid == getpid() || pid == getppid())
        return true;
    for (int i = 0; i < nfamily; i++)
        if (family[i] == pid)
            return true;
    return false;
}

/* Does the process die of a signal or end with 0..255? The wait status, or -errno. */
__attribute__((unused)) static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

/* Runs fn in a child: its exit status, or 256 + signal, or -errno. */
__attribute__((unused)) static int in_child(int (*fn)(void))
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        _exit(fn());
    int status = wait_for(pid);
    return status < 0 ? status : WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}
