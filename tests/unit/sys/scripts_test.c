/*
 * Scripts of calls, each played with every allocation and every host call failing in turn, with and
 * without --strace: whatever fails, nothing crashes, nothing stays allocated or charged, and when
 * nothing fails each call has the result that stands beside it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/file.h"
#include "abi/poll.h"
#include "abi/socket.h"
#include "abi/time.h"

#include "lib/assert.h"
#include "sentry/fs/vfs.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "tests/support/script.h"
#include "tests/support/test.h"

#define M(off) (BOX_MEM + (off))
#define AT_CWD ((uint64_t)-100)

struct script {
    const char *name;
    int (*setup)(void); /* mounts what it needs; negative: it failed */
    const struct step *steps;
};

/* -- what the pointers lead to ----------------------------------------------------------------- */

enum {
    P_F = 0x000,
    P_D = 0x020,
    P_DF = 0x040,
    P_G = 0x060,
    P_L = 0x080,
    P_ROOT = 0x0a0,
    P_S = 0x0c0,
    P_X = 0x0e0,
    P_ATTR = 0x100,
    P_PTMX = 0x120,
    P_PTS = 0x140,
    P_MAPS = 0x160,
    P_FD = 0x180,
    P_STATUS = 0x1a0,
    P_EXE = 0x1c0,
    P_HOST = 0x1e0,
    P_MOUNTS = 0x200,
    P_STAT = 0x220,
    P_TASK = 0x240,
    P_NULL = 0x260,
    P_ZERO = 0x280,
    P_FULL = 0x2a0,
    P_RANDOM = 0x2c0,
    P_MEM = 0x2e0,
    P_FDINFO = 0x300,
    LOCK_W = 0x400, /* struct lx_flock */
    LOCK_HOLE = 0x440,
    LOCK_R = 0x480,
    LOCK_ASK = 0x4e0,
    ONE = 0x4c0,
    TIMER = 0x520,
    NO_TIME = 0x540,
    EVENT = 0x580,
    POLL = 0x5c0,
    SET = 0x600,
    NAME_ABSTRACT = 0x700,
    NAME_PATH = 0x780,
    MSG_SEND = 0x800,
    MSG_RECV = 0x880,
    CONTROL = 0x900,
    VEC = 0x980,
    VEC2 = 0x9a0,
    LEN = 0x9c0,
    FAR = 0x9e0, /* an offset of 64 KiB */
    TERMIOS = 0xa00,
    DATA = 0x1000,
    BUF = 0x8000,
    BUF2 = 0x10000,
};

static void put(uint64_t at, const void *p, size_t n)
{
    box_write(box.th, M(at), p, n);
}

#define PUT(at, ...)                              \
    do {                                          \
        __typeof__(__VA_ARGS__) v_ = __VA_ARGS__; \
        put((at), &v_, sizeof(v_));               \
    } while (0)

