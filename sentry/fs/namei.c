/*
 * The one path walker. It is a loop over the components of a text; a symlink replaces the text by
 * its target and what was left, so there is no recursion and a malloc only where a symlink is
 * followed. 40 symlinks are the limit, as in Linux, and bound the text as well.
 *
 * A walk never goes above w->root (the task's root, or the starting directory for openat2's
 * scoped walks). Every directory that is searched is checked for execute permission.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/walk.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define LOOKUP_SCOPED (LOOKUP_BENEATH | LOOKUP_IN_ROOT)

static const struct cred kernel_cred = {.ref = 1, .cap_effective = LX_CAP_FULL_SET};

static void path_copy(struct path *dst, const struct path *src)
{
    path_get(src);
    *dst = *src;
}

/* Takes over the references of *next. */
static void walk_set(struct walk *w, const struct path *next)
{
    path_put(&w->cur);
    w->cur = *next;
}

static int start_at_fd(struct walk *w, int dfd, bool relative)
{
    struct file *f = fd_get_path_ok(w->task, dfd);
    int r = 0;

    if (!f)
        return -EBADF;
    if (relative && !dentry_is_dir(f->path.dentry))
        r = -ENOTDIR;
    else
        path_copy(&w->cur, &f->path);
    file_put(f);
    return r;
}

int walk_init(struct walk *w, struct task *t, int dfd, const char *name, uint32_t flags)
{
    bool absolute = name[0] == '/';
    struct path root;
    int r;

    *w = (struct walk){.task = t, .flags = flags, .rest = name};
    if (absolute && (flags & LOOKUP_BENEATH))
        return -EXDEV;
    if (!t) {
        w->cred = &kernel_cred;
        root = (struct path){kernel.root_mount, kernel.root_mount->root};
    } else {
        w->cred = t->cred;
        root = t->fs->root;
    }
    if (!t || (absolute && !(flags & LOOKUP_IN_ROOT))) {
        path_copy(&w->cur, &root);
    } else if (dfd == LX_AT_FDCWD) {
        path_copy(&w->cur, &t->fs->cwd);
    } else {
        r = start_at_fd(w, dfd, name[0] && !absolute);
        if (r < 0)
            return r;
    }
    path_copy(&w->root, flags & LOOKUP_SCOPED ? &w->cur : &root);
    return 0;
}

void walk_done(struct walk *w)
{
    path_put(&w->cur);
    path_put(&w->root);
    kfree(w->text);
    w->text = NULL;
}

/* From a dentry to what is mounted on it. */
static int cross_mounts(const struct walk *w, struct path *p)
{
    struct mount *m;

    while (UNLIKELY((m = mount_on(p->mnt, p->dentry)) != NULL)) {
        struct path top = {m, m->root};

        if (w->flags & LOOKUP_NO_XDEV)
            return -EXDEV;
        path_get(&top);
        path_put(p);
        *p = top;
    }
    return 0;
}

static int step_dotdot(struct walk *w)
{
    struct path up = w->cur, next;
    int r;

    for (;;) {
        if (path_equal(&up, &w->root))
            return w->flags & LOOKUP_BENEATH ? -EXDEV : 0;
        if (up.dentry != up.mnt->root)
            break;
        if (!up.mnt->parent)
            return 0;
        if (w->flags & LOOKUP_NO_XDEV)
            return -EXDEV;
        up = (struct path){up.mnt->parent, up.mnt->mountpoint};
    }
    if (!up.dentry->parent)
        return 0;
    path_copy(&next, &(struct path){up.mnt, up.dentry->parent});
    r = cross_mounts(w, &next);
    if (r < 0) {
        path_put(&next);
        return r;
    }
    walk_set(w, &next);
    return 0;
}

int walk_enter(struct walk *w, struct dentry *d)
{
    struct path next = {mount_get(w->cur.mnt), d};
    int r = cross_mounts(w, &next);

    if (r < 0) {
        path_put(&next);
        return r;
    }
    walk_set(w, &next);
    return 0;
}

