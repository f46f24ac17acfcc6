/*
 * How this works: the test raises events into a queue; next_event hands them to the kernel under
 * test, whose answers change the state of the thread structs. A kicked or interrupted thread gets
 * its EV_CONTEXT queued at once. Registers are kept as a real thread's would be: a call leaves its
 * arguments in them, an answer sets rax. Extended state is 512 bytes (layout.xsave_size is 0).
 */
#include "tests/support/fake_platform.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/syscall.h>

#include "platform/gate_policy.h"

#include "lib/list.h"
#include "tests/support/fake_memory.h"

enum {
    FP_SIZE = 512
};
#define FAKE_STUB_START 0x6fff00000000ull
#define FAKE_STUB_END   (FAKE_STUB_START + 0x1000000)

struct plat {
    struct list_head threads; /* plat_thread.link */
    struct list_head spaces;  /* plat_as.link */
    struct list_head events;  /* queued.link */
    void (*pump)(void *arg);
    void *pump_arg;
    bool (*program)(struct plat_thread *th, void *arg);
    void *program_arg;
    uint64_t last_id, last_proc;
    uint64_t fail_countdown;
    int fail_err;
};

struct plat_as {
    struct plat *p;
    struct list_head link;
    struct fake_mem *mem;
    size_t threads;
};

struct plat_thread {
    struct plat_as *as;
    struct list_head link;
    uint64_t id, proc;
    void *owner;
    enum fake_state state;
    bool context_wanted; /* interrupt while AT_GATE */
    struct plat_regs regs;
    uint64_t args[6];
    uint64_t nr;
    uint64_t fs_base;
    uint64_t cputime;
    uint8_t fp[FP_SIZE];
};

struct queued {
    struct list_head link;
    struct plat_event ev;
};

static void *must_calloc(size_t n)
{
    void *p = calloc(1, n);

    if (!p)
        abort();
    return p;
}

static int fail_now(struct plat *p)
{
    return p->fail_countdown && --p->fail_countdown == 0 ? p->fail_err : 0;
}

void fake_fail_after(struct plat *p, uint64_t n, int err)
{
    p->fail_countdown = n;
    p->fail_err = err;
}

/* -- events ------------------------------------------------------------------------------------ */

static struct plat_event *event_queue(struct plat_thread *th, enum plat_event_kind kind)
{
    struct queued *q = must_calloc(sizeof(*q));

    q->ev.kind = kind;
    q->ev.thread = th;
    list_add_tail(&th->as->p->events, &q->link);
    return &q->ev;
}

static void events_forget(struct plat *p, const struct plat_thread *th)
{
    struct queued *q, *tmp;

    list_for_each_entry_safe (q, tmp, &p->events, link) {
        if (q->ev.thread == th) {
            list_del_init(&q->link);
            free(q);
        }
    }
}

static void enter_context(struct plat_thread *th)
{
    th->state = FAKE_IN_CONTEXT;
    th->context_wanted = false;
    event_queue(th, PLAT_EV_CONTEXT);
}

void fake_raise_syscall(struct plat_thread *th, uint64_t nr, const uint64_t args[6])
{
    struct plat_event *ev = event_queue(th, PLAT_EV_SYSCALL);

    th->state = FAKE_AT_GATE;
    th->nr = nr;
    memcpy(th->args, args, sizeof(th->args));
    th->regs.rax = nr;
    th->regs.rdi = args[0];
    th->regs.rsi = args[1];
    th->regs.rdx = args[2];
    th->regs.r10 = args[3];
    th->regs.r8 = args[4];
    th->regs.r9 = args[5];
    th->regs.rip += 2;
    th->regs.rcx = th->regs.rip;
    th->regs.r11 = th->regs.eflags;
    ev->nr = nr;
    memcpy(ev->args, args, sizeof(ev->args));
    ev->ip = th->regs.rip;
}

void fake_raise_fault(struct plat_thread *th, int signo, int code, uint64_t addr)
{
    struct plat_event *ev = event_queue(th, PLAT_EV_FAULT);

    th->state = FAKE_IN_CONTEXT;
    th->regs.cr2 = addr;
    ev->signo = signo;
    ev->code = code;
    ev->fault_addr = addr;
}

