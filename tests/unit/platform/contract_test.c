/*
 * The contract of platform.h: every case runs on the fake platform and on user-notify, and must
 * give the same result on both.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "abi/errno.h"

#include "platform/gate_policy.h"

#include "tests/support/fake_platform.h"
#include "tests/support/test.h"
#include "tests/unit/platform/world.h"

#define CONTRACT(name)                    \
    static void name(struct world *w);    \
    TEST(name##_fake)                     \
    {                                     \
        struct world w;                   \
        ck_assert(world_start(&w, true)); \
        name(&w);                         \
        world_stop(&w);                   \
    }                                     \
    END_TEST                              \
    TEST(name##_unotify)                  \
    {                                     \
        struct world w;                   \
        if (!world_start(&w, false))      \
            return;                       \
        name(&w);                         \
        world_stop(&w);                   \
    }                                     \
    END_TEST                              \
    static void name(struct world *w)

CONTRACT(call_is_seen_and_answered)
{
    box_set(w->as, 0, 501, 1, 2, 3, 4, 5, UINT64_MAX);
    plat_ops->answer(w->th, -EPERM);
    expect_call(w, w->th, 501);
    ck_assert_int_eq(box_result(w->as, 0), -EPERM);
    ck_assert_uint_eq(w->ev.args[0], 1);
    ck_assert_uint_eq(w->ev.args[4], 5);
    ck_assert_uint_eq(w->ev.args[5], UINT64_MAX);
    ck_assert_uint_gt(w->ev.ip, CODE_ADDR);
    plat_ops->next_event(w->p, -1, 1000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
}

CONTRACT(compare_exchange_changes_a_word)
{
    uint32_t v = 7, found = 0;

    ck_assert_int_eq(plat_write(w->as, GADDR(BOX_ADDR + 2048), &v, sizeof(v)), 0);
    ck_assert_int_eq(plat_ops->compare_exchange(w->as, BOX_ADDR + 2048, 8, 1, &found), 0);
    ck_assert_uint_eq(found, 7);
    ck_assert_int_eq(plat_ops->compare_exchange(w->as, BOX_ADDR + 2048, 7, 0xfffffff5, &found), 0);
    ck_assert_uint_eq(found, 7);
    ck_assert_int_eq(plat_ops->compare_exchange(w->as, BOX_ADDR + 2048, 0xfffffff5, 2, &found), 0);
    ck_assert_uint_eq(found, 0xfffffff5); /* no error number */
    ck_assert_int_eq(plat_read(w->as, GADDR(BOX_ADDR + 2048), &v, sizeof(v)), 0);
    ck_assert_uint_eq(v, 2);
}

CONTRACT(kick_gives_the_registers)
{
    struct plat_regs regs;

    for (uint64_t i = 0; i < 20; i++) {
        enter_context(w, w->th, (int64_t)i - 10);
        ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
        ck_assert_int_eq((int64_t)regs.rax, (int64_t)i - 10);
        ck_assert_uint_eq(regs.rbx, i);
        ck_assert_uint_eq(regs.cs, 0x33);
        regs.rbx = i + 1;
        regs.rax = 77;
        ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
        plat_ops->resume(w->th);
        expect_call(w, w->th, 500);
        ck_assert_int_eq(box_result(w->as, 0), 77);
    }
}

static bool writes_fail;

/* Instead of the library's. */
ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long nlocal,
                          const struct iovec *remote, unsigned long nremote, unsigned long flags)
{
    if (writes_fail) {
        errno = EFAULT;
        return -1;
    }
    return syscall(SYS_process_vm_writev, pid, local, nlocal, remote, nremote, flags);
}

CONTRACT(thread_out_of_reach_is_ended)
{
    struct plat_regs regs;

    if (w->fake)
        return;
    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    writes_fail = true;
    plat_ops->resume(w->th);
    writes_fail = false;
    expect_event(w, PLAT_EV_THREAD_DEAD, w->th);
}

