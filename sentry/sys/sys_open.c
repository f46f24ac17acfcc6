/*
 * open, openat, openat2, creat: flags are checked as Linux checks them, the rest is vfs_open_at. A
 * FIFO that waits for its other end is the one open that blocks; the half-open file is kept in
 * t->restart until the end of the call.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/rlimit.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

#define VALID_OPEN_FLAGS                                                                 \
    (LX_O_ACCMODE | LX_O_CREAT | LX_O_EXCL | LX_O_NOCTTY | LX_O_TRUNC | LX_O_APPEND |    \
     LX_O_NONBLOCK | LX_O_SYNC | LX_O_DSYNC | LX_FASYNC | LX_O_DIRECT | LX_O_LARGEFILE | \
     LX_O_DIRECTORY | LX_O_NOFOLLOW | LX_O_NOATIME | LX_O_CLOEXEC | LX_O_PATH | LX_O_TMPFILE)
#define PATH_OPEN_FLAGS (LX_O_DIRECTORY | LX_O_NOFOLLOW | LX_O_PATH | LX_O_CLOEXEC)
/* The bit of O_TMPFILE that is not O_DIRECTORY. */
#define TMPFILE_BIT 020000000u
#define VALID_RESOLVE                                                                              \
    (LX_RESOLVE_NO_XDEV | LX_RESOLVE_NO_MAGICLINKS | LX_RESOLVE_NO_SYMLINKS | LX_RESOLVE_BENEATH | \
     LX_RESOLVE_IN_ROOT | LX_RESOLVE_CACHED)

struct open_flags {
    uint32_t flags, mode, lookup;
};

static bool will_create(uint64_t flags)
{
    return (flags & LX_O_CREAT) || (flags & TMPFILE_BIT);
}

static int check_flags(uint64_t flags)
{
    if (flags & TMPFILE_BIT) {
        if ((flags & (LX_O_TMPFILE | LX_O_CREAT)) != LX_O_TMPFILE)
            return -EINVAL;
        if (!(flags & (LX_O_WRONLY | LX_O_RDWR)))
            return -EINVAL;
    }
    if ((flags & (LX_O_DIRECTORY | LX_O_CREAT)) == (LX_O_DIRECTORY | LX_O_CREAT))
        return -EINVAL;
    return 0;
}

/* A descriptor number must be free before anything is looked up or made. */
static int check_room(struct task *t)
{
    size_t fd = bitmap_first_zero(&t->files->used, 0);

    return fd >= task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur ? -EMFILE : 0;
}

static void put_file(void *f)
{
    file_put(f);
}

/* Waits for the other end of a FIFO; f moves into the restart state. */
static struct sys_res wait_fifo(struct task *t, struct file *f CONSUMES)
{
    int r;

    if (!t->restart.ptr) {
        t->restart.ptr = f;
        t->restart.free_ptr = put_file;
    }
    r = task_wait_on(t, fifo_wait_queue(f->inode), 0);
    return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTSYS);
}

static struct sys_res install(struct task *t, struct file *f CONSUMES, uint32_t flags)
{
    int fd = fd_install(t, f, (flags & LX_O_CLOEXEC) != 0, 0);

    if (fd < 0)
        file_put(f);
    return sys_ret(fd);
}

static struct sys_res resume_fifo(struct task *t, uint32_t flags)
{
    struct file *f = t->restart.ptr;
    int r = fifo_open(f->inode, f);

    if (r == -EAGAIN)
        return wait_fifo(t, f);
    if (r < 0)
        return sys_ret(r);
    t->restart.ptr = NULL;
    return install(t, f, flags);
}

static struct sys_res do_open(struct task *t, int dfd, gaddr_t name, const struct open_flags *op)
{
    char path[LX_PATH_MAX];
    struct file *f;
    int r;

    if (t->restart.ptr)
        return resume_fifo(t, op->flags);
    r = check_flags(op->flags);
    if (r == 0)
        r = user_path_copy(t, name, path);
    if (r == 0)
        r = check_room(t);
    if (r == 0)
        r = vfs_open_at(t, dfd, path, op->flags, op->mode, op->lookup, &f);
    else
        return sys_ret(r);
    if (r == -EAGAIN)
        return wait_fifo(t, f);
    return r < 0 ? sys_ret(r) : install(t, f, op->flags);
}

