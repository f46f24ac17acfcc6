/*
 * memfds are tmpfs files without a name. tmpfs keeps and enforces the seals; here only their first
 * value is chosen.
 */
#include "sentry/fs/anon/memfd.h"

#include <stdio.h>

#include "abi/mman.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/mm.h"

int memfd_new(const char *name, uint32_t flags, const struct cred *c, struct file **ret_file)
{
    char shown[LX_NAME_MAX + 1];
    struct path p;
    int r;

    (void)snprintf(shown, sizeof(shown), "memfd:%s", name);
    r = tmpfs_anon_inode(shown, &p);
    if (r < 0)
        return r;
    r = vfs_open_path(&p, LX_O_RDWR | LX_O_LARGEFILE, c, ret_file);
    if (r == 0) {
        struct inode *ino = p.dentry->inode;

        ino->mode = LX_S_IFREG | 0777;
        if (flags & LX_MFD_NOEXEC_SEAL) {
            ino->mode = LX_S_IFREG | 0666;
            tmpfs_set_seals(ino, LX_F_SEAL_EXEC);
        } else if (flags & LX_MFD_ALLOW_SEALING) {
            tmpfs_set_seals(ino, 0);
        }
    }
    path_put(&p);
    return r;
}

static bool mm_maps_writable(struct mm *mm, const struct inode *ino)
{
    for (struct vma *v = mm_first(mm); v; v = vma_next(v))
        if ((v->flags & VMA_SHARED) && v->file && v->file->inode == ino && file_writable(v->file))
            return true;
    return false;
}

bool memfd_mapped_writable(const struct inode *ino)
{
    for (struct thread_group *tg = thread_group_first(); tg; tg = thread_group_next(tg)) {
        struct task *t;

        /* The tasks of a group share their address space. */
        list_for_each_entry (t, &tg->threads, group_link) {
            if (t->mm && mm_maps_writable(t->mm, ino))
                return true;
            break;
        }
    }
    return false;
}
