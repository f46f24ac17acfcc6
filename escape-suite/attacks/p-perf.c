/* tries: perf_event_open on the victim, on every processor and on itself: hardware, software,
 * tracepoint, breakpoint and raw events, with and without exclusion of the kernel */
/* must fail because: EPERM; the call is never made on the host */
/* an escape would: watch the kernel or other processes of the host, or reach the host's perf code
 */
/* source: ATTACKS.md P8 */
#include "tricks.h"

static int attack(void)
{
    struct {
        uint32_t type, size;
        uint64_t config, period, sample_type, read_format, flags;
        uint32_t wakeup, bp_type;
        uint64_t rest[9];
    } a = {.size = 128};
    long who[] = {0, -1, fact_number("victim_pid", 1), 1, fact_number("neighbour_pid", 1)};
    int opened = 0, errs[256] = {0};
    for (uint32_t type = 0; type < 12; type++) {
        for (uint64_t config = 0; config < 10; config++) {
            for (int i = 0; i < COUNT(who); i++) {
                for (int cpu = -1; cpu < 2; cpu++) {
                    a.type = type;
                    a.config = config;
                    a.flags = (config & 1) ? 0x60 : 0;
                    a.sample_type = 0xfff;
                    long fd = sys(SYS_perf_event_open, &a, who[i], cpu, -1, 0);
                    if (fd >= 0)
                        opened++, close((int)fd);
                    else
                        errs[-fd & 255]++;
                }
            }
        }
    }
    for (int e = 0; e < 256; e++)
        if (errs[e])
            step("%s %d times", err_name(e), errs[e]);
    if (opened)
        return escaped("%d events of the host are open", opened);
    return contained("no event can be opened");
}

static int twin(void)
{
    struct timespec a, b;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a) < 0)
        return broken("CPU clock: %s", err_name(errno));
    for (volatile int i = 0; i < 3000000; i++)
        continue;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b) < 0 ||
        b.tv_sec * 1000000000l + b.tv_nsec <= a.tv_sec * 1000000000l + a.tv_nsec)
        return broken("the CPU clock stands still");
    return works("a program can measure its own CPU time");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
