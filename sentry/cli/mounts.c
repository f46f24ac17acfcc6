/*
 * mounts.c: the mount table of a new sandbox: the root, the usual file systems or (OCI) those of
 * the description's list in its order, then devices, settings, read-only and masked paths.
 *
 * A mount point that the image lacks is made without writing the image (sentry/fs/mountpoint.c).
 */
#include "sentry/cli/mounts.h"

#include "lib/compiler.h"

#include <errno.h>
#include <string.h>

#include "gofer/client.h"
#include "gofer/volume_client.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/cli/boot.h"
#include "sentry/fs/dev/dev.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"

static int mount_at(const char *at, struct super *sb, uint32_t flags, const char *source,
                    struct error *err)
{
    struct path p;
    struct mount *m;
    int r = mountpoint_make(at, dentry_is_dir(sb->root), &p);
    if (r < 0) {
        super_put(sb);
        return error_errno(err, -r, "mounting on %s", at);
    }
    r = mount_add(&p, sb, flags, source, &m);
    path_put(&p);
    return r < 0 ? error_errno(err, -r, "mounting on %s", at) : 0;
}

static int mount_tmpfs(const char *at, uint64_t size, uint32_t mode, uint32_t flags,
                       struct error *err)
{
    struct tmpfs_options opt = {.max_bytes = size, .mode = mode};
    struct super *sb;
    int r = tmpfs_mount_new(&opt, &sb);
    if (r < 0)
        return error_errno(err, -r, "tmpfs on %s", at);
    return mount_at(at, sb, flags, "tmpfs", err);
}

struct system_mount {
    const char *at, *source;
    uint32_t flags;
    int (*make)(struct super **ret_sb);
};

static const struct system_mount system_mounts[] = {
    {"/proc", "proc", MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC, procfs_mount_new},
    {"/sys", "sysfs", MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC | MOUNT_RDONLY, sysfs_mount_new},
    {"/dev", "dev", MOUNT_NOSUID | MOUNT_NOEXEC, devfs_mount_new},
    {"/dev/pts", "devpts", MOUNT_NOSUID | MOUNT_NOEXEC, devpts_mount_new},
};

/* What is looked up next: the mount points, then the program. */
static void preload(const struct boot *b, struct super *image)
{
    const char *paths[GOFER_WALKS_MAX];
    size_t n = 0, max = ARRAY_LEN(paths) - 1;
    if (b->mounts_given) {
        for (size_t i = 0; i < b->nmounts && n < max; i++)
            paths[n++] = b->mounts[i].guest;
    } else {
        for (size_t i = 0; i < ARRAY_LEN(system_mounts) && n < max - 1; i++)
            paths[n++] = system_mounts[i].at;
        paths[n++] = "/tmp";
    }
    if (b->argv != NULL && b->argv[0] != NULL && b->argv[0][0] == '/')
        paths[n++] = b->argv[0];
    goferfs_preload(image, paths, n);
}

/* The image, with a memory of what is written to it; or the directory itself, where files of an
 * ordinary user are root's, as those of an image are. */
static int root_super(const struct boot *b, const struct servers *srv, struct super **ret_sb)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *image, *upper;
    if (boot_root_through(b))
        return hostfs_mount_new(srv->volumes, 0, 0, 0, ret_sb);
    int r = goferfs_mount_new(srv->image, 0, &image);
    if (r == 0)
        preload(b, image);
    if (r < 0 || !b->writable) {
        *ret_sb = r < 0 ? NULL : image;
        return r;
    }
    r = tmpfs_mount_new(&opt, &upper);
    return r < 0 ? r : overlay_mount_new(image, upper, ret_sb);
}

static int mount_root(const struct boot *b, const struct servers *srv, struct error *err)
{
    const char *source = boot_root_through(b) ? "root" : b->writable ? "overlay" : "image";
    struct super *sb;
    struct mount *m;
    int r = root_super(b, srv, &sb);
    if (r < 0)
        return error_errno(err, -r, "the image");
    r = mount_add(NULL, sb, b->writable ? 0 : MOUNT_RDONLY, source, &m);
    if (r < 0)
        return error_errno(err, -r, "the root mount");
    kernel.root_mount = m;
    return 0;
}

