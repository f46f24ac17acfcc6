/*
 * timerfd. The timer fires once and stays silent until somebody reads (or asks for the time left):
 * only then are the missed periods counted and the timer armed again. So the shortest interval
 * costs nothing while nobody looks.
 */
#include "sentry/fs/anon/timerfd.h"

#include <inttypes.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/clock.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/timer.h"
#include "sentry/mm/usercopy.h"

struct timerfd {
    struct timer timer;
    struct wait_queue wait;
    int clock;
    bool armed;       /* expires is meaningful */
    bool fired;       /* reached expires and was not armed again yet */
    uint64_t expires; /* guest monotonic */
    uint64_t interval;
    uint64_t ticks;
};

static void timerfd_fire(struct timer *tm)
{
    struct timerfd *td = container_of(tm, struct timerfd, timer);

    td->fired = true;
    td->ticks++;
    wait_queue_wake(&td->wait, LX_POLLIN | LX_POLLRDNORM);
}

/* Counts what a periodic timer missed since it fired, and arms it again. */
static void timerfd_forward(struct timerfd *td)
{
    uint64_t now, missed;

    if (!td->fired)
        return;
    if (td->interval == 0) {
        td->armed = false;
        return;
    }
    now = clock_monotonic();
    missed = now > td->expires ? (now - td->expires) / td->interval : 0;
    td->ticks += missed;
    if (__builtin_add_overflow(td->expires, (missed + 1) * td->interval, &td->expires))
        td->expires = UINT64_MAX;
    td->fired = false;
    timer_arm(&td->timer, td->expires);
}

static int64_t timerfd_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct timerfd *td = f->priv;
    uint64_t v;

    (void)pos;
    if (to->left < sizeof(v))
        return -EINVAL;
    if (td->ticks == 0)
        return -EAGAIN;
    timerfd_forward(td);
    v = td->ticks;
    td->ticks = 0;
    return uio_copy_to(to, &v, sizeof(v)) == (int64_t)sizeof(v) ? (int64_t)sizeof(v) : -EFAULT;
}

static uint32_t timerfd_poll(struct file *f, struct poll_table *pt)
{
    struct timerfd *td = f->priv;

    poll_wait(pt, &td->wait);
    return td->ticks ? LX_POLLIN : 0;
}

static void timerfd_release(struct file *f)
{
    struct timerfd *td = f->priv;

    timer_cancel(&td->timer);
    wait_queue_done(&td->wait);
    kfree(td);
    limit_release(LIMIT_TIMERS, 1);
}

static int timerfd_show(struct file *f, struct buf *out)
{
    const struct timerfd *td = f->priv;
    const uint64_t sec = NSEC_PER_SEC;
    struct timerfd_value v;

    timerfd_get(f, &v);
    return buf_printf(
        out,
        "clockid: %d\nticks: %" PRIu64 "\nsettime flags: 00\n"
        "it_value: (%" PRIu64 ", %" PRIu64 ")\nit_interval: (%" PRIu64 ", %" PRIu64 ")\n",
        td->clock, td->ticks, v.value / sec, v.value % sec, v.interval / sec, v.interval % sec);
}

static const struct file_ops timerfd_ops = {
    .read = timerfd_read,
    .poll = timerfd_poll,
    .seek_ignored = true,
    .release = timerfd_release,
    .show_fdinfo = timerfd_show,
};

int timerfd_new(int clock, uint32_t flags, struct file **ret_file)
{
    struct timerfd *td;
    int r = limit_charge(LIMIT_TIMERS, 1);

    if (r < 0)
        return r;
    td = kalloc(sizeof(*td));
    r = -ENOMEM;
    if (td) {
        timer_init(&td->timer, timerfd_fire);
        wait_queue_init(&td->wait);
        td->clock = clock;
        r = anon_file_new("[timerfd]", &timerfd_ops, LX_O_RDWR | (flags & LX_TFD_NONBLOCK), td,
                          ret_file);
    }
    if (r < 0) {
        kfree(td);
        limit_release(LIMIT_TIMERS, 1);
    }
    return r;
}

bool file_is_timerfd(const struct file *f)
{
    return f->ops == &timerfd_ops;
}

void timerfd_get(struct file *f, struct timerfd_value *ret_value)
{
    struct timerfd *td = f->priv;
    uint64_t now = clock_monotonic();

    timerfd_forward(td);
    ret_value->interval = td->interval;
    ret_value->value = 0;
    /* An armed timer never shows 0, which would mean disarmed. */
    if (td->armed && !td->fired)
        ret_value->value = td->expires > now ? td->expires - now : 1;
}

void timerfd_set(struct file *f, bool absolute, const struct timerfd_value *value)
{
    struct timerfd *td = f->priv;

    timer_cancel(&td->timer);
    td->ticks = 0;
    td->fired = false;
    td->interval = value->interval;
    td->armed = value->value != 0;
    if (!td->armed)
        return;
    td->expires =
        absolute ? clock_to_monotonic(td->clock, value->value) : clock_after(value->value);
    timer_arm(&td->timer, td->expires);
}