CONTRACT(memory_operations)
{
    char buf[64] = "";
    const uint64_t a = FREE_ADDR;

    ck_assert_int_eq(map_anon(w->as, a, 8192, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(a + 4090), "0123456789", 11), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(a + 4090), buf, 11), 0);
    ck_assert_str_eq(buf, "0123456789");
    ck_assert_int_eq(plat_read_str(w->as, GADDR(a + 4090), buf, sizeof(buf)), 10);
    ck_assert_int_eq(plat_read_str(w->as, GADDR(a + 4090), buf, 5), -ENAMETOOLONG);
    ck_assert_int_eq(plat_ops->protect(w->as, a + 4096, 4096, PROT_NONE), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(a + 4090), buf, 11), -EFAULT);
    ck_assert_int_eq(plat_read_str(w->as, GADDR(a + 4090), buf, sizeof(buf)), -EFAULT);
    ck_assert_int_eq(plat_ops->read(w->as, &(struct plat_seg){a + 4090, 11}, 1, buf, 11), 6);
    ck_assert_int_eq(plat_ops->write(w->as, &(struct plat_seg){a + 4090, 11}, 1, buf, 11), 6);
    ck_assert_int_eq(plat_ops->protect(w->as, a + 4096, 4096, PROT_READ), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(a + 4096), "x", 1), -EFAULT);
    ck_assert_int_eq(plat_read(w->as, GADDR(a + 4090), buf, 11), 0);
    ck_assert_int_eq(plat_ops->protect(w->as, a, 8192, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(plat_ops->remap(w->as, a, 8192, a + 0x100000, 3 * 4096, false), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(a), buf, 1), -EFAULT);
    ck_assert_int_eq(plat_read_str(w->as, GADDR(a + 0x100000 + 4090), buf, sizeof(buf)), 10);
    ck_assert_int_eq(plat_write(w->as, GADDR(a + 0x100000 + 8192), "y", 1), 0);
    ck_assert_int_eq(plat_ops->advise(w->as, a + 0x100000, 4096, MADV_DONTNEED), 0);
    ck_assert_int_eq(plat_read_str(w->as, GADDR(a + 0x100000 + 4090), buf, sizeof(buf)), 0);
    ck_assert_int_eq(plat_ops->unmap(w->as, a + 0x100000, 3 * 4096), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(a + 0x100000), buf, 1), -EFAULT);
}

CONTRACT(vectors_stop_at_the_first_fault)
{
    const struct plat_seg segs[] = {{BOX_ADDR + 4096, 4}, {BOX_ADDR + 8192, 4}, {FREE_ADDR, 4}};
    char buf[12];

    ck_assert_int_eq(plat_ops->write(w->as, segs, 3, "abcdefghijkl", 12), 8);
    ck_assert_int_eq(plat_ops->read(w->as, segs, 3, buf, 12), 8);
    ck_assert_mem_eq(buf, "abcdefgh", 8);
    ck_assert_int_eq(plat_ops->read(w->as, segs, 2, buf, 8), 8);
    ck_assert_int_eq(plat_ops->read(w->as, segs + 2, 1, buf, 4), -EFAULT);
}

CONTRACT(files_are_mapped_shared_and_private)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    struct plat_map_req reqs[] = {
        {.addr = FREE_ADDR, .len = 8192, .prot = 3, .flags = PLAT_MAP_SHARED, .host_fd = fd},
        {.addr = FREE_ADDR + 8192, .len = 4096, .prot = 3, .host_fd = fd, .offset = 4096},
        {.addr = FREE_ADDR + 12288, .len = 4096, .prot = 1, .flags = PLAT_MAP_ANON, .host_fd = -1},
    };
    char buf[8] = "";

    ck_assert_int_eq(ftruncate(fd, 8192), 0);
    ck_assert_int_eq(pwrite(fd, "hello", 6, 4096), 6);
    ck_assert_int_eq(plat_ops->map(w->as, reqs, 3), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(FREE_ADDR + 8192), buf, 6), 0);
    ck_assert_str_eq(buf, "hello");
    ck_assert_int_eq(plat_write(w->as, GADDR(FREE_ADDR + 8192), "J", 1), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(FREE_ADDR + 4096), "H", 1), 0);
    ck_assert_int_eq(pread(fd, buf, 6, 4096), 6);
    ck_assert_str_eq(buf, "Hello");
    close(fd);
}

/* Each mapping is of its own file, whichever came before it. */
CONTRACT(files_are_mapped_in_turn)
{
    static const char order[] = "aab-abba";
    struct plat_map_req reqs[8];
    int fds[2];
    char c;

    for (int i = 0; i < 2; i++) {
        fds[i] = memfd_create("file", MFD_CLOEXEC);
        ck_assert_int_eq(ftruncate(fds[i], 4096), 0);
        ck_assert_int_eq(pwrite(fds[i], &"ab"[i], 1, 0), 1);
    }
    for (uint64_t i = 0; i < 8; i++) {
        bool anon = order[i] == '-';

        reqs[i] = (struct plat_map_req){.addr = FREE_ADDR + i * 4096,
                                        .len = 4096,
                                        .prot = 1,
                                        .flags = anon ? PLAT_MAP_ANON : 0,
                                        .host_fd = anon ? -1 : fds[order[i] == 'b']};
    }
    ck_assert_int_eq(plat_ops->map(w->as, reqs, 8), 0);
    for (uint64_t i = 0; i < 8; i++) {
        ck_assert_int_eq(plat_read(w->as, GADDR(FREE_ADDR + i * 4096), &c, 1), 0);
        ck_assert_int_eq(c, order[i] == '-' ? 0 : order[i]);
    }
    close(fds[0]);
    close(fds[1]);
}

