/*
 * Opening. vfs_open_at walks to the parent, takes or creates the last component (going on through
 * a symlink if that is what it finds), and hands the inode to open_inode, which checks permission
 * in Linux's order (may_open), takes write access, makes the struct file and calls the inode's own
 * open, or the one for its type. Only then is O_TRUNC carried out.
 *
 * A file that is being opened carries `opening_ops`; whoever releases it before it is open sees
 * that and does not report a close.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/rlimit.h"

#include "sentry/fs/file.h"
#include "sentry/fs/walk.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/task.h"

/* Flags that are for the open itself and are not kept in file.flags. */
#define OPEN_ONLY_FLAGS (LX_O_CREAT | LX_O_EXCL | LX_O_NOCTTY | LX_O_TRUNC | LX_O_CLOEXEC)

/* Those of them that the inode's own open may look at. */
#define OPEN_SEEN_FLAGS (LX_O_NOCTTY | LX_O_TRUNC)

enum {
    STALE_RETRIES = 3
};

static const struct file_ops opening_ops = {0};
static const struct file_ops path_ops = {0}; /* O_PATH: nothing can be done with it */

struct open_request {
    struct task *task;
    const struct cred *cred;
    uint32_t flags, mode; /* mode after the umask */
    bool created;
};

static int access_mask(uint32_t flags)
{
    static const int masks[] = {LX_R_OK, LX_W_OK, LX_R_OK | LX_W_OK, LX_R_OK | LX_W_OK};
    int mask = masks[flags & LX_O_ACCMODE];

    return flags & LX_O_TRUNC ? mask | LX_W_OK : mask;
}

static int may_open_type(const struct path *p, int mask)
{
    switch (p->dentry->inode->mode & LX_S_IFMT) {
    case LX_S_IFLNK:
        return -ELOOP;
    case LX_S_IFDIR:
        return mask & LX_W_OK ? -EISDIR : 0;
    case LX_S_IFBLK:
    case LX_S_IFCHR:
        return p->mnt->flags & MOUNT_NODEV ? -EACCES : 0;
    default:
        return 0;
    }
}

static int may_open(const struct path *p, const struct cred *c, uint32_t flags)
{
    struct inode *ino = p->dentry->inode;
    int mask = access_mask(flags);
    int r = may_open_type(p, mask);

    if (r < 0)
        return r;
    r = inode_permission(ino, c, mask);
    if (r < 0)
        return r;
    if ((flags & LX_O_NOATIME) && !inode_owner_or_capable(ino, c))
        return -EPERM;
    return 0;
}

static bool wants_write_access(const struct file *f)
{
    return LX_S_ISREG(f->inode->mode) && file_writable(f);
}

/* The inode's own open, or by type. */
static int call_open(struct inode *ino, struct file *f)
{
    if (ino->ops->open)
        return ino->ops->open(ino, f);
    switch (ino->mode & LX_S_IFMT) {
    case LX_S_IFIFO:
        return fifo_open(ino, f);
    case LX_S_IFCHR:
        return chrdev_open(ino, f);
    default:
        return -ENXIO;
    }
}

/* Permission is settled. -EAGAIN with *ret_file: a FIFO that waits. */
static int open_inode(const struct path *p, uint32_t flags, struct file **ret_file)
{
    uint32_t keep = (flags & ~(uint32_t)OPEN_ONLY_FLAGS) | LX_O_LARGEFILE;
    struct inode *ino = p->dentry->inode;
    bool write_access = false;
    struct file *f;
    int r;

    r = file_new(p, &opening_ops, keep, &f);
    if (r < 0)
        return r;
    if (wants_write_access(f)) {
        r = mount_writable(p->mnt);
        if (r == 0)
            r = inode_write_get(ino);
        write_access = r == 0;
    }
    if (r == 0) {
        f->flags |= flags & OPEN_SEEN_FLAGS;
        r = call_open(ino, f);
        f->flags &= ~(uint32_t)OPEN_SEEN_FLAGS;
    }
    if (r == -EAGAIN && LX_S_ISFIFO(ino->mode) && !(flags & LX_O_NONBLOCK)) {
        *ret_file = f;
        return r;
    }
    if (r < 0) {
        f->ops = &opening_ops;
        if (write_access)
            inode_write_put(ino);
        file_put(f);
        return r;
    }
    *ret_file = f;
    return 0;
}

static int truncate_opened(struct file *f, const struct cred *c)
{
    struct iattr attr = {.valid = ATTR_SIZE | ATTR_MTIME | ATTR_CTIME};
    struct inode *ino = f->inode;
    int r;

    if (!ino->ops->setattr)
        return -EROFS;
    attr.mtime = attr.ctime = inode_now();
    if (ino->mode & (LX_S_ISUID | LX_S_ISGID)) {
        attr.mode = inode_mode_without_privs(ino, c);
        attr.valid |= ATTR_MODE;
    }
    r = ino->ops->setattr(ino, &attr);
    if (r == 0)
        fsnotify(&f->path, LX_IN_MODIFY, 0);
    return r;
}