static int mount_system(struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(system_mounts); i++) {
        const struct system_mount *s = &system_mounts[i];
        struct super *sb;
        int r = s->make(&sb);
        if (r < 0)
            return error_errno(err, -r, "%s", s->source);
        r = mount_at(s->at, sb, s->flags, s->source, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Root number `root` of the volume server on a directory or file of the sandbox. What belongs to
 * the server's user where that is the only one belongs to the first process here. */
static int mount_volume(const struct boot *b, const struct servers *srv, uint32_t root,
                        const struct boot_mount *m, uint32_t flags, struct error *err)
{
    struct user_ids ids = {.uid = b->process.uid, .gid = b->process.gid};
    struct super *sb;
    if (!b->process.ids_given && user_resolve(b->user, &ids, err) < 0)
        return -EINVAL;
    int r = hostfs_mount_new(srv->volumes, root, ids.uid, ids.gid, &sb);
    if (r < 0)
        return error_errno(err, -r, "volume %s", m->guest);
    return mount_at(m->guest, sb, flags, m->source ? m->source : "volume", err);
}

static int mount_extra(const struct boot *b, const struct servers *srv, struct error *err)
{
    const uint32_t first = boot_root_through(b) ? 1 : 0;
    const uint32_t flags = MOUNT_RDONLY | MOUNT_NOSUID | MOUNT_NODEV;
    int r = 0;
    for (size_t i = 0; i < b->nvolumes && r == 0; i++) {
        struct boot_mount m = {.guest = b->volumes[i].guest};
        r = mount_volume(b, srv, first + (uint32_t)i, &m, flags, err);
    }
    for (size_t i = 0; i < b->ntmpfs && r == 0; i++)
        r = mount_tmpfs(b->tmpfs[i].path, b->tmpfs[i].size, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    return r;
}

/* -- the list of an OCI configuration ---------------------------------------------------------- */

static uint32_t flags_of(const struct boot_mount *m)
{
    static const struct {
        uint32_t boot, mount;
    } map[] = {{BOOT_MS_RDONLY, MOUNT_RDONLY},
               {BOOT_MS_NOSUID, MOUNT_NOSUID},
               {BOOT_MS_NODEV, MOUNT_NODEV},
               {BOOT_MS_NOEXEC, MOUNT_NOEXEC},
               {BOOT_MS_NOATIME, MOUNT_NOATIME}};
    uint32_t flags = 0;
    for (size_t i = 0; i < ARRAY_LEN(map); i++)
        flags |= m->flags & map[i].boot ? map[i].mount : 0;
    return flags;
}

/* What the image has at that place under a tmpfs of its own. */
static int copied_up(const char *at, struct super *tmpfs, struct super **ret_sb)
{
    struct path p;
    int r = kernel_path_lookup(at, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);
    if (r < 0) {
        *ret_sb = tmpfs; /* nothing is there */
        return 0;
    }
    char *options = tmpfs->options != NULL ? kstrdup(tmpfs->options) : NULL;
    r = overlay_mount_on(&p, tmpfs, ret_sb);
    path_put(&p);
    if (r < 0) {
        kfree(options);
        return r;
    }
    /* A tmpfs to whoever looks. */
    (*ret_sb)->type = "tmpfs";
    (*ret_sb)->magic = LX_TMPFS_MAGIC;
    (*ret_sb)->options = options;
    return 0;
}

static int tmpfs_super(const struct boot_mount *m, struct super **ret_sb)
{
    struct tmpfs_options opt = {
        .max_bytes = m->size,
        .max_inodes = m->max_inodes,
        .mode = m->mode_given ? m->mode : 01777,
        .uid = m->uid,
        .gid = m->gid,
    };
    int r = tmpfs_mount_new(&opt, ret_sb);
    if (r < 0 || !m->copy_up)
        return r;
    return copied_up(m->guest, *ret_sb, ret_sb);
}

static int dev_super(const struct boot_mount *m, struct super **ret_sb)
{
    int r = tmpfs_super(m, ret_sb);
    if (r < 0)
        return r;
    r = devfs_populate((*ret_sb)->root);
    if (r < 0)
        super_put(*ret_sb);
    return r;
}

static int make_super(const struct boot_mount *m, struct super **ret_sb)
{
    switch (m->type) {
    case BOOT_MOUNT_PROC:
        return procfs_mount_new(ret_sb);
    case BOOT_MOUNT_SYSFS:
        return sysfs_mount_new(ret_sb);
    case BOOT_MOUNT_TMPFS:
        return tmpfs_super(m, ret_sb);
    case BOOT_MOUNT_DEV:
        return dev_super(m, ret_sb);
    case BOOT_MOUNT_DEVPTS:
        return devpts_mount_new(ret_sb);
    case BOOT_MOUNT_MQUEUE:
        return mqueuefs_mount_new(ret_sb);
    case BOOT_MOUNT_CGROUP:
        return cgroupfs_mount_new(ret_sb);
    case BOOT_MOUNT_BIND:
    default:
        return -EOPNOTSUPP;
    }
}

static int mount_one(const struct boot_mount *m, struct error *err)
{
    static const char *const words[] = {"proc",   "sysfs",  "tmpfs",  "tmpfs",
                                        "devpts", "mqueue", "cgroup", "volume"};
    struct super *sb;
    int r = make_super(m, &sb);
    if (r < 0)
        return error_errno(err, -r, "%s on %s", words[m->type], m->guest);
    /* The limits are shown, not set: a cgroup mount is read-only whatever it asks for. */
    uint32_t flags = flags_of(m) | (m->type == BOOT_MOUNT_CGROUP ? MOUNT_RDONLY : 0);
    return mount_at(m->guest, sb, flags, m->source ? m->source : words[m->type], err);
}

static int mount_list(const struct boot *b, const struct servers *srv, struct error *err)
{
    uint32_t root = (uint32_t)b->nvolumes + boot_root_through(b);
    int r = 0;
    for (size_t i = 0; i < b->nmounts && r == 0; i++) {
        const struct boot_mount *m = &b->mounts[i];
        if (m->type == BOOT_MOUNT_BIND)
            r = mount_volume(b, srv, root++, m, flags_of(m), err);
        else
            r = mount_one(m, err);
    }
    return r;
}

/* -- devices, settings, paths ------------------------------------------------------------------ */

static bool device_known(const struct boot_device *d)
{
    static const struct {
        uint32_t major, minor;
    } known[] = {{LX_MEM_MAJOR, DEV_NULL_MINOR},
                 {LX_MEM_MAJOR, DEV_ZERO_MINOR},
                 {LX_MEM_MAJOR, DEV_FULL_MINOR},
                 {LX_MEM_MAJOR, DEV_RANDOM_MINOR},
                 {LX_MEM_MAJOR, DEV_URANDOM_MINOR},
                 {LX_TTYAUX_MAJOR, 0},
                 {LX_TTYAUX_MAJOR, 1},
                 {LX_TTYAUX_MAJOR, 2}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!d->block && d->major == known[i].major && d->minor == known[i].minor)
            return true;
    }
    return false;
}

static int make_device(const struct boot_device *d, struct error *err)
{
    struct path p;
    if (!device_known(d))
        return error_set(err, EPERM, "device %s (%u:%u) is not emulated", d->path, d->major,
                         d->minor);
    int r = kernel_path_lookup(d->path, 0, &p);
    if (r == 0) {
        path_put(&p); /* one of the usual ones */
        return 0;
    }
    struct parent_lookup pl;
    struct cred *c = cred_new();
    r = c ? path_lookup_parent(NULL, LX_AT_FDCWD, d->path, 0, &pl) : -ENOMEM;
    if (r == 0) {
        c->cap_effective = LX_CAP_FULL_SET;
        c->fsuid = d->uid;
        c->fsgid = d->gid;
        r = vfs_mknod(&pl, LX_S_IFCHR | (d->mode & LX_S_IALLUGO), lx_makedev(d->major, d->minor),
                      c);
        parent_lookup_done(&pl);
    }
    cred_put(c);
    return r < 0 && r != -EEXIST ? error_errno(err, -r, "device %s", d->path) : 0;
}

/* /dev has the usual devices wherever it comes from, unless that is not ours to write. */
static int make_devices(const struct boot *b, struct error *err)
{
    struct path p;
    int r = b->mounts_given ? kernel_path_lookup("/dev", LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p) : 1;
    if (r == 0) {
        struct super *sb = p.mnt->super;
        r = sb->readonly || sb->lasting || sb->generated ? 0 : devfs_populate(p.dentry);
        path_put(&p);
        if (r < 0)
            return error_errno(err, -r, "devices in /dev");
    }
    r = 0;
    for (size_t i = 0; i < b->ndevices && r == 0; i++)
        r = make_device(&b->devices[i], err);
    return r;
}

static int apply_settings(const struct boot *b, struct error *err)
{
    for (size_t i = 0; i < b->nsysctls; i++) {
        const struct boot_sysctl *s = &b->sysctls[i];
        int r = sysctl_set(s->name, s->value);
        /* There is no network whose settings could matter. */
        if (r == -ENOENT && strncmp(s->name, "net", 3) == 0)
            r = 0;
        if (r < 0)
            return error_errno(err, -r, "sysctl %s", s->name);
    }
    return 0;
}

static int make_readonly(const char *path, struct error *err)
{
    struct path p;
    int r = kernel_path_lookup(path, LOOKUP_FOLLOW, &p);
    if (r < 0)
        return r == -ENOENT || r == -ENOTDIR ? 0 : error_errno(err, -r, "%s", path);
    r = mount_bind(&p, &p, p.mnt->flags | MOUNT_RDONLY, p.mnt->source, NULL);
    path_put(&p);
    return r < 0 ? error_errno(err, -r, "making %s read-only", path) : 0;
}

/* A directory disappears behind an empty one, anything else behind the null device. */
static int mask(const char *path, const struct path *null, struct error *err)
{
    struct path p;
    int r = kernel_path_lookup(path, LOOKUP_FOLLOW, &p);
    if (r < 0)
        return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : error_errno(err, -r, "%s", path);
    if (dentry_is_dir(p.dentry)) {
        struct tmpfs_options opt = {.mode = 0755, .max_inodes = 1};
        struct super *sb;
        r = tmpfs_mount_new(&opt, &sb);
        if (r == 0)
            r = mount_add(&p, sb, MOUNT_RDONLY, "tmpfs", NULL);
    } else {
        r = mount_bind(&p, null, MOUNT_RDONLY, "devtmpfs", NULL);
    }
    path_put(&p);
    return r < 0 ? error_errno(err, -r, "masking %s", path) : 0;
}

static int mask_paths(const struct boot *b, struct error *err)
{
    struct super *sb;
    struct path null = {NULL, NULL};
    if (b->nmasked == 0)
        return 0;
    int r = devfs_mount_new(&sb);
    if (r == 0)
        r = mount_new_internal(sb, &null.mnt);
    if (r == 0)
        r = dentry_lookup(null.mnt->root, "null", 4, &null.dentry);
    if (r < 0)
        r = error_errno(err, -r, "the null device");
    for (size_t i = 0; i < b->nmasked && r == 0; i++)
        r = mask(b->masked[i], &null, err);
    path_put(&null);
    return r;
}

static int mount_defaults(const struct boot *b, const struct servers *srv, struct error *err)
{
    int r = mount_system(err);
    if (r == 0)
        r = mount_tmpfs("/dev/shm", 0, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    if (r == 0)
        r = mount_tmpfs("/tmp", 0, 01777, MOUNT_NOSUID | MOUNT_NODEV, err);
    if (r == 0)
        r = mount_extra(b, srv, err);
    return r;
}

int mounts_make(const struct boot *b, const struct servers *srv, struct error *err)
{
    int r = mount_root(b, srv, err);
    if (r == 0 && !b->mounts_given)
        r = mount_defaults(b, srv, err);
    if (r == 0)
        r = mount_list(b, srv, err);
    if (r == 0)
        r = make_devices(b, err);
    if (r == 0)
        r = apply_settings(b, err);
    for (size_t i = 0; i < b->nreadonly && r == 0; i++)
        r = make_readonly(b->readonly[i], err);
    return r < 0 ? r : mask_paths(b, err);
}