CONTRACT(host_executes_what_was_composed)
{
    struct host_call call;

    ck_assert_int_eq(map_anon(w->as, FREE_ADDR, 4096, PROT_READ), 0);
    box_set(w->as, 0, SYS_munmap, FREE_ADDR, 4096, 9, 9, 9, 9);
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, SYS_munmap);
    ck_assert_int_eq(host_call_munmap(FREE_ADDR, 4096, &call), 0);
    box_set(w->as, 0, 501, 0, 0, 0, 0, 0, 0);
    plat_ops->answer_host(w->th, &call);
    expect_call(w, w->th, 501);
    ck_assert_int_eq(box_result(w->as, 0), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(FREE_ADDR), &call, 1), -EFAULT);
}

CONTRACT(platform_range_is_refused)
{
    struct plat_layout l;
    struct host_call call;

    plat_ops->layout(w->p, &l);
    ck_assert_uint_lt(l.stub_start, l.stub_end);
    ck_assert_int_lt(map_anon(w->as, l.stub_start, 4096, PROT_READ), 0);
    ck_assert_int_lt(map_anon(w->as, l.stub_start - 4096, 8192, PROT_READ), 0);
    ck_assert_int_lt(plat_ops->unmap(w->as, l.stub_end - 4096, 4096), 0);
    ck_assert_int_lt(plat_ops->protect(w->as, l.stub_start, 4096, PROT_WRITE), 0);
    ck_assert_int_lt(plat_ops->remap(w->as, BOX_ADDR, 4096, l.stub_start, 4096, false), 0);
    ck_assert_int_lt(host_call_munmap(0x10000, l.stub_end, &call), 0);
}

CONTRACT(fork_copies)
{
    struct plat_thread *child;
    struct plat_as *as;
    struct plat_regs regs;

    ck_assert_int_eq(plat_write(w->as, GADDR(BOX_ADDR + 4096), "before", 7), 0);
    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    regs.r12 = 1212;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, &as, &as, &child), 0);
    ck_assert_ptr_eq(plat_ops->thread_owner(child), &as);
    ck_assert_ptr_eq(plat_ops->thread_as(child), as);
    ck_assert_ptr_ne(as, w->as);
    ck_assert_int_eq(plat_ops->get_regs(child, &regs), 0);
    ck_assert_uint_eq(regs.r12, 1212);
    start_at(w, child, 0, 601);
    ck_assert_int_eq(plat_write(as, GADDR(BOX_ADDR + 4096), "after", 6), 0);
    start_at(w, w->th, 0, 602);
    char buf[8];
    ck_assert_int_eq(plat_read(w->as, GADDR(BOX_ADDR + 4096), buf, 7), 0);
    ck_assert_str_eq(buf, "before");
    plat_ops->process_kill(child);
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, 602);
}

/* Memory operations of a fresh fork while its thread waits for an answer. */
CONTRACT(fork_maps_before_it_is_answered)
{
    struct plat_thread *child;
    struct plat_as *as;
    struct host_call call;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    start_at(w, child, 0, 600);
    for (uint64_t i = 0; i < 6; i++) {
        box_set(as, 0, SYS_munmap, FREE_ADDR + i * 4096, 4096, 0, 0, 0, 0);
        plat_ops->answer(child, (int64_t)i);
        expect_call(w, child, SYS_munmap);
        ck_assert_int_eq(box_result(as, 0), (int64_t)i);
        ck_assert_int_eq(map_anon(as, FREE_ADDR + i * 4096, 4096, PROT_READ), 0);
        ck_assert_int_eq(host_call_munmap(FREE_ADDR + i * 4096, 4096, &call), 0);
        box_set(as, 0, 603, 0, 0, 0, 0, 0, 0);
        plat_ops->answer_host(child, &call);
        expect_call(w, child, 603);
        ck_assert_int_eq(box_result(as, 0), 0);
        ck_assert_int_eq(plat_read(as, GADDR(FREE_ADDR + i * 4096), &call, 1), -EFAULT);
        ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
        enter_context(w, child, 31);
        struct plat_regs regs;
        ck_assert_int_eq(plat_ops->get_regs(child, &regs), 0);
        ck_assert_uint_eq(regs.rax, 31);
        ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
        plat_ops->resume(child);
        expect_call(w, child, 603);
        ck_assert_int_eq(box_result(as, 0), 31);
    }
    plat_ops->thread_exit(child);
}

