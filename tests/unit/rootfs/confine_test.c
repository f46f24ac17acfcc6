/* rootfs/confine.h: what is in reach inside the box, of a tar's reader and of a layout's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "platform/confine/landlock.h"

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/confine.h"
#include "rootfs/tree.h"
#include "tests/support/tar_image.h"
#include "tests/support/test.h"

/* Descriptors of the box. */
enum {
    ANSWER,
    TAR,
    SCRATCH,
    FOREIGN
};

struct answer {
    int enter;           /* unpack_box_enter */
    int tar;             /* bytes read of the tar that was opened before */
    int foreign;         /* opening a file below a directory that the box knows nothing of */
    int layout;          /* ... below the layout */
    int layout_write;    /* making a file there */
    int target, outside; /* making a file in the target; what lies beside it */
};

struct world {
    char path[64];
    int dir;
    struct unpack_box box;
    int pipe[2];
};

static int make_dir(const struct world *w, const char *name)
{
    ck_assert_int_eq(mkdirat(w->dir, name, 0755), 0);
    int fd = tree_open_at(w->dir, name, O_PATH | O_DIRECTORY, 0);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void make_file(int dir, const char *name)
{
    auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq(fd_write_full(fd, "x", 1), 0);
}

static void world_begin(struct world *w)
{
    w->dir = tar_dir(w->path);
    ck_assert_int_eq(pipe2(w->pipe, O_CLOEXEC), 0);
    w->box = (struct unpack_box){.target = make_dir(w, "target"), .source = -1, .blobs = -1};
    make_file(w->dir, "image.tar");
    w->box.files[ANSWER] = w->pipe[1];
    w->box.files[TAR] = openat(w->dir, "image.tar", O_RDONLY | O_CLOEXEC);
    w->box.files[SCRATCH] = -1;
    w->box.files[FOREIGN] = make_dir(w, "foreign");
    make_file(w->box.files[FOREIGN], "secret");
}

static void world_end(struct world *w)
{
    fd_close(w->box.target);
    fd_close(w->box.source);
    for (size_t i = 0; i < ARRAY_LEN(w->box.files); i++)
        fd_close(w->box.files[i]);
    fd_close(w->pipe[0]);
    fd_close(w->dir);
    tar_rm(w->path);
}

static int opens(int dir, const char *name, int flags)
{
    int fd = tree_open_at(dir, name, flags, 0644);
    fd_close(fd);
    return MIN(fd, 0);
}

NORETURN static void look_around(struct unpack_box *box)
{
    struct answer a = {0};
    struct error err;
    char byte;
    error_init(&err);
    a.enter = unpack_box_enter(box, &err);
    if (a.enter < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
    } else {
        a.tar = (int)pread(box->files[TAR], &byte, 1, 0);
        a.foreign = opens(box->files[FOREIGN], "secret", O_RDONLY);
        a.layout = box->source < 0 ? 0 : opens(box->source, "blob", O_RDONLY);
        a.layout_write = box->source < 0 ? 0 : opens(box->source, "new", O_WRONLY | O_CREAT);
        a.target = opens(box->target, "new", O_WRONLY | O_CREAT);
        a.outside = opens(box->target, "../image.tar", O_RDONLY);
    }
    _exit(write(box->files[ANSWER], &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
}

/* False: no box is to be had on this host. */
static bool answer_of(struct world *w, struct answer *ret)
{
    struct error err;
    int status;
    error_init(&err);
    pid_t pid = unpack_box_fork(&w->box, &err);
    if (pid < 0)
        return false;
    if (pid == 0)
        look_around(&w->box);
    ck_assert_int_eq(fd_read_full(w->pipe[0], ret, sizeof(*ret)), sizeof(*ret));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    return true;
}

/* Nothing but Landlock refuses this: the descriptor came along, and the call is allowed. */
static int foreign_wanted(void)
{
    return landlock_abi() >= 2 ? -EACCES : 0;
}

TEST(with_a_tar)
{
    struct world w;
    struct answer a;
    world_begin(&w);
    if (answer_of(&w, &a)) {
        ck_assert_int_eq(a.enter, 0);
        ck_assert_int_eq(a.tar, 1);
        ck_assert_int_eq(a.foreign, foreign_wanted());
        ck_assert_int_eq(a.target, 0);
        ck_assert_int_lt(a.outside, 0);
        ck_assert_int_eq(faccessat(w.dir, "target/new", F_OK, 0), 0);
    }
    world_end(&w);
}

TEST(with_a_layout)
{
    struct world w;
    struct answer a;
    world_begin(&w);
    w.box.source = make_dir(&w, "layout");
    make_file(w.box.source, "blob");
    if (answer_of(&w, &a)) {
        ck_assert_int_eq(a.enter, 0);
        ck_assert_int_eq(a.foreign, foreign_wanted());
        ck_assert_int_eq(a.layout, 0);
        ck_assert_int_lt(a.layout_write, 0);
        ck_assert_int_eq(a.target, 0);
    }
    world_end(&w);
}

/* A file where a directory is said to be: the box is not entered. */
TEST(a_file_is_no_layout)
{
    struct world w;
    struct answer a;
    world_begin(&w);
    make_file(w.dir, "file");
    w.box.source = openat(w.dir, "file", O_PATH | O_CLOEXEC);
    if (answer_of(&w, &a))
        ck_assert_int_lt(a.enter, 0);
    world_end(&w);
}

TEST_SUITE(confine)
{
    TEST_ADD(with_a_tar);
    TEST_ADD(with_a_layout);
    TEST_ADD(a_file_is_no_layout);
}
