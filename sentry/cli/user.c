/*
 * user.c: --user: numbers, or names that are looked up in the image's /etc/passwd and /etc/group.
 *
 * The files belong to the image, so they are read through the guest's own file system and parsed as
 * hostile text: at most 64 KiB, lines without sense are skipped.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/parse.h"
#include "sentry/cli/mounts.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"

enum {
    FILE_CAP = 65536,
    NOBODY = 65534
};

/* The whole file as a string (kfree), or NULL. */
static char *read_image_file(const char *name)
{
    struct path p;
    struct file *f;
    struct cred *root = cred_new();
    char *text = NULL;

    if (root == NULL)
        return NULL;
    root->cap_effective = LX_CAP_FULL_SET;
    if (kernel_path_lookup(name, LOOKUP_FOLLOW, &p) == 0) {
        /* In a running sandbox it may be anything by now: no pipe is opened, no device read. */
        if (LX_S_ISREG(p.dentry->inode->mode) && vfs_open_path(&p, LX_O_RDONLY, root, &f) == 0) {
            text = kalloc(FILE_CAP + 1);
            int64_t n = text != NULL ? kernel_read(f, text, FILE_CAP, 0) : 0;
            if (n <= 0) {
                kfree(text);
                text = NULL;
            }
            file_put(f);
        }
        path_put(&p);
    }
    cred_put(root);
    return text;
}

/* Field i (from 0) of a colon-separated line; false when there is none or it does not fit. */
static bool field(const char *line, size_t len, int i, char *buf, size_t cap)
{
    const char *end = line + len;
    while (i-- > 0) {
        const char *c = memchr(line, ':', (size_t)(end - line));
        if (c == NULL)
            return false;
        line = c + 1;
    }
    const char *c = memchr(line, ':', (size_t)(end - line));
    size_t n = (size_t)((c != NULL ? c : end) - line);
    if (n >= cap)
        return false;
    memcpy(buf, line, n);
    buf[n] = '\0';
    return true;
}

static bool field_u32(const char *line, size_t len, int i, uint32_t *ret_v)
{
    char num[16];
    uint64_t v;
    if (!field(line, len, i, num, sizeof(num)) || parse_u64(num, 0, UINT32_MAX - 1, &v, NULL) < 0)
        return false;
    *ret_v = (uint32_t)v;
    return true;
}

static bool member_of(const char *list, const char *name)
{
    size_t n = strlen(name);
    while (*list != '\0') {
        size_t m = strcspn(list, ",");
        if (m == n && strncmp(list, name, n) == 0)
            return true;
        list += m;
        if (*list == ',')
            list++;
    }
    return false;
}

static void add_groups(const char *name, struct user_ids *ids)
{
    char *text = read_image_file("/etc/group");
    char members[2048];
    for (const char *l = text; l != NULL && *l != '\0';) {
        size_t n = strcspn(l, "\n");
        uint32_t gid;
        if (field(l, n, 3, members, sizeof(members)) && member_of(members, name) &&
            field_u32(l, n, 2, &gid) && ids->ngroups < ARRAY_LEN(ids->groups))
            ids->groups[ids->ngroups++] = gid;
        l += n + (l[n] == '\n');
    }
    kfree(text);
}

/* by_uid: spec NULL, match uid; else by name. */
static bool find_passwd(const char *name, struct user_ids *ids)
{
    char *text = read_image_file("/etc/passwd");
    char who[256];
    bool found = false;
    for (const char *l = text; l != NULL && *l != '\0' && !found;) {
        size_t n = strcspn(l, "\n");
        found = field(l, n, 0, who, sizeof(who)) && strcmp(who, name) == 0 &&
                field_u32(l, n, 2, &ids->uid) && field_u32(l, n, 3, &ids->gid);
        l += n + (l[n] == '\n');
    }
    kfree(text);
    return found;
}

bool user_home(uint32_t uid, char *buf, size_t cap)
{
    char *text = read_image_file("/etc/passwd");
    bool found = false;
    for (const char *l = text; l != NULL && *l != '\0' && !found;) {
        size_t n = strcspn(l, "\n");
        uint32_t id;
        found = field_u32(l, n, 2, &id) && id == uid && field(l, n, 5, buf, cap) && buf[0] == '/';
        l += n + (l[n] == '\n');
    }
    kfree(text);
    return found;
}

static bool find_group(const char *name, uint32_t *ret_gid)
{
    char *text = read_image_file("/etc/group");
    char who[256];
    bool found = false;
    for (const char *l = text; l != NULL && *l != '\0' && !found;) {
        size_t n = strcspn(l, "\n");
        found = field(l, n, 0, who, sizeof(who)) && strcmp(who, name) == 0 &&
                field_u32(l, n, 2, ret_gid);
        l += n + (l[n] == '\n');
    }
    kfree(text);
    return found;
}

static bool is_number(const char *s)
{
    return s[0] >= '0' && s[0] <= '9';
}

int user_resolve(const char *spec, struct user_ids *ret_ids, struct error *err)
{
    struct user_ids ids = {.uid = NOBODY, .gid = NOBODY};
    char user[256];

    if (spec == NULL) {
        *ret_ids = ids;
        return 0;
    }
    size_t n = strcspn(spec, ":");
    if (n >= sizeof(user))
        return error_set(err, EINVAL, "--user: the name is too long");
    memcpy(user, spec, n);
    user[n] = '\0';
    if (is_number(user)) {
        uint64_t v;
        if (parse_u64(user, 0, UINT32_MAX - 1, &v, NULL) < 0)
            return error_set(err, EINVAL, "--user: '%s' is not a user id", user);
        ids.uid = (uint32_t)v;
        ids.gid = (uint32_t)v;
    } else if (find_passwd(user, &ids)) {
        add_groups(user, &ids);
    } else {
        return error_set(err, ENOENT, "--user: no user '%s' in the image's /etc/passwd", user);
    }
    const char *group = spec + n + 1;
    if (spec[n] == ':' && is_number(group)) {
        uint64_t v;
        if (parse_u64(group, 0, UINT32_MAX - 1, &v, NULL) < 0)
            return error_set(err, EINVAL, "--user: '%s' is not a group id", group);
        ids.gid = (uint32_t)v;
    } else if (spec[n] == ':' && !find_group(group, &ids.gid)) {
        return error_set(err, ENOENT, "--user: no group '%s' in the image's /etc/group", group);
    }
    *ret_ids = ids;
    return 0;
}
