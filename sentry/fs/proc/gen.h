#pragma once
/*
 * Generated file systems (proc, sysfs): a static tree of struct gen_node describes names, modes and
 * functions that fill a struct buf. A text is made when a file is read at position 0 and kept in
 * the open file, so a reader that takes it in pieces sees one state. What can be long (maps) is
 * made and kept piece by piece: a guest could make it large and ask for it often.
 *
 * A gen_inode is the priv of an inode. If it belongs to a task, it holds a reference and is valid
 * while the pid table still knows that task under its pid.
 */
#include "lib/compiler.h"

#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"

struct task;
struct gen_inode;
struct gen_node;

enum gen_flags {
    GEN_PTRACE = 1u << 0, /* opening needs ptrace access to the task (maps, environ, mem ...) */
    GEN_THREAD = 1u << 1, /* below task/TID: the one thread, not its group */
    GEN_ROOT_OWNED = 1u << 2,
    GEN_POLL = 1u << 3, /* says that it can be read; nothing ever changes */
};

#define GEN_PIECE 16384u
#define GEN_END   UINT64_MAX

/* A dynamic entry of a directory. */
struct gen_child {
    const struct gen_node *node;
    struct task *task; /* borrowed; NULL: inherits the directory's */
    uint64_t key;      /* pid, descriptor number: position in listings */
    uint32_t flags;    /* added to the inode's flags */
    char name[24];     /* filled by list */
};

struct gen_node {
    const char *name;
    uint32_t mode;
    uint32_t flags;                  /* GEN_* */
    const struct gen_node *children; /* ended by an entry without name */
    const char *text;                /* fixed content of a file, or target of a symlink */
    /* Appends the content; 0 or -errno. */
    int (*show)(struct gen_inode *gi, struct buf *out);
    /* Instead of show, for what can be long: appends items from *cursor on (0: the first) until the
     * piece has GEN_PIECE bytes or more, and moves *cursor; GEN_END after the last one. */
    int (*more)(struct gen_inode *gi, struct buf *out, uint64_t *cursor);
    /* text is NUL-terminated; 0 or -errno. */
    int (*store)(struct gen_inode *gi, const char *text, size_t len);
    int (*link)(struct gen_inode *gi, struct buf *out);
    int (*get_link)(struct gen_inode *gi, struct task *t, struct path *ret_path);
    const struct file_ops *fops; /* instead of show and store */
    /* Dynamic entries: by name (-ENOENT), and the first one with key >= *key (-ENOENT at the end).
     */
    int (*find)(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_child);
    int (*list)(struct gen_inode *dir, uint64_t key, struct gen_child *ret_child);
    /* Checked on every walk, besides the task's life. */
    bool (*valid)(struct gen_inode *gi);
    /* Mode bits that depend on the object (descriptor links). */
    uint32_t (*perm)(struct gen_inode *gi);
    uintptr_t arg; /* for the functions above */
};

struct gen_inode {
    const struct gen_node *node;
    struct inode *inode; /* borrowed: it owns us */
    struct task *task;   /* counted, or NULL */
    uint64_t key;
    uint32_t flags;
};

#define GEN_DIR(n, kids)                                           \
    {                                                              \
        .name = (n), .mode = LX_S_IFDIR | 0555, .children = (kids) \
    }
#define GEN_FILE(n, fn)                                      \
    {                                                        \
        .name = (n), .mode = LX_S_IFREG | 0444, .show = (fn) \
    }
#define GEN_TEXT(n, s)                                      \
    {                                                       \
        .name = (n), .mode = LX_S_IFREG | 0444, .text = (s) \
    }
#define GEN_LINK(n, s)                                      \
    {                                                       \
        .name = (n), .mode = LX_S_IFLNK | 0777, .text = (s) \
    }

/* A super whose root is described by root. */
int gen_super_new(const struct gen_node *root, const char *type, uint64_t magic,
                  struct super **ret_sb) MUST_CHECK;

static inline struct gen_inode *gen_inode_of(const struct inode *ino)
{
    return ino->priv;
}

/* The task whose call is being handled, or NULL. */
struct task *gen_caller(void);
/* True while the inode's task (if it has one) is known under its pid. */
bool gen_alive(const struct gen_inode *gi);
/* Decimal without sign or leading zeros; false otherwise. */
bool gen_parse_u32(const char *s, size_t len, uint32_t *ret_v);
