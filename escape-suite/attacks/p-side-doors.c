/* tries: side doors between processes: kcmp with the victim, get_robust_list and futex words of
 * others, membarrier storms, rseq and set_tid_address games, sigqueue to foreign threads,
 * process_madvise */
/* must fail because: kcmp sees the objects of the sentry; membarrier reaches own threads only */
/* an escape would: learn an address or an order of objects of another process, or stop the host's
 * processors */
/* source: ATTACKS.md P2, P8 */
#include "tricks.h"

static int attack(void)
{
    long victim = fact_number("victim_pid", 0), neighbour = fact_number("neighbour_pid", 0);
    long others[] = {victim, neighbour, fact_number("harness_pid", 0)};
    void *head;
    size_t len;
    int told = 0, barriers = 0;
    for (int i = 0; i < COUNT(others); i++) {
        if (others[i] <= 0 || is_family((pid_t)others[i]))
            continue;
        for (int type = 0; type < 9; type++)
            told += sys(SYS_kcmp, getpid(), others[i], type, 0, 0) >= 0;
        told += sys(SYS_get_robust_list, others[i], &head, &len) >= 0;
        told += sys(SYS_process_madvise, others[i], &head, 1, 4, 0) >= 0;
        told += sys(SYS_getpgid, others[i]) >= 0;
        told += sys(SYS_getsid, others[i]) >= 0;
        told += sys(SYS_sched_rr_get_interval, others[i], &head) >= 0;
        told += sys(SYS_clock_gettime, (~others[i] << 3) | 2, &head) >= 0;
        told += sys(SYS_timer_create, (~others[i] << 3) | 2, NULL, &len) >= 0;
    }
    for (int pid = 2; pid < 32768; pid++) {
        if (is_family(pid))
            continue;
        told += sys(SYS_getpgid, pid) >= 0;
        told += pid % 4 == 0 && sys(SYS_clock_getres, (~(long)pid << 3) | 2, NULL) >= 0;
    }
    long supported = sys(SYS_membarrier, 0, 0, 0);
    for (long end = now_ms() + 200; now_ms() < end;)
        for (int bit = 0; bit < 12; bit++)
            barriers += syscall(SYS_membarrier, 1 << bit, 0, 0) == 0;
    step("membarrier %#lx, %d barriers", supported, barriers);
    syscall(SYS_set_tid_address, 8);
    step("rseq: %s", err_name(sys(SYS_rseq, &head, 32, 0, 0x53053053)));
    if (told)
        return escaped("%d answers about processes outside the box", told);
    return contained("no call answers about anybody outside");
}

static int twin(void)
{
    int fd = dup(1);
    void *head;
    size_t len;
    if (sys(SYS_kcmp, getpid(), getpid(), 0, 1, fd) != 0)
        return broken("kcmp of two descriptors of one file: %s", err_name(errno));
    if (sys(SYS_get_robust_list, 0, &head, &len) < 0 || getpgid(0) <= 0)
        return broken("get_robust_list, getpgid: %s", err_name(errno));
    return works("a process learns about itself");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
