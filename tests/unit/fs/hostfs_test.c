/*
 * A bind mount of a temporary directory: a volume server in a process of its own, and calls of a
 * guest through hostfs, with each allocation and host call of the kernel failing in turn.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "abi/file.h"
#include "abi/mman.h"

#include "gofer/volume_client.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "sentry/fs/vfs.h"
#include "sentry/host/host.h"
#include "tests/support/script.h"
#include "tests/support/test.h"
#include "tests/support/volume_serve.h"

static char dir[64];
static int dir_fd;

/* Made on first use and kept: not by a test, then, whose descriptors are counted. */
__attribute__((constructor)) static void first_use(void)
{
    (void)host_poll_fd();
}

/* -- the host's side --------------------------------------------------------------------------- */

static void put_file(const char *name, const char *text)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fd_write_full(fd, text, strlen(text)), 0);
    fd_close(fd);
}

/* The tree as each turn finds it. */
static void fill(void)
{
    static const char *const left[] = {"new", "newer", "other", "sym", "fifo"};
    for (size_t i = 0; i < ARRAY_LEN(left); i++)
        (void)unlinkat(dir_fd, left[i], 0);
    (void)unlinkat(dir_fd, "dir", AT_REMOVEDIR);
    put_file("plain", "hello\n");
}

