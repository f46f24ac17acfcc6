/* tries: scheduling of others and power over the host's scheduler: setpriority of users and groups,
 * SCHED_FIFO 99, SCHED_DEADLINE, affinity, ioprio RT, core scheduling, nice -20 */
/* must fail because: priorities, policies and affinity are words that the sentry keeps; no such
 * call is made on the host */
/* an escape would: slow down, pin or outrank a process outside the box */
/* source: ATTACKS.md P7 */
#include <sys/resource.h>

#include "tricks.h"

static int attack(void)
{
    struct sched_param p = {.sched_priority = 99};
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t prio;
        uint64_t runtime, deadline, period;
    } attr = {48, 6, 0, 0, 0, 10000000, 30000000, 30000000};
    long others[] = {fact_number("victim_pid", 0), fact_number("neighbour_pid", 0),
                     fact_number("harness_pid", 0)};
    unsigned long mask = 1;
    int n = 0, seen = 0;
    for (int i = 0; i < COUNT(others); i++) {
        pid_t pid = (pid_t)others[i];
        if (pid <= 0 || is_family(pid))
            continue;
        n += setpriority(PRIO_PROCESS, pid, 19) == 0;
        n += setpriority(PRIO_PGRP, pid, 19) == 0;
        n += sched_setscheduler(pid, SCHED_IDLE, &(struct sched_param){0}) == 0;
        n += syscall(SYS_sched_setaffinity, pid, 8, &mask) == 0;
        n += syscall(SYS_sched_setattr, pid, &attr, 0) == 0;
        n += syscall(SYS_ioprio_set, 1, pid, 3 << 13) == 0;
        n += prctl(62 /* PR_SCHED_CORE */, 2, pid, 0, 0) == 0;
        n += syscall(SYS_migrate_pages, pid, 1, &mask, &mask) == 0;
    }
    for (int pid = 2; pid < 65536; pid += 3) {
        errno = 0;
        int pr = getpriority(PRIO_PROCESS, pid);
        seen += !(pr == -1 && errno) && !is_family(pid);
        seen += syscall(SYS_sched_getscheduler, pid) >= 0 && !is_family(pid);
    }
    step("on others: %d calls worked, %d could be seen", n, seen);
    step("nice -20: %s", err_name(setpriority(PRIO_PROCESS, 0, -20) < 0 ? errno : 0));
    /* without a pid namespace this would reach everybody's processes */
    if (getpid() < 64)
        step("all processes of our uid: %s",
             err_name(setpriority(PRIO_USER, 0, 19) < 0 ? errno : 0));
    step("SCHED_FIFO 99: %s", err_name(sched_setscheduler(0, SCHED_FIFO, &p) < 0 ? errno : 0));
    step("SCHED_RR 99: %s", err_name(sched_setscheduler(0, SCHED_RR, &p) < 0 ? errno : 0));
    step("SCHED_DEADLINE: %s", err_name(sys(SYS_sched_setattr, 0, &attr, 0)));
    step("real time I/O: %s", err_name(sys(SYS_ioprio_set, 1, 0, 1 << 13)));
    step("core scheduling: %s", err_name(prctl(62, 1, 0, 2, 0) < 0 ? errno : 0));
    if (n || seen)
        return escaped("%d calls on others worked, %d others were seen", n, seen);
    return contained("whatever was granted holds inside the box");
}

static int twin(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) < 1)
        return broken("sched_getaffinity: %s", err_name(errno));
    if (setpriority(PRIO_PROCESS, 0, 5) < 0 || getpriority(PRIO_PROCESS, 0) != 5)
        return broken("nice 5: %s", err_name(errno));
    if (sched_yield() < 0 || sched_getscheduler(0) != SCHED_OTHER)
        return broken("sched_yield, sched_getscheduler: %s", err_name(errno));
    return works("our own priority can be lowered");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
