/*
 * Open regular files. Each has a descriptor of its own, opened by the volume server with the access
 * that the guest asked for; reads, writes, sizes and mappings are the host's, so nothing is held
 * back here and nothing has to be made coherent.
 */
#include "abi/errno.h"
#include "abi/misc.h"

#include "lib/alloc.h"
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/fs/hostfs/hostfs.h"
#include "sentry/host/host.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

static uint8_t *bounce; /* HOSTFS_BOUNCE bytes, made on first use */

static int bounce_get(void)
{
    if (!bounce)
        bounce = kalloc(HOSTFS_BOUNCE);
    return bounce ? 0 : -ENOMEM;
}

void hostfs_done(void)
{
    kfree(bounce);
    bounce = NULL;
}

static struct host_file *host_file_of(const struct file *f)
{
    return f->priv;
}

/* At the cost of cached descriptors of the image. */
int hostfs_make_room(void)
{
    for (;;) {
        int fd = host_dup(host_poll_fd());

        if (fd >= 0) {
            host_close(fd);
            return 0;
        }
        if (!goferfs_fd_drop_oldest())
            return -ENFILE;
    }
}

static int open_fd(struct host_inode *hi, uint32_t access, int *ret_fd)
{
    struct volume_ref ref;
    int r = hostfs_make_room();

    if (r < 0)
        return r;
    hostfs_ref(hi, &ref);
    return volume_client_open(hi->fs->client, &ref, access, ret_fd);
}

int hostfs_fd(struct host_inode *hi, uint32_t access, int *ret_fd, bool *ret_own)
{
    struct host_file *hf;

    list_for_each_entry (hf, &hi->files, link) {
        if ((hf->access & access) == access) {
            *ret_fd = hf->fd;
            *ret_own = false;
            return 0;
        }
    }
    *ret_own = true;
    return open_fd(hi, access, ret_fd);
}

/* -- reading and writing -------------------------------------------------------------------------
 */

static int64_t hostfs_read(struct file *f, struct uio *to, uint64_t *pos)
{
    int64_t done = 0;
    int r = bounce_get();

    if (r < 0)
        return r;
    while (to->left) {
        size_t want = MIN(to->left, (size_t)HOSTFS_BOUNCE);
        int64_t n = host_pread(host_file_of(f)->fd, bounce, want, *pos);
        int64_t c;

        if (n < 0)
            return done ? done : host_to_guest(n);
        if (n == 0)
            break;
        c = uio_copy_to(to, bounce, (size_t)n);
        if (c < 0)
            return done ? done : c;
        *pos += (uint64_t)c;
        done += c;
        if (c < n || n < (int64_t)want)
            break;
    }
    return done;
}

static uint32_t sync_of(const struct file *f)
{
    if ((f->flags & LX_O_SYNC) == LX_O_SYNC)
        return HOST_WRITE_SYNC;
    return f->flags & LX_O_DSYNC ? HOST_WRITE_DSYNC : 0;
}

static int64_t hostfs_write(struct file *f, struct uio *from, uint64_t *pos)
{
    uint32_t flags = sync_of(f) | (f->flags & LX_O_APPEND ? HOST_WRITE_APPEND : 0);
    int64_t done = 0;
    int r = bounce_get();

    if (r < 0)
        return r;
    while (from->left) {
        struct uio at = *from;
        size_t want = MIN(from->left, (size_t)HOSTFS_BOUNCE);
        int64_t c = uio_copy_from(&at, bounce, want), n;

        if (c <= 0)
            return done ? done : c;
        n = host_pwrite_at(host_file_of(f)->fd, bounce, (size_t)c, pos, flags);
        if (n < 0)
            return done ? done : host_to_guest(n);
        uio_advance(from, (size_t)n);
        done += n;
        if (n < c || c < (int64_t)want)
            break;
    }
    f->inode->size = MAX(f->inode->size, *pos);
    return done;
}