static int open_path_checked(const struct path *p, const struct open_request *req,
                             struct file **ret_file)
{
    bool truncate = (req->flags & LX_O_TRUNC) && LX_S_ISREG(p->dentry->inode->mode);
    uint32_t flags = req->flags;
    struct file *f = NULL;
    int r;

    if (req->created) {
        truncate = false;
    } else {
        if (truncate) {
            r = mount_writable(p->mnt);
            if (r < 0)
                return r;
        } else if (!LX_S_ISDIR(p->dentry->inode->mode)) {
            flags &= ~(uint32_t)LX_O_TRUNC;
        }
        r = may_open(p, req->cred, flags);
        if (r < 0)
            return r;
    }
    if (truncate && p->dentry->inode->denied_write)
        return -ETXTBSY;
    r = open_inode(p, flags, &f);
    if (r == -EAGAIN && LX_S_ISFIFO(p->dentry->inode->mode) && !(flags & LX_O_NONBLOCK)) {
        *ret_file = f;
        return r;
    }
    if (r < 0)
        return r;
    f->created = req->created && (flags & LX_O_CREAT);
    fsnotify(p, LX_IN_OPEN, 0);
    if (truncate) {
        r = truncate_opened(f, req->cred);
        if (r < 0) {
            file_put(f);
            return r;
        }
    }
    *ret_file = f;
    return 0;
}

int vfs_open_path(const struct path *p, uint32_t flags, const struct cred *c,
                  struct file **ret_file)
{
    struct open_request req = {.cred = c, .flags = flags};

    if (flags & LX_O_PATH)
        return file_new(p, &path_ops, flags & (LX_O_PATH | LX_O_DIRECTORY | LX_O_NOFOLLOW),
                        ret_file);
    return open_path_checked(p, &req, ret_file);
}

/* Creates d, negative so far, in w->cur. */
static int create_last(struct walk *w, struct dentry *d, struct open_request *req)
{
    struct inode *dir = w->cur.dentry->inode;
    int r = mount_writable(w->cur.mnt);

    if (r == 0)
        r = may_create(&w->cur, req->cred);
    if (r == 0)
        r = dir->ops->create ? 0 : -EACCES;
    if (r < 0)
        return r;
    r = dir->ops->create(dir, d, LX_S_IFREG | (req->mode & LX_S_IALLUGO), req->cred);
    if (r < 0)
        return r;
    req->created = true;
    fsnotify_name(w->cur.dentry, d, LX_IN_CREATE, 0);
    return 0;
}

/*
 * Creates d, or takes what somebody outside has created meanwhile under that name: *d may become
 * another one.
 */
static int create_or_take(struct walk *w, struct dentry **d, struct open_request *req)
{
    int r = create_last(w, *d, req);

    if (r != -EEXIST || (req->flags & LX_O_EXCL))
        return r;
    dentry_drop(*d);
    dentry_put(*d);
    r = walk_last_dentry(w, d);
    if (r < 0) {
        *d = NULL;
        return r;
    }
    return (*d)->inode && !dentry_is_symlink(*d) ? 0 : -EEXIST;
}

/* The last component of an open: w->cur becomes what is to be opened, or the walk goes on. */
static int open_last(struct walk *w, struct open_request *req, bool *ret_again)
{
    bool create = req->flags & LX_O_CREAT, jumped;
    struct dentry *d;
    int r;

    *ret_again = false;
    if (w->last_type != LAST_NORM)
        return w->last_type == LAST_ROOT ? 0 : walk_last_dots(w);
    if (create && w->slash)
        return -EISDIR;
    r = walk_last_dentry(w, &d);
    if (r < 0)
        return r;
    if (!d->inode) {
        r = create ? create_or_take(w, &d, req) : -ENOENT;
        if (r < 0) {
            dentry_put(d);
            return r;
        }
        return walk_enter(w, d);
    }
    bool excl = create && (req->flags & LX_O_EXCL);
    if (dentry_is_symlink(d) && !excl && ((w->flags & LOOKUP_FOLLOW) || w->slash)) {
        r = walk_follow(w, d, &jumped);
        *ret_again = r == 0 && !jumped;
        return r;
    }
    return walk_enter(w, d);
}

static int open_found(struct walk *w, const struct open_request *req, struct file **ret_file)
{
    bool is_dir = dentry_is_dir(w->cur.dentry);

    if (!req->created && (req->flags & LX_O_CREAT)) {
        if (req->flags & LX_O_EXCL)
            return -EEXIST;
        if (is_dir)
            return -EISDIR;
    }
    if ((w->slash || (w->flags & LOOKUP_DIRECTORY)) && !is_dir)
        return -ENOTDIR;
    return open_path_checked(&w->cur, req, ret_file);
}

