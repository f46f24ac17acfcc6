/*
 * mount_options.c: the words in a mount's `options`.
 */
#include "runsc-shim/mount_options.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/parse.h"
#include "sentry/cli/boot.h"

static const struct {
    const char *word;
    uint32_t set, clear;
} flag_words[] = {
    {"ro", BOOT_MS_RDONLY, 0},
    {"rro", BOOT_MS_RDONLY, 0},
    {"rw", 0, BOOT_MS_RDONLY},
    {"nosuid", BOOT_MS_NOSUID, 0},
    {"suid", 0, BOOT_MS_NOSUID},
    {"nodev", BOOT_MS_NODEV, 0},
    {"dev", 0, BOOT_MS_NODEV},
    {"noexec", BOOT_MS_NOEXEC, 0},
    {"exec", 0, BOOT_MS_NOEXEC},
    {"noatime", BOOT_MS_NOATIME, 0},
    {"atime", 0, BOOT_MS_NOATIME},
    {"rnosuid", BOOT_MS_NOSUID, 0},
    {"rnodev", BOOT_MS_NODEV, 0},
    {"rnoexec", BOOT_MS_NOEXEC, 0},
    {"rnoatime", BOOT_MS_NOATIME, 0},
    {"defaults", 0, BOOT_MS_RDONLY | BOOT_MS_NOSUID | BOOT_MS_NODEV | BOOT_MS_NOEXEC},
};

/* Without meaning for a file system of the sentry's own. */
static const char *const silent_words[] = {
    "private",
    "rprivate",
    "shared",
    "rshared",
    "slave",
    "rslave",
    "unbindable",
    "runbindable",
    "relatime",
    "norelatime",
    "strictatime",
    "nostrictatime",
    "diratime",
    "nodiratime",
    "sync",
    "async",
    "dirsync",
    "mand",
    "nomand",
    "remount",
    "lazytime",
    "nolazytime",
    "iversion",
    "noiversion",
    "silent",
    "loud",
    "newinstance",
    "symfollow",
    "nosymfollow",
    "acl",
    "noacl",
    "rrelatime",
    "rstrictatime",
    "nodelegate",
    "inode32",
    "inode64",
    "swap",
    "noswap",
    "notmpcopyup",
    "rrw",
    "rsuid",
    "rdev",
    "rexec",
    "ratime",
    "rdiratime",
    "rnodiratime",
    "copy-symlink",
    "nsdelegate",
    "memory_recursiveprot",
};

static const char *const silent_keys[] = {
    "ptmxmode", "gid",         "uid",       "nr_inodes",  "nr_blocks", "mpol",   "huge",
    "context",  "rootcontext", "fscontext", "defcontext", "hidepid",   "subset", "max",
};

static bool known(const char *const *words, size_t n, const char *word, size_t len)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == len && strncmp(words[i], word, len) == 0)
            return true;
    }
    return false;
}

/* "64k", "65536k", "10%" (of what the host has: no limit of its own here). */
static int parse_tmpfs_size(const char *v, uint64_t *ret, struct error *err)
{
    char text[32];
    size_t n = strlen(v);

    if (n == 0 || n >= sizeof(text))
        return error_set(err, EINVAL, "size=%.40s is not a size", v);
    if (v[n - 1] == '%') {
        *ret = 0;
        return 0;
    }
    memcpy(text, v, n + 1);
    if (text[n - 1] >= 'a' && text[n - 1] <= 'z')
        text[n - 1] = (char)(text[n - 1] - 'a' + 'A');
    if (parse_size(text, ret, NULL) < 0)
        return error_set(err, EINVAL, "size=%s is not a size", v);
    return 0;
}

static int parse_mode(const char *v, struct mount_options *o, struct error *err)
{
    uint32_t mode = 0;

    if (v[0] == '\0' || strlen(v) > 5)
        return error_set(err, EINVAL, "mode=%.40s is not a mode", v);
    for (const char *c = v; *c != '\0'; c++) {
        if (*c < '0' || *c > '7')
            return error_set(err, EINVAL, "mode=%s is not a mode", v);
        mode = mode * 8 + (uint32_t)(*c - '0');
    }
    o->mode_given = true;
    o->mode = mode & 07777;
    return 0;
}

static int parse_number(const char *word, size_t skip, uint64_t max, uint64_t *ret,
                        struct error *err)
{
    if (parse_u64(word + skip, 0, max, ret, NULL) < 0)
        return error_set(err, EINVAL, "option '%.60s' has no number", word);
    return 0;
}

static int parse_id(const char *word, uint32_t *ret, struct error *err)
{
    uint64_t v;
    int r = parse_number(word, 4, UINT32_MAX - 1, &v, err);

    if (r == 0)
        *ret = (uint32_t)v;
    return r;
}

/* KEY=VALUE. */
static int parse_pair(const char *word, size_t key_len, struct mount_options *o, struct error *err)
{
    if (strncmp(word, "size=", 5) == 0)
        return parse_tmpfs_size(word + 5, &o->size, err);
    if (strncmp(word, "mode=", 5) == 0)
        return parse_mode(word + 5, o, err);
    if (strncmp(word, "uid=", 4) == 0)
        return parse_id(word, &o->uid, err);
    if (strncmp(word, "gid=", 4) == 0)
        return parse_id(word, &o->gid, err);
    if (strncmp(word, "nr_inodes=", 10) == 0)
        return parse_number(word, 10, UINT64_MAX, &o->max_inodes, err);
    if (known(silent_keys, ARRAY_LEN(silent_keys), word, key_len))
        return 0;
    return error_set(err, EINVAL, "option '%.60s' is not known", word);
}

static int parse_word(const char *word, struct mount_options *o, struct error *err)
{
    size_t n = strcspn(word, "=");

    if (word[n] == '=')
        return parse_pair(word, n, o, err);
    for (size_t i = 0; i < ARRAY_LEN(flag_words); i++) {
        if (strcmp(flag_words[i].word, word) == 0) {
            o->flags = (o->flags | flag_words[i].set) & ~flag_words[i].clear;
            return 0;
        }
    }
    if (strcmp(word, "bind") == 0 || strcmp(word, "rbind") == 0) {
        o->bind = true;
        o->recursive = word[0] == 'r';
    } else if (strcmp(word, "tmpcopyup") == 0)
        o->copy_up = true;
    else if (!known(silent_words, ARRAY_LEN(silent_words), word, n))
        return error_set(err, EINVAL, "option '%.60s' is not known", word);
    return 0;
}

int mount_options_parse(const struct oci_strings *words, struct mount_options *ret,
                        struct error *err)
{
    *ret = (struct mount_options){0};
    for (size_t i = 0; i < words->n; i++) {
        int r = parse_word(words->v[i], ret, err);
        if (r < 0)
            return r;
    }
    return 0;
}

char *mount_source_word(const char *source)
{
    static char word[32];
    size_t n = strlen(source);

    if (n >= sizeof(word) || strchr(source, '/') != NULL || strpbrk(source, " \t\n\\") != NULL)
        return NULL;
    memcpy(word, source, n + 1);
    return word;
}
