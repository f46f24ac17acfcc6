/*
 * host_monitor.c: waking the monitor, and waiting until it has looked. One byte on the control
 * socket is "look now"; a futex word in shared memory counts its looks.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sentry/host/host.h"

static int monitor_fd = -1;

void host_monitor_set(int fd)
{
    monitor_fd = fd;
}

void host_monitor_wake(void)
{
    if (monitor_fd >= 0)
        (void)send(monitor_fd, "m", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void host_monitor_look(uint32_t *looks, uint64_t timeout_ns)
{
    uint32_t before = __atomic_load_n(looks, __ATOMIC_ACQUIRE);
    uint64_t now = host_clock_monotonic(), end = now + timeout_ns;

    if (monitor_fd < 0)
        return;
    host_monitor_wake();
    while (__atomic_load_n(looks, __ATOMIC_ACQUIRE) == before && now < end) {
        struct timespec left = {.tv_nsec = (long)MIN(end - now, 999999999ull)};
        if (syscall(SYS_futex, looks, FUTEX_WAIT, before, &left, NULL, 0) < 0 && errno != EINTR)
            return;
        now = host_clock_monotonic();
    }
}
