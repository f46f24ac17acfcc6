#pragma once
/*
 * One timer queue for the kernel. Times are guest CLOCK_MONOTONIC nanoseconds (zero at sandbox
 * start). The worker sleeps until the earliest one. Callbacks run on the worker, outside any
 * handler.
 */
#include "lib/compiler.h"

#include "lib/rbtree.h"

struct timer {
    struct rb_node node;
    bool armed;
    uint64_t expires;
    void (*fire)(struct timer *tm); /* tm is disarmed; may re-arm itself or free its owner */
};

void timer_init(struct timer *tm, void (*fire)(struct timer *));
void timer_arm(struct timer *tm, uint64_t expires);
void timer_cancel(struct timer *tm);
/* ns until the first timer, 0 if due, -1 if none. */
int64_t timer_next_timeout(void);
/* When the first timer is due; UINT64_MAX: there is none. */
uint64_t timer_next_expiry(void);
void timer_run_expired(void);

/* -- clocks (clock.c) ----------------------------------------------------------------------- */
#define NSEC_PER_SEC 1000000000ull
/* Guest CLOCK_MONOTONIC = CLOCK_BOOTTIME: ns since the sandbox started. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);