static int open_tmpfile(struct walk *w, struct open_request *req, struct file **ret_file)
{
    struct inode *dir = w->cur.dentry->inode, *ino;
    struct dentry *d;
    int r = mount_writable(w->cur.mnt);

    if (r == 0)
        r = inode_permission(dir, req->cred, LX_W_OK | LX_X_OK);
    if (r == 0)
        r = dir->ops->tmpfile ? 0 : -EOPNOTSUPP;
    if (r < 0)
        return r;
    r = dir->ops->tmpfile(dir, LX_S_IFREG | (req->mode & LX_S_IALLUGO), req->cred, &ino);
    if (r < 0)
        return r;
    ino->linkable = !(req->flags & LX_O_EXCL);
    r = dentry_new_unlinked(w->cur.dentry, "#tmpfile", ino, &d);
    if (r < 0)
        return r;
    struct path p = {w->cur.mnt, d};
    req->created = true;
    r = open_path_checked(&p, req, ret_file);
    dentry_put(d);
    return r;
}

/* Walks to the end for O_PATH and O_TMPFILE. */
static int open_looked_up(struct task *t, int dfd, const char *name, uint32_t lookup_flags,
                          struct open_request *req, struct file **ret_file)
{
    struct path p;
    int r;

    if ((req->flags & LX_O_TMPFILE) == LX_O_TMPFILE)
        lookup_flags |= LOOKUP_DIRECTORY;
    r = path_lookup(t, dfd, name, lookup_flags, &p);
    if (r < 0)
        return r;
    if (req->flags & LX_O_PATH) {
        r = vfs_open_path(&p, req->flags, req->cred, ret_file);
    } else {
        struct walk w = {.task = t, .cur = p};

        r = open_tmpfile(&w, req, ret_file);
    }
    path_put(&p);
    return r;
}

static int open_at_once(struct task *t, int dfd, const char *name, uint32_t flags, uint32_t mode,
                        uint32_t lookup_flags, struct file **ret_file)
{
    struct open_request req = {.task = t, .cred = t->cred, .flags = flags};
    struct walk w;
    bool again = true;
    int r;

    if (!name[0])
        return -ENOENT;
    req.mode = mode & ~t->fs->umask;
    if (!(flags & LX_O_NOFOLLOW))
        lookup_flags |= LOOKUP_FOLLOW;
    if (flags & LX_O_DIRECTORY)
        lookup_flags |= LOOKUP_DIRECTORY;
    if ((flags & LX_O_PATH) || (flags & LX_O_TMPFILE) == LX_O_TMPFILE)
        return open_looked_up(t, dfd, name, lookup_flags, &req, ret_file);
    r = walk_init(&w, t, dfd, name, lookup_flags);
    while (r == 0 && again) {
        r = walk_parent(&w);
        if (r == 0)
            r = open_last(&w, &req, &again);
    }
    if (r == 0)
        r = open_found(&w, &req, ret_file);
    walk_done(&w);
    return r;
}

/* -ESTALE: the host has put another file under that name since it was looked up. */
int vfs_open_at(struct task *t, int dfd, const char *name, uint32_t flags, uint32_t mode,
                uint32_t lookup_flags, struct file **ret_file)
{
    int r = open_at_once(t, dfd, name, flags, mode, lookup_flags, ret_file);

    for (int again = 0; r == -ESTALE && again < STALE_RETRIES; again++)
        r = open_at_once(t, dfd, name, flags, mode, lookup_flags, ret_file);
    return r;
}

int vfs_open_exec(struct task *t, int dfd, const char *name, uint32_t lookup_flags,
                  struct file **ret_file)
{
    struct path p;
    struct inode *ino;
    int r = path_lookup(t, dfd, name, lookup_flags, &p);

    if (r < 0)
        return r;
    ino = p.dentry->inode;
    if (LX_S_ISLNK(ino->mode))
        r = -ELOOP;
    else if (!LX_S_ISREG(ino->mode) || (p.mnt->flags & MOUNT_NOEXEC))
        r = -EACCES;
    else
        r = inode_permission(ino, t->cred, LX_X_OK);
    if (r == 0 && ino->writers)
        r = -ETXTBSY;
    if (r == 0)
        r = open_inode(&p, LX_O_RDONLY, ret_file);
    if (r == 0)
        fsnotify(&p, LX_IN_OPEN, 0);
    path_put(&p);
    return r;
}

void vfs_file_released(struct file *f)
{
    if (f->ops == &opening_ops || (f->flags & LX_O_PATH) || !f->inode)
        return;
    if (wants_write_access(f))
        inode_write_put(f->inode);
    locks_release_file(f->inode, f);
    if (f->path.mnt)
        fsnotify(&f->path, file_writable(f) ? LX_IN_CLOSE_WRITE : LX_IN_CLOSE_NOWRITE, 0);
}
