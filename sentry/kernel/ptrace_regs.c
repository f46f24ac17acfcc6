/*
 * ptrace_regs.c: the registers of a stopped tracee in the forms of ptrace(2). General registers are
 * those of its context; extended state has the layout of a signal frame there, whose software bytes
 * are no business of the tracer's.
 */
#include "lib/compiler.h"

#include <cpuid.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/prctl.h"

#include "platform/gate_policy.h"

#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"

enum {
    USER_CS = 0x33,
    USER_SS = 0x2b,
    EFLAGS_USER = 0x54dd5, /* as FLAG_MASK of Linux; the host drops NT */
    EFLAGS_FIXED = 0x202,
    FP_MAX = 16384,
    XSAVE_HEADER = 512,
    XSAVE_HEADER_SIZE = 64,
    XSAVE_XCR0 = 464, /* of NT_X86_XSTATE: which components there are */
    FEATURE_X87 = 1,
    FEATURE_SSE = 2,
    FEATURES = 0x3ff,  /* tiles need a permission that nobody gets, and debuggers choke on them */
    FEATURE_FIRST = 2, /* with an area behind the header */
    FEATURE_LAST = 9,
    CPUID_XSAVE = 0xd
};

static uint8_t fp_buf[FP_MAX]; /* one worker, one buffer */

/* -- general ----------------------------------------------------------------------------------- */

void ptrace_get_regs(const struct task *t, struct lx_user_regs *ret_regs)
{
    const struct plat_regs *r = &t->regs;
    *ret_regs = (struct lx_user_regs){
        .r15 = r->r15,
        .r14 = r->r14,
        .r13 = r->r13,
        .r12 = r->r12,
        .rbp = r->rbp,
        .rbx = r->rbx,
        .r11 = r->r11,
        .r10 = r->r10,
        .r9 = r->r9,
        .r8 = r->r8,
        .rax = r->rax,
        .rcx = r->rcx,
        .rdx = r->rdx,
        .rsi = r->rsi,
        .rdi = r->rdi,
        .orig_rax = t->ptrace->orig_rax,
        .rip = r->rip,
        .cs = USER_CS,
        .eflags = r->eflags,
        .rsp = r->rsp,
        .ss = USER_SS,
        .fs_base = t->tls.v,
        .gs_base = t->gs_base.v,
    };
}

static bool bad_selector(uint64_t v)
{
    return (uint16_t)v != 0 && (v & 3) != 3;
}

int ptrace_set_base(struct task *t, int code, uint64_t base)
{
    gaddr_t *now = code == LX_ARCH_SET_FS ? &t->tls : &t->gs_base;
    struct host_call call;
    struct plat_regs regs;

    if (base >= LX_TASK_SIZE)
        return -EIO;
    if (base == now->v)
        return 0;
    if (host_call_arch_prctl((uint64_t)code, base, &call) < 0)
        return -EIO;
    plat_ops->answer_host(t->pth, &call);
    if (plat_ops->get_regs(t->pth, &regs) < 0 || regs.rax != 0)
        return -EIO;
    *now = GADDR(base);
    return 0;
}

int ptrace_set_regs(struct task *t, const struct lx_user_regs *u)
{
    struct plat_regs *r = &t->regs;

    if ((uint16_t)u->cs != USER_CS || (uint16_t)u->ss != USER_SS || bad_selector(u->ds) ||
        bad_selector(u->es) || bad_selector(u->fs) || bad_selector(u->gs) ||
        u->gs_base >= LX_TASK_SIZE)
        return -EIO;
    if (u->fs_base >= LX_TASK_SIZE)
        return -EIO;
    int err = ptrace_set_base(t, LX_ARCH_SET_FS, u->fs_base);
    if (err == 0)
        err = ptrace_set_base(t, LX_ARCH_SET_GS, u->gs_base);
    if (err < 0)
        return err;
    r->r15 = u->r15;
    r->r14 = u->r14;
    r->r13 = u->r13;
    r->r12 = u->r12;
    r->rbp = u->rbp;
    r->rbx = u->rbx;
    r->r11 = u->r11;
    r->r10 = u->r10;
    r->r9 = u->r9;
    r->r8 = u->r8;
    r->rax = u->rax;
    r->rcx = u->rcx;
    r->rdx = u->rdx;
    r->rsi = u->rsi;
    r->rdi = u->rdi;
    r->rip = u->rip;
    r->rsp = u->rsp;
    r->eflags = (r->eflags & ~(uint64_t)EFLAGS_USER) | (u->eflags & EFLAGS_USER) | EFLAGS_FIXED;
    t->ptrace->orig_rax = u->orig_rax;
    return 0;
}

/* -- extended ---------------------------------------------------------------------------------- */

/* Where the state of the features ends that a tracer sees. */
static size_t xstate_end(uint64_t features, size_t max)
{
    size_t end = XSAVE_HEADER + XSAVE_HEADER_SIZE;
    for (unsigned i = FEATURE_FIRST; i <= FEATURE_LAST; i++) {
        uint32_t size, offset, c, d;
        if ((features >> i & 1) == 0)
            continue;
        __cpuid_count(CPUID_XSAVE, i, size, offset, c, d);
        end = MAX(end, (size_t)offset + size);
    }
    return MIN(end, max);
}

