/* Helpers that every directory listing shares. */
#include "lib/compiler.h"

#include "abi/dir.h"

#include "sentry/fs/file.h"

uint32_t mode_to_dt(uint32_t mode)
{
    return (mode & LX_S_IFMT) >> 12;
}

bool dir_emit_dots(struct file *f, struct dir_context *dc)
{
    const struct dentry *d = f->path.dentry;

    if (f->pos == 0) {
        if (!dc->emit(dc, ".", 1, f->inode->ino, LX_DT_DIR, 1))
            return false;
        f->pos = 1;
    }
    if (f->pos == 1) {
        uint64_t up = d->parent && d->parent->inode ? d->parent->inode->ino : f->inode->ino;

        if (!dc->emit(dc, "..", 2, up, LX_DT_DIR, 2))
            return false;
        f->pos = 2;
    }
    return true;
}