static void put_paths(void)
{
    static const struct {
        uint64_t at;
        const char *text;
    } paths[] = {
        {P_F, "/f"},
        {P_D, "/d"},
        {P_DF, "/d/f"},
        {P_G, "/g"},
        {P_L, "/l"},
        {P_ROOT, "/"},
        {P_S, "/s"},
        {P_X, "/x"},
        {P_ATTR, "user.a"},
        {P_PTMX, "/t/ptmx"},
        {P_PTS, "/t/0"},
        {P_MAPS, "/p/self/maps"},
        {P_FD, "/p/self/fd"},
        {P_STATUS, "/p/self/status"},
        {P_EXE, "/p/self/fd/0"},
        {P_HOST, "/p/sys/kernel/hostname"},
        {P_MOUNTS, "/p/self/mountinfo"},
        {P_STAT, "/p/self/stat"},
        {P_TASK, "/p/self/task"},
        {P_NULL, "/v/null"},
        {P_ZERO, "/v/zero"},
        {P_FULL, "/v/full"},
        {P_RANDOM, "/v/random"},
        {P_MEM, "/p/self/mem"},
        {P_FDINFO, "/p/self/fdinfo/0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        put(paths[i].at, paths[i].text, strlen(paths[i].text) + 1);
}

static void put_locks_and_times(void)
{
    PUT(LOCK_W, (struct lx_flock){.l_type = LX_F_WRLCK, .l_start = 10, .l_len = 10});
    PUT(LOCK_HOLE, (struct lx_flock){.l_type = LX_F_UNLCK, .l_start = 12, .l_len = 2});
    PUT(LOCK_R, (struct lx_flock){.l_type = LX_F_RDLCK, .l_len = 100});
    PUT(LOCK_ASK, (struct lx_flock){.l_type = LX_F_RDLCK, .l_len = 100});
    PUT(ONE, 1);
    PUT(TIMER, (struct lx_itimerspec){.it_value = {.tv_sec = 5}});
    PUT(NO_TIME, (struct lx_timespec){0, 0});
    PUT(EVENT, (struct lx_epoll_event){.events = 1, .data = 7});
    PUT(POLL, (struct lx_pollfd){.fd = 0, .events = 1});
    PUT(SET, (uint64_t)1);
    PUT(FAR, (uint64_t)65536);
}

static void put_messages(void)
{
    struct {
        struct lx_cmsghdr h;
        int32_t fd, pad;
    } control = {{LX_CMSG_LEN(4), LX_SOL_SOCKET, LX_SCM_RIGHTS}, 1, 0};
    struct lx_sockaddr_un sun = {.sun_family = LX_AF_UNIX};
    struct lx_msghdr m = {.msg_iov = {M(VEC)},
                          .msg_iovlen = 1,
                          .msg_control = {M(CONTROL)},
                          .msg_controllen = sizeof(control)};

    memcpy(sun.sun_path + 1, "name", 4);
    PUT(NAME_ABSTRACT, sun);
    memcpy(sun.sun_path, "/s", 3);
    PUT(NAME_PATH, sun);
    PUT(CONTROL, control);
    PUT(MSG_SEND, m);
    m.msg_iov.v = M(VEC2);
    m.msg_control.v = M(BUF2);
    m.msg_controllen = 64;
    PUT(MSG_RECV, m);
    PUT(VEC, (struct lx_iovec){{M(DATA)}, 5});
    PUT(VEC2, (struct lx_iovec){{M(BUF)}, 100});
    PUT(LEN, 110);
    put(DATA, "hello", 5);
}

/* -- mounts ------------------------------------------------------------------------------------ */

static int mount_proc(void)
{
    struct super *sb = NULL;
    int r = procfs_mount_new(&sb);

    return script_mount('p', r, sb);
}

static int mount_devices(void)
{
    struct super *sb = NULL;
    int r = devpts_mount_new(&sb);

    r = script_mount('t', r, sb);
    if (r < 0)
        return r;
    r = devfs_mount_new(&sb);
    return script_mount('v', r, sb);
}

/* -- scripts ----------------------------------------------------------------------------------- */

static const struct step locks[] = {
    CALL(open, 0, M(P_F), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(open, 1, M(P_F), LX_O_RDWR),
    CALL(fcntl, 0, 0, LX_F_SETLK, M(LOCK_W)),
    CALL(fcntl, 0, 0, LX_F_SETLK, M(LOCK_HOLE)),
    CALL(fcntl, 0, 0, LX_F_GETLK, M(LOCK_ASK)),
    CALL(fcntl, -EAGAIN, 1, LX_F_OFD_SETLK, M(LOCK_R)),
    CALL(fcntl, 0, 0, LX_F_SETLK, M(LOCK_R)),
    CALL(fcntl, 0, 0, LX_F_SETLK, M(LOCK_W)),
    CALL(flock, 0, 0, 2),
    CALL(flock, -EAGAIN, 1, 6),
    CALL(fcntl, 0, 0, LX_F_SETOWN, 1),
    CALL(fcntl, 0, 0, LX_F_SETSIG, 10),
    CALL(fcntl, 0, 0, LX_F_SETFL, LX_O_ASYNC),
    CALL(close, 0, 0),
    CALL(flock, 0, 1, 2),
    CALL(fcntl, 0, 1, LX_F_OFD_SETLKW, M(LOCK_W)),
    END,
};

static const struct step watches[] = {
    CALL(inotify_init1, 0, LX_O_NONBLOCK),
    CALL(inotify_add_watch, 1, 0, M(P_ROOT), 0xfff),
    CALL(open, 1, M(P_F), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(write, 5, 1, M(DATA), 5),
    CALL(close, 0, 1),
    CALL(rename, 0, M(P_F), M(P_G)),
    CALL(unlink, 0, M(P_G)),
    CALL(mkdir, 0, M(P_D), 0700),
    CALL(inotify_add_watch, 2, 0, M(P_D), 0xfff),
    CALL(ioctl, 0, 0, 0x541b, M(BUF)),
    CALL(read, ANY, 0, M(BUF), 4096),
    CALL(inotify_rm_watch, 0, 0, 1),
    CALL(rmdir, 0, M(P_D)),
    CALL(read, ANY, 0, M(BUF), 4096),
    END,
};

static const struct step events[] = {
    CALL(eventfd2, 0, 3, LX_O_NONBLOCK),
    CALL(timerfd_create, 1, 1, LX_O_NONBLOCK),
    CALL(timerfd_settime, 0, 1, 0, M(TIMER), 0),
    CALL(signalfd4, 2, ~0ull, M(SET), 8, LX_O_NONBLOCK),
    CALL(memfd_create, 3, M(P_F), 3),
    CALL(epoll_create1, 4, 0),
    CALL(epoll_ctl, 0, 4, 1, 0, M(EVENT)),
    CALL(epoll_ctl, 0, 4, 1, 1, M(EVENT)),
    CALL(epoll_ctl, 0, 4, 1, 2, M(EVENT)),
    CALL(epoll_wait, 1, 4, M(BUF), 8, 0),
    CALL(poll, 1, M(POLL), 1, 0),
    CALL(ppoll, 1, M(POLL), 1, M(NO_TIME), 0, 8),
    CALL(select, 1, 1, M(SET), 0, 0, M(NO_TIME)),
    CALL(read, 8, 0, M(BUF), 8),
    CALL(read, -EAGAIN, 1, M(BUF), 8),
    CALL(read, -EAGAIN, 2, M(BUF), 128),
    CALL(dup3, 6, 0, 6, 0),
    CALL(pidfd_open, 5, 1, 0),
    CALL(pidfd_send_signal, 0, 5, 0, 0, 0),
    CALL(pidfd_getfd, 7, 5, 3, 0),
    CALL(timer_create, 0, 1, 0, M(BUF)),
    CALL(write, 5, 3, M(DATA), 5),
    CALL(ftruncate, 0, 3, 8192),
    CALL(fallocate, 0, 3, 0, 0, 16384),
    CALL(fallocate, 0, 3, 3, 0, 4096),
    CALL(fcntl, 0, 3, LX_F_ADD_SEALS, LX_F_SEAL_SHRINK),
    CALL(ftruncate, -EPERM, 3, 0),
    CALL(close_range, 0, 0, ~0u, 0),
    END,
};

static const struct step sockets[] = {
    CALL(socketpair, 0, LX_AF_UNIX, LX_SOCK_STREAM, 0, M(BUF)),
    CALL(setsockopt, 0, 1, LX_SOL_SOCKET, LX_SO_PASSCRED, M(ONE), 4),
    CALL(sendmsg, 5, 0, M(MSG_SEND), 0),
    CALL(recvmsg, 5, 1, M(MSG_RECV), 0),
    CALL(sendmsg, 5, 0, M(MSG_SEND), 0),
    CALL(shutdown, 0, 0, 1),
    CALL(socket, ANY, LX_AF_UNIX, LX_SOCK_STREAM, 0),
    CALL(bind, 0, 3, M(NAME_ABSTRACT), 7),
    CALL(listen, 0, 3, 5),
    CALL(socket, 4, LX_AF_UNIX, LX_SOCK_STREAM, 0),
    CALL(connect, 0, 4, M(NAME_ABSTRACT), 7),
    CALL(accept4, 5, 3, 0, 0, 0),
    CALL(getsockname, 0, 3, M(BUF), M(LEN)),
    CALL(getpeername, 0, 4, M(BUF), M(LEN)),
    CALL(getsockopt, 0, 4, LX_SOL_SOCKET, LX_SO_PEERCRED, M(BUF), M(LEN)),
    CALL(sendto, 5, 4, M(DATA), 5, 0, 0, 0),
    CALL(recvfrom, 5, 5, M(BUF), 100, 0, 0, 0),
    CALL(socket, 6, LX_AF_UNIX, LX_SOCK_DGRAM, 0),
    CALL(bind, 0, 6, M(NAME_PATH), 5),
    CALL(socket, 7, LX_AF_UNIX, LX_SOCK_DGRAM, 0),
    CALL(sendto, 5, 7, M(DATA), 5, 0, M(NAME_PATH), 5),
    CALL(connect, 0, 7, M(NAME_PATH), 5),
    CALL(sendmsg, 5, 7, M(MSG_SEND), 0),
    CALL(recvfrom, 5, 6, M(BUF), 100, 0, 0, 0),
    CALL(unlink, 0, M(P_S)),
    END,
};

static const struct step names[] = {
    CALL(mkdir, 0, M(P_D), 0755),
    CALL(open, 0, M(P_F), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(setxattr, 0, M(P_F), M(P_ATTR), M(DATA), 5, 0),
    CALL(getxattr, 5, M(P_F), M(P_ATTR), M(BUF), 100),
    CALL(fsetxattr, 0, 0, M(P_ATTR), M(DATA), 4, 2),
    CALL(listxattr, 7, M(P_F), M(BUF), 100),
    CALL(removexattr, 0, M(P_F), M(P_ATTR)),
    CALL(utimensat, 0, AT_CWD, M(P_F), 0, 0),
    CALL(statx, 0, AT_CWD, M(P_F), 0, 0xfff, M(BUF)),
    CALL(chmod, 0, M(P_F), 0644),
    CALL(chown, 0, M(P_F), 1, 1),
    CALL(link, 0, M(P_F), M(P_G)),
    CALL(symlink, 0, M(P_F), M(P_L)),
    CALL(readlink, 2, M(P_L), M(BUF), 100),
    CALL(rename, 0, M(P_G), M(P_DF)),
    CALL(renameat2, 0, AT_CWD, M(P_F), AT_CWD, M(P_DF), 2),
    CALL(mknod, 0, M(P_X), 010600, 0),
    CALL(open, 1, M(P_ROOT), LX_O_DIRECTORY),
    CALL(getdents64, ANY, 1, M(BUF), 4096),
    CALL(chdir, 0, M(P_D)),
    CALL(getcwd, 3, M(BUF), 100),
    CALL(fchdir, 0, 1),
    CALL(truncate, 0, M(P_F), 10000),
    CALL(access, 0, M(P_L), 4),
    CALL(statfs, 0, M(P_F), M(BUF)),
    CALL(unlink, 0, M(P_L)),
    CALL(unlink, 0, M(P_DF)),
    CALL(rmdir, 0, M(P_D)),
    CALL(open, 2, M(P_ROOT), LX_O_TMPFILE | LX_O_RDWR, 0600),
    CALL(write, 5, 2, M(DATA), 5),
    END,
};

static const struct step copies[] = {
    CALL(open, 0, M(P_F), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(open, 1, M(P_G), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(pwrite64, 0x30000, 0, M(DATA), 0x30000, 0),
    CALL(lseek, 0, 0, 0, 0),
    CALL(sendfile, 50000, 1, 0, 0, 50000),
    CALL(copy_file_range, 1000, 0, 0, 1, M(FAR), 1000, 0),
    CALL(pipe2, 0, M(BUF), 0),
    CALL(pipe2, 0, M(BUF), 0),
    CALL(splice, 1000, 0, 0, 3, 0, 1000, 0),
    CALL(tee, 1000, 2, 5, 1000, 0),
    CALL(vmsplice, 5, 3, M(VEC), 1, 0),
    CALL(splice, 1000, 4, 0, 1, 0, 1000, 0),
    CALL(readv, 100, 2, M(VEC2), 1),
    CALL(preadv, 100, 0, M(VEC2), 1, 0, 0),
    CALL(pwritev, 5, 1, M(VEC), 1, 0, 0),
    CALL(fcntl, 65536, 3, LX_F_SETPIPE_SZ, 65536),
    CALL(fadvise64, 0, 0, 0, 0, 4),
    CALL(fsync, 0, 1),
    CALL(fallocate, 0, 1, 0, 0, 0x40000),
    CALL(fallocate, 0, 1, 3, 0, 8192),
    CALL(ftruncate, 0, 1, 100),
    CALL(process_vm_readv, 5, 1, M(VEC2), 1, M(VEC), 1, 0),
    CALL(process_vm_writev, 5, 1, M(VEC), 1, M(VEC2), 1, 0),
    END,
};

#define A 0x50000000ull

static const struct step mappings[] = {
    CALL(open, 0, M(P_F), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(write, 8192, 0, M(DATA), 8192),
    CALL(mmap, A, A, 0x4000, 3, 0x22 | 0x10, ~0ull, 0),
    CALL(mmap, A + 0x10000, A + 0x10000, 0x2000, 3, 1 | 0x10, 0, 0),
    CALL(mmap, A + 0x20000, A + 0x20000, 0x2000, 3, 2 | 0x10, 0, 0),
    CALL(mmap, A + 0x30000, A + 0x30000, 0x3000, 3, 0x21 | 0x10, ~0ull, 0),
    CALL(mprotect, 0, A + 0x1000, 0x1000, 1),
    CALL(mremap, A + 0x40000, A, 0x1000, 0x2000, 3, A + 0x40000),
    CALL(msync, 0, A + 0x10000, 0x2000, 4),
    CALL(mincore, 0, A + 0x10000, 0x2000, M(BUF)),
    CALL(madvise, 0, A + 0x30000, 0x1000, 4),
    CALL(madvise, 0, A + 0x30000, 0x1000, 9),
    CALL(mlock, 0, A + 0x10000, 0x1000),
    CALL(read, 0, 0, A + 0x20000, 100),
    CALL(pread64, 100, 0, A + 0x30000, 100, 0),
    CALL(munmap, 0, A + 0x10000, 0x1000),
    CALL(munlockall, 0, 0),
    CALL(brk, ANY, 0),
    END,
};

static const struct step ids[] = {
    CALL(sched_setaffinity, 0, 0, 8, M(SET)),
    CALL(sched_getaffinity, 8, 0, 8, M(BUF)),
    CALL(sched_setscheduler, 0, 0, 0, M(NO_TIME)),
    CALL(sched_getscheduler, 0, 0),
    CALL(sched_getattr, 0, 0, M(BUF), 56, 0),
    CALL(sched_setattr, 0, 0, M(BUF), 0),
    CALL(setpriority, 0, 0, 0, 5),
    CALL(getpriority, 15, 0, 0),
    CALL(sched_rr_get_interval, 0, 0, M(BUF)),
    CALL(getrusage, 0, 0, M(BUF)),
    CALL(times, ANY, M(BUF)),
    CALL(sysinfo, 0, M(BUF)),
    CALL(uname, 0, M(BUF)),
    CALL(getrandom, 100, M(BUF), 100, 0),
    CALL(prlimit64, 0, 0, 7, 0, M(BUF)),
    CALL(setgroups, 0, 1, M(ONE)),
    CALL(getgroups, 1, 1, M(BUF)),
    CALL(prctl, 0, 15, M(P_F)),
    CALL(prctl, 0, 38, 1),
    CALL(setresgid, 0, 5, 5, 5),
    CALL(setresuid, 0, 5, 5, 5),
    END,
};

static const struct step processes[] = {
    CALL(open, 0, M(P_MAPS), 0),
    CALL(read, ANY, 0, M(BUF), 4096),
    CALL(open, 1, M(P_FD), LX_O_DIRECTORY),
    CALL(getdents64, ANY, 1, M(BUF), 4096),
    CALL(open, 2, M(P_STATUS), 0),
    CALL(read, ANY, 2, M(BUF), 4096),
    CALL(open, 3, M(P_MOUNTS), 0),
    CALL(read, ANY, 3, M(BUF), 4096),
    CALL(open, 4, M(P_STAT), 0),
    CALL(read, ANY, 4, M(BUF), 4096),
    CALL(open, 5, M(P_HOST), LX_O_RDWR),
    CALL(write, 5, 5, M(DATA), 5),
    CALL(pread64, 6, 5, M(BUF), 100, 0),
    CALL(readlink, ANY, M(P_EXE), M(BUF), 100),
    CALL(open, 6, M(P_TASK), LX_O_DIRECTORY),
    CALL(getdents64, ANY, 6, M(BUF), 4096),
    CALL(open, 7, M(P_FDINFO), 0),
    CALL(read, ANY, 7, M(BUF), 4096),
    CALL(open, 8, M(P_MEM), LX_O_RDWR),
    CALL(pread64, 5, 8, M(BUF), 5, M(DATA)),
    CALL(pwrite64, 5, 8, M(DATA), 5, M(BUF)),
    END,
};

static const struct step devices[] = {
    CALL(open, 0, M(P_PTMX), LX_O_RDWR | LX_O_NOCTTY | LX_O_NONBLOCK),
    CALL(ioctl, 0, 0, 0x40045431, M(NO_TIME)), /* TIOCSPTLCK */
    CALL(ioctl, 0, 0, 0x80045430, M(BUF)),     /* TIOCGPTN */
    CALL(open, 1, M(P_PTS), LX_O_RDWR | LX_O_NOCTTY | LX_O_NONBLOCK),
    CALL(write, 5, 0, M(DATA), 5),
    CALL(read, -EAGAIN, 1, M(BUF), 100), /* no line yet */
    CALL(ioctl, 0, 1, 0x5401, M(TERMIOS)),
    CALL(ioctl, 0, 1, 0x5402, M(TERMIOS)),
    CALL(ioctl, 0, 1, 0x5413, M(BUF)),
    CALL(ioctl, 0, 1, 0x5414, M(BUF)),
    CALL(write, 5, 1, M(DATA), 5),
    CALL(read, ANY, 0, M(BUF), 100),
    CALL(open, 2, M(P_NULL), LX_O_RDWR),
    CALL(write, 5, 2, M(DATA), 5),
    CALL(read, 0, 2, M(BUF), 5),
    CALL(open, 3, M(P_ZERO), LX_O_RDWR),
    CALL(read, 100, 3, M(BUF), 100),
    CALL(mmap, A, A, 0x1000, 3, 2 | 0x10, 3, 0),
    CALL(open, 4, M(P_FULL), LX_O_RDWR),
    CALL(write, -ENOSPC, 4, M(DATA), 5),
    CALL(open, 5, M(P_RANDOM), LX_O_RDWR),
    CALL(read, 100, 5, M(BUF), 100),
    CALL(close, 0, 0), /* hangs up */
    CALL(read, 0, 1, M(BUF), 100),
    END,
};

static const struct script scripts[] = {
    {"locks", NULL, locks},
    {"watches", NULL, watches},
    {"events", NULL, events},
    {"sockets", NULL, sockets},
    {"names", NULL, names},
    {"copies", NULL, copies},
    {"mappings", NULL, mappings},
    {"ids", NULL, ids},
    {"processes", mount_proc, processes},
    {"devices", mount_devices, devices},
};

/* -- playing them ------------------------------------------------------------------------------ */

static int play_script(const struct script *s, bool strace, int64_t *ret_got)
{
    kernel.strace = strace;
    put_paths();
    put_locks_and_times();
    put_messages();
    int r = s->setup ? s->setup() : 0;
    return r < 0 ? 1000 : script_play(s->steps, ret_got);
}

static void fail_all(const struct script *s, bool strace)
{
    int64_t got = 0;

    box_begin();
    int at = play_script(s, strace, &got);
    box_end();
    ck_assert_msg(at < 0, "%s: call %d gave %lld", s->name, at, (long long)got);
    for_each_failure {
        if (box_try()) {
            (void)play_script(s, strace, &got);
            box_end();
        }
    }
}

TEST(every_failure)
{
    fail_all(&scripts[_i], false);
}
END_TEST

TEST(every_failure_traced)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    host_strace_set_fd(null);
    fail_all(&scripts[_i], true);
    host_strace_set_fd(-1);
    close(null);
}
END_TEST

TEST_SUITE(scripts)
{
    tcase_add_loop_test(tc_, every_failure, 0, (int)ARRAY_LEN(scripts));
    tcase_add_loop_test(tc_, every_failure_traced, 0, (int)ARRAY_LEN(scripts));
}
