/*
 * mount_options.c: one mount of an OCI configuration as a struct boot_mount: type, options, source.
 * The options are those of mount(8) that runc knows; what has no meaning here (propagation, sync)
 * is accepted and does nothing, what is unknown is an error.
 */
#include "sentry/cli/mount_options.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "lib/fdio.h"
#include "lib/parse.h"
#include "sentry/cli/boot.h"

int boot_mount_type(struct boot_mount *m, const char *name, struct error *err)
{
    static const struct {
        const char *name;
        enum boot_mount_type type;
    } types[] = {
        {"bind", BOOT_MOUNT_BIND},     {"none", BOOT_MOUNT_BIND},     {"rbind", BOOT_MOUNT_BIND},
        {"tmpfs", BOOT_MOUNT_TMPFS},   {"ramfs", BOOT_MOUNT_TMPFS},   {"proc", BOOT_MOUNT_PROC},
        {"sysfs", BOOT_MOUNT_SYSFS},   {"devpts", BOOT_MOUNT_DEVPTS}, {"mqueue", BOOT_MOUNT_MQUEUE},
        {"cgroup", BOOT_MOUNT_CGROUP}, {"cgroup2", BOOT_MOUNT_CGROUP}};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].name, name) == 0) {
            m->type = types[i].type;
            m->recursive = strcmp(name, "rbind") == 0;
            return 0;
        }
    }
    return error_set(err, EINVAL, "a mount of type '%.64s' is not supported", name);
}

/* Options without a value: what they set and clear. */
static const struct {
    const char *name;
    uint32_t set, clear;
} words[] = {
    {"ro", BOOT_MS_RDONLY, 0},
    {"rro", BOOT_MS_RDONLY, 0},
    {"rw", 0, BOOT_MS_RDONLY},
    {"rrw", 0, BOOT_MS_RDONLY},
    {"nosuid", BOOT_MS_NOSUID, 0},
    {"rnosuid", BOOT_MS_NOSUID, 0},
    {"suid", 0, BOOT_MS_NOSUID},
    {"rsuid", 0, BOOT_MS_NOSUID},
    {"nodev", BOOT_MS_NODEV, 0},
    {"rnodev", BOOT_MS_NODEV, 0},
    {"dev", 0, BOOT_MS_NODEV},
    {"rdev", 0, BOOT_MS_NODEV},
    {"noexec", BOOT_MS_NOEXEC, 0},
    {"rnoexec", BOOT_MS_NOEXEC, 0},
    {"exec", 0, BOOT_MS_NOEXEC},
    {"rexec", 0, BOOT_MS_NOEXEC},
    {"noatime", BOOT_MS_NOATIME, 0},
    {"rnoatime", BOOT_MS_NOATIME, 0},
    {"atime", 0, BOOT_MS_NOATIME},
    {"ratime", 0, BOOT_MS_NOATIME},
    {"relatime", 0, BOOT_MS_NOATIME},
    {"rrelatime", 0, BOOT_MS_NOATIME},
    {"strictatime", 0, BOOT_MS_NOATIME},
    {"rstrictatime", 0, BOOT_MS_NOATIME},
    {"defaults", 0, 0},
};

/* Accepted without effect: nothing here propagates, and no file system is asynchronous. */
static const char *const idle_words[] = {"private",
                                         "rprivate",
                                         "shared",
                                         "rshared",
                                         "slave",
                                         "rslave",
                                         "unbindable",
                                         "runbindable",
                                         "async",
                                         "sync",
                                         "dirsync",
                                         "nodiratime",
                                         "rnodiratime",
                                         "diratime",
                                         "rdiratime",
                                         "norelatime",
                                         "rnorelatime",
                                         "nostrictatime",
                                         "rnostrictatime",
                                         "lazytime",
                                         "nolazytime",
                                         "mand",
                                         "nomand",
                                         "iversion",
                                         "noiversion",
                                         "silent",
                                         "loud",
                                         "nosymfollow",
                                         "symfollow",
                                         "remount",
                                         "acl",
                                         "noacl",
                                         "newinstance",
                                         "U",
                                         "z",
                                         "Z"};

static bool known_word(struct boot_mount *m, const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(words[i].name, option) == 0) {
            m->flags = (m->flags & ~words[i].clear) | words[i].set;
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(idle_words); i++) {
        if (strcmp(idle_words[i], option) == 0)
            return true;
    }
    return false;
}

