/*
 * Generic read and write: what is the same for every type of file. The op moves the bytes; before
 * it stand the access mode and, for regular files, O_APPEND and RLIMIT_FSIZE; after it come the
 * times, the setuid bits and inotify. Nothing here blocks: -EAGAIN goes to the caller as it is.
 */
#include "lib/compiler.h"

#include "abi/misc.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define RELATIME_SECONDS 86400

static bool time_after_eq(const struct lx_timespec *a, const struct lx_timespec *b)
{
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec >= b->tv_nsec);
}

/* relatime: the access time moves when it is not newer than a change, or a day old. */
static void file_accessed(struct file *f)
{
    struct inode *ino = f->inode;

    if (f->anon_name || (f->flags & LX_O_NOATIME) || ino->super->readonly ||
        (f->path.mnt->flags & (MOUNT_NOATIME | MOUNT_RDONLY)))
        return;
    if (time_after_eq(&ino->mtime, &ino->atime) || time_after_eq(&ino->ctime, &ino->atime) ||
        (int64_t)(clock_realtime() / NSEC_PER_SEC) - ino->atime.tv_sec >= RELATIME_SECONDS)
        inode_touch(ino, ATTR_ATIME);
}

/* The range of a transfer must end within the positive offsets. */
static bool range_ok(const struct file *f, uint64_t pos, size_t len)
{
    return file_is_stream(f) || (pos <= INT64_MAX && len <= INT64_MAX - pos);
}

int64_t vfs_read(struct task *t, struct file *f, struct uio *to, uint64_t *pos)
{
    int64_t n;
    size_t rest;

    (void)t;
    if (!file_readable(f))
        return -EBADF;
    if (!f->ops->read)
        return LX_S_ISDIR(f->inode->mode) ? -EISDIR : -EINVAL;
    if (!range_ok(f, pos ? *pos : f->pos, to->left))
        return -EINVAL;
    rest = to->left > VFS_STEP ? to->left - VFS_STEP : 0;
    to->left -= rest;
    n = f->ops->read(f, to, pos ? pos : &f->pos);
    to->left += rest;
    if (n > 0 && !f->anon_name) {
        file_accessed(f);
        fsnotify(&f->path, LX_IN_ACCESS, 0);
    }
    return n;
}

int file_size_limit(struct task *t, const struct inode *ino, uint64_t pos, uint64_t *len)
{
    uint64_t max = task_rlimit(t, LX_RLIMIT_FSIZE)->rlim_cur;

    if (!LX_S_ISREG(ino->mode) || *len == 0)
        return 0;
    if (pos > INT64_MAX)
        return -EFBIG;
    if (pos >= max) {
        signal_send_kernel_task(t, LX_SIGXFSZ);
        return -EFBIG;
    }
    *len = MIN(*len, max - pos);
    *len = MIN(*len, (uint64_t)INT64_MAX - pos);
    return *len ? 0 : -EFBIG;
}

static int64_t write_regular(struct task *t, struct file *f, struct uio *from, uint64_t *pos)
{
    uint64_t len = from->left;
    size_t cut;
    int64_t n;
    int r;

    if (f->flags & LX_O_APPEND) {
        inode_refresh(f->inode);
        *pos = f->inode->size;
    }
    r = file_size_limit(t, f->inode, *pos, &len);
    if (r < 0)
        return r;
    cut = from->left - MIN((size_t)len, VFS_STEP);
    from->left -= cut;
    n = f->ops->write(f, from, pos);
    from->left += cut;
    if (n > 0) {
        if ((f->inode->mode & (LX_S_ISUID | LX_S_ISGID)) && !cred_capable(t->cred, LX_CAP_FSETID))
            f->inode->mode = inode_mode_without_privs(f->inode, t->cred);
        inode_touch(f->inode, ATTR_MTIME | ATTR_CTIME);
    }
    return n;
}

struct write_turn {
    struct inode *inode;     /* counted */
    struct wait_queue queue; /* who waits for the end of the write */
};

struct write_turn *write_turn_new(struct inode *ino)
{
    struct write_turn *turn = kalloc(sizeof(*turn));

    if (!turn)
        return NULL;
    turn->inode = inode_get(ino);
    wait_queue_init(&turn->queue);
    ino->turn = turn;
    return turn;
}

void write_turn_free(void *p)
{
    struct write_turn *turn = p;

    turn->inode->turn = NULL;
    wait_queue_done(&turn->queue);
    inode_put(turn->inode);
    kfree(turn);
}

struct wait_queue *write_turn_of_other(const struct inode *ino, const struct write_turn *mine)
{
    return ino->turn && ino->turn != mine ? &ino->turn->queue : NULL;
}

int64_t vfs_write(struct task *t, struct file *f, struct uio *from, uint64_t *pos)
{
    int64_t n;

    if (!file_writable(f))
        return -EBADF;
    if (!f->ops->write)
        return -EINVAL;
    if (!pos)
        pos = &f->pos;
    if (!range_ok(f, *pos, from->left))
        return -EINVAL;
    if (LX_S_ISREG(f->inode->mode) && !file_is_stream(f) && !f->inode->super->generated)
        n = write_regular(t, f, from, pos);
    else
        n = f->ops->write(f, from, pos);
    if (n > 0 && !f->anon_name)
        fsnotify(&f->path, LX_IN_MODIFY, 0);
    return n;
}

int64_t kernel_read(struct file *f, void *buf, size_t len, uint64_t pos)
{
    size_t done = 0;

    if (!f->ops->read)
        return -EINVAL;
    while (done < len) {
        struct uio u;
        int64_t n;

        uio_init_kernel(&u, (char *)buf + done, len - done);
        n = f->ops->read(f, &u, &pos);
        if (n < 0)
            return done ? (int64_t)done : n;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}