static int64_t hostfs_seek(struct file *f, int64_t off, int whence)
{
    int fd = host_file_of(f)->fd;
    uint64_t size = 0;
    uint32_t mode;
    int r;

    if (whence == LX_SEEK_DATA || whence == LX_SEEK_HOLE) {
        int64_t at = off < 0                  ? -ENXIO
                     : whence == LX_SEEK_DATA ? host_seek_data(fd, (uint64_t)off)
                                              : host_seek_hole(fd, (uint64_t)off);

        if (at < 0)
            return host_to_guest(at);
        f->pos = (uint64_t)at;
        return at;
    }
    r = whence == LX_SEEK_END ? host_fstat(fd, &mode, &size) : 0;
    return r < 0 ? host_to_guest(r) : vfs_seek_generic(f, off, whence, size);
}

/* The host's page cache is mapped: whoever writes the file, everybody sees it. */
static int hostfs_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    (void)shared;
    (void)prot;
    *ret_backing = (struct map_backing){.obj = NULL, .host_fd = host_file_of(f)->fd};
    return 0;
}

static int hostfs_fsync(struct file *f, bool datasync)
{
    return host_to_guest(host_fsync(host_file_of(f)->fd, datasync));
}

static int hostfs_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
    return host_to_guest(host_fallocate_mode(host_file_of(f)->fd, mode, off, len));
}

static void hostfs_release(struct file *f)
{
    struct host_file *hf = host_file_of(f);

    if (!hf)
        return;
    list_del_init(&hf->link);
    host_close(hf->fd);
    kfree(hf);
    f->priv = NULL;
}

static const struct file_ops hostfs_file_ops = {
    .read = hostfs_read,
    .write = hostfs_write,
    .seek = hostfs_seek,
    .map = hostfs_map,
    .fsync = hostfs_fsync,
    .fallocate = hostfs_fallocate,
    .release = hostfs_release,
};

/* -- open ----------------------------------------------------------------------------------------
 */

static uint32_t access_of(const struct file *f)
{
    uint32_t access = (file_readable(f) ? VOLUME_READ : 0) | (file_writable(f) ? VOLUME_WRITE : 0);

    return access ? access : VOLUME_READ; /* access mode 3: neither, for ioctl */
}

/* The descriptor for a new file; a file without a name lives on in those that are open. */
static int fd_for(struct host_inode *hi, uint32_t access, int *ret_fd)
{
    bool own;
    int fd, r = open_fd(hi, access, ret_fd);

    if (r != -ENOENT && r != -ESTALE)
        return r;
    if (list_empty(&hi->files))
        return r;
    r = hostfs_fd(hi, access, &fd, &own);
    if (r < 0)
        return r;
    if (!own)
        fd = host_dup(fd);
    if (fd < 0)
        return host_to_guest(fd);
    *ret_fd = fd;
    return 0;
}

/* What came with the making of the file is good for whoever writes; not for readers alone, whose
 * mappings have no more rights than they. */
static bool take_made(struct host_inode *hi, struct host_file *hf)
{
    int fd = hi->made_fd;

    hi->made_fd = -1;
    if (fd >= 0 && !(hf->access & VOLUME_WRITE)) {
        host_close(fd);
        fd = -1;
    }
    hf->fd = fd;
    return fd >= 0;
}

static int open_regular(struct inode *ino, struct file *f)
{
    struct host_inode *hi = host_inode_of(ino);
    struct host_file *hf = kalloc(sizeof(*hf));
    int r;

    if (!hf)
        return -ENOMEM;
    hf->access = access_of(f);
    r = take_made(hi, hf) ? 0 : fd_for(hi, hf->access, &hf->fd);
    if (r < 0) {
        kfree(hf);
        return r;
    }
    list_add(&hi->files, &hf->link);
    f->priv = hf;
    f->ops = &hostfs_file_ops;
    return 0;
}

int hostfs_open(struct inode *ino, struct file *f)
{
    switch (ino->mode & LX_S_IFMT) {
    case LX_S_IFREG:
        return open_regular(ino, f);
    case LX_S_IFDIR:
        f->ops = &hostfs_dir_ops;
        return 0;
    case LX_S_IFIFO:
        return fifo_open(ino, f);
    case LX_S_IFCHR:
        return chrdev_open(ino, f);
    default:
        return -ENXIO;
    }
}
