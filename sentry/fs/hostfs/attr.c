/*
 * Attributes: always the host's. They count as known for the rest of the system call that learned
 * them, which is what a walk and the checks behind it need; a later call asks again.
 */
#include "abi/errno.h"

#include "sentry/fs/hostfs/hostfs.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"

static int ask(struct inode *ino)
{
    struct host_inode *hi = host_inode_of(ino);
    struct gofer_attr a;
    int r = volume_client_getattr(hi->fs->client, hi->node, &a);

    if (r < 0)
        return r;
    if ((ino->mode ^ a.mode) & LX_S_IFMT)
        return -EIO;
    hostfs_fill(ino, &a);
    return 0;
}

/* What cannot be asked stays as it was. */
void hostfs_refresh(struct inode *ino)
{
    if (host_inode_of(ino)->fresh != kernel.nsyscalls + 1)
        (void)!ask(ino);
}

int hostfs_getattr(struct inode *ino, struct kstat *ret_st)
{
    /* The walk of this very call may have brought them. */
    int r = host_inode_of(ino)->fresh == kernel.nsyscalls + 1 ? 0 : ask(ino);

    if (r == 0)
        inode_fill_stat(ino, ret_st);
    return r;
}

int hostfs_permission(struct inode *ino, const struct cred *c, int mask)
{
    hostfs_refresh(ino);
    return inode_permission_by_mode(ino, c, mask);
}

static int set_size(struct host_inode *hi, uint64_t size)
{
    bool own;
    int fd, r = hostfs_fd(hi, VOLUME_WRITE, &fd, &own);

    if (r < 0)
        return r;
    r = host_to_guest(host_ftruncate(fd, size));
    if (own)
        host_close(fd);
    return r;
}

static struct gofer_time time_of(const struct lx_timespec *t)
{
    return (struct gofer_time){.sec = t->tv_sec, .nsec = (uint32_t)t->tv_nsec};
}

/* With one id only, the owner that the guest sees is the server's user. */
static uint32_t owner_of(const struct hostfs *fs, uint32_t id, uint32_t own)
{
    return fs->squash && id == own ? 0 : id;
}

int hostfs_setattr(struct inode *ino, const struct iattr *a)
{
    static const struct {
        uint32_t attr, wire;
    } map[] = {{ATTR_MODE, VOLUME_SET_MODE},
               {ATTR_UID, VOLUME_SET_UID},
               {ATTR_GID, VOLUME_SET_GID},
               {ATTR_ATIME, VOLUME_SET_ATIME},
               {ATTR_MTIME, VOLUME_SET_MTIME}};
    struct host_inode *hi = host_inode_of(ino);
    struct volume_setattr_req req = {
        .mode = a->mode & LX_S_IALLUGO,
        .uid = owner_of(hi->fs, a->uid, hi->fs->uid),
        .gid = owner_of(hi->fs, a->gid, hi->fs->gid),
        .atime = time_of(&a->atime),
        .mtime = time_of(&a->mtime),
    };
    struct volume_ref ref;
    struct gofer_attr now;
    int r;

    for (size_t i = 0; i < ARRAY_LEN(map); i++)
        req.valid |= a->valid & map[i].attr ? map[i].wire : 0;
    if (a->valid & ATTR_SIZE) {
        r = set_size(hi, a->size);
        if (r < 0)
            return r;
        req.valid &= ~VOLUME_SET_MTIME; /* the host's own */
    }
    if (!req.valid)
        return a->valid & ATTR_SIZE ? ask(ino) : 0;
    hostfs_ref(hi, &ref);
    r = volume_client_setattr(hi->fs->client, &ref, &req, &now);
    if (r == 0)
        hostfs_fill(ino, &now);
    return r;
}

int64_t hostfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap)
{
    struct host_inode *hi = host_inode_of(ino);
    struct volume_ref ref;

    hostfs_ref(hi, &ref);
    return volume_client_getxattr(hi->fs->client, &ref, name, buf, cap);
}

int64_t hostfs_listxattr(struct inode *ino, char *buf, size_t cap)
{
    struct host_inode *hi = host_inode_of(ino);
    struct volume_ref ref;

    hostfs_ref(hi, &ref);
    return volume_client_listxattr(hi->fs->client, &ref, buf, cap);
}

int hostfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
{
    struct host_inode *hi = host_inode_of(ino);
    struct volume_ref ref;

    hostfs_ref(hi, &ref);
    return volume_client_setxattr(hi->fs->client, &ref, name, val, len, flags);
}

int hostfs_removexattr(struct inode *ino, const char *name)
{
    struct host_inode *hi = host_inode_of(ino);
    struct volume_ref ref;

    hostfs_ref(hi, &ref);
    return volume_client_removexattr(hi->fs->client, &ref, name);
}