CONTRACT(shared_process_sees_writes)
{
    struct plat_thread *child;
    struct plat_as *as;
    char buf[8];

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, true, true, 0x1234, NULL, &as, &child), 0);
    ck_assert_ptr_eq(as, w->as);
    start_at(w, child, 1, 601);
    ck_assert_int_eq(plat_write(as, GADDR(BOX_ADDR + 4096), "seen", 5), 0);
    ck_assert_int_eq(plat_read(w->as, GADDR(BOX_ADDR + 4096), buf, 5), 0);
    ck_assert_str_eq(buf, "seen");
    ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
    plat_ops->process_kill(child);
    start_at(w, w->th, 0, 602);
    ck_assert_int_eq(map_anon(w->as, FREE_ADDR, 4096, PROT_READ), 0);
}

/* vfork, then the parent's process (which holds the helper) ends first. */
CONTRACT(shared_process_outlives_its_parent)
{
    struct plat_thread *child;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, true, false, 0, NULL, &as, &child), 0);
    start_at(w, child, 1, 601);
    plat_ops->process_kill(w->th);
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_int_eq(map_anon(as, FREE_ADDR + i * 4096, 4096, PROT_READ), 0);
    plat_ops->answer(child, 7);
    expect_call(w, child, 601);
    ck_assert_int_eq(box_result(as, 1), 7);
}

/* More threads one after the other than there are slots. */
CONTRACT(threads_come_and_go)
{
    struct plat_thread *child;

    for (int i = 0; i < 200; i++) {
        enter_context(w, w->th, 0);
        ck_assert_int_eq(plat_ops->thread_clone(w->th, true, 0x1000, NULL, &child), 0);
        ck_assert_ptr_eq(plat_ops->thread_as(child), w->as);
        start_at(w, child, 1, SYS_exit);
        start_at(w, w->th, 0, 500);
        plat_ops->thread_exit(child);
    }
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, 500);
}

