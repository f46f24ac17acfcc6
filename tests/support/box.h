#pragma once
/*
 * A whole kernel on the fake platform with one process, for tests that play the guest:
 *
 *      box_begin();
 *      ck_assert_int_eq(box_call(box.th, NR_getpid, 0), 1);
 *      struct plat_thread *child = box_fork(box.th);
 *      box_end();                                       everything ends; the balance is the
 * fixture's
 *
 * The process has BOX_SIZE bytes of memory at BOX_MEM (read, write), a stack of BOX_STACK bytes
 * below BOX_STACK_TOP, no descriptor, all capabilities, no limit, and an empty tmpfs as root. Time
 * stands still for nobody: box_advance moves the guest's clocks forward at once.
 */
#include "lib/compiler.h"

#include "abi/syscall_kinds.h"

#include "platform/platform.h"

#include "sentry/kernel/task.h"
#include "tests/support/fake_platform.h"

#define BOX_MEM       0x10000000ull
#define BOX_SIZE      0x100000ull
#define BOX_STACK_TOP 0x20000000ull
#define BOX_STACK     0x10000ull

/* NR_getpid ... */
enum {
#define SYSCALL(nr, name, ...)   NR_##name = (nr),
#define REFUSE(nr, name, errno_) NR_##name = (nr),
#include "abi/syscalls.def"
};

struct box {
    struct plat *p;
    struct plat_thread *th; /* of the first process */
    struct task *task;      /* borrowed */
};
extern struct box box;

void box_begin(void);
/* As box_begin, but nothing is asserted: false when it failed and nothing is left. */
bool box_try(void);
void box_end(void);

/* A call of th with up to six arguments; the result as fake_syscall has it. */
int64_t box_call6(struct plat_thread *th, uint64_t nr, const uint64_t args[6]);
#define box_call(th, nr, ...) box_call6((th), (nr), (const uint64_t[6]){__VA_ARGS__})
/* Handles what is queued, until nothing moves. */
void box_run(void);
/* The clocks go ns forward, expired timers fire, and what follows from that is done. */
void box_advance(uint64_t ns);

struct task *box_task(struct plat_thread *th);
/* One of the threads that run, by a fuzzer's byte; at most BOX_PICK_MAX are looked at. NULL: none
 * runs. */
#define BOX_PICK_MAX 12
struct plat_thread *box_pick(uint8_t byte);
/* fork(2): the child's thread. */
struct plat_thread *box_fork(struct plat_thread *th);
/* A thread of the same process, as pthread_create makes one; its stack pointer is sp. */
struct plat_thread *box_thread(struct plat_thread *th, uint64_t sp);
/* clone(2) with these flags (and the exit signal): the new thread; asserts that it worked. */
struct plat_thread *box_clone(struct plat_thread *th, uint64_t flags, uint64_t sp);

/* Guest memory of th; asserts that it is there. */
void box_write(struct plat_thread *th, uint64_t addr, const void *src, size_t len);
void box_read(struct plat_thread *th, uint64_t addr, void *dst, size_t len);
void box_put32(struct plat_thread *th, uint64_t addr, uint32_t val);
uint32_t box_get32(struct plat_thread *th, uint64_t addr);
void box_put64(struct plat_thread *th, uint64_t addr, uint64_t val);
uint64_t box_get64(struct plat_thread *th, uint64_t addr);

/* rt_sigaction with a handler address (or LX_SIG_DFL, LX_SIG_IGN); the restorer is BOX_RESTORER. */
#define BOX_RESTORER 0x30000000ull
void box_action(struct plat_thread *th, int signo, uint64_t handler, uint64_t flags, uint64_t mask);
/* rt_sigprocmask SIG_SETMASK. */
void box_mask(struct plat_thread *th, uint64_t set);
/* Where th is in a handler: plays the return into the restorer and its rt_sigreturn. The value of
 * rax afterwards. */
int64_t box_sigreturn(struct plat_thread *th);

/* Writes a static program of one page into path (it is never executed: the test plays it). The
 * result of open(2) if that failed, else 0. Its entry is BOX_ENTRY. */
#define BOX_ENTRY 0x400078ull
int64_t box_program(struct plat_thread *th, const char *path);
/* execve(path, {path}, {}): the new thread, NULL when it failed with *ret_err. */
struct plat_thread *box_exec(struct plat_thread *th, const char *path, int64_t *ret_err);
