/*
 * struct path: references, and the text of a path. Names are put into the buffer from its end
 * while climbing from the dentry to the root, stepping over mount roots.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/kernel.h"

void path_get(const struct path *p)
{
    mount_get(p->mnt);
    dentry_get(p->dentry);
}

void path_put(struct path *p)
{
    struct path old = *p;

    *p = (struct path){NULL, NULL};
    dentry_put(old.dentry);
    mount_put(old.mnt);
}

/* One step towards the root: true and *name when a name was passed, false at the top. */
static bool climb(struct path *p, const struct path *root, const struct dentry **ret_name)
{
    for (;;) {
        if (root && path_equal(p, root))
            return false;
        if (p->dentry == p->mnt->root || !p->dentry->parent) {
            if (!p->mnt->parent)
                return false;
            *p = (struct path){p->mnt->parent, p->mnt->mountpoint};
            continue;
        }
        *ret_name = p->dentry;
        p->dentry = p->dentry->parent;
        return true;
    }
}

bool path_reachable(const struct path *p, const struct path *root)
{
    struct path cur = *p;
    const struct dentry *name;

    while (climb(&cur, root, &name))
        continue;
    return root ? path_equal(&cur, root) : cur.mnt == kernel.root_mount;
}

int64_t path_name(const struct path *p, const struct path *root, char *buf, size_t cap)
{
    static const char deleted[] = " (deleted)";
    struct path cur = *p;
    const struct dentry *name;
    size_t at = cap;

    if (cap < 2)
        return -ENAMETOOLONG;
    buf[--at] = 0;
    if (p->dentry->unlinked) {
        if (at < sizeof(deleted))
            return -ENAMETOOLONG;
        at -= sizeof(deleted) - 1;
        memcpy(buf + at, deleted, sizeof(deleted) - 1);
    }
    size_t end = at;
    while (climb(&cur, root, &name)) {
        if (at < name->name_len + 1u)
            return -ENAMETOOLONG;
        at -= name->name_len;
        memcpy(buf + at, name->name, name->name_len);
        buf[--at] = '/';
    }
    if (at == end) {
        if (at == 0)
            return -ENAMETOOLONG;
        buf[--at] = '/';
    }
    memmove(buf, buf + at, cap - at);
    return (int64_t)(cap - at - 1);
}
