/*
 * control_info.c: lists and counts of a running sandbox for whoever asks from outside.
 */
#include "sentry/cli/control_info.h"

#include "lib/compiler.h"

#include <errno.h>
#include <string.h>

#include "sentry/cli/control.h"
#include "sentry/fs/vfs.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/session.h"
#include "sentry/kernel/task.h"

static void describe(struct thread_group *tg, struct control_process *p)
{
    const struct task *t = tg->leader;
    *p = (struct control_process){
        .pid = tg->pid,
        .ppid = tg->parent != NULL ? tg->parent->pid : 0,
        .pgid = tg->pgrp != NULL ? tg->pgrp->id : 0,
        .sid = tg->pgrp != NULL ? tg->pgrp->session->id : 0,
        .threads = tg->nthreads,
        .cpu_ns = thread_group_cputime(tg),
        .start_ns = tg->start_time,
        .rss = thread_group_rss(tg) * 1024,
        .state = tg->zombie ? 'Z' : 'S',
    };
    if (t == NULL)
        return;
    p->uid = t->cred->euid;
    memcpy(p->comm, t->comm, sizeof(p->comm));
    if (tg->zombie)
        return;
    p->state = task_state_letter(t);
    (void)proc_command_line(t, p->command, sizeof(p->command) - 1);
}

static int write_processes(int fd, uint32_t *ret_n)
{
    struct thread_group *tg;
    uint32_t n = 0;
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        struct control_process p;
        describe(tg, &p);
        if (host_pwrite(fd, &p, sizeof(p), n * sizeof(p)) != (int64_t)sizeof(p))
            return -EIO;
        n++;
    }
    *ret_n = n;
    return 0;
}

int control_info_processes(uint32_t *ret_n)
{
    int fd = host_memfd_new("processes", 0);
    if (fd < 0)
        return fd;
    int r = write_processes(fd, ret_n);
    if (r < 0) {
        host_close(fd);
        return r;
    }
    return fd;
}

void control_info_stats(struct control_stats *ret)
{
    struct thread_group *tg;
    *ret = (struct control_stats){
        .cpu_ns = kernel_cputime(),
        .memory_limit = kernel.memory_limit,
        .tasks = limit_used(LIMIT_TASKS),
        .tasks_peak = limit_peak(LIMIT_TASKS),
        .tasks_limit = limit_max(LIMIT_TASKS),
        .disk = limit_used(LIMIT_DISK_BYTES),
        .disk_peak = limit_peak(LIMIT_DISK_BYTES),
        .syscalls = kernel.nsyscalls,
        .uptime_ns = clock_monotonic(),
        .paused = kernel.paused,
        .waiting = kernel.held != NULL,
    };
    for (tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        if (tg->zombie)
            continue;
        ret->processes++;
        ret->memory += thread_group_rss(tg) * 1024;
    }
}