static void make_dir(void)
{
    strcpy(dir, "/tmp/hostfs-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir_fd, 0);
    fill();
}

static void remove_dir(void)
{
    fill();
    (void)unlinkat(dir_fd, "plain", 0);
    fd_close(dir_fd);
    ck_assert_int_eq(rmdir(dir), 0);
}

/* -- the guest's side -------------------------------------------------------------------------- */

#define M(off) (BOX_MEM + (off))
#define A      0x50000000ull

enum {
    P_ROOT = 0x000,
    P_PLAIN = 0x020,
    P_NEW = 0x040,
    P_NEWER = 0x060,
    P_OTHER = 0x080,
    P_SYM = 0x0a0,
    P_DIR = 0x0c0,
    P_FIFO = 0x0e0,
    P_NONE = 0x100,
    P_ATTR = 0x120,
    DATA = 0x1000,
    BUF = 0x8000,
};
#define AT_CWD ((uint64_t)-100)

static const struct step files[] = {
    CALL(open, 0, M(P_PLAIN), LX_O_RDWR),
    CALL(read, 6, 0, M(BUF), 100),
    CALL(pwrite64, 5, 0, M(DATA), 5, 10),
    CALL(lseek, 15, 0, 0, 2),
    CALL(pread64, 5, 0, M(BUF), 5, 10),
    CALL(ftruncate, 0, 0, 100),
    CALL(fstat, 0, 0, M(BUF)),
    CALL(open, 1, M(P_NEW), LX_O_RDWR | LX_O_CREAT | LX_O_EXCL, 0600),
    CALL(open, -EEXIST, M(P_NEW), LX_O_RDWR | LX_O_CREAT | LX_O_EXCL, 0600),
    CALL(write, 5000, 1, M(DATA), 5000),
    CALL(fallocate, 0, 1, 0, 0, 8192),
    CALL(fsync, 0, 1),
    CALL(mmap, A, A, 0x2000, 3, LX_MAP_SHARED | LX_MAP_FIXED, 1, 0),
    CALL(msync, 0, A, 0x2000, 4),
    CALL(munmap, 0, A, 0x2000),
    CALL(open, 2, M(P_PLAIN), LX_O_WRONLY | LX_O_APPEND),
    CALL(write, 5, 2, M(DATA), 5),
    CALL(sendfile, 90, 1, 0, 0, 1000),
    CALL(truncate, 0, M(P_NEW), 10),
    CALL(stat, 0, M(P_NEW), M(BUF)),
    CALL(open, -ENOENT, M(P_NONE), LX_O_RDONLY),
    END,
};

static const struct step names[] = {
    CALL(open, 0, M(P_NEW), LX_O_RDWR | LX_O_CREAT, 0600),
    CALL(mkdir, 0, M(P_DIR), 0755),
    CALL(open, 1, M(P_ROOT), LX_O_DIRECTORY),
    CALL(getdents64, ANY, 1, M(BUF), 4096),
    CALL(getdents64, 0, 1, M(BUF), 4096),
    CALL(link, 0, M(P_NEW), M(P_OTHER)),
    CALL(symlink, 0, M(P_NEW), M(P_SYM)),
    CALL(readlink, 6, M(P_SYM), M(BUF), 100),
    CALL(stat, 0, M(P_SYM), M(BUF)),
    CALL(rename, 0, M(P_NEW), M(P_NEWER)),
    CALL(stat, -ENOENT, M(P_SYM), M(BUF)),
    CALL(renameat2, 0, AT_CWD, M(P_NEWER), AT_CWD, M(P_OTHER), 2),
    CALL(mknod, 0, M(P_FIFO), 010600, 0),
    CALL(chmod, 0, M(P_OTHER), 0640),
    CALL(utimensat, 0, AT_CWD, M(P_OTHER), 0, 0),
    CALL(statx, 0, AT_CWD, M(P_OTHER), 0, 0xfff, M(BUF)),
    CALL(statfs, 0, M(P_ROOT), M(BUF)),
    CALL(setxattr, ALL, M(P_OTHER), M(P_ATTR), M(DATA), 5, 0),
    CALL(getxattr, ALL, M(P_OTHER), M(P_ATTR), M(BUF), 100),
    CALL(listxattr, ALL, M(P_OTHER), M(BUF), 100),
    CALL(removexattr, ALL, M(P_OTHER), M(P_ATTR)),
    CALL(access, 0, M(P_DIR), 7),
    CALL(chdir, 0, M(P_DIR)),
    CALL(fchdir, 0, 1),
    CALL(unlink, 0, M(P_SYM)),
    CALL(unlink, 0, M(P_OTHER)),
    CALL(unlink, 0, M(P_NEWER)),
    CALL(unlink, 0, M(P_FIFO)),
    CALL(rmdir, 0, M(P_DIR)),
    CALL(rmdir, -ENOTDIR, M(P_PLAIN)),
    CALL(fsync, 0, 1),
    END,
};

static const struct step *const scripts[] = {files, names};

static void put_paths(void)
{
    static const struct {
        uint64_t at;
        const char *text;
    } paths[] = {
        {P_ROOT, "/h"},        {P_PLAIN, "/h/plain"}, {P_NEW, "/h/new"}, {P_NEWER, "/h/newer"},
        {P_OTHER, "/h/other"}, {P_SYM, "/h/sym"},     {P_DIR, "/h/dir"}, {P_FIFO, "/h/fifo"},
        {P_NONE, "/h/none"},   {P_ATTR, "user.a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        box_write(box.th, M(paths[i].at), paths[i].text, strlen(paths[i].text) + 1);
    box_write(box.th, M(DATA), "hello", 5);
}

/* One turn: a server, a box with its directory mounted, the calls. As script_play, or 1000 when it
 * did not come to the calls. */
static int turn(const struct step *steps, int64_t *ret_got)
{
    struct volume_client *c = NULL;
    struct super *sb = NULL;
    int sock, at = 1000, status;
    pid_t pid = serve_volume(dir_fd, &sock);

    if (volume_client_new(sock, 1, &c, NULL) == 0 && box_try()) {
        put_paths();
        int r = hostfs_mount_new(c, 0, 0, 0, &sb);
        if (script_mount('h', r, sb) == 0)
            at = script_play(steps, ret_got);
        box_end();
    }
    volume_client_free(c);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    fill();
    return at;
}

TEST(calls_with_each_failure)
{
    int64_t got = 0;

    make_dir();
    int at = turn(scripts[_i], &got);
    ck_assert_msg(at < 0, "call %d gave %lld", at, (long long)got);
    for_each_failure (void)
        turn(scripts[_i], &got);
    remove_dir();
}
END_TEST

TEST_SUITE(hostfs)
{
    tcase_add_loop_test(tc_, calls_with_each_failure, 0, (int)ARRAY_LEN(scripts));
}