static int follow_magic(struct walk *w, struct inode *link)
{
    struct path target;
    int r;

    if (w->flags & LOOKUP_NO_MAGICLINKS)
        return -ELOOP;
    r = link->ops->get_link(link, w->task, &target);
    if (r < 0)
        return r;
    if ((w->flags & LOOKUP_SCOPED) || ((w->flags & LOOKUP_NO_XDEV) && target.mnt != w->cur.mnt)) {
        path_put(&target);
        return -EXDEV;
    }
    walk_set(w, &target);
    return 0;
}

/* Text of the symlink, a slash, and the rest. */
static int put_in_text(struct walk *w, struct inode *link)
{
    char target[LX_PATH_MAX];
    int64_t n = link->ops->readlink ? link->ops->readlink(link, target, sizeof(target)) : -EINVAL;
    size_t len, rest = strlen(w->rest);
    char *text;

    if (n < 0)
        return (int)n;
    if (n == 0)
        return -ENOENT;
    if (n >= LX_PATH_MAX)
        return -ENAMETOOLONG;
    len = (size_t)n;
    text = kalloc(len + rest + 1);
    if (!text)
        return -ENOMEM;
    memcpy(text, target, len);
    memcpy(text + len, w->rest, rest);
    kfree(w->text);
    w->text = text;
    w->rest = text;
    return 0;
}

int walk_follow(struct walk *w, struct dentry *d, bool *ret_jumped)
{
    struct inode *link = inode_get(d->inode);
    bool magic = link->ops->get_link != NULL;
    int r;

    dentry_put(d);
    if (w->links++ >= LX_MAXSYMLINKS || (w->flags & LOOKUP_NO_SYMLINKS))
        r = -ELOOP;
    else if (magic)
        r = follow_magic(w, link);
    else
        r = put_in_text(w, link);
    if (r == 0 && !link->super->readonly)
        inode_touch_relatime(link);
    inode_put(link);
    if (r < 0)
        return r;
    *ret_jumped = magic;
    if (magic || w->rest[0] != '/')
        return 0;
    if (w->flags & LOOKUP_BENEATH)
        return -EXDEV;
    if ((w->flags & LOOKUP_NO_XDEV) && w->cur.mnt != w->root.mnt)
        return -EXDEV;
    struct path next;
    path_copy(&next, &w->root);
    walk_set(w, &next);
    return 0;
}

