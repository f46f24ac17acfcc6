/*
 * sentry/sys/argfmt.h: what --strace shows for each kind. Guest memory is a buffer that starts at
 * address 0x1000; everything else faults.
 */
#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/futex.h"
#include "abi/mman.h"
#include "abi/poll.h"
#include "abi/sched.h"
#include "abi/signal.h"
#include "abi/socket.h"
#include "abi/time.h"

#include "sentry/sys/argfmt.h"
#include "tests/support/test.h"

enum {
    BASE = 0x1000,
    SIZE = 0x1000
};

static unsigned char memory[SIZE];

static int64_t read_memory(UNUSED void *ctx, gaddr_t src, void *dst, size_t n)
{
    if (src.v < BASE || src.v >= BASE + SIZE)
        return -EFAULT;
    size_t left = (size_t)(BASE + SIZE - src.v);
    size_t take = n < left ? n : left;
    memcpy(dst, memory + (src.v - BASE), take);
    return (int64_t)take;
}

/* The text of args[0], read with the given result (or before the call). */
static const char *show_args(enum syscall_arg_kind kind, const uint64_t args[6], unsigned i,
                             bool after, int64_t result)
{
    static char text[ARGFMT_LINE_MAX];
    struct buf out;
    buf_init(&out, sizeof(text) - 1);
    struct argfmt f = {
        .out = &out, .read = read_memory, .args = args, .after = after, .result = result};
    argfmt_arg(&f, i, kind);
    memcpy(text, buf_cstr(&out), out.len);
    text[out.len] = 0;
    buf_done(&out);
    return text;
}

static const char *show(enum syscall_arg_kind kind, uint64_t v)
{
    uint64_t args[6] = {v};
    return show_args(kind, args, 0, false, 0);
}

static const char *show2(enum syscall_arg_kind kind, uint64_t v, uint64_t next, bool after,
                         int64_t result)
{
    uint64_t args[6] = {v, next};
    return show_args(kind, args, 0, after, result);
}

static uint64_t put(size_t off, const void *p, size_t n)
{
    memcpy(memory + off, p, n);
    return BASE + off;
}

TEST(numbers)
{
    ck_assert_str_eq(show(A_INT, 0xffffffffull), "-1");
    ck_assert_str_eq(show(A_UINT, 0xffffffffull), "4294967295");
    ck_assert_str_eq(show(A_OFF, ~0ull), "-1");
    ck_assert_str_eq(show(A_HEX, 0x10), "0x10");
    ck_assert_str_eq(show(A_HEX, 0), "0");
    ck_assert_str_eq(show(A_ADDR, 0), "NULL");
    ck_assert_str_eq(show(A_DIRFD, (uint32_t)LX_AT_FDCWD), "AT_FDCWD");
    ck_assert_str_eq(show(A_DIRFD, 7), "7");
    ck_assert_str_eq(show(A_MODE, 0644), "0644");
    ck_assert_str_eq(show(A_COUNT, 5), "0x5");
}

