/*
 * The toy guest of the platform tests (world.h). On a real platform its program is the machine code
 * below; on the fake one world_program does the same to the thread's registers.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sys/mman.h>

#include "lib/error.h"
#include "tests/support/fake_platform.h"
#include "tests/support/test.h"
#include "tests/unit/platform/world.h"

/* clang-format off */
static const uint8_t program[] = {
    0x49, 0x89, 0x47, 0x38, /* loop: mov %rax, 56(%r15) */
    0x49, 0x8b, 0x07,       /*       mov (%r15), %rax */
    0x48, 0x83, 0xf8, 0xff, /*       cmp $-1, %rax */
    0x74, 0xfe,             /*       je . */
    0x49, 0x8b, 0x7f, 0x08, /*       mov 8(%r15), %rdi */
    0x49, 0x8b, 0x77, 0x10, /*       mov 16(%r15), %rsi */
    0x49, 0x8b, 0x57, 0x18, /*       mov 24(%r15), %rdx */
    0x4d, 0x8b, 0x57, 0x20, /*       mov 32(%r15), %r10 */
    0x4d, 0x8b, 0x47, 0x28, /*       mov 40(%r15), %r8 */
    0x4d, 0x8b, 0x4f, 0x30, /*       mov 48(%r15), %r9 */
    0x0f, 0x05,             /*       syscall */
    0xeb, 0xd7,             /*       jmp loop */
};
/* clang-format on */

struct box {
    uint64_t nr, args[6], result;
};

static bool world_program(struct plat_thread *th, void *arg)
{
    struct plat_regs *regs = fake_regs(th);
    struct plat_as *as = plat_ops->thread_as(th);
    struct box box;

    (void)arg;
    if (plat_write(as, GADDR(regs->r15 + 56), &regs->rax, 8) ||
        plat_read(as, GADDR(regs->r15), &box, sizeof(box)) || box.nr == WORLD_SPIN)
        return false;
    fake_raise_syscall(th, box.nr, box.args);
    return true;
}

static bool start_platform(struct world *w)
{
    struct plat_config cfg = {.max_threads = 64, .proc_fd = -1};
    struct timespec ts;
    struct error err;

    if (w->fake) {
        w->p = fake_platform_new();
        fake_set_program(w->p, world_program, w);
        return true;
    }
    clock_gettime(CLOCK_MONOTONIC, &ts);
    cfg.monotonic_offset = -((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec);
    error_init(&err);
    if (plat_unotify_start(&cfg, &w->p, &err) == 0)
        return true;
    /* Only where the machine offers no namespaces at all is this a reason to skip. */
    ck_assert_msg(strstr(err.text, "namespaces for the guests") != NULL, "%s", err.text);
    printf("skipped: %s\n", err.text);
    return false;
}

bool world_start(struct world *w, bool fake)
{
    struct plat_regs regs;

    memset(w, 0, sizeof(*w));
    w->fake = fake;
    if (!start_platform(w))
        return false;
    ck_assert_int_eq(plat_ops->as_new(w->p, &w->as), 0);
    ck_assert_int_eq(plat_ops->thread_first(w->as, w, &w->th), 0);
    ck_assert_ptr_eq(plat_ops->thread_owner(w->th), w);
    ck_assert_int_eq(map_anon(w->as, CODE_ADDR, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    ck_assert_int_eq(map_anon(w->as, BOX_ADDR, 16 * 4096, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(CODE_ADDR), program, sizeof(program)), 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    ck_assert_uint_eq(regs.rax | regs.rbx | regs.rsp | regs.rip | regs.r15, 0);
    regs.rsp = BOX_ADDR + 16 * 4096;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    start_at(w, w->th, 0, 500);
    return true;
}

void world_stop(struct world *w)
{
    plat_ops->stop(w->p);
    plat_ops->shutdown(w->p);
}

void expect_event(struct world *w, enum plat_event_kind kind, const struct plat_thread *th)
{
    plat_ops->next_event(w->p, -1, 5000000000, &w->ev);
    ck_assert_msg(w->ev.kind == kind, "event %d instead of %d: nr %lu signal %d address %lx %s",
                  (int)w->ev.kind, (int)kind, w->ev.nr, w->ev.signo, w->ev.fault_addr,
                  w->ev.text ? w->ev.text : "");
    if (th)
        ck_assert_ptr_eq(w->ev.thread, th);
}

void expect_call(struct world *w, const struct plat_thread *th, uint64_t nr)
{
    expect_event(w, PLAT_EV_SYSCALL, th);
    ck_assert_uint_eq(w->ev.nr, nr);
}

void box_set(struct plat_as *as, unsigned box, uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2,
             uint64_t a3, uint64_t a4, uint64_t a5)
{
    const uint64_t image[] = {nr, a0, a1, a2, a3, a4, a5};

    ck_assert_int_eq(plat_write(as, GADDR(BOX_ADDR + box * 64), image, sizeof(image)), 0);
}

int64_t box_result(struct plat_as *as, unsigned box)
{
    int64_t val;

    ck_assert_int_eq(plat_read(as, GADDR(BOX_ADDR + box * 64 + 56), &val, sizeof(val)), 0);
    return val;
}

void enter_context(struct world *w, struct plat_thread *th, int64_t val)
{
    plat_ops->answer_kick(th, val);
    expect_event(w, PLAT_EV_CONTEXT, th);
}

void start_at(struct world *w, struct plat_thread *th, unsigned box, uint64_t nr)
{
    struct plat_regs regs;

    ck_assert_int_eq(plat_ops->get_regs(th, &regs), 0);
    regs.r15 = BOX_ADDR + box * 64;
    regs.rip = CODE_ADDR;
    ck_assert_int_eq(plat_ops->set_regs(th, &regs), 0);
    box_set(plat_ops->thread_as(th), box, nr, 0, 0, 0, 0, 0, 0);
    plat_ops->resume(th);
    if (nr != WORLD_SPIN)
        expect_call(w, th, nr);
}

int map_anon(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot)
{
    const struct plat_map_req req = {
        .addr = addr, .len = len, .prot = prot, .flags = PLAT_MAP_ANON, .host_fd = -1};

    return plat_ops->map(as, &req, 1);
}
