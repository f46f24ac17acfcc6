/*
 * Sequences of syscalls by two processes on a kernel without a host. Each step is eight bytes:
 * which thread, the call, and six arguments chosen from values that handlers find hard. Whatever
 * the calls do, the address spaces stay consistent, and at the end nothing is left charged or
 * allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/file.h"
#include "abi/mman.h"
#include "abi/sched.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/mm.h"
#include "tests/support/box.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    STEP = 8,
    MAX_STEPS = 400,
    MAX_THREADS = 12
};

#define W(off) (BOX_MEM + (off))

static const uint64_t values[] = {
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    12,
    15,
    16,
    17,
    24,
    64,
    128,
    256,
    300,
    512,
    1024,
    4095,
    4096,
    4097,
    8192,
    65536,
    0x100000,
    0x1000000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    INT64_MAX,
    1ull << 63,
    ~0ull,
    (uint64_t)-2,
    (uint64_t)-100,
    (uint64_t)-4096,
    /* addresses: words, strings, structures, edges, nothing there */
    W(0),
    W(8),
    W(16),
    W(64),
    W(128),
    W(256),
    W(512),
    W(1024),
    W(2048),
    W(4096),
    W(8192),
    W(0x8000),
    W(BOX_SIZE - 8),
    W(BOX_SIZE - 1),
    W(BOX_SIZE),
    W(1),
    W(4095),
    BOX_STACK_TOP - 4096,
    0x400000,
    0x7ffffffff000,
    0x800000000000,
    0x6fff00000000,
    0xdead000,
    /* flags of clone, mmap, open, futex, sockets, signals */
    LX_SIGCHLD,
    LX_CLONE_VM | LX_SIGCHLD,
    LX_CLONE_VM | LX_CLONE_VFORK | LX_SIGCHLD,
    LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND | LX_CLONE_THREAD,
    LX_CLONE_VM | LX_CLONE_SIGHAND | LX_SIGCHLD,
    LX_CLONE_PARENT | LX_SIGCHLD,
    LX_CLONE_FILES,
    LX_MAP_PRIVATE | LX_MAP_ANONYMOUS,
    LX_MAP_SHARED | LX_MAP_ANONYMOUS,
    LX_MAP_PRIVATE | LX_MAP_ANONYMOUS | LX_MAP_FIXED,
    LX_MAP_SHARED,
    LX_O_CREAT | LX_O_RDWR,
    LX_O_CREAT | LX_O_WRONLY | LX_O_APPEND,
    LX_O_DIRECTORY,
    LX_O_NONBLOCK,
    LX_O_CLOEXEC,
    LX_O_PATH,
    0x80,
    0x81,
    0x83,
    0x84,
    0x85,
    0x89,
    0x8a,
    0541,
    01000,
    0xffff,
    0x40000000,
    0x8910,
    0x5401,
    0x5413,
};

static const char *const strings[] = {"/",     ".",  "/x",  "/d", "/d/f",
                                      "/d/..", "/l", "a/b", "",   "/proc"};

/* What the pointers of the table lead to: strings at 512.., structures with small numbers
 * elsewhere. */
static void fill_memory(void)
{
    uint8_t page[4096];

    for (size_t i = 0; i < sizeof(page); i += 8)
        memcpy(page + i, &(uint64_t){i / 8 % 7}, 8);
    for (size_t i = 0; i < 64; i += 16) { /* iovecs and timespecs that make sense */
        memcpy(page + 256 + i, &(uint64_t){W(0x8000)}, 8);
        memcpy(page + 256 + i + 8, &(uint64_t){100}, 8);
    }
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        memcpy(page + 512 + 64 * i, strings[i], strlen(strings[i]) + 1);
    memcpy(page + 2048, strings[2], 3);
    box_write(box.th, BOX_MEM, page, sizeof(page));
}

static uint64_t value(uint8_t byte, uint8_t salt)
{
    if (byte < 0x80)
        return values[byte % ARRAY_LEN(values)];
    if (byte < 0xc0)
        return byte - 0x80u; /* descriptors, signals, pids, sizes */
    if (byte < 0xe0)
        return W((uint64_t)(byte - 0xc0) * 64);
    return 1ull << ((byte * 7u + salt) % 64);
}

static void check_spaces(void)
{
#if SENTRY_DEBUG
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        struct task *t;
        list_for_each_entry (t, &tg->threads, group_link) {
            if (t->mm)
                mm_check(t->mm);
        }
    }
#endif
}

static void step(const uint8_t *d)
{
    struct plat_thread *th = box_pick(d[0]);
    uint64_t args[6], nr = d[1] | (uint64_t)(d[0] >> 7) << 8;

    if (!th || (nr == NR_exit_group && d[0] & 0x40)) {
        box_advance(NSEC_PER_SEC);
        return;
    }
    /* Six arguments from six bytes; the seventh bit of the first byte turns the table. */
    for (int i = 0; i < 6; i++)
        args[i] = value(d[2 + i], d[0]);
    (void)box_call6(th, nr, args);
    check_spaces();
}

static void setup(void)
{
    box_begin();
    limit_set(LIMIT_TASKS, MAX_THREADS);
    limit_set(LIMIT_DISK_BYTES, 1 << 20);
    limit_set(LIMIT_PIPE_BYTES, 1 << 20);
    limit_set(LIMIT_SOCK_BYTES, 1 << 20);
    limit_set(LIMIT_IPC, 1 << 20);
    (void)box_program(box.th, "/x");
    fill_memory();
    (void)box_call(box.th, NR_mkdir, W(512 + 3 * 64), 0777);
    (void)box_call(box.th, NR_pipe, W(0));
    (void)box_call(box.th, NR_open, W(512 + 4 * 64), LX_O_CREAT | LX_O_RDWR, 0644);
    (void)box_call(box.th, NR_socketpair, 1, 1, 0, W(8));
    fill_memory();
    (void)box_call(box.th, NR_clone, LX_SIGCHLD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t balance = kalloc_balance();

    setup();
    for (size_t i = 0; i + STEP <= size && i / STEP < MAX_STEPS && !kernel.ended; i += STEP)
        step(data + i);
    KASSERT(kernel.fatal == NULL);
    box_end();
    KASSERT(kalloc_balance() == balance);
    return 0;
}