/* The frame's state in fp_buf; *ret_size: bytes of XSAVE state, 512 without. */
static int fp_load(struct task *t, size_t *ret_size, struct lx_fpx_sw_bytes *ret_sw)
{
    int64_t n = plat_ops->get_fp(t->pth, fp_buf, sizeof(fp_buf));
    if (n < (int64_t)LX_FXSAVE_SIZE)
        return -EIO;
    memcpy(ret_sw, fp_buf + LX_FP_SW_OFFSET, sizeof(*ret_sw));
    *ret_size = LX_FXSAVE_SIZE;
    if (ret_sw->magic1 == LX_FP_XSTATE_MAGIC1 && ret_sw->xstate_size <= (uint64_t)n &&
        ret_sw->xstate_size >= XSAVE_HEADER + XSAVE_HEADER_SIZE)
        *ret_size = ret_sw->xstate_size;
    return 0;
}

static uint64_t present_get(void)
{
    uint64_t v;
    memcpy(&v, fp_buf + XSAVE_HEADER, sizeof(v));
    return v;
}

/* Components in their initial state are not in memory: the tracer sees them as they would be. */
static void fill_initial(size_t size)
{
    static const uint8_t fresh_fcw[2] = {0x7f, 0x03};
    uint64_t present = size > LX_FXSAVE_SIZE ? present_get() : FEATURE_X87 | FEATURE_SSE;
    if (!(present & FEATURE_X87)) {
        memset(fp_buf, 0, 24);
        memset(fp_buf + 32, 0, 128);
        memcpy(fp_buf, fresh_fcw, sizeof(fresh_fcw));
    }
    if (!(present & FEATURE_SSE))
        memset(fp_buf + 160, 0, 256);
}

int ptrace_get_fpregs(struct task *t, void *buf)
{
    struct lx_fpx_sw_bytes sw;
    size_t size;
    int r = fp_load(t, &size, &sw);
    if (r < 0)
        return r;
    fill_initial(size);
    memset(fp_buf + LX_FP_SW_OFFSET, 0, sizeof(sw));
    memcpy(buf, fp_buf, LX_FXSAVE_SIZE);
    return 0;
}

static int fp_store(struct task *t, size_t size, const struct lx_fpx_sw_bytes *sw)
{
    uint32_t magic2 = LX_FP_XSTATE_MAGIC2;
    memcpy(fp_buf + LX_FP_SW_OFFSET, sw, sizeof(*sw));
    if (size > LX_FXSAVE_SIZE && size + sizeof(magic2) <= FP_MAX) {
        memcpy(fp_buf + size, &magic2, sizeof(magic2));
        size += sizeof(magic2);
    }
    return plat_ops->set_fp(t->pth, fp_buf, size);
}

/* MXCSR bits that the processor does not have would fault when the thread goes on. */
static bool bad_mxcsr(const uint8_t *area)
{
    uint32_t mxcsr;
    memcpy(&mxcsr, area + offsetof(struct lx_fpstate, mxcsr), sizeof(mxcsr));
    return (mxcsr & ~0xffffu) != 0;
}

int ptrace_set_fpregs(struct task *t, const void *buf)
{
    struct lx_fpx_sw_bytes sw;
    size_t size;
    int r = fp_load(t, &size, &sw);
    if (r < 0)
        return r;
    if (bad_mxcsr(buf))
        return -EINVAL;
    memcpy(fp_buf, buf, LX_FP_SW_OFFSET);
    if (size > LX_FXSAVE_SIZE) {
        uint64_t present = present_get() | FEATURE_X87 | FEATURE_SSE;
        memcpy(fp_buf + XSAVE_HEADER, &present, sizeof(present));
    }
    return fp_store(t, size, &sw);
}

/* The state beyond FXSAVE, where there is one. */
static int xstate_load(struct task *t, size_t *ret_size, struct lx_fpx_sw_bytes *ret_sw)
{
    int r = fp_load(t, ret_size, ret_sw);
    return r < 0 ? r : *ret_size == LX_FXSAVE_SIZE ? -ENODEV : 0;
}

int64_t ptrace_get_xstate(struct task *t, const void **ret_buf)
{
    struct lx_fpx_sw_bytes sw;
    size_t size;
    int r = xstate_load(t, &size, &sw);
    if (r < 0)
        return r;
    uint64_t features = sw.xfeatures & FEATURES, present = present_get() & FEATURES;
    fill_initial(size);
    memset(fp_buf + LX_FP_SW_OFFSET, 0, sizeof(sw));
    memcpy(fp_buf + XSAVE_XCR0, &features, sizeof(features));
    memcpy(fp_buf + XSAVE_HEADER, &present, sizeof(present));
    *ret_buf = fp_buf;
    return (int64_t)xstate_end(features, size);
}

int ptrace_set_xstate(struct task *t, const void *buf, size_t len)
{
    struct lx_fpx_sw_bytes sw;
    static const uint8_t zeros[XSAVE_HEADER_SIZE - 8];
    const uint8_t *src = buf;
    uint64_t present;
    size_t size;
    int r = xstate_load(t, &size, &sw);
    if (r < 0)
        return r;
    if (len != xstate_end(sw.xfeatures, size))
        return -EFAULT;
    memcpy(&present, src + XSAVE_HEADER, sizeof(present));
    if ((present & ~(sw.xfeatures & FEATURES)) != 0 || bad_mxcsr(src) ||
        memcmp(src + XSAVE_HEADER + 8, zeros, sizeof(zeros)) != 0)
        return -EINVAL;
    present |= present_get() & ~(uint64_t)FEATURES;
    memcpy(fp_buf, src, len);
    memcpy(fp_buf + XSAVE_HEADER, &present, sizeof(present));
    return fp_store(t, size, &sw);
}
