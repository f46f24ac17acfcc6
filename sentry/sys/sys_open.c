/*
 * sys_open.c: open(2), openat(2), openat2(2), creat(2).
 *
 * Opening a FIFO may have to wait for its other end: the half-open file is kept as the restart object of
 * the call and finished when the FIFO's queue says so.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/file.h"
#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/path_arg.h"
#include "sentry/sys/sys.h"

enum { PATH_CAP = 4096 };

#define OPEN_VALID_FLAGS                                                                           \
    (LX_O_ACCMODE | LX_O_CREAT | LX_O_EXCL | LX_O_NOCTTY | LX_O_TRUNC | LX_O_APPEND |              \
     LX_O_NONBLOCK | LX_O_DSYNC | LX_O_ASYNC | LX_O_DIRECT | LX_O_LARGEFILE | LX_O_DIRECTORY |     \
     LX_O_NOFOLLOW | LX_O_NOATIME | LX_O_CLOEXEC | LX_O_SYNC | LX_O_PATH | LX_O_TMPFILE)

int path_arg(struct task *t, gaddr_t addr, bool empty_ok, char **ret_path)
{
    char buf[PATH_CAP];
    int64_t n = strncpy_from_user(t, buf, addr, sizeof(buf));
    if (n < 0)
        return (int)n;
    if (n == 0 && !empty_ok)
        return -ENOENT;
    char *p = kstrndup(buf, (size_t)n);
    if (p == NULL)
        return -ENOMEM;
    *ret_path = p;
    return 0;
}

static struct sys_res install(struct task *t, struct file *f, bool cloexec)
{
    int fd = fd_install(t, f, cloexec, 0);
    if (fd < 0)
        file_put(f);
    return sys_ret(fd);
}

static void put_file(void *p)
{
    file_put(p);
}

static struct sys_res fifo_wait(struct task *t, struct file *f, bool cloexec)
{
    int r = fifo_open(f->inode, f);
    if (r == -EAGAIN) {
        t->restart.ptr = f;
        t->restart.free_ptr = put_file;
        t->restart.u[0] = cloexec;
        r = task_wait_on(t, fifo_wait_queue(f->inode), 0);
        return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTSYS);
    }
    t->restart.ptr = NULL;
    if (r < 0) {
        file_put(f);
        return sys_ret(r);
    }
    return install(t, f, cloexec);
}

static struct sys_res do_open(struct task *t, int dfd, gaddr_t name, uint32_t flags, uint32_t mode,
                              uint32_t lookup)
{
    char *path;
    struct file *f = NULL;
    bool cloexec = (flags & LX_O_CLOEXEC) != 0;

    if (t->restart.active && t->restart.ptr != NULL)
        return fifo_wait(t, t->restart.ptr, t->restart.u[0] != 0);
    int r = path_arg(t, name, false, &path);
    if (r < 0)
        return sys_ret(r);
    r = vfs_open_at(t, dfd, path, flags, mode, lookup, &f);
    kfree(path);
    if (r == -EAGAIN && f != NULL) {
        if (flags & LX_O_NONBLOCK) {
            file_put(f);
            return sys_ret(r);
        }
        t->restart.ptr = f;
        t->restart.free_ptr = put_file;
        t->restart.u[0] = cloexec;
        r = task_wait_on(t, fifo_wait_queue(f->inode), 0);
        return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTSYS);
    }
    return r < 0 ? sys_ret(r) : install(t, f, cloexec);
}

/* The old calls ignore flags that they do not know. */
static uint32_t old_flags(uint64_t flags)
{
    return (uint32_t)flags & OPEN_VALID_FLAGS;
}

struct sys_res sys_open(struct task *t, const struct sys_args *a)
{
    return do_open(t, LX_AT_FDCWD, sys_addr(a, 0), old_flags(a->v[1]), sys_uint(a, 2), 0);
}

struct sys_res sys_openat(struct task *t, const struct sys_args *a)
{
    return do_open(t, sys_int(a, 0), sys_addr(a, 1), old_flags(a->v[2]), sys_uint(a, 3), 0);
}

struct sys_res sys_creat(struct task *t, const struct sys_args *a)
{
    return do_open(t, LX_AT_FDCWD, sys_addr(a, 0), LX_O_CREAT | LX_O_WRONLY | LX_O_TRUNC, sys_uint(a, 1), 0);
}

static int resolve_flags(uint64_t resolve, uint32_t *ret_lookup)
{
    uint32_t l = 0;
    if (resolve & ~(uint64_t)(LX_RESOLVE_NO_XDEV | LX_RESOLVE_NO_MAGICLINKS | LX_RESOLVE_NO_SYMLINKS |
                              LX_RESOLVE_BENEATH | LX_RESOLVE_IN_ROOT | LX_RESOLVE_CACHED))
        return -EINVAL;
    if ((resolve & LX_RESOLVE_BENEATH) && (resolve & LX_RESOLVE_IN_ROOT))
        return -EINVAL;
    if (resolve & LX_RESOLVE_CACHED)
        return -EAGAIN;
    l |= resolve & LX_RESOLVE_NO_XDEV ? LOOKUP_NO_XDEV : 0;
    l |= resolve & LX_RESOLVE_NO_MAGICLINKS ? LOOKUP_NO_MAGICLINKS : 0;
    l |= resolve & LX_RESOLVE_NO_SYMLINKS ? LOOKUP_NO_SYMLINKS : 0;
    l |= resolve & LX_RESOLVE_BENEATH ? LOOKUP_BENEATH : 0;
    l |= resolve & LX_RESOLVE_IN_ROOT ? LOOKUP_IN_ROOT : 0;
    *ret_lookup = l;
    return 0;
}

struct sys_res sys_openat2(struct task *t, const struct sys_args *a)
{
    struct lx_open_how how = {0};
    uint32_t lookup;

    if (t->restart.active)
        return do_open(t, 0, GADDR_NULL, 0, 0, 0);
    if (a->v[3] < sizeof(how))
        return sys_ret(-EINVAL);
    if (a->v[3] > 4096)
        return sys_ret(-E2BIG);
    int r = copy_struct_from_user(t, &how, sizeof(how), sys_addr(a, 2), (size_t)a->v[3]);
    if (r < 0)
        return sys_ret(r);
    bool creates = (how.flags & (LX_O_CREAT | LX_O_TMPFILE)) != 0;
    if ((how.flags & ~(uint64_t)OPEN_VALID_FLAGS) != 0 || (how.mode & ~07777ull) != 0 ||
        (!creates && how.mode != 0))
        return sys_ret(-EINVAL);
    if ((how.flags & LX_O_PATH) &&
        (how.flags & ~(uint64_t)(LX_O_PATH | LX_O_DIRECTORY | LX_O_NOFOLLOW | LX_O_CLOEXEC)) != 0)
        return sys_ret(-EINVAL);
    r = resolve_flags(how.resolve, &lookup);
    if (r < 0)
        return sys_ret(r);
    return do_open(t, sys_int(a, 0), sys_addr(a, 1), (uint32_t)how.flags, (uint32_t)how.mode, lookup);
}
