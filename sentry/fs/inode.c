/*
 * Inodes. An inode is counted by dentries, by directory entries of file systems that keep their
 * tree in memory, and by whoever works on it; its super is alive as long as a mount is. The last
 * put tells the file system (evict) and frees the block.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/inotify.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/timer.h"

struct lx_timespec inode_now(void)
{
    uint64_t now = clock_realtime();

    return (struct lx_timespec){(int64_t)(now / NSEC_PER_SEC), (int64_t)(now % NSEC_PER_SEC)};
}

int inode_new(struct super *sb, const struct inode_ops *ops, uint32_t mode,
              struct inode **ret_inode)
{
    struct inode *ino = kalloc(sizeof(*ino));

    if (!ino)
        return -ENOMEM;
    ino->ref = 1;
    ino->ops = ops;
    ino->super = sb;
    ino->ino = sb->next_ino++;
    ino->mode = mode;
    ino->nlink = 1;
    ino->atime = ino->mtime = ino->ctime = ino->btime = inode_now();
    list_init(&ino->locks);
    wait_queue_init(&ino->lock_wait);
    list_init(&ino->marks);
    *ret_inode = ino;
    return 0;
}

struct inode *inode_get(struct inode *ino)
{
    KASSERT(ino->ref > 0);
    ino->ref++;
    return ino;
}

void inode_put(struct inode *ino)
{
    if (!ino)
        return;
    KASSERT(ino->ref > 0);
    if (--ino->ref > 0)
        return;
    if (ino->super->ops && ino->super->ops->evict)
        ino->super->ops->evict(ino);
    wait_queue_done(&ino->lock_wait);
    kfree(ino);
}

void inode_touch(struct inode *ino, uint32_t attr)
{
    struct lx_timespec now = inode_now();

    if (attr & ATTR_ATIME)
        ino->atime = now;
    if (attr & ATTR_MTIME)
        ino->mtime = now;
    if (attr & ATTR_CTIME)
        ino->ctime = now;
}

static bool timespec_before(const struct lx_timespec *a, const struct lx_timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

void inode_touch_relatime(struct inode *ino)
{
    struct lx_timespec now = inode_now();

    if (timespec_before(&ino->mtime, &ino->atime) && timespec_before(&ino->ctime, &ino->atime) &&
        now.tv_sec - ino->atime.tv_sec < INT64_C(24) * 3600)
        return;
    ino->atime = now;
}

int inode_write_get(struct inode *ino)
{
    if (ino->denied_write)
        return -ETXTBSY;
    ino->writers++;
    return 0;
}

void inode_write_put(struct inode *ino)
{
    if (ino->writers)
        ino->writers--;
}

int inode_deny_write(struct inode *ino)
{
    if (ino->writers)
        return -ETXTBSY;
    ino->denied_write++;
    return 0;
}

void inode_allow_write(struct inode *ino)
{
    if (ino->denied_write)
        ino->denied_write--;
}
