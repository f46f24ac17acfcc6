/*
 * How this works: exec wants a fresh address space with one thread in it, two clones that cost more
 * than everything else the platform does for it. So one is made in advance, in steps that never
 * wait: the zygote is told to fork, later the helper is told to clone the first thread, and
 * listener.c notes what became of it whenever the notifications come by. The first is begun as soon
 * as there is a zygote, and is made while the sentry confines itself. From the second on, the next
 * one is begun when the last was taken: a program that never executes another does not pay for
 * one.
 */
#include "abi/errno.h"

#include "platform/unotify/private.h"

#define SPARE_PATIENCE_NS 10000000000ull

static void spare_fail(struct plat *p)
{
    struct spare *s = &p->spare;

    list_del_init(&s->child.link);
    if (s->as) {
        if (s->as->helper)
            proc_kill(s->as->helper->proc);
        else
            as_free(s->as);
    }
    s->as = NULL;
    s->state = SPARE_NONE;
    s->wanted = false;
}

static int spare_fork(struct plat *p)
{
    struct spare *s = &p->spare;
    int err;

    list_init(&s->child.link);
    s->as = as_make(p);
    if (!s->as)
        return -ENOMEM;
    err = slot_take(s->as, 0);
    if (err)
        return err;
    stub_call_clone_zygote(&s->call);
    return stub_clone_start(p->zygote, &s->call, &s->run, &s->child);
}

static int spare_forked(struct plat *p)
{
    const struct plat_regs regs = {.cs = 0x33, .ss = 0x2b, .eflags = 0x202};
    struct spare *s = &p->spare;
    struct plat_thread *helper;
    int err;

    list_del_init(&s->child.link);
    if (s->run.result < 0)
        return (int)s->run.result;
    helper = child_adopt(s->as, &s->child, 0, 0);
    if (!helper)
        return -ENOMEM;
    helper->helper = true;
    s->as->helper = helper;
    err = slot_alloc(s->as, &s->slot);
    if (err)
        return err;
    s->frame = frame_write(helper, s->slot, &regs, NULL);
    if (!s->frame)
        return -EIO;
    stub_call_clone_thread(s->frame, false, 0, &s->call);
    return stub_clone_start(helper, &s->call, &s->run, &s->child);
}

static int spare_cloned(struct plat *p)
{
    struct spare *s = &p->spare;
    struct plat_thread *th;

    list_del_init(&s->child.link);
    if (s->run.result < 0)
        return (int)s->run.result;
    th = thread_make(s->as->helper->proc, s->child.tid, s->slot);
    if (!th)
        return -ENOMEM;
    th->helper = true;
    th->notif_id = s->child.notif_id;
    th->frame = s->frame;
    s->as->first = th;
    return 0;
}

/* The process that the step in progress depends on has died. */
static bool spare_lost(const struct plat *p)
{
    const struct spare *s = &p->spare;

    if (s->state == SPARE_FORKING)
        return p->zygote->proc->dead;
    return s->state != SPARE_NONE && s->as->helper->proc->dead;
}

void spare_step(struct plat *p)
{
    struct spare *s = &p->spare;
    int err = spare_lost(p) ? -EIO : 0;

    if (!err && s->state == SPARE_NONE && s->wanted) {
        err = spare_fork(p);
        s->state = SPARE_FORKING;
    } else if (!err && s->state == SPARE_FORKING && stub_clone_finished(&s->run, &s->child)) {
        err = spare_forked(p);
        s->state = SPARE_CLONING;
    } else if (!err && s->state == SPARE_CLONING && stub_clone_finished(&s->run, &s->child)) {
        err = spare_cloned(p);
        s->state = SPARE_READY;
    }
    if (err)
        spare_fail(p);
}

static bool spare_under_way(const struct spare *s)
{
    return s->state == SPARE_FORKING || s->state == SPARE_CLONING;
}

void unotify_prepare(struct plat *p, int host_fd)
{
    if (spare_under_way(&p->spare))
        (void)listener_poll(p, host_fd, SPARE_PATIENCE_NS);
    spare_step(p);
}

struct plat_as *spare_take(struct plat *p)
{
    struct spare *s = &p->spare;
    uint64_t end = now_ns() + SPARE_PATIENCE_NS;
    struct plat_as *as;

    while (spare_under_way(s) && !p->fatal && now_ns() < end) {
        spare_step(p);
        if (spare_under_way(s))
            (void)listener_poll(p, -1, 1000000000);
    }
    if (s->state == SPARE_READY && spare_lost(p))
        spare_fail(p);
    if (s->state != SPARE_READY) {
        if (s->state != SPARE_NONE)
            plat_fatal(p, "the zygote does not answer");
        s->wanted = s->asked;
        s->asked = true;
        return NULL;
    }
    as = s->as;
    s->as = NULL;
    s->state = SPARE_NONE;
    s->wanted = s->asked;
    s->asked = true;
    return as;
}