void fake_raise_death(struct plat_thread *th)
{
    events_forget(th->as->p, th);
    event_queue(th, PLAT_EV_THREAD_DEAD);
}

static bool run_programs(struct plat *p)
{
    struct plat_thread *th;

    if (!p->program)
        return false;
    list_for_each_entry (th, &p->threads, link) {
        if (th->state == FAKE_RUNNING && p->program(th, p->program_arg))
            return true;
    }
    return false;
}

static void wait_host(int host_fd, int64_t timeout_ns)
{
    struct pollfd fd = {.fd = host_fd, .events = POLLIN};
    struct timespec ts = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};

    if (timeout_ns < 0) {
        /* Nobody could ever wake us: the test decides what to do about it. */
        if (host_fd < 0)
            return;
        ts = (struct timespec){.tv_sec = 2};
    }
    ppoll(&fd, host_fd >= 0, &ts, NULL);
}

static void fake_next_event(struct plat *p, int host_fd, int64_t timeout_ns, struct plat_event *ev)
{
    struct queued *q;

    memset(ev, 0, sizeof(*ev));
    if (list_empty(&p->events) && !run_programs(p))
        wait_host(host_fd, timeout_ns);
    if (list_empty(&p->events))
        return;
    q = list_first(&p->events, struct queued, link);
    list_del_init(&q->link);
    *ev = q->ev;
    free(q);
}

/* -- answers and contexts ---------------------------------------------------------------------- */

static void fake_answer(struct plat_thread *th, int64_t val)
{
    if (th->state != FAKE_AT_GATE)
        abort();
    th->regs.rax = (uint64_t)val;
    th->state = FAKE_RUNNING;
    if (th->context_wanted)
        enter_context(th);
}

static int64_t host_execute(struct plat_thread *th, const struct host_call *c)
{
    struct plat_map_req req = {.flags = PLAT_MAP_ANON, .host_fd = -1};

    switch (c->nr) {
    case SYS_munmap:
        return fake_mem_unmap(th->as->mem, c->args[0], c->args[1]);
    case SYS_mprotect:
        return fake_mem_protect(th->as->mem, c->args[0], c->args[1], (uint32_t)c->args[2]);
    case SYS_madvise:
        return fake_mem_advise(th->as->mem, c->args[0], c->args[1], (int)c->args[2]);
    case SYS_mmap:
        req.addr = c->args[0];
        req.len = c->args[1];
        req.prot = (uint32_t)c->args[2];
        return fake_mem_map(th->as->mem, &req) ? -ENOMEM : (int64_t)req.addr;
    case SYS_arch_prctl:
        if (c->args[0] == 0x1002)
            th->fs_base = c->args[1];
        return 0;
    default:
        abort();
    }
}

static void fake_answer_host(struct plat_thread *th, const struct host_call *call)
{
    if (th->state == FAKE_IN_CONTEXT) {
        th->regs.rax = (uint64_t)host_execute(th, call);
        return;
    }
    if (!host_call_equals(call, th->nr, th->args))
        abort();
    fake_answer(th, host_execute(th, call));
}

static void fake_answer_kick(struct plat_thread *th, int64_t val)
{
    th->context_wanted = true;
    fake_answer(th, val);
}

static void fake_interrupt(struct plat_thread *th)
{
    /* A call whose event the kernel has not seen yet counts as RUNNING from its side. */
    if (th->state == FAKE_RUNNING)
        enter_context(th);
    else if (th->state == FAKE_AT_GATE) {
        struct queued *q;

        list_for_each_entry (q, &th->as->p->events, link) {
            if (q->ev.thread == th)
                th->context_wanted = true;
        }
    }
}

static void check_context(const struct plat_thread *th)
{
    if (th->state != FAKE_IN_CONTEXT)
        abort();
}

static int fake_get_regs(struct plat_thread *th, struct plat_regs *ret_regs)
{
    check_context(th);
    *ret_regs = th->regs;
    return 0;
}

static int fake_set_regs(struct plat_thread *th, const struct plat_regs *regs)
{
    check_context(th);
    th->regs = *regs;
    return 0;
}

