/*
 * sys_handle.c: name_to_handle_at. A handle tells files apart and says which mount they are on,
 * which is what programs ask it for; opening one takes a privilege that nobody has here
 * (open_by_handle_at is refused with EPERM, as in a container with a user namespace).
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"

#include "sentry/fs/file.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

/* As tmpfs has it: generation, inode number. */
#define HANDLE_BYTES 12u
#define HANDLE_TYPE  1

/* An overlay has none unless it is asked for at mount time, generated files have none. */
static bool has_handles(const struct super *sb)
{
    return strcmp(sb->type, "tmpfs") == 0 || strcmp(sb->type, "erofs") == 0;
}

static int put_handle(struct task *t, const struct path *p, gaddr_t handle, gaddr_t mnt_id,
                      uint32_t flags)
{
    const struct inode *ino = p->dentry->inode;
    struct lx_file_handle h;
    uint64_t id = p->mnt->id;
    uint32_t id32 = p->mnt->id;

    if (!has_handles(ino->super))
        return -EOPNOTSUPP;
    if (get_user(t, &h, handle) < 0)
        return -EFAULT;
    if (h.handle_bytes > LX_MAX_HANDLE_SZ)
        return -EINVAL;
    bool fits = h.handle_bytes >= HANDLE_BYTES;
    h.handle_bytes = HANDLE_BYTES;
    h.handle_type = fits ? HANDLE_TYPE : LX_FILEID_INVALID;
    int r =
        flags & LX_AT_HANDLE_MNT_ID_UNIQUE ? put_user(t, mnt_id, &id) : put_user(t, mnt_id, &id32);
    if (r == 0)
        r = put_user(t, handle, &h);
    if (r == 0 && fits) {
        const uint32_t v[3] = {0, (uint32_t)ino->ino, (uint32_t)(ino->ino >> 32)};
        r = copy_to_user(t, gaddr_add(handle, sizeof(h)), v, sizeof(v));
    }
    return r < 0 || fits ? r : -EOVERFLOW;
}

struct sys_res sys_name_to_handle_at(struct task *t, const struct sys_args *a)
{
    const uint32_t known =
        LX_AT_SYMLINK_FOLLOW | LX_AT_EMPTY_PATH | LX_AT_HANDLE_FID | LX_AT_HANDLE_MNT_ID_UNIQUE;
    uint32_t flags = sys_uint(a, 4);
    uint32_t lookup = (flags & LX_AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
                      (flags & LX_AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
    struct path p;

    if (flags & ~known)
        return sys_ret(-EINVAL);
    int r = user_path_at(t, sys_int(a, 0), sys_addr(a, 1), lookup, &p);
    if (r < 0)
        return sys_ret(r);
    r = put_handle(t, &p, sys_addr(a, 2), sys_addr(a, 3), flags);
    path_put(&p);
    return sys_ret(r);
}
