/*
 * Changes. Each is one host call on the descriptor of a directory and a name of one component, or
 * on the descriptor of the file itself; none follows a symlink. Owners are set after something was
 * made with a mode that lets nobody in; when that fails, it is taken away again. Device nodes are
 * not made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "gofer/host.h"
#include "gofer/volume.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static int result(long rc)
{
    return rc < 0 ? -errno : 0;
}

/*
 * The mode of a file that is held by O_PATH: fchmodat2 (Linux 6.6) does it, before that it has to
 * be opened, which only works for files and directories that the server may read.
 */
static int mode_set(struct volumes *v, const struct volume_place *p, uint32_t mode)
{
    const char *name;
    char text[16];
    struct statx st;
    if (p->node->type == DT_LNK)
        return -EOPNOTSUPP;
    int rc = result(syscall(SYS_fchmodat2, p->node->fd, "", mode, AT_EMPTY_PATH));
    if (rc != -ENOSYS && rc != -EINVAL)
        return rc;
    if (p->node->type != DT_REG && p->node->type != DT_DIR)
        return -EPERM;
    int at = volume_at(v, p, &name, text);
    if (at < 0)
        return at;
    int fd = host_open(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, volume_crosses(v, p));
    if (fd < 0)
        return fd;
    rc = host_statx(fd, "", &st);
    if (rc == 0)
        rc = st.stx_ino == p->node->ino ? result(fchmod(fd, mode)) : -ESTALE;
    fd_close(fd);
    return rc;
}