/* One component that is not the last. */
static int step(struct walk *w, const char *name, size_t len)
{
    struct dentry *d;
    bool jumped;
    int r;

    if (name[0] == '.' && len == 1)
        return 0;
    if (name[0] == '.' && len == 2 && name[1] == '.')
        return step_dotdot(w);
    if (len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    r = dentry_lookup(w->cur.dentry, name, len, &d);
    if (r < 0)
        return r;
    if (!d->inode) {
        dentry_put(d);
        return -ENOENT;
    }
    if (UNLIKELY(LX_S_ISLNK(d->inode->mode)))
        return walk_follow(w, d, &jumped);
    return walk_enter(w, d);
}

/* What the permission check needs as well; not where a mount is known to lie, nor for what is
 * cached for good. */
static void look_ahead(const struct walk *w, const char *name, size_t len)
{
    struct inode *dir = w->cur.dentry->inode;
    struct dentry *d;

    if (!dir->ops->lookup_ahead)
        return;
    d = dentry_cached(w->cur.dentry, name, len);
    if (!d || (!d->nmounts && dir->ops->revalidate))
        dir->ops->lookup_ahead(dir, name);
    dentry_put(d);
}

static int last_type_of(const char *name, size_t len)
{
    if (name[0] == '.' && len == 1)
        return LAST_DOT;
    if (name[0] == '.' && len == 2 && name[1] == '.')
        return LAST_DOTDOT;
    return LAST_NORM;
}

int walk_parent(struct walk *w)
{
    for (;;) {
        const char *name = w->rest, *end;
        int r;

        while (*name == '/')
            name++;
        if (!*name) {
            w->last_type = LAST_ROOT;
            w->slash = true;
            return 0;
        }
        if (!dentry_is_dir(w->cur.dentry))
            return -ENOTDIR;
        end = strchrnul(name, '/');
        look_ahead(w, name, (size_t)(end - name));
        r = inode_permission(w->cur.dentry->inode, w->cred, LX_X_OK);
        if (r < 0)
            return r;
        w->last = name;
        w->last_len = (size_t)(end - name);
        w->rest = end;
        while (*w->rest == '/')
            w->rest++;
        if (!*w->rest) {
            w->slash = *end != 0;
            w->rest = end; /* a symlink's text keeps the slashes behind it */
            w->last_type = last_type_of(w->last, w->last_len);
            return 0;
        }
        w->rest = end;
        r = step(w, name, w->last_len);
        if (r < 0)
            return r;
    }
}

int walk_last_dots(struct walk *w)
{
    return w->last_type == LAST_DOTDOT ? step_dotdot(w) : 0;
}

int walk_last_dentry(struct walk *w, struct dentry **ret_d)
{
    if (w->last_len > LX_NAME_MAX)
        return -ENAMETOOLONG;
    return dentry_lookup(w->cur.dentry, w->last, w->last_len, ret_d);
}

/* The last component of an ordinary lookup. *ret_again: the walk goes on through a symlink. */
static int walk_last(struct walk *w, bool *ret_again)
{
    struct dentry *d;
    bool jumped;
    int r;

    *ret_again = false;
    if (w->last_type == LAST_ROOT)
        return 0;
    if (w->last_type != LAST_NORM)
        return walk_last_dots(w);
    r = walk_last_dentry(w, &d);
    if (r < 0)
        return r;
    if (!d->inode) {
        dentry_put(d);
        return -ENOENT;
    }
    if (LX_S_ISLNK(d->inode->mode) && ((w->flags & LOOKUP_FOLLOW) || w->slash)) {
        r = walk_follow(w, d, &jumped);
        *ret_again = r == 0 && !jumped;
        return r;
    }
    return walk_enter(w, d);
}

int path_lookup(struct task *t, int dfd, const char *name, uint32_t flags, struct path *ret_path)
{
    struct walk w;
    bool again = name[0] != 0;
    int r;

    if (!name[0] && !(flags & LOOKUP_EMPTY))
        return -ENOENT;
    r = walk_init(&w, t, dfd, name, flags);
    while (r == 0 && again) {
        r = walk_parent(&w);
        if (r == 0)
            r = walk_last(&w, &again);
    }
    if (r == 0 && (w.slash || (flags & LOOKUP_DIRECTORY)) && !dentry_is_dir(w.cur.dentry))
        r = -ENOTDIR;
    if (r == 0) {
        *ret_path = w.cur;
        w.cur = (struct path){NULL, NULL};
    }
    walk_done(&w);
    return r;
}

int path_lookup_parent(struct task *t, int dfd, const char *name, uint32_t flags,
                       struct parent_lookup *ret_pl)
{
    struct parent_lookup pl = {.d = NULL};
    struct walk w;
    int r;

    if (!name[0])
        return -ENOENT;
    r = walk_init(&w, t, dfd, name, flags);
    if (r == 0)
        r = walk_parent(&w);
    if (r == 0 && w.last_type == LAST_NORM)
        r = walk_last_dentry(&w, &pl.d);
    if (r == 0) {
        pl.last = (unsigned)w.last_type;
        pl.trailing_slash = w.slash;
        pl.parent = w.cur;
        w.cur = (struct path){NULL, NULL};
        *ret_pl = pl;
    }
    walk_done(&w);
    return r;
}

void parent_lookup_done(struct parent_lookup *pl)
{
    dentry_put(pl->d);
    pl->d = NULL;
    path_put(&pl->parent);
}

int user_path_copy(struct task *t, gaddr_t name, char *buf)
{
    int64_t n = strncpy_from_user(t, buf, name, LX_PATH_MAX);

    return n < 0 ? (int)n : 0;
}

int user_path_at(struct task *t, int dfd, gaddr_t name, uint32_t flags, struct path *ret_path)
{
    char buf[LX_PATH_MAX];
    int r = user_path_copy(t, name, buf);

    return r < 0 ? r : path_lookup(t, dfd, buf, flags, ret_path);
}

int user_path_parent(struct task *t, int dfd, gaddr_t name, struct parent_lookup *ret_pl)
{
    char buf[LX_PATH_MAX];
    int r = user_path_copy(t, name, buf);

    return r < 0 ? r : path_lookup_parent(t, dfd, buf, 0, ret_pl);
}

int kernel_path_lookup(const char *name, uint32_t flags, struct path *ret_path)
{
    return path_lookup(NULL, LX_AT_FDCWD, name, flags, ret_path);
}
