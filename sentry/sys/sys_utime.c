/*
 * utime, utimes, futimesat, utimensat: four layouts of two times. Both "now" needs write permission
 * or ownership, anything else ownership.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct times {
    struct lx_timespec ts[2];
    bool now; /* a null pointer: both now */
};

static bool bad_nsec(int64_t nsec)
{
    return nsec != LX_UTIME_NOW && nsec != LX_UTIME_OMIT && (nsec < 0 || nsec > 999999999);
}

static void take_time(const struct lx_timespec *ts, uint32_t bit, struct iattr *attr,
                      struct lx_timespec *dst)
{
    if (ts->tv_nsec == LX_UTIME_OMIT)
        return;
    attr->valid |= bit;
    *dst = ts->tv_nsec == LX_UTIME_NOW ? inode_now() : *ts;
}

static int set_times(const struct path *p, const struct times *tm, const struct cred *c)
{
    struct iattr attr = {0};
    struct inode *ino = p->dentry->inode;
    bool now = tm->now || (tm->ts[0].tv_nsec == LX_UTIME_NOW && tm->ts[1].tv_nsec == LX_UTIME_NOW);
    int r = mount_writable(p->mnt);

    if (r < 0)
        return r;
    if (!inode_owner_or_capable(ino, c)) {
        if (!now)
            return -EPERM;
        r = inode_permission(ino, c, LX_W_OK);
        if (r < 0)
            return r;
    }
    if (tm->now) {
        attr.valid = ATTR_ATIME | ATTR_MTIME;
        attr.atime = attr.mtime = inode_now();
    } else {
        take_time(&tm->ts[0], ATTR_ATIME, &attr, &attr.atime);
        take_time(&tm->ts[1], ATTR_MTIME, &attr, &attr.mtime);
    }
    return vfs_setattr(p, &attr, c);
}

static int set_times_fd(struct task *t, int fd, const struct times *tm)
{
    struct file *f = fd_get(t, fd);
    int r;

    if (!f)
        return -EBADF;
    r = set_times(&f->path, tm, t->cred);
    file_put(f);
    return r;
}

static struct sys_res do_utimes(struct task *t, int dfd, gaddr_t name, const struct times *tm,
                                int flags)
{
    uint32_t lookup = flags & LX_AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
    struct path p;
    int r;

    if (!tm->now && (bad_nsec(tm->ts[0].tv_nsec) || bad_nsec(tm->ts[1].tv_nsec)))
        return sys_ret(-EINVAL);
    if (gaddr_is_null(name) && dfd != LX_AT_FDCWD)
        return sys_ret(flags ? -EINVAL : set_times_fd(t, dfd, tm));
    if (flags & ~(LX_AT_SYMLINK_NOFOLLOW | LX_AT_EMPTY_PATH))
        return sys_ret(-EINVAL);
    if (flags & LX_AT_EMPTY_PATH)
        lookup |= LOOKUP_EMPTY;
    r = user_path_at(t, dfd, name, lookup, &p);
    if (r == 0) {
        r = set_times(&p, tm, t->cred);
        path_put(&p);
    }
    return sys_ret(r);
}

struct sys_res sys_utimensat(struct task *t, const struct sys_args *a)
{
    struct times tm = {.now = gaddr_is_null(sys_addr(a, 2))};

    if (!tm.now) {
        int r = copy_from_user(t, tm.ts, sys_addr(a, 2), sizeof(tm.ts));

        if (r < 0)
            return sys_ret(r);
        if (tm.ts[0].tv_nsec == LX_UTIME_OMIT && tm.ts[1].tv_nsec == LX_UTIME_OMIT)
            return sys_ret(0);
    }
    return do_utimes(t, sys_int(a, 0), sys_addr(a, 1), &tm, sys_int(a, 3));
}

static struct sys_res utimes_at(struct task *t, int dfd, gaddr_t name, gaddr_t tv)
{
    struct times tm = {.now = gaddr_is_null(tv)};
    struct lx_timeval in[2];

    if (!tm.now) {
        int r = copy_from_user(t, in, tv, sizeof(in));

        if (r < 0)
            return sys_ret(r);
        for (int i = 0; i < 2; i++) {
            if (in[i].tv_usec < 0 || in[i].tv_usec >= LX_USEC_PER_SEC)
                return sys_ret(-EINVAL);
            tm.ts[i] = (struct lx_timespec){in[i].tv_sec, in[i].tv_usec * LX_NSEC_PER_USEC};
        }
    }
    return do_utimes(t, dfd, name, &tm, 0);
}

struct sys_res sys_utimes(struct task *t, const struct sys_args *a)
{
    return utimes_at(t, LX_AT_FDCWD, sys_addr(a, 0), sys_addr(a, 1));
}

struct sys_res sys_futimesat(struct task *t, const struct sys_args *a)
{
    return utimes_at(t, sys_int(a, 0), sys_addr(a, 1), sys_addr(a, 2));
}

struct sys_res sys_utime(struct task *t, const struct sys_args *a)
{
    struct times tm = {.now = gaddr_is_null(sys_addr(a, 1))};
    struct lx_utimbuf in;

    if (!tm.now) {
        int r = get_user(t, &in, sys_addr(a, 1));

        if (r < 0)
            return sys_ret(r);
        tm.ts[0].tv_sec = in.actime;
        tm.ts[1].tv_sec = in.modtime;
    }
    return do_utimes(t, LX_AT_FDCWD, sys_addr(a, 0), &tm, 0);
}