TEST(flags_and_names)
{
    ck_assert_str_eq(show(A_OPEN_FLAGS, LX_O_RDWR | LX_O_CREAT | LX_O_CLOEXEC),
                     "O_RDWR|O_CREAT|O_CLOEXEC");
    ck_assert_str_eq(show(A_OPEN_FLAGS, 0), "O_RDONLY");
    ck_assert_str_eq(show(A_OPEN_FLAGS, LX_O_SYNC), "O_RDONLY|O_SYNC");
    ck_assert_str_eq(show(A_FD_FLAGS, LX_O_NONBLOCK), "O_NONBLOCK");
    ck_assert_str_eq(show(A_FD_FLAGS, 0), "0");
    ck_assert_str_eq(show(A_PROT, LX_PROT_READ | LX_PROT_EXEC), "PROT_READ|PROT_EXEC");
    ck_assert_str_eq(show(A_MAP_FLAGS, LX_MAP_PRIVATE | LX_MAP_ANONYMOUS | 0x80000000u),
                     "MAP_PRIVATE|MAP_ANONYMOUS|0x80000000");
    ck_assert_str_eq(show(A_FUTEX_OP, LX_FUTEX_WAIT_BITSET | LX_FUTEX_PRIVATE_FLAG),
                     "FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG");
    ck_assert_str_eq(show(A_CLONE_FLAGS, LX_CLONE_VM | LX_SIGCHLD), "CLONE_VM|SIGCHLD");
    ck_assert_str_eq(show(A_SIGNO, LX_SIGUSR1), "SIGUSR1");
    ck_assert_str_eq(show(A_SIGNO, 34), "SIGRT_2");
    ck_assert_str_eq(show(A_SIGNO, 99), "99");
    ck_assert_str_eq(show(A_WHENCE, LX_SEEK_END), "SEEK_END");
    ck_assert_str_eq(show(A_WHENCE, 77), "0x4d");
    ck_assert_str_eq(show(A_RUSAGE_WHO, 0xffffffffull), "RUSAGE_CHILDREN");
}

TEST(strings_are_escaped_and_cut)
{
    char longer[100];
    memset(longer, 'a', sizeof(longer));
    longer[99] = 0;
    ck_assert_str_eq(show(A_PATH, put(0, "a\n\"\x01", 5)), "\"a\\n\\\"\\x01\"");
    ck_assert_str_eq(show(A_PATH, 0), "NULL");
    ck_assert_str_eq(show(A_PATH, 0x10), "0x10");
    const char *s = show(A_PATH, put(0, longer, sizeof(longer)));
    ck_assert_uint_eq(strlen(s), ARGFMT_STR_MAX + 2 + 3);
    /* a short string at the very end of the mapping */
    ck_assert_str_eq(show(A_PATH, put(SIZE - 3, "ok", 3)), "\"ok\"");
    ck_assert_str_eq(show2(A_BUF, put(0, "hello", 5), 5, false, 0), "\"hello\"");
    ck_assert_str_eq(show2(A_BUF, 0x10, 5, false, 0), "0x10");
    ck_assert_str_eq(show2(A_BUF_OUT, put(0, "hello", 5), 100, true, 2), "\"he\"");
    ck_assert_str_eq(show2(A_BUF_OUT, BASE, 100, true, -EAGAIN), "0x1000");
    ck_assert_str_eq(show2(A_STR_OUT, put(0, "/tmp", 5), 100, true, 5), "\"/tmp\"");
}

TEST(vectors)
{
    uint64_t argv[3] = {BASE + 0x100, BASE + 0x110, 0};
    struct lx_iovec iov[2] = {{GADDR(BASE + 0x100), 2}, {GADDR(BASE + 0x110), 4}};
    put(0x100, "ls", 3);
    put(0x110, "-l\0\0", 4);
    put(0, argv, sizeof(argv));
    ck_assert_str_eq(show(A_STRV, BASE), "[\"ls\", \"-l\"]");
    ck_assert_str_eq(show(A_STRV_COUNT, BASE), "0x1000 /* 2 vars */");
    put(0, iov, sizeof(iov));
    ck_assert_str_eq(show2(A_IOVEC_OUT, BASE, 2, true, 3),
                     "[{iov_base=\"ls\", iov_len=2}, {iov_base=\"-\", iov_len=4}]");
}