CONTRACT(thread_that_computes_is_interrupted)
{
    struct plat_regs regs;

    enter_context(w, w->th, 0);
    start_at(w, w->th, 0, WORLD_SPIN);
    plat_ops->next_event(w->p, -1, 1000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
    plat_ops->interrupt(w->th);
    plat_ops->interrupt(w->th);
    expect_event(w, PLAT_EV_CONTEXT, w->th);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    start_at(w, w->th, 0, 502);
    plat_ops->next_event(w->p, -1, 1000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
    /* No effect on a thread at the gate. */
    plat_ops->interrupt(w->th);
    plat_ops->answer(w->th, 0);
    expect_call(w, w->th, 502);
}

CONTRACT(memory_of_a_computing_thread)
{
    enter_context(w, w->th, 0);
    start_at(w, w->th, 0, WORLD_SPIN);
    ck_assert_int_eq(map_anon(w->as, FREE_ADDR, 4096, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(plat_write(w->as, GADDR(FREE_ADDR), "x", 1), 0);
    plat_ops->interrupt(w->th);
    expect_event(w, PLAT_EV_CONTEXT, w->th);
    plat_ops->process_kill(w->th);
}

CONTRACT(process_with_threads_is_killed)
{
    struct plat_thread *child[8];
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->as_new(w->p, &as), 0);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_int_eq(plat_ops->thread_clone(w->th, false, 0, NULL, &child[i]), 0);
    for (unsigned i = 0; i < 8; i++)
        start_at(w, child[i], i + 1, i & 1 ? WORLD_SPIN : 700);
    plat_ops->answer(child[0], 0); /* its next event is to be forgotten */
    plat_ops->process_kill(child[3]);
    plat_ops->next_event(w->p, -1, 20000000, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
    ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ), 0);
    plat_ops->as_drop(as);
}

/* The first thread of a forked process ends before the others. */
CONTRACT(leader_ends_first)
{
    struct plat_thread *child, *second;
    struct plat_as *as;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->fork(w->th, false, false, 0, NULL, &as, &child), 0);
    start_at(w, child, 0, 600);
    enter_context(w, child, 0);
    ck_assert_int_eq(plat_ops->thread_clone(child, false, 0, NULL, &second), 0);
    start_at(w, second, 1, 601);
    start_at(w, child, 0, SYS_exit);
    plat_ops->thread_exit(child);
    ck_assert_int_eq(map_anon(as, FREE_ADDR, 4096, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(plat_write(as, GADDR(FREE_ADDR), "x", 1), 0);
    plat_ops->answer(second, 5);
    expect_call(w, second, 601);
    ck_assert_int_eq(box_result(as, 1), 5);
    plat_ops->thread_exit(second);
    start_at(w, w->th, 0, 500);
}

CONTRACT(extended_state_is_kept)
{
    uint8_t fp[4096], back[4096];
    struct plat_layout l;
    int64_t n;

    plat_ops->layout(w->p, &l);
    enter_context(w, w->th, 0);
    n = plat_ops->get_fp(w->th, fp, sizeof(fp));
    ck_assert_int_eq(n, (int64_t)(l.xsave_size ? l.xsave_size : 512));
    memset(fp + 160, 0xab, 16); /* xmm0 */
    if (l.xsave_size)
        fp[512] |= 2;
    ck_assert_int_eq(plat_ops->set_fp(w->th, fp, (size_t)n), 0);
    plat_ops->resume(w->th);
    expect_call(w, w->th, 500);
    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_fp(w->th, back, sizeof(back)), n);
    ck_assert_mem_eq(fp + 160, back + 160, 16);
    ck_assert_int_eq(plat_ops->set_fp(w->th, NULL, 0), 0);
    plat_ops->resume(w->th);
    expect_call(w, w->th, 500);
    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_fp(w->th, back, sizeof(back)), n);
    memset(fp, 0, 16);
    ck_assert_mem_eq(fp, back + 160, 16);
}

CONTRACT(fault_is_an_event)
{
    struct plat_regs regs;

    enter_context(w, w->th, 0);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    regs.rip = 0x123;
    ck_assert_int_eq(plat_ops->set_regs(w->th, &regs), 0);
    plat_ops->resume(w->th);
    if (w->fake)
        fake_raise_fault(w->th, SIGSEGV, SEGV_MAPERR, 0x123);
    expect_event(w, PLAT_EV_FAULT, w->th);
    ck_assert_int_eq(w->ev.signo, SIGSEGV);
    ck_assert_int_eq(w->ev.code, SEGV_MAPERR);
    ck_assert_uint_eq(w->ev.fault_addr, 0x123);
    ck_assert_int_eq(plat_ops->get_regs(w->th, &regs), 0);
    ck_assert_uint_eq(regs.rip, 0x123);
    start_at(w, w->th, 0, 503);
}

CONTRACT(host_descriptor_wakes)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    plat_ops->next_event(w->p, fds[0], -1, &w->ev);
    ck_assert_int_eq((int)w->ev.kind, PLAT_EV_NONE);
    close(fds[0]);
    close(fds[1]);
}

#define CONTRACT_ADD(name) \
    TEST_ADD(name##_fake); \
    TEST_ADD(name##_unotify)

TEST_SUITE(platform_contract)
{
    CONTRACT_ADD(call_is_seen_and_answered);
    CONTRACT_ADD(compare_exchange_changes_a_word);
    CONTRACT_ADD(kick_gives_the_registers);
    CONTRACT_ADD(thread_out_of_reach_is_ended);
    CONTRACT_ADD(memory_operations);
    CONTRACT_ADD(vectors_stop_at_the_first_fault);
    CONTRACT_ADD(files_are_mapped_shared_and_private);
    CONTRACT_ADD(files_are_mapped_in_turn);
    CONTRACT_ADD(host_executes_what_was_composed);
    CONTRACT_ADD(platform_range_is_refused);
    CONTRACT_ADD(fork_copies);
    CONTRACT_ADD(fork_maps_before_it_is_answered);
    CONTRACT_ADD(shared_process_sees_writes);
    CONTRACT_ADD(shared_process_outlives_its_parent);
    CONTRACT_ADD(threads_come_and_go);
    CONTRACT_ADD(thread_that_computes_is_interrupted);
    CONTRACT_ADD(memory_of_a_computing_thread);
    CONTRACT_ADD(process_with_threads_is_killed);
    CONTRACT_ADD(leader_ends_first);
    CONTRACT_ADD(extended_state_is_kept);
    CONTRACT_ADD(fault_is_an_event);
    CONTRACT_ADD(host_descriptor_wakes);
}
