/*
 * The mount table as text. Only mounts below the reader's root are shown, as Linux does after a
 * chroot.
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/proc/proc.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"

#define MANGLE " \t\n\\#"

/* The mount's place in the tree; false when it cannot be seen from root. */
static bool mount_place(const struct mount *m, const struct path *root, char *buf, size_t cap,
                        size_t *ret_len)
{
    struct path at = {.mnt = NULL};
    int64_t n;

    if (root && m == root->mnt) {
        memcpy(buf, "/", 2);
        *ret_len = 1;
        return true;
    }
    at.mnt = m->parent;
    at.dentry = m->mountpoint;
    if (!at.mnt) {
        memcpy(buf, "/", 2);
        *ret_len = 1;
        return !root;
    }
    if (!root)
        return false;
    n = path_name(&at, root, buf, cap);
    if (n <= 0 || buf[0] != '/')
        return false;
    *ret_len = (size_t)n;
    return true;
}

static void put_mangled(struct buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (strchr(MANGLE, s[i]) && s[i])
            (void)buf_printf(out, "\\%03o", (unsigned)(uint8_t)s[i]);
        else
            (void)buf_putc(out, s[i]);
    }
}

/* The mount's root within its file system. */
static void put_root(struct buf *out, const struct dentry *root)
{
    const struct dentry *chain[64];
    size_t n = 0;

    for (; root->parent && n < ARRAY_LEN(chain); root = root->parent)
        chain[n++] = root;
    if (n == 0)
        (void)buf_putc(out, '/');
    while (n-- > 0) {
        (void)buf_putc(out, '/');
        put_mangled(out, chain[n]->name, chain[n]->name_len);
    }
}

static void put_options(struct buf *out, const struct mount *m)
{
    (void)buf_puts(out, m->flags & MOUNT_RDONLY ? "ro" : "rw");
    (void)buf_puts(out, m->flags & MOUNT_NOSUID ? ",nosuid" : "");
    (void)buf_puts(out, m->flags & MOUNT_NODEV ? ",nodev" : "");
    (void)buf_puts(out, m->flags & MOUNT_NOEXEC ? ",noexec" : "");
    (void)buf_puts(out, m->flags & MOUNT_NOATIME ? ",noatime" : ",relatime");
}

static void put_super_options(struct buf *out, const struct mount *m)
{
    if (m->super->options && m->super->options[0])
        (void)buf_printf(out, ",%s", m->super->options);
}

typedef void put_mount_fn(struct buf *out, const struct mount *m, const char *place, size_t len);

static void put_mounts_line(struct buf *out, const struct mount *m, const char *place, size_t len)
{
    const char *source = m->source ? m->source : "none";

    put_mangled(out, source, strlen(source));
    (void)buf_putc(out, ' ');
    put_mangled(out, place, len);
    (void)buf_printf(out, " %s ", m->super->type);
    if (m->super->readonly && !(m->flags & MOUNT_RDONLY)) {
        struct mount ro = *m;

        ro.flags |= MOUNT_RDONLY;
        put_options(out, &ro);
    } else {
        put_options(out, m);
    }
    put_super_options(out, m);
    (void)buf_puts(out, " 0 0\n");
}

static void put_mountinfo_line(struct buf *out, const struct mount *m, const char *place,
                               size_t len)
{
    const char *source = m->source ? m->source : "none";

    (void)buf_printf(out, "%u %u %u:%u ", m->id, m->parent ? m->parent->id : m->id - 1,
                     lx_major(m->super->dev), lx_minor(m->super->dev));
    put_root(out, m->root);
    (void)buf_putc(out, ' ');
    put_mangled(out, place, len);
    (void)buf_putc(out, ' ');
    put_options(out, m);
    (void)buf_printf(out, " - %s ", m->super->type);
    put_mangled(out, source, strlen(source));
    (void)buf_puts(out, m->super->readonly ? " ro" : " rw");
    put_super_options(out, m);
    (void)buf_putc(out, '\n');
}

static void put_mountstats_line(struct buf *out, const struct mount *m, const char *place,
                                size_t len)
{
    const char *source = m->source ? m->source : "none";

    (void)buf_puts(out, "device ");
    put_mangled(out, source, strlen(source));
    (void)buf_puts(out, " mounted on ");
    put_mangled(out, place, len);
    (void)buf_printf(out, " with fstype %s\n", m->super->type);
}

static int put_all(struct gen_inode *gi, struct buf *out, put_mount_fn *put)
{
    struct task *t = proc_live_task(gi);
    char *place = kalloc(LX_PATH_MAX);
    struct mount *m;

    if (!place)
        return -ENOMEM;
    list_for_each_entry (m, &kernel.mounts, all_link) {
        size_t len;

        if (mount_place(m, t ? &t->fs->root : NULL, place, LX_PATH_MAX, &len))
            put(out, m, place, len);
    }
    kfree(place);
    return 0;
}

int proc_show_mounts(struct gen_inode *gi, struct buf *out)
{
    return put_all(gi, out, put_mounts_line);
}

int proc_show_mountinfo(struct gen_inode *gi, struct buf *out)
{
    return put_all(gi, out, put_mountinfo_line);
}

int proc_show_mountstats(struct gen_inode *gi, struct buf *out)
{
    return put_all(gi, out, put_mountstats_line);
}
