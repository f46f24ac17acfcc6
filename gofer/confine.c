/*
 * The second half of the confinement, in the process that serves. What each layer is good for, if
 * everything else failed and the process ran an attacker's code:
 *
 *   mounts      each root is re-mounted privately, read-only, nodev, nosuid and without what is
 *               mounted inside it, so no open can write, whatever its flags; the image then becomes
 *               the root directory and all mounts of the host are detached
 *   namespaces  no network, no other process to see, signal or trace
 *   ids         an id of its own that owns nothing, with at most CAP_DAC_READ_SEARCH, and that
 *               in its own user namespace only
 *   Landlock    reading below the roots, nothing else; no device ioctl, no TCP, no foreign signal
 *   filter      25 calls; none creates, writes (but to the log), executes, or makes a process
 *
 * A layer that the host does not offer is skipped and the others stand; the filter always stands.
 */
#include "gofer/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "platform/confine/filter.h"

#include "gofer/drop.h"
#include "gofer/proto.h"
#include "gofer/tree.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

static bool same_file(int a, int b)
{
    struct stat sa;
    struct stat sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* The descriptor belongs to the mount namespace that it was opened in, so the file is first found
 * again, by path, in ours. */
int confine_clone(int fd, bool recursive)
{
    char link[32];
    char path[4096];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len < 0)
        return -1;
    path[len] = '\0';
    auto_fd int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0 || !same_file(fd, found))
        return -1;
    unsigned flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    return open_tree(found, "", recursive ? flags | AT_RECURSIVE : flags);
}

static bool tree_lock(int tree)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0;
}

int confine_detach(int fd)
{
    const unsigned flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    auto_fd int tree = open_tree(fd, "", flags);
    if (tree < 0)
        tree = open_tree(fd, "", flags | AT_RECURSIVE);
    return tree >= 0 && tree_lock(tree) ? take_fd(tree) : -1;
}

/*
 * Replaces the directory behind fd by a read-only mount of it that nobody else sees. Without what
 * is mounted inside, unless the kernel insists on keeping that together; then the server refuses to
 * enter it.
 */
static bool root_remount(int fd)
{
    auto_fd int tree = confine_clone(fd, false);
    if (tree < 0)
        tree = confine_clone(fd, true);
    return tree >= 0 && tree_lock(tree) && dup3(tree, fd, O_CLOEXEC) == fd;
}

/*
 * Makes the image the root directory; at best nothing else is mounted any more. Mounts are moved in
 * a mount namespace of our own only.
 */
static void root_switch(struct confinement *c, int fd)
{
    if (c->detached) {
        c->chrooted = fchdir(fd) == 0 && chroot(".") == 0 && chdir("/") == 0;
        c->root_gone = c->chrooted;
        return;
    }
    if (c->read_only && move_mount(fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) == 0 &&
        fchdir(fd) == 0 && syscall(SYS_pivot_root, ".", ".") == 0)
        c->root_gone = umount2(".", MNT_DETACH) == 0;
    c->chrooted = c->root_gone || (fchdir(fd) == 0 && chroot(".") == 0);
    if (c->chrooted && chdir("/") < 0)
        c->chrooted = false;
}

static void enter_mounts(struct confinement *c, const int *root_fds, uint32_t nroots)
{
    if (c->detached) {
        c->read_only = true;
    } else if (c->namespaces && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0) {
        c->read_only = true;
        for (uint32_t r = 0; r < nroots; r++) {
            if (!root_remount(root_fds[r]))
                c->read_only = false;
        }
    }
    root_switch(c, root_fds[0]);
}

static int enter_files(const int *root_fds, uint32_t nroots, int sock, struct error *err)
{
    int keep[GOFER_ROOTS_MAX + 2];
    size_t n = 0;
    for (uint32_t r = 0; r < nroots; r++)
        keep[n++] = root_fds[r];
    keep[n++] = sock;
    keep[n++] = STDERR_FILENO;
    drop_files(keep, n);
    struct rlimit files = {.rlim_cur = TREE_DIRS + GOFER_ROOTS_MAX + 64,
                           .rlim_max = TREE_DIRS + GOFER_ROOTS_MAX + 64};
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        return error_errno(err, errno, "limit the number of descriptors");
    return 0;
}

int confine_enter(struct confinement *c, const int *root_fds, uint32_t nroots, int sock,
                  struct error *err)
{
    enter_mounts(c, root_fds, nroots);
    int rc = enter_files(root_fds, nroots, sock, err);
    if (rc < 0)
        return rc;
    c->reads_all = drop_privilege(c->id, 1u << CAP_DAC_READ_SEARCH) != 0;
    /* Had the monitor died before this renews the request to die with it: the sentry dies too, and
     * its end of the socket closes. */
    rc = drop_process(err);
    if (rc < 0)
        return rc;
    struct drop_path paths[GOFER_ROOTS_MAX];
    for (uint32_t r = 0; r < nroots; r++)
        paths[r] = (struct drop_path){.fd = root_fds[r], .directory = true};
    c->landlock = drop_paths(paths, nroots);
    return drop_syscalls(&confine_filter_gofer, err);
}
