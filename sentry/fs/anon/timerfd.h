#pragma once
/* timerfd: a timer whose expirations are counted and read. Times are in ns of the timer's clock. */
#include "lib/compiler.h"

struct file;

struct timerfd_value {
    uint64_t interval, value; /* value: 0 disarmed; relative, or absolute for TFD_TIMER_ABSTIME */
};

/* clock is one of the clocks that timerfd_create takes. */
int timerfd_new(int clock, uint32_t flags, struct file **ret_file) MUST_CHECK;
bool file_is_timerfd(const struct file *f);
/* What is left until the next expiration, and the interval. */
void timerfd_get(struct file *f, struct timerfd_value *ret_value);
void timerfd_set(struct file *f, bool absolute, const struct timerfd_value *value);
