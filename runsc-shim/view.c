/*
 * view.c: the namespace is made of copies of the mounts that the sandbox was given; they are taken
 * before anything else, where the descriptors belong. All of them are nosuid, nodev and noexec:
 * files are copied there, and nothing more.
 */
#include "runsc-shim/view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mount.h>
#include <sys/syscall.h>

#include "lib/cleanup.h"
#include "lib/fdio.h"
#include "lib/log.h"
#include "sentry/cli/boot.h"

enum {
    ATTRIBUTES = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC
};

/* -- copies of mounts, attached nowhere yet ------------------------------------------------------
 */

static int copy_of(int fd, bool recursive, bool readonly)
{
    unsigned flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    struct mount_attr attr = {.attr_set = ATTRIBUTES | (readonly ? MOUNT_ATTR_RDONLY : 0)};
    auto_fd int tree = open_tree(fd, "", recursive ? flags | AT_RECURSIVE : flags);

    if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        return -errno;
    return take_fd(tree);
}

/* In the place of what the sentry has in its memory. */
static int nothing(void)
{
    auto_fd int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

    if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "size", "4k", 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    int mnt = fsmount(fs, FSMOUNT_CLOEXEC, ATTRIBUTES | MOUNT_ATTR_RDONLY);
    return mnt < 0 ? -errno : mnt;
}

struct copies {
    int root, mounts[BOOT_MAX_MOUNTS];
};

static int copies_make(const struct boot *b, struct copies *ret)
{
    int r = ret->root = copy_of(b->image_fd, false, false);

    for (size_t i = 0; i < ARRAY_LEN(ret->mounts); i++)
        ret->mounts[i] = -1;
    for (size_t i = 0; i < b->nmounts && r >= 0; i++) {
        const struct boot_mount *m = &b->mounts[i];
        bool bind = m->type == BOOT_MOUNT_BIND;
        r = bind ? copy_of(m->fd, m->recursive, m->flags & BOOT_MS_RDONLY) : nothing();
        ret->mounts[i] = r;
    }
    return MIN(r, 0);
}

static void copies_done(const struct copies *c)
{
    fd_close(c->root);
    for (size_t i = 0; i < ARRAY_LEN(c->mounts); i++)
        fd_close(c->mounts[i]);
}

/* -- the namespace -------------------------------------------------------------------------------
 */

static int enter_root(int root)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0 || fchdir(root) < 0 ||
        syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return -errno;
    return 0;
}

/* The root of this process is the container's by now: no link leads out of it. */
static int attach(int tree, const char *guest)
{
    auto_fd int at = open(guest, O_PATH | O_CLOEXEC);

    /* It lies in what is not shown. */
    if (at < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (at < 0 ||
        move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return -errno;
    return 0;
}

static int enter_container(const struct boot *b)
{
    struct copies c;
    int r = copies_make(b, &c);

    if (r == 0)
        r = enter_root(c.root);
    for (size_t i = 0; i < b->nmounts && r == 0; i++)
        r = attach(c.mounts[i], b->mounts[i].guest);
    copies_done(&c);
    return r;
}

void view_enter(const struct boot *b, pid_t sentry)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)sentry);
    auto_fd int empty = open(path, O_RDONLY | O_CLOEXEC);
    int r = boot_root_through(b) ? enter_container(b) : -ENOENT;
    if (r == 0)
        return;
    if (boot_root_through(b))
        LOG_D(CH_CLI, "engines do not see the container's files: %s", strerror(-r));
    if (empty < 0 || setns(empty, CLONE_NEWNS) < 0)
        LOG_D(CH_CLI, "the monitor stays in its mount namespace: %s", strerror(errno));
}
