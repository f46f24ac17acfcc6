/* Attributes: the overlay inode mirrors its real one; changes go to the upper after a copy-up. */
#include "abi/errno.h"

#include "sentry/fs/overlay/overlay.h"

struct inode *ovl_real(const struct ovl_inode *oi)
{
    return oi->upper ? oi->upper : oi->lower->inode;
}

static uint32_t names_of(const struct ovl_inode *oi)
{
    const struct inode *real = ovl_real(oi);

    /* The subdirectories of a merged directory are not counted; find(1) knows what 1 means. */
    if (LX_S_ISDIR(real->mode) && oi->upper && oi->lower && real->nlink)
        return 1;
    if (!oi->upper)
        return real->nlink > oi->lost_names ? real->nlink - oi->lost_names : 0;
    return real->nlink;
}

void ovl_sync(struct ovl_inode *oi)
{
    const struct inode *real = ovl_real(oi);
    struct inode *ino = oi->inode;

    ino->mode = real->mode;
    ino->uid = real->uid;
    ino->gid = real->gid;
    ino->rdev = real->rdev;
    ino->size = real->size;
    ino->blocks = real->blocks;
    ino->nlink = names_of(oi);
    ino->atime = real->atime;
    ino->mtime = real->mtime;
    ino->ctime = real->ctime;
    ino->btime = real->btime;
}

static void take_later(struct lx_timespec *t, const struct lx_timespec *real)
{
    if (real->tv_sec > t->tv_sec || (real->tv_sec == t->tv_sec && real->tv_nsec > t->tv_nsec))
        *t = *real;
}

void ovl_refresh(struct ovl_inode *oi)
{
    const struct inode *real = ovl_real(oi);
    struct inode *ino = oi->inode;

    ino->size = real->size;
    ino->blocks = real->blocks;
    ino->nlink = names_of(oi);
    take_later(&ino->mtime, &real->mtime);
    take_later(&ino->ctime, &real->ctime);
}

int ovl_getattr(struct inode *ino, struct kstat *ret_st)
{
    struct ovl_inode *oi = ovl_inode_of(ino);
    struct inode *real = ovl_real(oi);
    struct kstat st = {.size = real->size, .blocks = real->blocks, .blksize = real->super->blksize};

    if (real->ops->getattr) {
        int r = real->ops->getattr(real, &st);

        if (r < 0)
            return r;
        real->size = st.size;
    }
    ovl_refresh(oi);
    inode_fill_stat(ino, ret_st);
    ret_st->blocks = st.blocks;
    ret_st->blksize = st.blksize;
    return 0;
}

int ovl_setattr(struct inode *ino, const struct iattr *attr)
{
    struct ovl_inode *oi = ovl_inode_of(ino);
    int r = ovl_copy_up(oi, attr->valid & ATTR_SIZE ? attr->size : UINT64_MAX);

    /* A removed directory or special file of the image: nobody can open it anew. */
    if (r == -ENOENT && oi->lost_names && !(attr->valid & ATTR_SIZE)) {
        inode_store_attr(ino, attr);
        return 0;
    }
    if (r < 0)
        return r;
    if (!oi->upper->ops->setattr)
        return -EPERM;
    r = oi->upper->ops->setattr(oi->upper, attr);
    if (r == 0)
        ovl_sync(oi);
    return r;
}

int64_t ovl_readlink(struct inode *ino, char *buf, size_t cap)
{
    struct inode *real = ovl_real(ovl_inode_of(ino));

    return real->ops->readlink ? real->ops->readlink(real, buf, cap) : -EINVAL;
}

int64_t ovl_getxattr(struct inode *ino, const char *name, void *buf, size_t cap)
{
    struct inode *real = ovl_real(ovl_inode_of(ino));

    return real->ops->getxattr ? real->ops->getxattr(real, name, buf, cap) : -EOPNOTSUPP;
}

int64_t ovl_listxattr(struct inode *ino, char *buf, size_t cap)
{
    struct inode *real = ovl_real(ovl_inode_of(ino));

    return real->ops->listxattr ? real->ops->listxattr(real, buf, cap) : 0;
}

int ovl_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
{
    struct ovl_inode *oi = ovl_inode_of(ino);
    int r = ovl_copy_up(oi, UINT64_MAX);

    if (r < 0)
        return r;
    return oi->upper->ops->setxattr ? oi->upper->ops->setxattr(oi->upper, name, val, len, flags)
                                    : -EOPNOTSUPP;
}

int ovl_removexattr(struct inode *ino, const char *name)
{
    struct ovl_inode *oi = ovl_inode_of(ino);
    int r = ovl_copy_up(oi, UINT64_MAX);

    if (r < 0)
        return r;
    return oi->upper->ops->removexattr ? oi->upper->ops->removexattr(oi->upper, name) : -EOPNOTSUPP;
}
