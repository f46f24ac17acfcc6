/*
 * How the volume server locks itself in. As confine.c, with these differences:
 *
 *   mounts      each volume is a private mount, nodev, nosuid, nosymfollow, read-only unless
 *               the guest may write it, below an empty root directory; nothing else is mounted
 *   ids         with a writable volume also the capabilities that root in a container has
 *               over files, in its own user namespace only
 *   Landlock    per volume: reading, and where it is writable making, removing, renaming and
 *               writing of files, directories, symlinks, fifos and sockets; no device
 *   filter      the reading calls; where a volume is writable, those of volume_write.c.
 *               There is no write(2): the sentry writes to the files that it was handed
 */
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

#include "gofer/confine.h"
#include "gofer/drop.h"
#include "gofer/volume.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    CAPS_READ = 1 << CAP_DAC_READ_SEARCH,
    CAPS_WRITE = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_FOWNER | 1 << CAP_FSETID,
};

static bool is_directory(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool any_writable(const struct volume_source *roots, uint32_t n)
{
    bool any = false;
    for (uint32_t r = 0; r < n; r++)
        any |= roots[r].writable;
    return any;
}

/* Each root's descriptor becomes that of a private mount of it, not yet attached anywhere. */
static int clone_root(const struct volume_source *root)
{
    auto_fd int tree = confine_clone(root->fd, root->cross);
    /* Where the host insists on keeping mounts together, the server does not enter them. */
    if (tree < 0 && !root->cross)
        tree = confine_clone(root->fd, true);
    if (tree < 0)
        return -errno;
    struct mount_attr attr = {.attr_set =
                                  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSYMFOLLOW};
    if (!root->writable)
        attr.attr_set |= MOUNT_ATTR_RDONLY;
    if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0 ||
        dup3(tree, root->fd, O_CLOEXEC) < 0)
        return -errno;
    return 0;
}

/* An empty file system in memory, which becomes the root directory; the host's mounts go. */
static int make_top(struct confinement *c, int *ret_top)
{
    auto_fd int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "size", "64k", 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    auto_fd int top =
        fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSYMFOLLOW);
    if (top < 0 || move_mount(top, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
        fchdir(top) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
        chdir("/") < 0)
        return -errno;
    c->root_gone = c->chrooted = true;
    *ret_top = take_fd(top);
    return 0;
}

static int attach_root(int top, const struct volume_source *root, uint32_t r)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "%u", r);
    if (is_directory(root->fd)) {
        if (mkdirat(top, name, 0755) < 0)
            return -errno;
    } else {
        auto_fd int file = openat(top, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file < 0)
            return -errno;
    }
    return move_mount(root->fd, "", top, name, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

static int enter_mounts(struct confinement *c, const struct volume_source *roots, uint32_t n,
                        int *ret_top, struct error *err)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (!c->namespaces)
        return error_set(err, ENOTSUP, "no mount namespace for the volumes");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_errno(err, errno, "making mounts private");
    int rc = 0;
    for (uint32_t r = 0; r < n && rc == 0; r++)
        rc = clone_root(&roots[r]);
    if (rc < 0)
        return error_errno(err, -rc, "a private mount of a volume");
    rc = make_top(c, ret_top);
    for (uint32_t r = 0; r < n && rc == 0; r++)
        rc = attach_root(*ret_top, &roots[r], r);
    if (rc == 0 && mount_setattr(*ret_top, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
        rc = -errno;
    return rc < 0 ? error_errno(err, -rc, "mounting the volumes") : 0;
}

static int enter_files(const struct volume_source *roots, uint32_t n, const int others[2],
                       uint32_t max_files, struct error *err)
{
    int keep[GOFER_ROOTS_MAX + 3];
    size_t count = 0;
    for (uint32_t r = 0; r < n; r++)
        keep[count++] = roots[r].fd;
    keep[count++] = others[0];
    keep[count++] = others[1];
    keep[count++] = STDERR_FILENO;
    drop_files(keep, count);
    struct rlimit files = {.rlim_cur = max_files, .rlim_max = max_files};
    return setrlimit(RLIMIT_NOFILE, &files) < 0
               ? error_errno(err, errno, "limit the number of descriptors")
               : 0;
}

int confine_volumes(struct confinement *c, const struct volume_source *roots, uint32_t nroots,
                    int sock, uint32_t max_files, int *ret_top, struct error *err)
{
    struct drop_path paths[GOFER_ROOTS_MAX];
    bool writable = any_writable(roots, nroots);
    int top = -1;
    int rc = enter_mounts(c, roots, nroots, &top, err);
    const int others[2] = {sock, top};
    if (rc == 0)
        rc = enter_files(roots, nroots, others, max_files, err);
    if (rc < 0)
        return rc;
    uint64_t keep = CAPS_READ | (writable ? CAPS_WRITE : 0);
    c->reads_all = drop_privilege(c->id, keep) & CAPS_READ;
    c->id = geteuid();
    rc = drop_process(err);
    if (rc < 0)
        return rc;
    (void)umask(0);
    for (uint32_t r = 0; r < nroots; r++)
        paths[r] = (struct drop_path){roots[r].fd, is_directory(roots[r].fd), roots[r].writable};
    c->landlock = drop_paths(paths, nroots);
    *ret_top = top;
    return drop_syscalls(writable ? &confine_filter_volumes : &confine_filter_gofer, err);
}