static int64_t fake_get_fp(struct plat_thread *th, void *buf, size_t cap)
{
    size_t n = MIN(cap, sizeof(th->fp));

    check_context(th);
    memcpy(buf, th->fp, n);
    return (int64_t)n;
}

static int fake_set_fp(struct plat_thread *th, const void *buf, size_t len)
{
    check_context(th);
    memset(th->fp, 0, sizeof(th->fp));
    if (buf)
        memcpy(th->fp, buf, MIN(len, sizeof(th->fp)));
    return 0;
}

static void fake_resume(struct plat_thread *th)
{
    check_context(th);
    th->state = FAKE_RUNNING;
    if (th->context_wanted)
        enter_context(th);
}

/* -- threads, processes, address spaces ----------------------------------------------------------
 */

static struct plat_as *as_make(struct plat *p, struct fake_mem *mem)
{
    struct plat_as *as = must_calloc(sizeof(*as));

    as->p = p;
    as->mem = mem;
    list_add_tail(&p->spaces, &as->link);
    return as;
}

static void as_free(struct plat_as *as)
{
    list_del_init(&as->link);
    fake_mem_free(as->mem);
    free(as);
}

static struct plat_thread *thread_make(struct plat_as *as, uint64_t proc, void *owner)
{
    struct plat_thread *th = must_calloc(sizeof(*th));

    th->as = as;
    th->id = ++as->p->last_id;
    th->proc = proc;
    th->owner = owner;
    th->state = FAKE_IN_CONTEXT;
    th->regs.cs = 0x33;
    th->regs.ss = 0x2b;
    th->regs.eflags = 0x202;
    as->threads++;
    list_add_tail(&as->p->threads, &th->link);
    return th;
}

static struct plat_thread *thread_copy(struct plat_as *as, const struct plat_thread *parent,
                                       uint64_t proc, bool set_tls, uint64_t tls, void *owner)
{
    struct plat_thread *th = thread_make(as, proc, owner);

    th->regs = parent->regs;
    memcpy(th->fp, parent->fp, sizeof(th->fp));
    th->fs_base = set_tls ? tls : parent->fs_base;
    return th;
}

static int fake_as_new(struct plat *p, struct plat_as **ret_as)
{
    int err = fail_now(p);

    if (err)
        return err;
    *ret_as = as_make(p, fake_mem_new());
    return 0;
}

static int fake_thread_first(struct plat_as *as, void *owner, struct plat_thread **ret_th)
{
    int err = fail_now(as->p);

    if (err)
        return err;
    *ret_th = thread_make(as, ++as->p->last_proc, owner);
    return 0;
}

static int fake_thread_clone(struct plat_thread *parent, bool set_tls, uint64_t tls, void *owner,
                             struct plat_thread **ret_th)
{
    int err = fail_now(parent->as->p);

    check_context(parent);
    if (err)
        return err;
    *ret_th = thread_copy(parent->as, parent, parent->proc, set_tls, tls, owner);
    return 0;
}

static int fake_fork(struct plat_thread *parent, bool share_vm, bool set_tls, uint64_t tls,
                     void *owner, struct plat_as **ret_as, struct plat_thread **ret_th)
{
    struct plat_as *as = parent->as;
    int err = fail_now(as->p);

    check_context(parent);
    if (err)
        return err;
    if (!share_vm)
        as = as_make(as->p, fake_mem_fork(as->mem));
    *ret_th = thread_copy(as, parent, ++as->p->last_proc, set_tls, tls, owner);
    *ret_as = as;
    return 0;
}

static void thread_free(struct plat_thread *th)
{
    struct plat_as *as = th->as;

    events_forget(as->p, th);
    list_del_init(&th->link);
    free(th);
    if (--as->threads == 0)
        as_free(as);
}

static void fake_thread_exit(struct plat_thread *th)
{
    thread_free(th);
}

static void fake_process_kill(struct plat_thread *th)
{
    struct plat *p = th->as->p;
    uint64_t proc = th->proc;
    struct plat_thread *t, *tmp;

    list_for_each_entry_safe (t, tmp, &p->threads, link) {
        if (t->proc == proc)
            thread_free(t);
    }
}

static void fake_as_drop(struct plat_as *as)
{
    if (as->threads)
        abort();
    as_free(as);
}

static struct plat_as *fake_thread_as(struct plat_thread *th)
{
    return th->as;
}