/* With one id only everything is the server's user's, and a wish for another owner is refused. */
static int owner_set(const struct volumes *v, const struct vnode *n, uint32_t uid, uint32_t gid)
{
    bool own = (uid == UINT32_MAX || uid == 0) && (gid == UINT32_MAX || gid == 0);
    if (v->squash)
        return own ? 0 : -EPERM;
    return result(fchownat(n->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

static int make(const struct vnode *dir, const char *name, uint32_t mode, const char *target,
                bool cross, int *ret_fd)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        *ret_fd = host_open(dir->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOCTTY, 0600, cross);
        return MIN(*ret_fd, 0);
    case S_IFDIR:
        return result(mkdirat(dir->fd, name, 0700));
    case S_IFLNK:
        return result(symlinkat(target, dir->fd, name));
    case S_IFIFO:
        return result(mknodat(dir->fd, name, S_IFIFO | 0600, 0));
    case S_IFSOCK:
        return result(mknodat(dir->fd, name, S_IFSOCK | 0600, 0));
    default:
        return -EPERM;
    }
}

/* Owner and mode of what was just made; the mode last, since a change of owner takes bits away. */
static int dress(struct volumes *v, const struct volume_place *p,
                 const struct volume_create_req *req)
{
    int rc = v->squash ? 0 : owner_set(v, p->node, req->uid, req->gid);
    if (rc == 0 && p->node->type != DT_LNK)
        rc = mode_set(v, p, req->mode & 07777);
    return rc;
}

/*
 * Only what belongs to the server itself was made by it: the host could have put a file of its own
 * there meanwhile, which must not be given away. File systems with fixed owners have it their way.
 */
static int dress_own(struct volumes *v, struct vnode *dir, const char *name,
                     const struct volume_create_req *req, struct volume_made *m)
{
    struct volume_place p = {dir, m->node, name};
    if ((req->mode ^ m->attr.mode) & S_IFMT)
        return -ESTALE; /* the host has put something else there; that stays */
    if (m->attr.uid != v->uid)
        return 0;
    int rc = dress(v, &p, req);
    if (rc < 0)
        (void)unlinkat(dir->fd, name, m->node->type == DT_DIR ? AT_REMOVEDIR : 0);
    return rc < 0 ? rc : volume_getattr(v, m->node, &m->attr);
}

int volume_create(struct volumes *v, struct vnode *dir, const char *name,
                  const struct volume_create_req *req, const char *target, struct volume_made *ret)
{
    auto_fd int fd = -1;
    ret->fd = -1;
    if (dir->type != DT_DIR)
        return -ENOTDIR;
    int rc = make(dir, name, req->mode, target, v->roots[dir->root].cross, &fd);
    if (rc == 0)
        rc = volume_lookup(v, dir, name, &ret->node, &ret->attr);
    if (rc == 0)
        rc = dress_own(v, dir, name, req, ret);
    if (rc == 0 && fd >= 0 && volume_is(ret->node, fd))
        ret->fd = take_fd(fd);
    return rc;
}

int volume_link(struct volumes *v, const struct volume_place *p, struct vnode *new_dir,
                const char *new_name, struct gofer_attr *ret_attr)
{
    const char *name;
    char text[16];
    struct statx st;
    if (new_dir->type != DT_DIR)
        return -ENOTDIR;
    if (p->node->type == DT_DIR)
        return -EPERM;
    int at = volume_at(v, p, &name, text);
    if (at < 0)
        return at;
    int rc = result(linkat(at, name, new_dir->fd, new_name, 0));
    if (rc < 0)
        return rc;
    /* Linked by name: if the host replaced the file in between, that is undone. */
    rc = host_statx(new_dir->fd, new_name, &st);
    if (rc == 0 && st.stx_ino != p->node->ino) {
        (void)unlinkat(new_dir->fd, new_name, 0);
        rc = -ESTALE;
    }
    return rc < 0 ? rc : volume_getattr(v, p->node, ret_attr);
}

int volume_remove(struct vnode *dir, const char *name, bool directory)
{
    if (dir->type != DT_DIR)
        return -ENOTDIR;
    return result(unlinkat(dir->fd, name, directory ? AT_REMOVEDIR : 0));
}

int volume_rename(struct vnode *dir, const char *name, struct vnode *new_dir, const char *new_name,
                  uint32_t flags)
{
    if (dir->type != DT_DIR || new_dir->type != DT_DIR)
        return -ENOTDIR;
    if (dir->root != new_dir->root)
        return -EXDEV;
    return result(syscall(SYS_renameat2, dir->fd, name, new_dir->fd, new_name, flags));
}

static struct timespec time_of(const struct gofer_time *t, bool valid)
{
    return valid ? (struct timespec){.tv_sec = t->sec, .tv_nsec = t->nsec}
                 : (struct timespec){.tv_nsec = UTIME_OMIT};
}

int volume_setattr(struct volumes *v, const struct volume_place *p,
                   const struct volume_setattr_req *req, struct gofer_attr *ret_attr)
{
    int rc = 0;
    if (req->valid & (VOLUME_SET_UID | VOLUME_SET_GID))
        rc = owner_set(v, p->node, req->valid & VOLUME_SET_UID ? req->uid : UINT32_MAX,
                       req->valid & VOLUME_SET_GID ? req->gid : UINT32_MAX);
    if (rc == 0 && (req->valid & VOLUME_SET_MODE))
        rc = mode_set(v, p, req->mode & 07777);
    if (rc == 0 && (req->valid & (VOLUME_SET_ATIME | VOLUME_SET_MTIME))) {
        struct timespec times[2] = {time_of(&req->atime, req->valid & VOLUME_SET_ATIME),
                                    time_of(&req->mtime, req->valid & VOLUME_SET_MTIME)};
        rc = result(utimensat(p->node->fd, "", times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    }
    return rc < 0 ? rc : volume_getattr(v, p->node, ret_attr);
}

/* --- extended attributes: user.* of files and directories ----------------------------------------
 */

static int xattr_enter(struct volumes *v, const struct volume_place *p, const char *name,
                       const char **ret_file, char text[16])
{
    if (strncmp(name, "user.", 5) != 0)
        return -EOPNOTSUPP;
    if (p->node->type != DT_REG && p->node->type != DT_DIR)
        return -EPERM;
    int at = volume_at(v, p, ret_file, text);
    if (at < 0)
        return at;
    return fchdir(at) < 0 ? -errno : 0;
}

int volume_setxattr(struct volumes *v, const struct volume_place *p, const char *name,
                    const void *value, size_t len, int flags)
{
    const char *file;
    char text[16];
    int rc = xattr_enter(v, p, name, &file, text);
    return rc < 0 ? rc : result(lsetxattr(file, name, value, len, flags));
}

int volume_removexattr(struct volumes *v, const struct volume_place *p, const char *name)
{
    const char *file;
    char text[16];
    int rc = xattr_enter(v, p, name, &file, text);
    return rc < 0 ? rc : result(lremovexattr(file, name));
}

int volume_sync(struct vnode *n)
{
    if (n->type != DT_DIR)
        return -ENOTDIR;
    int fd = host_open(n->fd, ".", O_RDONLY | O_DIRECTORY, 0, false);
    if (fd < 0)
        return fd;
    int rc = result(fsync(fd));
    fd_close(fd);
    return rc;
}
