/* tries: process_vm_readv and process_vm_writev on every pid up to 65536 and on the victim at the
 * address of its secret */
/* must fail because: both calls are the sentry's and move bytes between tasks of this box only */
/* an escape would: read the victim's secret, or write over it */
/* source: ATTACKS.md P2 */
#include <sys/uio.h>

#include "tricks.h"

static int attack(void)
{
    static char buf[65536];
    long victim = fact_number("victim_pid", 0), addr = fact_number("victim_addr", 0x400000);
    long seen = 0, foreign = 0;
    struct iovec l = {buf, sizeof(buf)}, r = {(void *)addr, sizeof(buf)}, one = {(void *)addr, 1};
    for (long p = victim - 3; p < victim + 4; p++) {
        ssize_t n = process_vm_readv((pid_t)p, &l, 1, &r, 1, 0);
        if (n > 0 && has_canary(buf, (size_t)n))
            return escaped("the memory of process %ld was read", p);
        if (p == victim) {
            step("victim: readv %s", err_name(n < 0 ? errno : 0));
            struct iovec w = {"X", 1};
            n = process_vm_writev((pid_t)p, &w, 1, &one, 1, 0);
            step("victim: writev %s", err_name(n < 0 ? errno : 0));
            if (n == 1 && !is_family((pid_t)p))
                return escaped("the memory of process %ld was written", p);
        }
    }
    l.iov_len = r.iov_len = 16;
    static const uintptr_t at[] = {0x400000, 0x7ffffffde000, 0x555555554000, 0};
    for (int pid = 1; pid < 65536; pid++) {
        r.iov_base = (void *)at[pid % COUNT(at)];
        ssize_t n = process_vm_readv(pid, &l, 1, &r, 1, 0);
        if (n < 0 && errno == ESRCH)
            continue;
        seen++;
        if (!is_family(pid) && foreign++ < 5)
            step("process %d: %s", pid, n < 0 ? err_name(errno) : "read");
    }
    step("%ld pids answer, %ld of them foreign", seen, foreign);
    if (foreign)
        return escaped("%ld processes outside the box answer", foreign);
    return contained("only our own pids answer");
}

static int twin(void)
{
    static char secret[] = "mine", got[5];
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    struct iovec l = {got, 5}, r = {secret, 5};
    ssize_t n = process_vm_readv(pid, &l, 1, &r, 1, 0);
    int e = errno;
    kill(pid, SIGKILL);
    wait_for(pid);
    if (n != 5 || strcmp(got, "mine") != 0)
        return broken("reading a child: %s", err_name(e));
    return works("the memory of a child of ours can be read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
