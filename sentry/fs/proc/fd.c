/*
 * /proc/PID/fd and fdinfo. A link in fd leads to the open file's path itself (also when it has no
 * name any more); what it shows is the path, or pipe:[N] and the like. Permission bits of a link
 * are the modes of the descriptor, as on Linux.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/task.h"

static struct fd_slot *slot_of(const struct gen_inode *gi)
{
    struct task *t = proc_live_task(gi);

    if (!t || gi->key >= t->files->nslots || !t->files->slots[gi->key].file)
        return NULL;
    return &t->files->slots[gi->key];
}

static bool fd_valid(struct gen_inode *gi)
{
    return slot_of(gi) != NULL;
}

static uint32_t fd_perm(struct gen_inode *gi)
{
    const struct fd_slot *s = slot_of(gi);

    if (!s)
        return 0;
    if (s->file->flags & LX_O_PATH)
        return 0100;
    return 0100 | (file_readable(s->file) ? 0400u : 0) | (file_writable(s->file) ? 0200u : 0);
}

static int fd_link(struct gen_inode *gi, struct buf *out)
{
    const struct fd_slot *s = slot_of(gi);

    if (!s)
        return -ENOENT;
    if (gen_caller() && !proc_may_access(gen_caller(), gi->task))
        return -EACCES;
    return proc_put_file_name(out, s->file, NULL);
}

static int fd_get_link(struct gen_inode *gi, struct task *t, struct path *ret_path)
{
    const struct fd_slot *s = slot_of(gi);

    if (!s)
        return -ENOENT;
    if (t && !proc_may_access(t, gi->task))
        return -EACCES;
    path_get(&s->file->path);
    *ret_path = s->file->path;
    return 0;
}

static int fdinfo_show(struct gen_inode *gi, struct buf *out)
{
    const struct fd_slot *s = slot_of(gi);
    struct file *f = s ? s->file : NULL;

    if (!s)
        return -ENOENT;
    (void)buf_printf(out, "pos:\t%" PRId64 "\nflags:\t0%o\nmnt_id:\t%u\nino:\t%" PRIu64 "\n",
                     (int64_t)f->pos, f->flags | (s->cloexec ? LX_O_CLOEXEC : 0u),
                     f->path.mnt ? f->path.mnt->id : 0, f->inode ? f->inode->ino : 0);
    return f->ops && f->ops->show_fdinfo ? f->ops->show_fdinfo(f, out) : 0;
}

const struct gen_node proc_fd_node = {
    .mode = LX_S_IFLNK | 0700,
    .link = fd_link,
    .get_link = fd_get_link,
    .valid = fd_valid,
    .perm = fd_perm,
};

const struct gen_node proc_fdinfo_node = {
    .mode = LX_S_IFREG | 0444,
    .flags = GEN_PTRACE,
    .show = fdinfo_show,
    .valid = fd_valid,
};

static int find_in(struct gen_inode *dir, const struct gen_node *node, const char *name, size_t len,
                   struct gen_child *ret_c)
{
    struct gen_inode probe = *dir;
    uint32_t fd;

    if (!gen_parse_u32(name, len, &fd))
        return -ENOENT;
    probe.key = fd;
    if (!slot_of(&probe))
        return -ENOENT;
    ret_c->node = node;
    ret_c->key = fd;
    return 0;
}

static int list_in(struct gen_inode *dir, const struct gen_node *node, uint64_t key,
                   struct gen_child *ret_c)
{
    struct task *t = proc_live_task(dir);

    for (uint64_t fd = key; t && fd < t->files->nslots; fd++) {
        if (!t->files->slots[fd].file)
            continue;
        ret_c->node = node;
        ret_c->key = fd;
        (void)snprintf(ret_c->name, sizeof(ret_c->name), "%" PRIu64, fd);
        return 0;
    }
    return -ENOENT;
}

int proc_fd_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c)
{
    return find_in(dir, &proc_fd_node, name, len, ret_c);
}

int proc_fd_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c)
{
    return list_in(dir, &proc_fd_node, key, ret_c);
}

int proc_fdinfo_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c)
{
    return find_in(dir, &proc_fdinfo_node, name, len, ret_c);
}

int proc_fdinfo_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c)
{
    return list_in(dir, &proc_fdinfo_node, key, ret_c);
}
