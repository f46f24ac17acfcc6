/*
 * Directories and names: getdents, mkdir, rmdir, unlink, rename, link, symlink, readlink, mknod,
 * chdir, chroot, getcwd.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

/* -- listings ---------------------------------------------------------------------------------- */

enum {
    DENTS_MAX = 65536
};

struct dents {
    struct dir_context dc;
    uint8_t *buf;
    size_t len, cap;
    bool old_layout;
    bool full; /* an entry did not fit */
};

static size_t put_entry(const struct dents *ds, uint8_t *at, const struct lx_dirent64 *head,
                        const char *name, size_t len)
{
    size_t n;

    if (ds->old_layout) {
        struct lx_dirent old = {.d_ino = head->d_ino, .d_off = (uint64_t)head->d_off};

        n = LX_DIRENT_LEN(len);
        old.d_reclen = (uint16_t)n;
        memset(at, 0, n);
        memcpy(at, &old, LX_DIRENT_NAME_OFFSET);
        memcpy(at + LX_DIRENT_NAME_OFFSET, name, len);
        at[n - 1] = head->d_type;
        return n;
    }
    struct lx_dirent64 now = *head;
    n = LX_DIRENT64_LEN(len);
    now.d_reclen = (uint16_t)n;
    memset(at, 0, n);
    memcpy(at, &now, LX_DIRENT64_NAME_OFFSET);
    memcpy(at + LX_DIRENT64_NAME_OFFSET, name, len);
    return n;
}

static bool emit(struct dir_context *dc, const char *name, size_t len, uint64_t ino, uint32_t type,
                 uint64_t next_pos)
{
    struct dents *ds = container_of(dc, struct dents, dc);
    struct lx_dirent64 head = {.d_ino = ino, .d_off = (int64_t)next_pos, .d_type = (uint8_t)type};
    size_t n = ds->old_layout ? LX_DIRENT_LEN(len) : LX_DIRENT64_LEN(len);

    if (n > ds->cap - ds->len) {
        ds->full = true;
        return false;
    }
    ds->len += put_entry(ds, ds->buf + ds->len, &head, name, len);
    return true;
}

static int64_t list_directory(struct task *t, struct file *f, gaddr_t dst, size_t cap, bool old)
{
    struct dents ds = {.dc.emit = emit, .cap = MIN(cap, (size_t)DENTS_MAX), .old_layout = old};
    uint64_t start = f->pos, end;
    int r;

    if (!f->ops->readdir)
        return -ENOTDIR;
    if (f->inode->dead)
        return -ENOENT;
    ds.buf = kalloc(ds.cap);
    if (!ds.buf)
        return -ENOMEM;
    r = f->ops->readdir(f, &ds.dc);
    end = f->pos;
    if (ds.len == 0) {
        kfree(ds.buf);
        return r == 0 && ds.full ? -EINVAL : r;
    }
    r = copy_to_user(t, dst, ds.buf, ds.len);
    kfree(ds.buf);
    if (r < 0) {
        f->pos = start;
        return r;
    }
    f->pos = end;
    return (int64_t)ds.len;
}

static struct sys_res getdents(struct task *t, const struct sys_args *a, bool old)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    int64_t n;

    if (!f)
        return sys_ret(-EBADF);
    n = list_directory(t, f, sys_addr(a, 1), sys_uint(a, 2), old);
    file_put(f);
    return sys_ret(n);
}

struct sys_res sys_getdents(struct task *t, const struct sys_args *a)
{
    return getdents(t, a, true);
}

struct sys_res sys_getdents64(struct task *t, const struct sys_args *a)
{
    return getdents(t, a, false);
}

/* -- making names ------------------------------------------------------------------------------ */

static struct sys_res do_mkdir(struct task *t, int dfd, gaddr_t name, uint32_t mode)
{
    struct parent_lookup pl;
    int r = user_path_parent(t, dfd, name, &pl);

    if (r < 0)
        return sys_ret(r);
    r = vfs_mkdir(&pl, mode & LX_S_IALLUGO & ~t->fs->umask, t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_mkdir(struct task *t, const struct sys_args *a)
{
    return do_mkdir(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1));
}

struct sys_res sys_mkdirat(struct task *t, const struct sys_args *a)
{
    return do_mkdir(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2));
}

static struct sys_res do_mknod(struct task *t, int dfd, gaddr_t name, uint32_t mode, uint32_t dev)
{
    struct parent_lookup pl;
    uint32_t type = mode & LX_S_IFMT;
    int r = 0;

