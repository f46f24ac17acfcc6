/*
 * Descriptor tables. The table grows by doubling up to RLIMIT_NOFILE; a bitmap finds the lowest
 * free number. A table that several tasks share (CLONE_FILES) is counted.
 */
#include "lib/compiler.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"

#define SLOTS_FIRST 64u

int files_new(struct files **ret_files)
{
    struct files *fs = kalloc(sizeof(*fs));

    if (!fs)
        return -ENOMEM;
    fs->ref = 1;
    bitmap_init(&fs->used);
    *ret_files = fs;
    return 0;
}

/* Makes slot numbers below want usable. */
static int files_grow(struct files *fs, uint32_t want)
{
    uint32_t n = fs->nslots ? fs->nslots : SLOTS_FIRST;
    struct fd_slot *slots;
    int r;

    if (want <= fs->nslots)
        return 0;
    while (n < want)
        n *= 2;
    r = bitmap_grow(&fs->used, n);
    if (r < 0)
        return r;
    slots = krealloc(fs->slots, (size_t)n * sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    fs->slots = slots;
    fs->nslots = n;
    return 0;
}

int files_dup(const struct files *from, struct files **ret_files)
{
    struct files *fs;
    size_t fd;
    uint32_t last = 0;
    int r = files_new(&fs);

    if (r < 0)
        return r;
    for (fd = bitmap_first_set(&from->used, 0); fd < from->nslots;
         fd = bitmap_first_set(&from->used, fd + 1))
        last = (uint32_t)fd + 1;
    r = files_grow(fs, last);
    if (r < 0) {
        files_put(fs);
        return r;
    }
    for (fd = bitmap_first_set(&from->used, 0); fd < last;
         fd = bitmap_first_set(&from->used, fd + 1)) {
        fs->slots[fd] = from->slots[fd];
        file_get(fs->slots[fd].file);
        bitmap_set(&fs->used, fd);
    }
    fs->nopen = from->nopen;
    *ret_files = fs;
    return 0;
}

struct files *files_get(struct files *fs)
{
    KASSERT(fs->ref > 0 && fs->ref < UINT32_MAX);
    fs->ref++;
    return fs;
}

/* Takes the file out of a used slot. */
static struct file *slot_clear(struct files *fs, uint32_t fd)
{
    struct file *f = fs->slots[fd].file;

    fs->slots[fd] = (struct fd_slot){NULL, false};
    bitmap_clear(&fs->used, fd);
    fs->nopen--;
    return f;
}

void files_put(struct files *fs)
{
    if (!fs)
        return;
    KASSERT(fs->ref > 0);
    if (--fs->ref > 0)
        return;
    for (uint32_t fd = 0; fd < fs->nslots && fs->nopen > 0; fd++)
        if (fs->slots[fd].file)
            file_close(fs, slot_clear(fs, fd));
    bitmap_done(&fs->used);
    kfree(fs->slots);
    kfree(fs);
}

struct file *fd_get_path_ok(struct task *t, int fd)
{
    struct files *fs = t->files;

    if (!fs || fd < 0 || (uint32_t)fd >= fs->nslots || !fs->slots[fd].file)
        return NULL;
    return file_get(fs->slots[fd].file);
}

struct file *fd_get(struct task *t, int fd)
{
    struct file *f = fd_get_path_ok(t, fd);

    if (f && (f->flags & LX_O_PATH)) {
        file_put(f);
        return NULL;
    }
    return f;
}

static uint64_t fd_limit(const struct task *t)
{
    return MIN(task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur, (uint64_t)1 << 20);
}

static void slot_set(struct files *fs, uint32_t fd, struct file *f, bool cloexec)
{
    fs->slots[fd] = (struct fd_slot){f, cloexec};
    bitmap_set(&fs->used, fd);
    fs->nopen++;
}

int fd_prepare(struct task *t)
{
    size_t fd = bitmap_first_zero(&t->files->used, 0);

    return fd >= fd_limit(t) ? -EMFILE : files_grow(t->files, (uint32_t)fd + 1);
}

int fd_install(struct task *t, struct file *f, bool cloexec, int min)
{
    struct files *fs = t->files;
    size_t fd;
    int r;

    fd = bitmap_first_zero(&fs->used, (size_t)min);
    if (fd >= fd_limit(t))
        return -EMFILE;
    r = files_grow(fs, (uint32_t)fd + 1);
    if (r < 0)
        return r;
    slot_set(fs, (uint32_t)fd, f, cloexec);
    return (int)fd;
}

int fd_replace(struct task *t, struct file *f, bool cloexec, int fd)
{
    struct files *fs = t->files;
    struct file *old = NULL;
    int r;

    if (fd < 0 || (uint64_t)fd >= fd_limit(t))
        return -EBADF;
    r = files_grow(fs, (uint32_t)fd + 1);
    if (r < 0)
        return r;
    if (fs->slots[fd].file)
        old = slot_clear(fs, (uint32_t)fd);
    slot_set(fs, (uint32_t)fd, f, cloexec);
    if (old)
        file_close(fs, old);
    return fd;
}

int fdtable_close(struct task *t, int fd)
{
    struct files *fs = t->files;

    if (fd < 0 || (uint32_t)fd >= fs->nslots || !fs->slots[fd].file)
        return -EBADF;
    file_close(fs, slot_clear(fs, (uint32_t)fd));
    return 0;
}

void files_close_on_exec(struct task *t, struct files *fs)
{
    size_t fd;

    (void)t;
    for (fd = bitmap_first_set(&fs->used, 0); fd < fs->nslots;
         fd = bitmap_first_set(&fs->used, fd + 1))
        if (fs->slots[fd].cloexec)
            file_close(fs, slot_clear(fs, (uint32_t)fd));
}

void file_close(struct files *owner, struct file *f)
{
    if (!(f->flags & LX_O_PATH) && !list_empty(&f->inode->locks))
        locks_release_files(f->inode, owner);
    if (f->ops->flush)
        f->ops->flush(f, owner);
    file_put(f);
}
