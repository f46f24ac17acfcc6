/*
 * attributes.c: what a member says about itself.
 *
 * Extended attributes are kept where the image server serves them: user.* and security.capability.
 * The rest is the business of the host that made the image. Setuid bits and file capabilities stay
 * on the files because the guest's kernel acts on them; on the host nobody but the store's owner
 * can reach the files (mode 0700), and what a user owns gives that user's rights, no more.
 */
#include "rootfs/attributes.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/xattr.h>

#include "lib/error.h"
#include "lib/log.h"
#include "rootfs/layer.h"

enum {
    NOBODY = 65534,
    CAPS_V2 = 20, /* bytes of security.capability, by version */
    CAPS_V3 = 24
};

static uint32_t read_id(int64_t id)
{
    return id >= 0 && id < (int64_t)UINT32_MAX ? (uint32_t)id : NOBODY;
}

int attributes_read(struct attributes *a, struct archive_entry *entry, struct layers *l,
                    struct error *err)
{
    *a = (struct attributes){
        .uid = read_id(archive_entry_uid(entry)),
        .gid = read_id(archive_entry_gid(entry)),
        .mode = archive_entry_perm(entry) & 07777,
        .mtime = {.tv_sec = archive_entry_mtime(entry), .tv_nsec = archive_entry_mtime_nsec(entry)},
        .entry = entry,
        .layers = l,
    };
    if (a->mtime.tv_nsec < 0 || a->mtime.tv_nsec > 999999999)
        a->mtime.tv_nsec = 0;
    int n = archive_entry_xattr_count(entry);
    if (n < 0 || (uint32_t)n > l->limits->xattrs)
        return error_set(err, E2BIG, "more than %u extended attributes", l->limits->xattrs);
    return 0;
}

/* Version 3 of file capabilities names the root user of a user namespace; ours is the guest's. */
static size_t plain_capability(const uint8_t *value, size_t n, uint8_t ret[CAPS_V2])
{
    if ((n != CAPS_V2 || value[3] != 2) && (n != CAPS_V3 || value[3] != 3))
        return 0;
    memcpy(ret, value, CAPS_V2);
    ret[3] = 2;
    return CAPS_V2;
}

static bool unwanted(int code)
{
    return code == ENOTSUP || code == EPERM || code == ENOSPC || code == E2BIG || code == ERANGE;
}

static int set_xattrs(const struct attributes *a, int fd, struct error *err)
{
    const char *name;
    const void *value;
    size_t n;
    uint8_t caps[CAPS_V2];

    if (archive_entry_xattr_reset(a->entry) == 0)
        return 0;
    while (archive_entry_xattr_next(a->entry, &name, &value, &n) == 0) {
        if (name == NULL ||
            (strncmp(name, "user.", 5) != 0 && strcmp(name, "security.capability") != 0))
            continue;
        if (n > a->layers->limits->xattr_bytes)
            return error_set(err, E2BIG, "extended attribute %s has %zu bytes",
                             log_guest(name, strlen(name)), n);
        if (name[0] == 's') {
            n = plain_capability(value, n, caps);
            value = caps;
            if (n == 0)
                continue;
        }
        if (fsetxattr(fd, name, value, n, 0) == 0)
            continue;
        if (!unwanted(errno))
            return error_errno(err, errno, "extended attribute %s", log_guest(name, strlen(name)));
        a->layers->notes.xattrs++;
    }
    return 0;
}

/* What an older layer said about a directory is gone with it. */
static void drop_xattrs(int fd)
{
    char names[4096];
    ssize_t n = flistxattr(fd, names, sizeof(names));
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1) {
        if (strncmp(names + i, "user.", 5) == 0)
            (void)fremovexattr(fd, names + i);
    }
}

/* True for a real failure; an id that this host's user namespace does not have is only noted. */
static bool not_given(const struct attributes *a, int code)
{
    if (code != EINVAL)
        return true;
    a->layers->notes.owners++;
    return false;
}

int attributes_set_fd(const struct attributes *a, int fd, bool dir, struct error *err)
{
    const struct timespec times[2] = {a->mtime, a->mtime};
    bool give = a->layers->keep_owner;

    /* Always: in a setgid directory new files have the directory's group. Writing cleared setuid.
     */
    if (give && fchown(fd, a->uid, a->gid) < 0 && not_given(a, errno))
        return error_errno(err, errno, "giving it to %u:%u", a->uid, a->gid);
    if ((dir || (a->mode & 07000) != 0) && fchmod(fd, a->mode) < 0)
        return error_errno(err, errno, "setting its mode");
    if (!a->layers->keep_owner && (a->uid != 0 || a->gid != 0))
        a->layers->notes.owners++;
    if (dir)
        drop_xattrs(fd);
    int r = set_xattrs(a, fd, err);
    if (r < 0)
        return r;
    if (futimens(fd, times) < 0)
        return error_errno(err, errno, "setting its time");
    return 0;
}

int attributes_set_name(const struct attributes *a, int dir, const char *last, struct error *err)
{
    const struct timespec times[2] = {a->mtime, a->mtime};
    if (a->layers->keep_owner && fchownat(dir, last, a->uid, a->gid, AT_SYMLINK_NOFOLLOW) < 0 &&
        not_given(a, errno))
        return error_errno(err, errno, "giving it to %u:%u", a->uid, a->gid);
    if (!a->layers->keep_owner && (a->uid != 0 || a->gid != 0))
        a->layers->notes.owners++;
    if (utimensat(dir, last, times, AT_SYMLINK_NOFOLLOW) < 0)
        return error_errno(err, errno, "setting its time");
    return 0;
}
