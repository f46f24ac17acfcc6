/* Extended attributes: twelve calls that differ in how the file is named. */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

#define NAME_MAX_   255
#define SIZE_MAX_   65536u
#define FLAGS_KNOWN 3

enum how {
    BY_PATH,
    BY_LINK,
    BY_FD
};

static int find(struct task *t, const struct sys_args *a, enum how how, struct path *ret_p)
{
    struct file *f;

    if (how != BY_FD)
        return user_path_at(t, LX_AT_FDCWD, sys_addr(a, 0), how == BY_PATH ? LOOKUP_FOLLOW : 0,
                            ret_p);
    f = fd_get(t, sys_int(a, 0));
    if (!f)
        return -EBADF;
    path_get(&f->path);
    *ret_p = f->path;
    file_put(f);
    return 0;
}

static int get_name(struct task *t, gaddr_t addr, char name[NAME_MAX_ + 1])
{
    int64_t n = strncpy_from_user(t, name, addr, NAME_MAX_ + 1);

    if (n == -ENAMETOOLONG || n == 0)
        return -ERANGE;
    return n < 0 ? (int)n : 0;
}

static struct sys_res do_set(struct task *t, const struct sys_args *a, enum how how)
{
    char name[NAME_MAX_ + 1];
    uint64_t len = a->v[3];
    struct path p;
    void *val;
    int r;

    if (sys_uint(a, 4) & ~(uint32_t)FLAGS_KNOWN)
        return sys_ret(-EINVAL);
    r = get_name(t, sys_addr(a, 1), name);
    if (r < 0)
        return sys_ret(r);
    if (len > SIZE_MAX_)
        return sys_ret(-E2BIG);
    val = kalloc((size_t)len + 1);
    if (!val)
        return sys_ret(-ENOMEM);
    r = len ? copy_from_user(t, val, sys_addr(a, 2), (size_t)len) : 0;
    if (r == 0)
        r = find(t, a, how, &p);
    if (r == 0) {
        r = vfs_setxattr(&p, name, val, (size_t)len, sys_int(a, 4), t->cred);
        path_put(&p);
    }
    kfree(val);
    return sys_ret(r);
}

/* Copies a result of n bytes out; cap 0 asks for the size only. */
static int64_t give(struct task *t, gaddr_t to, const void *buf, int64_t n, uint64_t cap)
{
    if (n <= 0 || cap == 0)
        return n;
    return copy_to_user(t, to, buf, (size_t)n) < 0 ? -EFAULT : n;
}

static struct sys_res do_get(struct task *t, const struct sys_args *a, enum how how)
{
    char name[NAME_MAX_ + 1];
    size_t cap = a->v[3] > SIZE_MAX_ ? SIZE_MAX_ : (size_t)a->v[3];
    struct path p;
    void *buf;
    int64_t n = get_name(t, sys_addr(a, 1), name);

    if (n < 0)
        return sys_ret(n);
    buf = kalloc(cap + 1);
    if (!buf)
        return sys_ret(-ENOMEM);
    n = find(t, a, how, &p);
    if (n == 0) {
        n = vfs_getxattr(&p, name, buf, cap, t->cred);
        path_put(&p);
    }
    n = give(t, sys_addr(a, 2), buf, n, cap);
    kfree(buf);
    return sys_ret(n);
}

static struct sys_res do_list(struct task *t, const struct sys_args *a, enum how how)
{
    size_t cap = a->v[2] > SIZE_MAX_ ? SIZE_MAX_ : (size_t)a->v[2];
    struct path p;
    char *buf = kalloc(cap + 1);
    int64_t n;

    if (!buf)
        return sys_ret(-ENOMEM);
    n = find(t, a, how, &p);
    if (n == 0) {
        n = vfs_listxattr(&p, buf, cap, t->cred);
        path_put(&p);
    }
    n = give(t, sys_addr(a, 1), buf, n, cap);
    kfree(buf);
    return sys_ret(n);
}

static struct sys_res do_remove(struct task *t, const struct sys_args *a, enum how how)
{
    char name[NAME_MAX_ + 1];
    struct path p;
    int r = get_name(t, sys_addr(a, 1), name);

    if (r == 0)
        r = find(t, a, how, &p);
    if (r < 0)
        return sys_ret(r);
    r = vfs_removexattr(&p, name, t->cred);
    path_put(&p);
    return sys_ret(r);
}

#define XATTR_CALL(name, fn, how)                                       \
    struct sys_res sys_##name(struct task *t, const struct sys_args *a) \
    {                                                                   \
        return fn(t, a, how);                                           \
    }

XATTR_CALL(setxattr, do_set, BY_PATH)
XATTR_CALL(lsetxattr, do_set, BY_LINK)
XATTR_CALL(fsetxattr, do_set, BY_FD)
XATTR_CALL(getxattr, do_get, BY_PATH)
XATTR_CALL(lgetxattr, do_get, BY_LINK)
XATTR_CALL(fgetxattr, do_get, BY_FD)
XATTR_CALL(listxattr, do_list, BY_PATH)
XATTR_CALL(llistxattr, do_list, BY_LINK)
XATTR_CALL(flistxattr, do_list, BY_FD)
XATTR_CALL(removexattr, do_remove, BY_PATH)
XATTR_CALL(lremovexattr, do_remove, BY_LINK)
XATTR_CALL(fremovexattr, do_remove, BY_FD)
