/* What clone(CLONE_FS) shares: root, working directory, umask. */
#include "lib/alloc.h"
#include "lib/compiler.h"

#include "abi/errno.h"
#include "sentry/fs/file.h"

int fs_info_new(const struct path *root, const struct path *cwd, struct fs_info **ret_fs)
{
    struct fs_info *fs = kalloc(sizeof(*fs));

    if (!fs)
        return -ENOMEM;
    fs->ref = 1;
    fs->umask = 022;
    fs->root = *root;
    fs->cwd = *cwd;
    path_get(&fs->root);
    path_get(&fs->cwd);
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
    fs->ref++;
    return fs;
}

void fs_info_put(struct fs_info *fs)
{
    if (!fs || --fs->ref > 0)
        return;
    path_put(&fs->cwd);
    path_put(&fs->root);
    kfree(fs);
}
