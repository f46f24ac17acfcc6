#pragma once
/*
 * A platform without guests: address spaces are page tables in the test's own memory, threads are
 * structs, and the test itself plays the user side. Needs no privileges, runs under sanitizers.
 *
 *      struct plat *p = fake_platform_new();            plat_ops is the fake from here on
 *      ... build a kernel on p, start a task: it gets a plat_thread th ...
 *      fake_set_pump(p, step, kernel);                  step: one round of the kernel's event loop
 *      int64_t n = fake_syscall(th, LX_NR_write, 1, buf, 5, 0, 0, 0);
 *
 * fake_syscall raises the call and pumps until the thread runs again, so contexts (signals, clone,
 * execve) are played through. A call that blocks gives FAKE_BLOCKED; fake_result tells later how it
 * ended. Where several fake threads are to run by themselves, give them a program
 * (fake_set_program).
 *
 * Not thread safe. Everything is freed by plat_ops->shutdown.
 */
#include "platform/platform.h"

enum fake_state {
    FAKE_RUNNING,
    FAKE_AT_GATE,
    FAKE_IN_CONTEXT
};

#define FAKE_BLOCKED INT64_MIN       /* the call is still at the gate */
#define FAKE_GONE    (INT64_MIN + 1) /* the thread ended in the call */

struct plat *fake_platform_new(void);

/* One round of the kernel: next_event and what follows from it. */
void fake_set_pump(struct plat *p, void (*pump)(void *arg), void *arg);
/* Called for a RUNNING thread when the event queue is empty; it raises one event (or does nothing
 * when the thread just computes, and returns false). */
void fake_set_program(struct plat *p, bool (*program)(struct plat_thread *th, void *arg),
                      void *arg);

/* Raises a call of a RUNNING thread and pumps. */
int64_t fake_syscall(struct plat_thread *th, uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2,
                     uint64_t a3, uint64_t a4, uint64_t a5);
/* Only queue the event: the test (or its kernel loop) does the rest. */
void fake_raise_syscall(struct plat_thread *th, uint64_t nr, const uint64_t args[6]);
void fake_raise_fault(struct plat_thread *th, int signo, int code, uint64_t addr);
/* The host ends the thread's process behind the kernel's back. */
void fake_raise_death(struct plat_thread *th);
/* Pumps until the thread is RUNNING or nothing moves; as fake_syscall returns. */
int64_t fake_result(struct plat_thread *th);

/* Looking around. Threads are numbered from 1 in order of creation, for ever. */
bool fake_alive(struct plat *p, uint64_t id);
uint64_t fake_id(const struct plat_thread *th);
struct plat_thread *fake_thread(struct plat *p, uint64_t id); /* NULL: gone */
uint64_t fake_newest(struct plat *p);                         /* id */
size_t fake_thread_count(struct plat *p);
enum fake_state fake_state(const struct plat_thread *th);
struct plat_regs *fake_regs(struct plat_thread *th);
uint64_t fake_fs_base(const struct plat_thread *th);
/* Protection of the page at addr as PROT_*, or -1 when nothing is mapped. */
int fake_page_prot(struct plat_as *as, uint64_t addr);
/* Sets what the cputime calls answer. */
void fake_set_cputime(struct plat_thread *th, uint64_t ns);

/* The nth map/unmap/protect/remap/fork/as_new/thread_* call from now fails with err once. */
void fake_fail_after(struct plat *p, uint64_t n, int err);
