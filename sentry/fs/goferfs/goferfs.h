#pragma once
/*
 * Private objects of goferfs. A gofer_inode lives exactly as long as its struct inode (evict frees
 * it). Two names of one file share one inode, found in the super's table by (device, number).
 */
#include "lib/compiler.h"

#include "gofer/client.h"
#include "lib/list.h"
#include "sentry/fs/file.h"
#include "sentry/fs/served.h"
#include "sentry/fs/vfs.h"

#define GOFERFS_BUCKETS 1024u
#define GOFERFS_BOUNCE  ((size_t)256 * 1024)
/* A directory whose lookups failed this often (more where it is large) is listed, so that further
 * misses cost nothing. */
#define GOFERFS_MISSES 4u

/* A complete listing: n records in `data`, found by offset; `table` is an open hash of record
 * numbers + 1. */
struct gofer_listing {
    struct list_head lru;
    struct gofer_inode *owner;
    uint32_t n, cap;
    uint32_t *offsets;
    uint8_t *data;
    size_t data_len, data_cap;
    uint32_t *table;
    uint32_t table_size; /* power of two */
    int error;           /* while it is being filled */
};

/* An answer to a lookup that has not come yet. */
struct goferfs_answer {
    bool used, absent;
    bool last; /* of the names that were found: descriptor and target are its */
    uint32_t dir;
    size_t len;
    char name[GOFER_NAME_MAX];
    struct gofer_step step; /* not if absent */
};

struct goferfs_ahead {
    struct goferfs_answer e[GOFER_WALK_MAX];
    uint32_t n;
    int fd; /* -1: none */
    size_t link_len;
    char link[GOFER_LINK_MAX + 1];
};

struct goferfs {
    struct gofer_client *client; /* borrowed */
    struct super *super;         /* borrowed: it owns us */
    struct list_head buckets[GOFERFS_BUCKETS];
    struct served_forget forget;
    struct goferfs_ahead ahead;
    uint8_t *bounce;
};

struct gofer_inode {
    struct goferfs *fs;
    struct inode *inode; /* borrowed: it owns us */
    struct list_head hash_link;
    uint32_t node;
    uint64_t dev; /* of the host file, for identity only */
    int fd;       /* donated descriptor or -1 */
    struct list_head fd_link;
    char *link; /* symlink target, NUL-terminated, or NULL */
    size_t link_len;
    struct gofer_listing *listing; /* directories: or NULL */
    uint32_t misses;
    bool listed; /* readdir was called: lookups are likely to be a stat of everything */
};

static inline struct gofer_inode *gofer_inode_of(const struct inode *ino)
{
    return ino->priv;
}

/* super.c: the inode for an answer of the gofer, new or known; takes over fd (-1: none). Counted.
 */
int goferfs_inode(struct goferfs *fs, uint32_t node, const struct gofer_attr *a, int fd,
                  const char *link, size_t link_len, struct inode **ret_inode) MUST_CHECK;
void goferfs_forget_flush(struct goferfs *fs);
/* A node that came in an answer which nobody used. */
void goferfs_unused_node(struct goferfs *fs, const struct gofer_step *s);

/* file.c, lookup.c */
extern const struct inode_ops goferfs_inode_ops;
int goferfs_lookup(struct inode *dir, struct dentry *d) MUST_CHECK;
/* Whether the name is known to be absent without asking. */
bool goferfs_known_absent(struct gofer_inode *gi, const char *name, size_t len);

/* ahead.c */
void goferfs_lookup_ahead(struct inode *dir, const char *path);
/* The answer to a lookup, if it is there. *ret_fd is the caller's; the target is borrowed until the
 * next call into goferfs. */
bool goferfs_ahead_take(struct gofer_inode *dir, const struct dentry *d,
                        struct goferfs_answer *ret_e, int *ret_fd, const char **ret_link,
                        size_t *ret_link_len) MUST_CHECK;
/* Gives back what nobody asked for. */
void goferfs_ahead_drop(struct goferfs *fs);
/* The directory `node` is no longer known: nor is what was asked for in it. */
void goferfs_ahead_lost(struct goferfs *fs, uint32_t node);
/* Whether an answer not used yet has this node. */
bool goferfs_ahead_holds(const struct goferfs *fs, uint32_t node);

/* dir.c */
extern const struct file_ops goferfs_dir_ops;
/* The listing, loaded if need be; borrowed until the next call into goferfs. */
int goferfs_listing(struct gofer_inode *gi, struct gofer_listing **ret_l) MUST_CHECK;
bool goferfs_listing_has(const struct gofer_listing *l, const char *name, size_t len);
void goferfs_listing_drop(struct gofer_inode *gi);

/* fdcache.c */
/* The inode's descriptor, borrowed until the next call into goferfs. */
int goferfs_fd(struct gofer_inode *gi, int *ret_fd) MUST_CHECK;
/* Keeps a descriptor that came with a lookup. */
void goferfs_fd_keep(struct gofer_inode *gi, int fd CONSUMES);
void goferfs_fd_drop(struct gofer_inode *gi);
/* Closes old descriptors until the cache and the process have room for one more. */
void goferfs_fd_make_room(void);
/* Closes the oldest one (the process ran out of descriptors); false when there is none. */
bool goferfs_fd_drop_oldest(void);
void goferfs_fd_set_cap(uint32_t cap);
uint32_t goferfs_fd_count(void);
