/*
 * worker.c: the one loop that runs everything: an event of the platform, expired timers, readiness of
 * host descriptors, woken tasks.
 *
 * One thread is enough: the guests' calls come through one listener, and more receivers on it do not make it
 * faster (docs/locking.md). So no object of the kernel needs a lock.
 */
#include "lib/compiler.h"

#include "sentry/host/host.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"

/* Host descriptors are looked at at least once in this many events, however busy the gate is. */
enum { HOST_POLL_EVERY = 64 };

void kernel_run(void)
{
    unsigned busy = 0;
    dispatch_run_queue();
    while (!kernel.ended && kernel.fatal == NULL) {
        struct plat_event ev;
        plat_ops->next_event(kernel.plat, host_poll_fd(), timer_next_timeout(), &ev);
        dispatch_event(&ev);
        timer_run_expired();
        if (ev.kind == PLAT_EV_NONE) {
            busy = 0;
        } else if (++busy >= HOST_POLL_EVERY) {
            host_poll_dispatch();
            busy = 0;
        }
        dispatch_run_queue();
    }
}
