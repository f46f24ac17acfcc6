/*
 * sys_dir.c: directory entries and names: getdents, mkdir, unlink, rename, link, symlink, readlink, mknod,
 * chdir, getcwd, chroot.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/dir.h"
#include "abi/errno.h"
#include "abi/file.h"
#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/path_arg.h"
#include "sentry/sys/sys.h"

enum { PATH_CAP = 4096, LISTING_CAP = 65536 };

/* -- getdents -------------------------------------------------------------------------------------------------- */

struct listing {
    struct dir_context dc;
    uint8_t *buf;
    size_t cap, len;
    bool old; /* getdents: type at the end of the record, no d_type field */
    bool full;
};

static bool emit_entry(struct dir_context *dc, const char *name, size_t len, uint64_t ino, uint32_t type,
                       uint64_t next_pos)
{
    struct listing *l = container_of(dc, struct listing, dc);
    size_t head = l->old ? 18 : 19;
    size_t rec = (size_t)align_up(head + len + (l->old ? 2 : 1), 8);
    uint16_t reclen = (uint16_t)rec;

    if (l->len + rec > l->cap) {
        l->full = true;
        return false;
    }
    uint8_t *p = l->buf + l->len;
    memset(p, 0, rec);
    memcpy(p, &ino, 8);
    memcpy(p + 8, &next_pos, 8);
    memcpy(p + 16, &reclen, 2);
    if (l->old)
        p[rec - 1] = (uint8_t)type;
    else
        p[18] = (uint8_t)type;
    memcpy(p + head, name, len);
    l->len += rec;
    return true;
}

static int64_t list_dir(struct task *t, struct file *f, gaddr_t out, uint32_t cap, bool old)
{
    struct listing l = {.dc = {emit_entry}, .cap = MIN(cap, (uint32_t)LISTING_CAP), .old = old};
    uint64_t start = f->pos;

    if (f->ops->readdir == NULL)
        return -ENOTDIR;
    if (f->inode->dead)
        return -ENOENT;
    l.buf = kalloc(l.cap);
    if (l.buf == NULL)
        return -ENOMEM;
    int64_t r = f->ops->readdir(f, &l.dc);
    if (r == 0 && l.len == 0 && l.full)
        r = -EINVAL;
    if (r == 0 && l.len > 0 && copy_to_user(t, out, l.buf, l.len) < 0) {
        f->pos = start;
        r = -EFAULT;
    }
    kfree(l.buf);
    return r < 0 ? r : (int64_t)l.len;
}