    if (type == LX_S_IFDIR)
        return sys_ret(-EPERM);
    if (type == LX_S_IFLNK)
        return sys_ret(-EINVAL);
    r = user_path_parent(t, dfd, name, &pl);
    if (r < 0)
        return sys_ret(r);
    r = vfs_mknod(&pl, mode & ~t->fs->umask, dev, t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_mknod(struct task *t, const struct sys_args *a)
{
    return do_mknod(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1) & 0xffff, sys_uint(a, 2));
}

struct sys_res sys_mknodat(struct task *t, const struct sys_args *a)
{
    return do_mknod(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2) & 0xffff, sys_uint(a, 3));
}

static struct sys_res do_symlink(struct task *t, gaddr_t target, int dfd, gaddr_t name)
{
    char text[LX_PATH_MAX];
    struct parent_lookup pl;
    int r = user_path_copy(t, target, text);

    if (r == 0 && !text[0])
        r = -ENOENT;
    if (r == 0)
        r = user_path_parent(t, dfd, name, &pl);
    if (r < 0)
        return sys_ret(r);
    r = vfs_symlink(&pl, text, t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_symlink(struct task *t, const struct sys_args *a)
{
    return do_symlink(t, sys_addr(a, 0), LX_AT_FDCWD, sys_addr(a, 1));
}

struct sys_res sys_symlinkat(struct task *t, const struct sys_args *a)
{
    return do_symlink(t, sys_addr(a, 0), sys_int(a, 1), sys_addr(a, 2));
}

static struct sys_res do_link(struct task *t, int odfd, gaddr_t old, int ndfd, gaddr_t name,
                              int flags)
{
    uint32_t lookup = flags & LX_AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0;
    struct parent_lookup pl;
    struct path p;
    int r;

    if (flags & ~(LX_AT_SYMLINK_FOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH) {
        /* Without the capability an empty name is no name, as in the kernels that programs know. */
        if (!cred_capable(t->cred, LX_CAP_DAC_READ_SEARCH))
            return sys_ret(-ENOENT);
        lookup |= LOOKUP_EMPTY;
    }
    r = user_path_at(t, odfd, old, lookup, &p);
    if (r < 0)
        return sys_ret(r);
    r = user_path_parent(t, ndfd, name, &pl);
    if (r == 0) {
        r = vfs_link(&p, &pl, t->cred);
        parent_lookup_done(&pl);
    }
    path_put(&p);
    return sys_ret(r);
}

struct sys_res sys_link(struct task *t, const struct sys_args *a)
{
    return do_link(t, LX_AT_FDCWD, sys_addr(a, 0), LX_AT_FDCWD, sys_addr(a, 1), 0);
}

struct sys_res sys_linkat(struct task *t, const struct sys_args *a)
{
    return do_link(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), sys_addr(a, 3), sys_int(a, 4));
}

/* -- removing and moving them ------------------------------------------------------------------ */

static struct sys_res remove_name(struct task *t, int dfd, gaddr_t name,
                                  int (*op)(struct parent_lookup *, const struct cred *))
{
    struct parent_lookup pl;
    int r = user_path_parent(t, dfd, name, &pl);

    if (r < 0)
        return sys_ret(r);
    r = op(&pl, t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_rmdir(struct task *t, const struct sys_args *a)
{
    return remove_name(t, LX_AT_FDCWD, sys_addr(a, 0), vfs_rmdir);
}

struct sys_res sys_unlink(struct task *t, const struct sys_args *a)
{
    return remove_name(t, LX_AT_FDCWD, sys_addr(a, 0), vfs_unlink);
}

struct sys_res sys_unlinkat(struct task *t, const struct sys_args *a)
{
    int flags = sys_int(a, 2);

    if (flags & ~LX_AT_REMOVEDIR)
        return sys_ret(-EINVAL);
    return remove_name(t, sys_int(a, 0), sys_addr(a, 1), flags ? vfs_rmdir : vfs_unlink);
}

static struct sys_res do_rename(struct task *t, int odfd, gaddr_t old, int ndfd, gaddr_t name,
                                uint32_t flags)
{
    static const uint32_t known = LX_RENAME_NOREPLACE | LX_RENAME_EXCHANGE | LX_RENAME_WHITEOUT;
    struct parent_lookup from, to;
    int r;

    if (flags & ~known)
        return sys_ret(-EINVAL);
    if ((flags & (LX_RENAME_NOREPLACE | LX_RENAME_WHITEOUT)) && (flags & LX_RENAME_EXCHANGE))
        return sys_ret(-EINVAL);
    r = user_path_parent(t, odfd, old, &from);
    if (r < 0)
        return sys_ret(r);
    r = user_path_parent(t, ndfd, name, &to);
    if (r == 0) {
        r = vfs_rename(&from, &to, flags, t->cred);
        parent_lookup_done(&to);
    }
    parent_lookup_done(&from);
    return sys_ret(r);
}

struct sys_res sys_rename(struct task *t, const struct sys_args *a)
{
    return do_rename(t, LX_AT_FDCWD, sys_addr(a, 0), LX_AT_FDCWD, sys_addr(a, 1), 0);
}

struct sys_res sys_renameat(struct task *t, const struct sys_args *a)
{
    return do_rename(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), sys_addr(a, 3), 0);
}

struct sys_res sys_renameat2(struct task *t, const struct sys_args *a)
{
    return do_rename(t, sys_int(a, 0), sys_addr(a, 1), sys_int(a, 2), sys_addr(a, 3),
                     sys_uint(a, 4));
}

/* -- reading them --------------------------------------------------------------------------------
 */

static struct sys_res do_readlink(struct task *t, int dfd, gaddr_t name, gaddr_t dst, int cap)
{
    char text[LX_PATH_MAX];
    struct path p;
    struct inode *ino;
    int64_t n;
    int r;

    if (cap <= 0)
        return sys_ret(-EINVAL);
    r = user_path_copy(t, name, text);
    bool empty = r == 0 && !text[0];
    if (r == 0)
        r = path_lookup(t, dfd, text, LOOKUP_EMPTY, &p);
    if (r != 0)
        return sys_ret(r);
    ino = p.dentry->inode;
    if (!LX_S_ISLNK(ino->mode) || !ino->ops->readlink)
        n = empty ? -ENOENT : -EINVAL;
    else
        n = ino->ops->readlink(ino, text, MIN(sizeof(text), (size_t)cap));
    path_put(&p);
    if (n > 0)
        r = copy_to_user(t, dst, text, (size_t)n);
    return sys_ret(r < 0 ? r : n);
}

struct sys_res sys_readlink(struct task *t, const struct sys_args *a)
{
    return do_readlink(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), sys_int(a, 2));
}

struct sys_res sys_readlinkat(struct task *t, const struct sys_args *a)
{
    return do_readlink(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2), sys_int(a, 3));
}

/* -- root and working directory ------------------------------------------------------------------
 */

/* Moves where after the checks of chdir; consumes p. */
static int change_directory(struct task *t, struct path *where, struct path *p CONSUMES)
{
    int r = inode_permission(p->dentry->inode, t->cred, LX_X_OK);

    if (r < 0) {
        path_put(p);
        return r;
    }
    path_put(where);
    *where = *p;
    return 0;
}

struct sys_res sys_chdir(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

    return sys_ret(r < 0 ? r : change_directory(t, &t->fs->cwd, &p));
}

struct sys_res sys_fchdir(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_path_ok(t, sys_int(a, 0));
    struct path p;

    if (!f)
        return sys_ret(-EBADF);
    p = f->path;
    path_get(&p);
    file_put(f);
    if (!dentry_is_dir(p.dentry)) {
        path_put(&p);
        return sys_ret(-ENOTDIR);
    }
    return sys_ret(change_directory(t, &t->fs->cwd, &p));
}

struct sys_res sys_chroot(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

    if (r < 0)
        return sys_ret(r);
    if (!cred_capable(t->cred, LX_CAP_SYS_CHROOT)) {
        r = inode_permission(p.dentry->inode, t->cred, LX_X_OK);
        path_put(&p);
        return sys_ret(r < 0 ? r : -EPERM);
    }
    return sys_ret(change_directory(t, &t->fs->root, &p));
}

struct sys_res sys_getcwd(struct task *t, const struct sys_args *a)
{
    static const char unreachable[] = "(unreachable)";
    char buf[sizeof(unreachable) + LX_PATH_MAX];
    size_t prefix = 0;
    int64_t n;
    int r;

    if (t->fs->cwd.dentry->unlinked)
        return sys_ret(-ENOENT);
    if (!path_reachable(&t->fs->cwd, &t->fs->root)) {
        prefix = sizeof(unreachable) - 1;
        memcpy(buf, unreachable, prefix);
    }
    n = path_name(&t->fs->cwd, &t->fs->root, buf + prefix, LX_PATH_MAX);
    if (n < 0)
        return sys_ret(n);
    n += (int64_t)prefix + 1;
    if ((uint64_t)n > a->v[1])
        return sys_ret(-ERANGE);
    r = copy_to_user(t, sys_addr(a, 0), buf, (size_t)n);
    return sys_ret(r < 0 ? r : n);
}
