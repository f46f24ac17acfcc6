/*
 * served.c: see served.h.
 */
#include "sentry/fs/served.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"

static struct lx_timespec time_of(const struct gofer_time *t)
{
    return (struct lx_timespec){t->sec, t->nsec};
}

void served_fill(struct inode *ino, const struct gofer_attr *a)
{
    ino->ino = a->ino;
    ino->uid = a->uid;
    ino->gid = a->gid;
    ino->nlink = a->nlink;
    ino->size = a->size;
    ino->blocks = a->blocks;
    ino->rdev = lx_makedev(a->rdev_major, a->rdev_minor);
    ino->atime = time_of(&a->atime);
    ino->mtime = time_of(&a->mtime);
    ino->ctime = time_of(&a->ctime);
    ino->btime = time_of(&a->btime);
}

int served_inode_new(struct super *sb, const struct inode_ops *ops, const struct gofer_attr *a,
                     size_t priv_size, struct inode **ret_inode)
{
    void *priv = kalloc(priv_size);
    struct inode *ino;
    int r = priv ? inode_new(sb, ops, a->mode, &ino) : -ENOMEM;

    if (r < 0) {
        kfree(priv);
        return r;
    }
    ino->priv = priv;
    served_fill(ino, a);
    *ret_inode = ino;
    return 0;
}

void served_forget_add(struct served_forget *f, uint32_t node)
{
    KASSERT(!served_forget_full(f));
    f->nodes[f->n++] = node;
}

void served_forget_undo(struct served_forget *f, uint32_t node)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->nodes[i] == node)
            f->nodes[i--] = f->nodes[--f->n];
    }
}