static void *fake_thread_owner(struct plat_thread *th)
{
    return th->owner;
}

/* -- memory --------------------------------------------------------------------------------------
 */

static bool touches_stub(uint64_t addr, uint64_t len)
{
    return addr < FAKE_STUB_END && addr + len > FAKE_STUB_START;
}

static int check_range(struct plat_as *as, uint64_t addr, uint64_t len)
{
    int err = fail_now(as->p);

    return err ? err : touches_stub(addr, len) || !len ? -EINVAL : 0;
}

static int fake_map(struct plat_as *as, const struct plat_map_req *reqs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int err = check_range(as, reqs[i].addr, reqs[i].len);

        if (!err)
            err = fake_mem_map(as->mem, &reqs[i]);
        if (err)
            return err;
    }
    return 0;
}

static int fake_unmap(struct plat_as *as, uint64_t addr, uint64_t len)
{
    int err = check_range(as, addr, len);

    return err ? err : fake_mem_unmap(as->mem, addr, len);
}

static int fake_protect(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot)
{
    int err = check_range(as, addr, len);

    return err ? err : fake_mem_protect(as->mem, addr, len, prot);
}

static int fake_remap(struct plat_as *as, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                      uint64_t new_len, bool dontunmap)
{
    int err = check_range(as, old_addr, old_len);

    if (!err)
        err = check_range(as, new_addr, new_len);
    return err ? err : fake_mem_remap(as->mem, old_addr, old_len, new_addr, new_len, dontunmap);
}

static int fake_advise(struct plat_as *as, uint64_t addr, uint64_t len, int advice)
{
    int err = check_range(as, addr, len);

    return err ? err : fake_mem_advise(as->mem, addr, len, advice);
}

static int fake_compare_exchange(struct plat_as *as, uint64_t addr, uint32_t expected,
                                 uint32_t desired, uint32_t *ret_found)
{
    struct plat_seg seg = {addr, sizeof(uint32_t)};
    int err = check_range(as, addr, sizeof(uint32_t));

    if (err)
        return err;
    if (fake_mem_copy(as->mem, &seg, 1, ret_found, sizeof(uint32_t), false) != sizeof(uint32_t))
        return -EFAULT;
    if (*ret_found != expected)
        return 0;
    return fake_mem_copy(as->mem, &seg, 1, &desired, sizeof(uint32_t), true) == sizeof(uint32_t)
               ? 0
               : -EFAULT;
}

static int64_t fake_read(struct plat_as *as, const struct plat_seg *segs, size_t n, void *buf,
                         size_t len)
{
    return fake_mem_copy(as->mem, segs, n, buf, len, false);
}

static int64_t fake_write(struct plat_as *as, const struct plat_seg *segs, size_t n,
                          const void *buf, size_t len)
{
    union {
        const void *in;
        void *out;
    } u = {.in = buf};

    return fake_mem_copy(as->mem, segs, n, u.out, len, true);
}

/* -- accounting and end ------------------------------------------------------------------------ */

static uint64_t fake_thread_cputime(struct plat_thread *th)
{
    return th->cputime;
}

static uint64_t fake_process_cputime(struct plat_thread *th)
{
    struct plat_thread *t;
    uint64_t sum = 0;

    list_for_each_entry (t, &th->as->p->threads, link)
        sum += t->proc == th->proc ? t->cputime : 0;
    return sum;
}

static void fake_layout(struct plat *p, struct plat_layout *ret_layout)
{
    (void)p;
    *ret_layout = (struct plat_layout){.stub_start = FAKE_STUB_START, .stub_end = FAKE_STUB_END};
}

static void fake_prepare(struct plat *p, int host_fd)
{
    (void)p;
    (void)host_fd;
}

/* Its threads run only when asked to. */
static void fake_stop(struct plat *p)
{
    (void)p;
}

static void fake_shutdown(struct plat *p)
{
    struct plat_thread *th, *th_tmp;
    struct plat_as *as, *as_tmp;

    list_for_each_entry_safe (th, th_tmp, &p->threads, link)
        thread_free(th);
    list_for_each_entry_safe (as, as_tmp, &p->spaces, link)
        as_free(as);
    while (!list_empty(&p->events)) {
        struct queued *q = list_first(&p->events, struct queued, link);

        list_del_init(&q->link);
        free(q);
    }
    free(p);
}