static int number(const char *text, int base, uint64_t max, uint32_t *ret, struct error *err)
{
    char *end;
    if (*text < '0' || *text > '9')
        return error_set(err, EINVAL, "'%.64s' is not a number", text);
    errno = 0;
    unsigned long long v = strtoull(text, &end, base);
    if (errno || *end || v > max)
        return error_set(err, EINVAL, "'%.64s' is not a number up to %llu", text,
                         (unsigned long long)max);
    *ret = (uint32_t)v;
    return 0;
}

/* tmpfs(5) also has "50%": a share of the machine's memory, which the memory limit bounds anyway.
 */
static int tmpfs_size(const char *value, uint64_t *ret, struct error *err)
{
    size_t n = strlen(value);
    char text[32];
    if (n > 0 && value[n - 1] == '%') {
        *ret = 0;
        return 0;
    }
    if (n == 0 || n >= sizeof(text))
        return error_set(err, EINVAL, "'%.32s' is not a size", value);
    memcpy(text, value, n + 1);
    if (text[n - 1] >= 'a' && text[n - 1] <= 'z')
        text[n - 1] = (char)(text[n - 1] - 'a' + 'A');
    return parse_size(text, ret, err);
}

static int tmpfs_option(struct boot_mount *m, const char *option, struct error *err,
                        bool *ret_known)
{
    const char *value = strchr(option, '=');
    size_t n = value ? (size_t)(value++ - option) : 0;

    *ret_known = true;
    if (n == 4 && strncmp(option, "size", n) == 0)
        return tmpfs_size(value, &m->size, err);
    if (n == 9 && strncmp(option, "nr_inodes", n) == 0)
        return tmpfs_size(value, &m->max_inodes, err);
    m->mode_given |= n == 4 && strncmp(option, "mode", n) == 0;
    if (n == 4 && strncmp(option, "mode", n) == 0)
        return number(value, 8, 07777, &m->mode, err);
    if (n == 3 && strncmp(option, "uid", n) == 0)
        return number(value, 10, UINT32_MAX - 1, &m->uid, err);
    if (n == 3 && strncmp(option, "gid", n) == 0)
        return number(value, 10, UINT32_MAX - 1, &m->gid, err);
    if (n == 9 && strncmp(option, "nr_blocks", n) == 0) {
        int r = tmpfs_size(value, &m->size, err);
        m->size = m->size < UINT64_MAX / 4096 ? m->size * 4096 : m->size;
        return r;
    }
    *ret_known = n == 4 && strncmp(option, "huge", n) == 0;
    return 0;
}

/* devpts: gid=5, mode=620, ptmxmode=0666 are what our devpts does in any case. */
static bool ignored_pair(const struct boot_mount *m, const char *option)
{
    static const char *const devpts[] = {"gid=", "uid=", "mode=", "ptmxmode=", "max="};
    static const char *const others[] = {
        "context=", "rootcontext=", "defcontext=", "fscontext=",
        "hidepid=", "subset=",      "nsdelegate",  "memory_recursiveprot"};

    for (size_t i = 0; i < ARRAY_LEN(devpts); i++) {
        if (m->type == BOOT_MOUNT_DEVPTS && strncmp(option, devpts[i], strlen(devpts[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (strncmp(option, others[i], strlen(others[i])) == 0)
            return true;
    }
    return false;
}

int boot_mount_option(struct boot_mount *m, const char *option, struct error *err)
{
    bool known = false;

    if (strcmp(option, "bind") == 0 || strcmp(option, "rbind") == 0) {
        m->type = BOOT_MOUNT_BIND;
        m->recursive = option[0] == 'r';
        return 0;
    }
    if (strcmp(option, "tmpcopyup") == 0 || strcmp(option, "copyup") == 0) {
        m->copy_up = true;
        return 0;
    }
    if (strcmp(option, "notmpcopyup") == 0)
        return 0;
    if (known_word(m, option))
        return 0;
    int r = m->type == BOOT_MOUNT_TMPFS ? tmpfs_option(m, option, err, &known) : 0;
    if (r < 0)
        return error_prefix(err, "mount option '%.64s'", option);
    if (known || ignored_pair(m, option))
        return 0;
    return error_set(err, EINVAL, "mount option '%.64s' is not supported", option);
}

int boot_mount_source(struct boot_mount *m, const char *host_path, struct error *err)
{
    struct stat st;
    int fd = open(host_path, O_PATH | O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, errno, "%s", host_path);
    if (fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
        fd_close(fd);
        return error_set(err, EINVAL, "%s is neither a directory nor a regular file", host_path);
    }
    fd_close(m->fd);
    m->fd = fd;
    return 0;
}
