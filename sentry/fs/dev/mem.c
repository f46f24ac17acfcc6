/*
 * Character devices by number: null, zero, full, random, urandom, and the doors to terminals.
 */
#include "sentry/fs/dev/dev.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/host/host.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/usercopy.h"

#define RANDOM_STEP_MAX (1u << 20)
/* A mapping of /dev/zero is memory of its own, larger than any mapping of it can be. */
#define ZERO_OBJ_SIZE (1ull << 40)

static int64_t null_read(struct file *f, struct uio *to, uint64_t *pos)
{
    (void)f;
    (void)to;
    (void)pos;
    return 0;
}

static int64_t null_write(struct file *f, struct uio *from, uint64_t *pos)
{
    size_t n = from->left;

    (void)f;
    (void)pos;
    uio_advance(from, n);
    return (int64_t)n;
}

static int64_t null_seek(struct file *f, int64_t off, int whence)
{
    (void)off;
    (void)whence;
    f->pos = 0;
    return 0;
}

static int64_t zero_read(struct file *f, struct uio *to, uint64_t *pos)
{
    (void)f;
    (void)pos;
    return to->left ? uio_zero(to, to->left) : 0;
}

static int zero_map(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing)
{
    struct memobj *obj;
    int r;

    (void)f;
    (void)shared;
    (void)prot;
    r = memobj_new(ZERO_OBJ_SIZE, &obj);
    if (r < 0)
        return r;
    *ret_backing = (struct map_backing){.obj = obj, .host_fd = -1};
    return 0;
}

static int64_t full_write(struct file *f, struct uio *from, uint64_t *pos)
{
    (void)f;
    (void)from;
    (void)pos;
    return -ENOSPC;
}

static int64_t random_read(struct file *f, struct uio *to, uint64_t *pos)
{
    uint8_t chunk[4096];
    int64_t done = 0;

    (void)f;
    (void)pos;
    while (to->left && done < (int64_t)RANDOM_STEP_MAX) {
        size_t n = MIN(to->left, sizeof(chunk));
        int64_t c;

        host_random(chunk, n);
        c = uio_copy_to(to, chunk, n);
        if (c < 0)
            return done ? done : c;
        done += c;
        if ((size_t)c < n)
            break;
    }
    return done;
}

#define RNDGETENTCNT 0x80045200u

static struct sys_res random_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    int32_t bits = 256;

    (void)f;
    if (cmd != RNDGETENTCNT)
        return sys_ret(-EINVAL);
    return sys_ret(put_user(t, GADDR(arg), &bits));
}

static const struct file_ops null_ops = {
    .read = null_read,
    .write = null_write,
    .seek = null_seek,
};

static const struct file_ops zero_ops = {
    .read = zero_read,
    .endless = true,
    .write = null_write,
    .seek = null_seek,
    .map = zero_map,
};

static const struct file_ops full_ops = {
    .read = zero_read,
    .endless = true,
    .write = full_write,
    .seek = null_seek,
};

static const struct file_ops random_ops = {
    .read = random_read,
    .endless = true,
    .write = null_write,
    .seek = null_seek,
    .ioctl = random_ioctl,
};

static int mem_open(uint32_t minor, struct file *f)
{
    switch (minor) {
    case DEV_NULL_MINOR:
        f->ops = &null_ops;
        return 0;
    case DEV_ZERO_MINOR:
        f->ops = &zero_ops;
        return 0;
    case DEV_FULL_MINOR:
        f->ops = &full_ops;
        return 0;
    case DEV_RANDOM_MINOR:
    case DEV_URANDOM_MINOR:
        f->ops = &random_ops;
        return 0;
    default:
        return -ENXIO;
    }
}

int chrdev_open(struct inode *ino, struct file *f)
{
    uint32_t major = lx_major(ino->rdev), minor = lx_minor(ino->rdev);

    if (major == LX_MEM_MAJOR)
        return mem_open(minor, f);
    if (major == LX_TTYAUX_MAJOR && minor == 0)
        return tty_open_current(f);
    if (major == LX_TTYAUX_MAJOR && minor == 1)
        return tty_open_console(f);
    if (major == LX_TTYAUX_MAJOR && minor == 2)
        return tty_open_ptmx(ino, f);
    if (major >= LX_UNIX98_PTY_SLAVE_MAJOR && major < LX_UNIX98_PTY_SLAVE_MAJOR + 8)
        return tty_open_pts(((major - LX_UNIX98_PTY_SLAVE_MAJOR) << 20) | minor, f);
    return -ENXIO;
}
