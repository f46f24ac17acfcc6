/*
 * timer.c: the timer queue, a red-black tree by expiry, and the kernel's two clocks.
 */
#include "sentry/kernel/timer.h"

#include "lib/compiler.h"

#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"

static struct rb_root timers;

static int timer_cmp(const struct rb_node *a, const struct rb_node *b)
{
    const struct timer *x = (const void *)((const char *)a - offsetof(struct timer, node));
    const struct timer *y = (const void *)((const char *)b - offsetof(struct timer, node));
    return x->expires < y->expires ? -1 : x->expires > y->expires;
}

void timer_init(struct timer *tm, void (*fire)(struct timer *))
{
    *tm = (struct timer){.fire = fire};
}

void timer_arm(struct timer *tm, uint64_t expires)
{
    timer_cancel(tm);
    tm->expires = expires;
    rb_insert(&timers, &tm->node, timer_cmp);
    tm->armed = true;
}

void timer_cancel(struct timer *tm)
{
    if (!tm->armed)
        return;
    rb_erase(&timers, &tm->node);
    tm->armed = false;
}

uint64_t timer_next_expiry(void)
{
    struct rb_node *n = rb_first(&timers);
    return n != NULL ? container_of(n, struct timer, node)->expires : UINT64_MAX;
}

int64_t timer_next_timeout(void)
{
    struct rb_node *n = rb_first(&timers);
    if (n == NULL)
        return -1;
    uint64_t at = container_of(n, struct timer, node)->expires;
    uint64_t now = clock_monotonic();
    if (at <= now)
        return 0;
    return at - now > INT64_MAX ? INT64_MAX : (int64_t)(at - now);
}

void timer_run_expired(void)
{
    struct rb_node *n = rb_first(&timers);
    if (n == NULL)
        return;
    uint64_t now = clock_monotonic();
    while ((n = rb_first(&timers)) != NULL) {
        struct timer *tm = container_of(n, struct timer, node);
        if (tm->expires > now)
            return;
        timer_cancel(tm);
        tm->fire(tm);
    }
}

uint64_t clock_monotonic(void)
{
    return host_clock_monotonic() - kernel.boot_monotonic;
}

uint64_t clock_realtime(void)
{
    return host_clock_realtime();
}