TEST(structures)
{
    struct lx_timespec ts = {1, 500};
    struct lx_stat st = {.st_mode = LX_S_IFREG | 0644, .st_size = 12};
    struct lx_sigaction sa = {
        .sa_handler = LX_SIG_IGN, .sa_flags = LX_SA_RESTART, .sa_mask = LX_SIGMASK(LX_SIGINT)};
    struct lx_pollfd pfd[2] = {{3, LX_POLLIN, LX_POLLIN}, {4, LX_POLLOUT, 0}};
    struct lx_sockaddr_un un = {LX_AF_UNIX, "\0name"};
    int32_t status = 3 << 8, killed = LX_SIGKILL;

    ck_assert_str_eq(show(A_TIMESPEC, put(0, &ts, sizeof(ts))), "{tv_sec=1, tv_nsec=500}");
    put(0, &st, sizeof(st));
    ck_assert_str_eq(show2(A_STAT_OUT, BASE, 0, true, 0),
                     "{st_mode=S_IFREG|0644, st_size=12, ...}");
    ck_assert_str_eq(show2(A_STAT_OUT, BASE, 0, true, -ENOENT), "0x1000");
    ck_assert_str_eq(show(A_SIGACTION, put(0, &sa, sizeof(sa))),
                     "{sa_handler=SIG_IGN, sa_mask=[INT], sa_flags=SA_RESTART}");
    put(0, pfd, sizeof(pfd));
    ck_assert_str_eq(show2(A_POLLFDS, BASE, 2, false, 0),
                     "[{fd=3, events=IN}, {fd=4, events=OUT}]");
    ck_assert_str_eq(show2(A_POLLFDS, BASE, 2, true, 1), "[{fd=3, revents=IN}]");
    put(0, &un, sizeof(un));
    ck_assert_str_eq(show2(A_SOCKADDR, BASE, 7, false, 0),
                     "{sa_family=AF_UNIX, sun_path=@\"name\"}");
    put(0, &status, 4);
    ck_assert_str_eq(show2(A_WAIT_STATUS_OUT, BASE, 0, true, 9), "[exited 3]");
    put(0, &killed, 4);
    ck_assert_str_eq(show2(A_WAIT_STATUS_OUT, BASE, 0, true, 9), "[killed SIGKILL]");
}

/* Hostile numbers: every kind with every awkward argument must neither crash nor run long. */
TEST(anything_goes)
{
    static const uint64_t awkward[] = {0,     1,          BASE,         BASE + SIZE - 1,
                                       ~0ull, 1ull << 63, 0xffffffffull};
    memset(memory, 0xff, sizeof(memory));
    for (unsigned kind = 0; kind <= A_COUNT; kind++) {
        for (size_t a = 0; a < ARRAY_LEN(awkward); a++) {
            for (size_t b = 0; b < ARRAY_LEN(awkward); b++) {
                uint64_t args[6] = {awkward[a], awkward[b], awkward[b],
                                    awkward[b], awkward[a], awkward[a]};
                for (unsigned i = 0; i < 6; i++) {
                    if (i == 0 && kind == A_FCNTL_ARG)
                        continue;
                    show_args((enum syscall_arg_kind)kind, args, i, false, 0);
                    show_args((enum syscall_arg_kind)kind, args, i, true, 1 << 30);
                }
            }
        }
    }
}

TEST(names_of_errors_and_signals)
{
    ck_assert_str_eq(argfmt_errno(ENOENT), "ENOENT");
    ck_assert_str_eq(argfmt_errno(EAGAIN), "EAGAIN");
    ck_assert_str_eq(argfmt_errno(ERESTARTSYS), "ERESTARTSYS");
    ck_assert_ptr_null(argfmt_errno(0));
    ck_assert_ptr_null(argfmt_errno(41));
    ck_assert_ptr_null(argfmt_errno(100000));
    ck_assert_str_eq(argfmt_signal(LX_SIGSYS), "SIGSYS");
    ck_assert_str_eq(argfmt_signal(64), "SIGRT_32");
    ck_assert_ptr_null(argfmt_signal(65));
    ck_assert_ptr_null(argfmt_signal(-1));
}

TEST_SUITE(argfmt)
{
    TEST_ADD(numbers);
    TEST_ADD(flags_and_names);
    TEST_ADD(strings_are_escaped_and_cut);
    TEST_ADD(vectors);
    TEST_ADD(structures);
    TEST_ADD(anything_goes);
    TEST_ADD(names_of_errors_and_signals);
}
