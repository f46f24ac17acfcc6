/*
 * Mounts: a super made visible at a dentry of another mount. kernel.mounts lists them in mount
 * order and holds one reference each; a sandbox has about a dozen and guests cannot add any, so the
 * search for what is mounted on a dentry walks the list, and only for dentries that carry a mount.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/kernel.h"

static uint32_t next_id = 20;

static int mount_new(struct super *sb, struct dentry *root, uint32_t flags, const char *source,
                     struct mount **ret_mnt)
{
    struct mount *m = kalloc(sizeof(*m));

    if (!m)
        return -ENOMEM;
    m->source = kstrdup(source ? source : "none");
    if (!m->source) {
        kfree(m);
        return -ENOMEM;
    }
    m->ref = 1;
    m->id = next_id++;
    m->flags = flags;
    m->super = sb;
    m->root = dentry_get(root);
    list_init(&m->all_link);
    *ret_mnt = m;
    return 0;
}

int mount_new_internal(struct super *sb, struct mount **ret_mnt)
{
    int r = mount_new(sb, sb->root, 0, NULL, ret_mnt);

    if (r < 0)
        super_put(sb);
    return r;
}

int mount_clone_internal(const struct path *from, struct mount **ret_mnt)
{
    int r = mount_new(super_get(from->mnt->super), from->dentry, 0, NULL, ret_mnt);

    if (r < 0)
        super_put(from->mnt->super);
    return r;
}

/* Consumes sb. at NULL: the root. */
static int mount_attach(const struct path *at, struct super *sb CONSUMES, struct dentry *root,
                        uint32_t flags, const char *source, struct mount **ret_mnt)
{
    struct mount *m;
    int r = 0;

    if (!kernel.mounts.next)
        list_init(&kernel.mounts);
    if (at && dentry_is_dir(at->dentry) != dentry_is_dir(root))
        r = -ENOTDIR;
    else if (!at && kernel.root_mount)
        r = -EBUSY;
    if (r == 0)
        r = mount_new(sb, root, flags, source, &m);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    if (at) {
        m->parent = mount_get(at->mnt);
        m->mountpoint = dentry_get(at->dentry);
        m->mountpoint->nmounts++;
    } else {
        kernel.root_mount = m;
    }
    list_add_tail(&kernel.mounts, &m->all_link);
    if (ret_mnt)
        *ret_mnt = m;
    return 0;
}

int mount_add(const struct path *at, struct super *sb, uint32_t flags, const char *source,
              struct mount **ret_mnt)
{
    return mount_attach(at, sb, sb->root, flags, source, ret_mnt);
}

int mount_bind(const struct path *at, const struct path *from, uint32_t flags, const char *source,
               struct mount **ret_mnt)
{
    return mount_attach(at, super_get(from->mnt->super), from->dentry, flags, source, ret_mnt);
}

void mounts_done(void)
{
    if (!kernel.mounts.next)
        return;
    while (!list_empty(&kernel.mounts)) {
        struct mount *m = list_entry(kernel.mounts.prev, struct mount, all_link);

        list_del_init(&m->all_link);
        mount_put(m);
    }
    kernel.root_mount = NULL;
}

struct mount *mount_get(struct mount *m)
{
    KASSERT(m->ref > 0);
    m->ref++;
    return m;
}

void mount_put(struct mount *m)
{
    while (m) {
        struct mount *parent = m->parent;

        KASSERT(m->ref > 0);
        if (--m->ref > 0)
            return;
        list_del_init(&m->all_link);
        if (m->mountpoint)
            m->mountpoint->nmounts--;
        dentry_put(m->mountpoint);
        dentry_put(m->root);
        super_put(m->super);
        kfree(m->source);
        kfree(m);
        m = parent;
    }
}

struct mount *mount_on(const struct mount *mnt, const struct dentry *d)
{
    struct list_head *pos;

    if (LIKELY(!d->nmounts))
        return NULL;
    for (pos = kernel.mounts.prev; pos != &kernel.mounts; pos = pos->prev) {
        struct mount *m = list_entry(pos, struct mount, all_link);

        if (m->parent == mnt && m->mountpoint == d)
            return m;
    }
    return NULL;
}

int mount_writable(const struct mount *m)
{
    return (m->flags & MOUNT_RDONLY) || m->super->readonly ? -EROFS : 0;
}
