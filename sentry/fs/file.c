/*
 * Open file descriptions: life, names of anonymous ones, seeking, and fs_info.
 *
 * The last put releases a file: epoll forgets it, the VFS gives back write access and locks, the
 * type frees its private part. Releasing one file can drop the last reference of another (a socket
 * whose queue holds descriptors, and so on, as deep as a guest likes), so a put inside of a release
 * only queues the file and the outermost put works the queue off: no recursion.
 */
#include "sentry/fs/file.h"

#include "lib/compiler.h"

#include <stdio.h>

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/kernel/limits.h"
#include "sentry/net/socket.h"

int file_new(const struct path *p, const struct file_ops *ops, uint32_t flags,
             struct file **ret_file)
{
    struct file *f;
    int r = limit_charge(LIMIT_FILES, 1);

    if (r < 0) {
        /* Sockets that refer to each other in circles may be what fills the limit. */
        scm_collect();
        r = limit_charge(LIMIT_FILES, 1);
    }
    if (r < 0)
        return r;
    f = kalloc(sizeof(*f));
    if (!f) {
        limit_release(LIMIT_FILES, 1);
        return -ENOMEM;
    }
    f->ref = 1;
    f->ops = ops;
    f->path = *p;
    path_get(p);
    f->inode = p->dentry->inode;
    f->flags = flags;
    list_init(&f->epoll_items);
    *ret_file = f;
    return 0;
}

struct file *file_get(struct file *f)
{
    KASSERT(f->ref > 0 && f->ref < UINT32_MAX);
    f->ref++;
    return f;
}

static void file_release(struct file *f)
{
    epoll_file_released(f);
    file_async_released(f);
    vfs_file_released(f);
    if (f->ops && f->ops->release)
        f->ops->release(f);
    path_put(&f->path);
    limit_release(LIMIT_FILES, 1);
    kfree(f);
}

void file_put(struct file *f)
{
    static struct file *dead;
    static bool releasing;

    if (!f)
        return;
    KASSERT(f->ref > 0);
    if (--f->ref > 0) {
        if (UNLIKELY(f->ref == f->inflight))
            scm_suspect();
        return;
    }
    f->next_dead = dead;
    dead = f;
    if (releasing)
        return;
    releasing = true;
    while (dead) {
        f = dead;
        dead = f->next_dead;
        file_release(f);
    }
    releasing = false;
}

int64_t file_anon_name(const struct file *f, char *buf, size_t cap)
{
    int n;

    if (!f->anon_name)
        return -ENOENT;
    if (f->anon_name[0] == '[')
        n = snprintf(buf, cap, "anon_inode:%s", f->anon_name);
    else
        n = snprintf(buf, cap, "%s:[%llu]", f->anon_name, (unsigned long long)f->inode->ino);
    return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : n;
}

/* lseek of a file whose data is all data: SEEK_HOLE is its end. */
int64_t vfs_seek_generic(struct file *f, int64_t off, int whence, uint64_t size)
{
    int64_t base = 0, pos;

    switch (whence) {
    case LX_SEEK_SET:
        break;
    case LX_SEEK_CUR:
        base = (int64_t)f->pos;
        break;
    case LX_SEEK_END:
        base = (int64_t)size;
        break;
    case LX_SEEK_DATA:
    case LX_SEEK_HOLE:
        if (off < 0 || (uint64_t)off >= size)
            return -ENXIO;
        if (whence == LX_SEEK_HOLE)
            off = (int64_t)size;
        break;
    default:
        return -EINVAL;
    }
    if (__builtin_add_overflow(base, off, &pos))
        return -EOVERFLOW;
    if (pos < 0)
        return -EINVAL;
    f->pos = (uint64_t)pos;
    return pos;
}

int fs_info_new(const struct path *root, const struct path *cwd, struct fs_info **ret_fs)
{
    struct fs_info *fs = kalloc(sizeof(*fs));

    if (!fs)
        return -ENOMEM;
    fs->ref = 1;
    fs->root = *root;
    path_get(root);
    fs->cwd = *cwd;
    path_get(cwd);
    fs->umask = 022;
    *ret_fs = fs;
    return 0;
}

int fs_info_dup(const struct fs_info *from, struct fs_info **ret_fs)
{
    int r = fs_info_new(&from->root, &from->cwd, ret_fs);

    if (r == 0)
        (*ret_fs)->umask = from->umask;
    return r;
}

struct fs_info *fs_info_get(struct fs_info *fs)
{
    KASSERT(fs->ref > 0 && fs->ref < UINT32_MAX);
    fs->ref++;
    return fs;
}

void fs_info_put(struct fs_info *fs)
{
    if (!fs)
        return;
    KASSERT(fs->ref > 0);
    if (--fs->ref > 0)
        return;
    path_put(&fs->cwd);
    path_put(&fs->root);
    kfree(fs);
}
