/*
 * How this works: start, the event call, and the end of the user-notify platform. Start brings up
 * the zygote (spawn.c), takes the listener, empties the zygote's address space by stub
 * commands and finds out how large the extended state in a signal frame is. From then on the kernel
 * calls next_event; everything else happens in listener.c.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

enum {
    SLOT_MARGIN = 66,
    FX_SIZE = 512,
    FX_MXCSR = 24,
    FX_SW = 464, /* magic1, extended_size, xfeatures, xstate_size */
    MAX_AREA = 16384,
    MAX_ZYGOTE_MAPS = 24,
    ZYGOTE_TOKEN = 1,
};
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u

/* -- extended state ---------------------------------------------------------------------------- */

static uint8_t sample[MAX_AREA];
static size_t sample_size;

/* Takes a look at the host's own signal frame. */
static void sample_handler(int signo, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    const uint8_t *fp = (const uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t magic, size;

    (void)signo;
    (void)info;
    if (!fp)
        return;
    memcpy(&magic, fp + FX_SW, sizeof(magic));
    memcpy(&size, fp + FX_SW + 4, sizeof(size));
    sample_size = magic == XSTATE_MAGIC1 && size >= FX_SIZE && size <= MAX_AREA ? size : FX_SIZE;
    memcpy(sample, fp, sample_size);
}

static int fp_probe(struct plat *p)
{
    const uint16_t control = 0x37f;
    const uint32_t mxcsr = 0x1f80, magic2 = XSTATE_MAGIC2;
    struct sigaction sa, old;
    uint8_t *f;

    memset(&sa, 0, sizeof(sa));
    sa.sa_sigaction = sample_handler;
    sa.sa_flags = SA_SIGINFO;
    sample_size = 0;
    if (sigaction(SIGURG, &sa, &old) < 0)
        return -errno;
    (void)raise(SIGURG);
    __asm__ volatile("" ::: "memory"); /* raise() is declared to call nothing of ours */
    sigaction(SIGURG, &old, NULL);
    if (!sample_size)
        return -EIO;
    p->fp_size = sample_size;
    p->fp_fresh = f = kalloc(p->fp_size);
    if (!f)
        return -ENOMEM;
    memcpy(f, &control, sizeof(control));
    memcpy(f + FX_MXCSR, &mxcsr, sizeof(mxcsr));
    memcpy(f + FX_MXCSR + 4, sample + FX_MXCSR + 4, 4);
    memcpy(f + FX_SW, sample + FX_SW, FX_SIZE - FX_SW);
    if (p->fp_size > FX_SIZE)
        memcpy(f + p->fp_size - sizeof(magic2), &magic2, sizeof(magic2));
    p->layout.xsave_size = p->fp_size > FX_SIZE ? p->fp_size : 0;
    return 0;
}

/* -- start ------------------------------------------------------------------------------------- */

static void range_extend(uint64_t *start, uint64_t *end, uint64_t from, uint64_t to)
{
    *start = *end ? MIN(*start, from) : from;
    *end = MAX(*end, to);
}

/* One line of a memory map: its range; returns the next line, NULL when it is none. */
static const char *map_line(const char *line, uint64_t *ret_from, uint64_t *ret_to)
{
    char *dash, *space;

    *ret_from = strtoull(line, &dash, 16);
    if (*dash != '-')
        return NULL;
    *ret_to = strtoull(dash + 1, &space, 16);
    return *space == ' ' && strchr(space, '\n') ? strchr(space, '\n') + 1 : NULL;
}

static bool map_named(const char *line, const char *end, const char *name)
{
    const char *found = strstr(line, name);

    return found && found < end;
}

/* What the zygote was loaded with is unmapped; stub, slots, vvar and vdso stay. */
static int zygote_empty(struct plat *p, const char *maps)
{
    struct host_call calls[MAX_ZYGOTE_MAPS + 1];
    size_t n = 0;
    int64_t ret;

    stub_call_close_all(&calls[n++]);
    for (const char *line = maps, *next; *line; line = next) {
        uint64_t from, to;

        next = map_line(line, &from, &to);
        if (!next || n > MAX_ZYGOTE_MAPS)
            return -EINVAL;
        if (map_named(line, next, "[vvar"))
            range_extend(&p->layout.vvar_start, &p->layout.vvar_end, from, to);
        else if (map_named(line, next, "[vdso]"))
            range_extend(&p->layout.vdso_start, &p->layout.vdso_end, from, to);
        else if (from < STUB_USER_END && (from >= STUB_RANGE_END || to <= STUB_RANGE_START))
            stub_call_munmap_zygote(from, to - from, &calls[n++]);
    }
    p->layout.stub_start = STUB_RANGE_START;
    p->layout.stub_end = STUB_RANGE_END;
    ret = stub_run(p->zygote, calls, NULL, n);
    return ret < 0 ? (int)ret : 0;
}

static int zygote_adopt(struct plat *p)
{
    struct pending_child child;
    struct host_proc *proc;

    child = (struct pending_child){.token = ZYGOTE_TOKEN};
    list_add_tail(&p->children, &child.link);
    for (int tries = 0; !child.tid && !p->fatal && tries < 1000; tries++)
        (void)listener_poll(p, -1, 10000000);
    list_del_init(&child.link);
    if (!child.tid)
        return -EIO;
    p->zygote_as = as_make(p);
    if (!p->zygote_as || bitmap_grow(&p->zygote_as->slots, 64))
        return -ENOMEM;
    bitmap_set(&p->zygote_as->slots, 0);
    proc = proc_make(p->zygote_as, child.tid, child.notif_id);
    p->zygote = proc ? thread_make(proc, child.tid, 0) : NULL;
    if (!p->zygote)
        return -ENOMEM;
    p->zygote->helper = true;
    p->zygote->notif_id = child.notif_id;
    p->zygote_as->helper = p->zygote;
    return 0;
}

static int plat_init(struct plat *p, const struct plat_config *cfg)
{
    hash_init(&p->threads);
    list_init(&p->spaces);
    list_init(&p->events);
    list_init(&p->children);
    p->kick_patience = 5000000000;
    /* The default slack of 50 us would be added to every wait, here and for guests' timers. */
    prctl(PR_SET_TIMERSLACK, 1000);
    p->listener = p->deaths = p->init_pidfd = -1;
    p->max_slots = MIN(cfg->max_threads, (uint32_t)STUB_MAX_SLOTS - SLOT_MARGIN) + SLOT_MARGIN;
    p->deaths = epoll_create1(EPOLL_CLOEXEC);
    if (p->deaths < 0)
        return -errno;
    return fp_probe(p);
}

static int plat_boot(struct plat *p, const struct plat_config *cfg, struct error *err)
{
    struct epoll_event ev = {.events = EPOLLIN};
    struct zygote_boot boot;
    int ret = zygote_spawn(cfg, p->max_slots, &boot, err);

    if (ret)
        return ret;
    p->listener = boot.listener;
    p->init_pid = boot.init_pid;
    p->init_pidfd = boot.init_pidfd;
    p->sync_wake_up =
        ioctl(p->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) == 0;
    if (epoll_ctl(p->deaths, EPOLL_CTL_ADD, p->init_pidfd, &ev) < 0)
        return error_errno(err, errno, "watching the zygote");
    ret = zygote_adopt(p);
    if (ret)
        return error_errno(err, -ret, "the zygote did not come to the gate");
    ret = zygote_empty(p, boot.maps);
    if (ret)
        return error_errno(err, -ret, "emptying the zygote's address space");
    p->spare.wanted = true;
    spare_step(p);
    return 0;
}

/* -- the rest of the interface ----------------------------------------------------------------- */

static void unotify_next_event(struct plat *p, int host_fd, int64_t timeout_ns,
                               struct plat_event *ev)
{
    uint64_t end = timeout_ns > 0 ? now_ns() + (uint64_t)timeout_ns : 0;

    memset(ev, 0, sizeof(*ev));
    for (;;) {
        int64_t left = timeout_ns;

        if (p->fatal) {
            ev->kind = PLAT_EV_FATAL;
            ev->text = p->fatal;
            return;
        }
        if (event_pop(p, ev))
            return;
        spare_step(p);
        if (timeout_ns > 0) {
            uint64_t now = now_ns();

            left = now < end ? (int64_t)(end - now) : 0;
        }
        if (listener_poll(p, host_fd, left) == 0) {
            if (!p->fatal && list_empty(&p->events))
                return;
        }
    }
}

static void unotify_layout(struct plat *p, struct plat_layout *ret_layout)
{
    *ret_layout = p->layout;
}

/* The zygote is pid 1 of the guests. */
static void unotify_stop(struct plat *p)
{
    if (p->init_pidfd >= 0)
        syscall(SYS_pidfd_send_signal, p->init_pidfd, SIGKILL, NULL, 0);
}

static void unotify_shutdown(struct plat *p)
{
    struct plat_as *as;

    unotify_stop(p);
    while (!list_empty(&p->spaces)) {
        as = list_first(&p->spaces, struct plat_as, link);
        if (list_empty(&as->procs))
            as_free(as);
        else
            proc_kill(list_first(&as->procs, struct host_proc, link));
    }
    while (!list_empty(&p->events)) {
        struct queued_event *q = list_first(&p->events, struct queued_event, link);

        list_del_init(&q->link);
        kfree(q);
    }
    fd_close(p->listener);
    if (p->init_pid > 0)
        waitpid(p->init_pid, NULL, 0);
    fd_close(p->init_pidfd);
    fd_close(p->deaths);
    hash_done(&p->threads);
    kfree(p->fp_fresh);
    kfree(p);
}

static const struct plat_ops unotify_ops = {
    .name = "unotify",
    .next_event = unotify_next_event,
    .answer = unotify_answer,
    .answer_host = unotify_answer_host,
    .answer_kick = unotify_answer_kick,
    .interrupt = unotify_interrupt,
    .get_regs = unotify_get_regs,
    .set_regs = unotify_set_regs,
    .get_fp = unotify_get_fp,
    .set_fp = unotify_set_fp,
    .resume = unotify_resume,
    .as_new = unotify_as_new,
    .prepare = unotify_prepare,
    .thread_first = unotify_thread_first,
    .thread_clone = unotify_thread_clone,
    .fork = unotify_fork,
    .thread_exit = unotify_thread_exit,
    .process_kill = unotify_process_kill,
    .as_drop = unotify_as_drop,
    .thread_as = unotify_thread_as,
    .thread_owner = unotify_thread_owner,
    .map = unotify_map,
    .unmap = unotify_unmap,
    .protect = unotify_protect,
    .remap = unotify_remap,
    .advise = unotify_advise,
    .compare_exchange = unotify_compare_exchange,
    .read = unotify_read,
    .write = unotify_write,
    .thread_cputime = unotify_thread_cputime,
    .process_cputime = unotify_process_cputime,
    .layout = unotify_layout,
    .stop = unotify_stop,
    .shutdown = unotify_shutdown,
};

int plat_unotify_start(const struct plat_config *cfg, struct plat **ret_p, struct error *err)
{
    struct plat *p = kalloc(sizeof(*p));
    int ret;

    if (!p)
        return error_set(err, ENOMEM, "out of memory");
    ret = plat_init(p, cfg);
    if (ret)
        error_errno(err, -ret, "platform set-up");
    else
        ret = plat_boot(p, cfg, err);
    if (ret) {
        unotify_shutdown(p);
        return ret;
    }
    plat_ops = &unotify_ops;
    *ret_p = p;
    return 0;
}