/* open and openat ignore what they do not know. */
static struct sys_res open_lenient(struct task *t, int dfd, gaddr_t name, uint32_t flags,
                                   uint32_t mode)
{
    struct open_flags op = {.flags = flags & VALID_OPEN_FLAGS};

    if (op.flags & LX_O_PATH)
        op.flags &= PATH_OPEN_FLAGS;
    if (will_create(op.flags))
        op.mode = mode & LX_S_IALLUGO;
    return do_open(t, dfd, name, &op);
}

struct sys_res sys_open(struct task *t, const struct sys_args *a)
{
    return open_lenient(t, LX_AT_FDCWD, sys_addr(a, 0), sys_uint(a, 1), sys_uint(a, 2));
}

struct sys_res sys_creat(struct task *t, const struct sys_args *a)
{
    return open_lenient(t, LX_AT_FDCWD, sys_addr(a, 0), LX_O_CREAT | LX_O_WRONLY | LX_O_TRUNC,
                        sys_uint(a, 1));
}

struct sys_res sys_openat(struct task *t, const struct sys_args *a)
{
    return open_lenient(t, sys_int(a, 0), sys_addr(a, 1), sys_uint(a, 2), sys_uint(a, 3));
}

static int check_how(const struct lx_open_how *how)
{
    if ((how->flags & ~(uint64_t)VALID_OPEN_FLAGS) || (how->resolve & ~(uint64_t)VALID_RESOLVE))
        return -EINVAL;
    if ((how->resolve & LX_RESOLVE_BENEATH) && (how->resolve & LX_RESOLVE_IN_ROOT))
        return -EINVAL;
    if (will_create(how->flags) ? (how->mode & ~(uint64_t)LX_S_IALLUGO) != 0 : how->mode != 0)
        return -EINVAL;
    if ((how->flags & LX_O_PATH) && (how->flags & ~(uint64_t)PATH_OPEN_FLAGS))
        return -EINVAL;
    if ((how->resolve & LX_RESOLVE_CACHED) &&
        (how->flags & (LX_O_TRUNC | LX_O_CREAT | TMPFILE_BIT)))
        return -EAGAIN;
    return 0;
}

static uint32_t lookup_flags_of(uint64_t resolve)
{
    static const struct {
        uint32_t resolve, lookup;
    } map[] = {
        {LX_RESOLVE_NO_XDEV, LOOKUP_NO_XDEV},
        {LX_RESOLVE_NO_MAGICLINKS, LOOKUP_NO_MAGICLINKS},
        {LX_RESOLVE_NO_SYMLINKS, LOOKUP_NO_SYMLINKS},
        {LX_RESOLVE_BENEATH, LOOKUP_BENEATH},
        {LX_RESOLVE_IN_ROOT, LOOKUP_IN_ROOT},
    };
    uint32_t flags = 0;

    for (size_t i = 0; i < ARRAY_LEN(map); i++) {
        if (resolve & map[i].resolve)
            flags |= map[i].lookup;
    }
    return flags;
}

struct sys_res sys_openat2(struct task *t, const struct sys_args *a)
{
    struct lx_open_how how;
    struct open_flags op;
    int r;

    if (a->v[3] < LX_OPEN_HOW_SIZE_VER0)
        return sys_ret(-EINVAL);
    if (a->v[3] > 4096)
        return sys_ret(-E2BIG);
    r = copy_struct_from_user(t, &how, sizeof(how), sys_addr(a, 2), (size_t)a->v[3]);
    if (r == 0)
        r = check_how(&how);
    if (r < 0)
        return sys_ret(r);
    op = (struct open_flags){(uint32_t)how.flags, (uint32_t)how.mode, lookup_flags_of(how.resolve)};
    return do_open(t, sys_int(a, 0), sys_addr(a, 1), &op);
}