static const struct plat_ops fake_ops = {
    .name = "fake",
    .next_event = fake_next_event,
    .answer = fake_answer,
    .answer_host = fake_answer_host,
    .answer_kick = fake_answer_kick,
    .interrupt = fake_interrupt,
    .get_regs = fake_get_regs,
    .set_regs = fake_set_regs,
    .get_fp = fake_get_fp,
    .set_fp = fake_set_fp,
    .resume = fake_resume,
    .as_new = fake_as_new,
    .prepare = fake_prepare,
    .thread_first = fake_thread_first,
    .thread_clone = fake_thread_clone,
    .fork = fake_fork,
    .thread_exit = fake_thread_exit,
    .process_kill = fake_process_kill,
    .as_drop = fake_as_drop,
    .thread_as = fake_thread_as,
    .thread_owner = fake_thread_owner,
    .map = fake_map,
    .unmap = fake_unmap,
    .protect = fake_protect,
    .remap = fake_remap,
    .advise = fake_advise,
    .compare_exchange = fake_compare_exchange,
    .read = fake_read,
    .write = fake_write,
    .thread_cputime = fake_thread_cputime,
    .process_cputime = fake_process_cputime,
    .layout = fake_layout,
    .stop = fake_stop,
    .shutdown = fake_shutdown,
};

/* -- the test's side --------------------------------------------------------------------------- */

struct plat *fake_platform_new(void)
{
    struct plat *p = must_calloc(sizeof(*p));

    list_init(&p->threads);
    list_init(&p->spaces);
    list_init(&p->events);
    plat_ops = &fake_ops;
    return p;
}

void fake_set_pump(struct plat *p, void (*pump)(void *arg), void *arg)
{
    p->pump = pump;
    p->pump_arg = arg;
}

void fake_set_program(struct plat *p, bool (*program)(struct plat_thread *th, void *arg), void *arg)
{
    p->program = program;
    p->program_arg = arg;
}

struct plat_thread *fake_thread(struct plat *p, uint64_t id)
{
    struct plat_thread *th;

    list_for_each_entry (th, &p->threads, link) {
        if (th->id == id)
            return th;
    }
    return NULL;
}

static int64_t pump_until_running(struct plat *p, uint64_t id)
{
    for (int idle = 0; idle < 2;) {
        struct plat_thread *th = fake_thread(p, id);

        if (!th)
            return FAKE_GONE;
        if (th->state == FAKE_RUNNING)
            return (int64_t)th->regs.rax;
        if (!p->pump)
            break;
        idle = list_empty(&p->events) ? idle + 1 : 0;
        p->pump(p->pump_arg);
    }
    return FAKE_BLOCKED;
}

int64_t fake_result(struct plat_thread *th)
{
    return pump_until_running(th->as->p, th->id);
}

int64_t fake_syscall(struct plat_thread *th, uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2,
                     uint64_t a3, uint64_t a4, uint64_t a5)
{
    fake_raise_syscall(th, nr, (const uint64_t[6]){a0, a1, a2, a3, a4, a5});
    return fake_result(th);
}

bool fake_alive(struct plat *p, uint64_t id)
{
    return fake_thread(p, id) != NULL;
}

uint64_t fake_id(const struct plat_thread *th)
{
    return th->id;
}

uint64_t fake_newest(struct plat *p)
{
    return p->last_id;
}

size_t fake_thread_count(struct plat *p)
{
    struct plat_thread *th;
    size_t n = 0;

    list_for_each_entry (th, &p->threads, link)
        n++;
    return n;
}

enum fake_state fake_state(const struct plat_thread *th)
{
    return th->state;
}

struct plat_regs *fake_regs(struct plat_thread *th)
{
    return &th->regs;
}

uint64_t fake_fs_base(const struct plat_thread *th)
{
    return th->fs_base;
}

int fake_page_prot(struct plat_as *as, uint64_t addr)
{
    return fake_mem_prot(as->mem, addr);
}

void fake_set_cputime(struct plat_thread *th, uint64_t ns)
{
    th->cputime = ns;
}