static struct sys_res do_getdents(struct task *t, const struct sys_args *a, bool old)
{
    struct file *f = fd_get(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    int64_t r = list_dir(t, f, sys_addr(a, 1), sys_uint(a, 2), old);
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_getdents64(struct task *t, const struct sys_args *a)
{
    return do_getdents(t, a, false);
}

struct sys_res sys_getdents(struct task *t, const struct sys_args *a)
{
    return do_getdents(t, a, true);
}

/* -- making and removing names ---------------------------------------------------------------------------------- */

static uint32_t masked(const struct task *t, uint32_t mode)
{
    return mode & ~t->fs->umask;
}

static struct sys_res do_mkdir(struct task *t, int dfd, gaddr_t name, uint32_t mode)
{
    struct parent_lookup pl;
    int r = user_path_parent(t, dfd, name, &pl);
    if (r < 0)
        return sys_ret(r);
    r = vfs_mkdir(&pl, masked(t, mode), t->cred);
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
    uint32_t major = (dev >> 8) & 0xfff, minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
    int r = user_path_parent(t, dfd, name, &pl);
    if (r < 0)
        return sys_ret(r);
    if ((mode & LX_S_IFMT) == 0)
        mode |= LX_S_IFREG;
    r = vfs_mknod(&pl, masked(t, mode), lx_makedev(major, minor), t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_mknod(struct task *t, const struct sys_args *a)
{
    return do_mknod(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1), sys_uint(a, 2));
}

struct sys_res sys_mknodat(struct task *t, const struct sys_args *a)
{
    return do_mknod(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2), sys_uint(a, 3));
}

static struct sys_res do_unlink(struct task *t, int dfd, gaddr_t name, bool dir)
{
    struct parent_lookup pl;
    int r = user_path_parent(t, dfd, name, &pl);
    if (r < 0)
        return sys_ret(r);
    r = dir ? vfs_rmdir(&pl, t->cred) : vfs_unlink(&pl, t->cred);
    parent_lookup_done(&pl);
    return sys_ret(r);
}

struct sys_res sys_unlink(struct task *t, const struct sys_args *a)
{
    return do_unlink(t, LX_AT_FDCWD, sys_addr(a, 0), false);
}

struct sys_res sys_rmdir(struct task *t, const struct sys_args *a)
{
    return do_unlink(t, LX_AT_FDCWD, sys_addr(a, 0), true);
}

struct sys_res sys_unlinkat(struct task *t, const struct sys_args *a)
{
    uint32_t flags = sys_uint(a, 2);
    if (flags & ~(uint32_t)LX_AT_REMOVEDIR)
        return sys_ret(-EINVAL);
    return do_unlink(t, sys_int(a, 0), sys_addr(a, 1), (flags & LX_AT_REMOVEDIR) != 0);
}

struct at_name {
    int dfd;
    gaddr_t name;
};

static struct sys_res do_rename(struct task *t, struct at_name from, struct at_name to, uint32_t flags)
{
    struct parent_lookup pf, pt;

    if (flags & ~(uint32_t)(LX_RENAME_NOREPLACE | LX_RENAME_EXCHANGE | LX_RENAME_WHITEOUT))
        return sys_ret(-EINVAL);
    if ((flags & (LX_RENAME_NOREPLACE | LX_RENAME_WHITEOUT)) && (flags & LX_RENAME_EXCHANGE))
        return sys_ret(-EINVAL);
    int r = user_path_parent(t, from.dfd, from.name, &pf);
    if (r < 0)
        return sys_ret(r);
    r = user_path_parent(t, to.dfd, to.name, &pt);
    if (r == 0) {
        r = vfs_rename(&pf, &pt, flags, t->cred);
        parent_lookup_done(&pt);
    }
    parent_lookup_done(&pf);
    return sys_ret(r);
}

struct sys_res sys_rename(struct task *t, const struct sys_args *a)
{
    return do_rename(t, (struct at_name){LX_AT_FDCWD, sys_addr(a, 0)},
                     (struct at_name){LX_AT_FDCWD, sys_addr(a, 1)}, 0);
}

struct sys_res sys_renameat(struct task *t, const struct sys_args *a)
{
    return do_rename(t, (struct at_name){sys_int(a, 0), sys_addr(a, 1)},
                     (struct at_name){sys_int(a, 2), sys_addr(a, 3)}, 0);
}

struct sys_res sys_renameat2(struct task *t, const struct sys_args *a)
{
    return do_rename(t, (struct at_name){sys_int(a, 0), sys_addr(a, 1)},
                     (struct at_name){sys_int(a, 2), sys_addr(a, 3)}, sys_uint(a, 4));
}

static struct sys_res do_link(struct task *t, struct at_name from, struct at_name to, uint32_t flags)
{
    struct parent_lookup pl;
    struct path old;
    uint32_t lookup = flags & LX_AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0;

    if (flags & ~(uint32_t)(LX_AT_SYMLINK_FOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    int r = user_path_at(t, from.dfd, from.name, lookup, &old);
    if (r < 0)
        return sys_ret(r);
    r = user_path_parent(t, to.dfd, to.name, &pl);
    if (r == 0) {
        r = vfs_link(&old, &pl, t->cred);
        parent_lookup_done(&pl);
    }
    path_put(&old);
    return sys_ret(r);
}

struct sys_res sys_link(struct task *t, const struct sys_args *a)
{
    return do_link(t, (struct at_name){LX_AT_FDCWD, sys_addr(a, 0)},
                   (struct at_name){LX_AT_FDCWD, sys_addr(a, 1)}, 0);
}

struct sys_res sys_linkat(struct task *t, const struct sys_args *a)
{
    return do_link(t, (struct at_name){sys_int(a, 0), sys_addr(a, 1)},
                   (struct at_name){sys_int(a, 2), sys_addr(a, 3)}, sys_uint(a, 4));
}

static struct sys_res do_symlink(struct task *t, gaddr_t target, int dfd, gaddr_t name)
{
    struct parent_lookup pl;
    char *text;
    int r = path_arg(t, target, false, &text);
    if (r < 0)
        return sys_ret(r);
    r = user_path_parent(t, dfd, name, &pl);
    if (r == 0) {
        r = vfs_symlink(&pl, text, t->cred);
        parent_lookup_done(&pl);
    }
    kfree(text);
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

/* -- readlink ----------------------------------------------------------------------------------------------------- */

static int64_t read_link(struct task *t, const struct path *p, bool empty, char *buf, size_t cap)
{
    struct inode *ino = p->dentry->inode;
    struct path target;

    if ((ino->mode & LX_S_IFMT) != LX_S_IFLNK)
        return empty ? -ENOENT : -EINVAL;
    if (ino->ops->readlink != NULL)
        return ino->ops->readlink(ino, buf, cap);
    if (ino->ops->get_link == NULL)
        return -EINVAL;
    int r = ino->ops->get_link(ino, t, &target);
    if (r < 0)
        return r;
    int64_t n = path_name(&target, &t->fs->root, buf, cap);
    path_put(&target);
    return n;
}

static struct sys_res do_readlink(struct task *t, int dfd, gaddr_t name, gaddr_t out, int cap)
{
    char buf[PATH_CAP];
    struct path p;
    char first = 'x';

    if (cap <= 0)
        return sys_ret(-EINVAL);
    int r = user_path_at(t, dfd, name, LOOKUP_EMPTY, &p);
    if (r < 0)
        return sys_ret(r);
    (void)!get_user(t, &first, name);
    int64_t n = read_link(t, &p, first == '\0', buf, sizeof(buf));
    path_put(&p);
    if (n < 0)
        return sys_ret(n);
    n = MIN(n, (int64_t)cap);
    return sys_ret(copy_to_user(t, out, buf, (size_t)n) < 0 ? -EFAULT : n);
}

struct sys_res sys_readlink(struct task *t, const struct sys_args *a)
{
    return do_readlink(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1), sys_int(a, 2));
}

struct sys_res sys_readlinkat(struct task *t, const struct sys_args *a)
{
    return do_readlink(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2), sys_int(a, 3));
}

/* -- working directory and root ------------------------------------------------------------------------------------ */

static int set_cwd(struct task *t, struct path *p)
{
    int r = dentry_is_dir(p->dentry) ? path_permission(p, t->cred, LX_X_OK) : -ENOTDIR;
    if (r < 0)
        return r;
    struct path old = t->fs->cwd;
    path_get(p);
    t->fs->cwd = *p;
    path_put(&old);
    return 0;
}

struct sys_res sys_chdir(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);
    if (r < 0)
        return sys_ret(r);
    r = set_cwd(t, &p);
    path_put(&p);
    return sys_ret(r);
}

struct sys_res sys_fchdir(struct task *t, const struct sys_args *a)
{
    struct file *f = fd_get_path_ok(t, sys_int(a, 0));
    if (f == NULL)
        return sys_ret(-EBADF);
    int r = set_cwd(t, &f->path);
    file_put(f);
    return sys_ret(r);
}

struct sys_res sys_chroot(struct task *t, const struct sys_args *a)
{
    struct path p;
    int r = user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);
    if (r < 0)
        return sys_ret(r);
    r = path_permission(&p, t->cred, LX_X_OK);
    if (r == 0 && !cred_capable(t->cred, CAP_SYS_CHROOT_NR))
        r = -EPERM;
    if (r == 0) {
        struct path old = t->fs->root;
        path_get(&p);
        t->fs->root = p;
        path_put(&old);
    }
    path_put(&p);
    return sys_ret(r);
}

struct sys_res sys_getcwd(struct task *t, const struct sys_args *a)
{
    char buf[PATH_CAP];
    if (t->fs->cwd.dentry->unlinked)
        return sys_ret(-ENOENT);
    int64_t n = path_name(&t->fs->cwd, &t->fs->root, buf, sizeof(buf));
    if (n < 0)
        return sys_ret(n);
    if ((uint64_t)n + 1 > a->v[1])
        return sys_ret(-ERANGE);
    if (copy_to_user(t, sys_addr(a, 0), buf, (size_t)n + 1) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(n + 1);
}
