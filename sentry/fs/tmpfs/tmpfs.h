#pragma once
/*
 * Private objects of tmpfs. A tmpfs_inode lives as long as its struct inode. Entries of a directory
 * are found by name and listed in the order of their cookies, which only grow.
 */
#include "lib/compiler.h"

#include "lib/hash.h"
#include "lib/list.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"

struct memobj;

struct tmpfs {
    struct super *super;            /* borrowed: it owns us */
    uint64_t max_bytes, max_inodes; /* 0: none */
    uint64_t bytes, inodes;
};

struct tmpfs_entry {
    struct hash_node node;
    struct list_head link; /* in order of cookies */
    struct inode *inode;   /* counted */
    uint64_t cookie;
    size_t len;
    char name[];
};

struct tmpfs_xattr {
    struct list_head link;
    char *name;
    void *value;
    size_t len;
};

struct tmpfs_inode {
    struct tmpfs *fs;
    struct inode *inode; /* borrowed: it owns us */
    struct memobj *obj;  /* regular files */
    uint64_t counted;    /* bytes of obj that fs->bytes has */
    char *target;        /* symlinks */
    struct hash_table entries;
    struct list_head order;
    uint64_t next_cookie;
    uint32_t seals;
    struct list_head xattrs;
    struct list_head doomed; /* waits for eviction of its entries */
};

static inline struct tmpfs_inode *tmpfs_inode_of(const struct inode *ino)
{
    return ino->priv;
}

extern const struct inode_ops tmpfs_inode_ops;
extern const struct file_ops tmpfs_file_ops, tmpfs_dir_ops;

/* super.c: mode includes the type. */
int tmpfs_inode_new(struct super *sb, const struct inode *dir, uint32_t mode, const struct cred *c,
                    struct inode **ret_inode) MUST_CHECK;
/* Brings the counts of the mount and st_blocks up to date. */
void tmpfs_account(struct tmpfs_inode *ti);
/* -ENOSPC when n more bytes do not fit into the mount's own limit. */
int tmpfs_room(const struct tmpfs_inode *ti, uint64_t n) MUST_CHECK;

/* dir.c */
int tmpfs_lookup(struct inode *dir, struct dentry *d) MUST_CHECK;
int tmpfs_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
    MUST_CHECK;
int tmpfs_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
    MUST_CHECK;
int tmpfs_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                const struct cred *c) MUST_CHECK;
int tmpfs_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
    MUST_CHECK;
int tmpfs_link(struct inode *old, struct inode *dir, struct dentry *d) MUST_CHECK;
int tmpfs_tmpfile(struct inode *dir, uint32_t mode, const struct cred *c, struct inode **ret_inode)
    MUST_CHECK;
int tmpfs_unlink(struct inode *dir, struct dentry *d) MUST_CHECK;
int tmpfs_rmdir(struct inode *dir, struct dentry *d) MUST_CHECK;
int tmpfs_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
                 uint32_t flags) MUST_CHECK;
void tmpfs_entry_free(struct tmpfs_inode *dir, struct tmpfs_entry *e); /* without the inode's put */

/* file.c */
int tmpfs_open(struct inode *ino, struct file *f) MUST_CHECK;
int tmpfs_getattr(struct inode *ino, struct kstat *ret_st) MUST_CHECK;
int tmpfs_setattr(struct inode *ino, const struct iattr *attr) MUST_CHECK;
int64_t tmpfs_readlink(struct inode *ino, char *buf, size_t cap) MUST_CHECK;
int64_t tmpfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap) MUST_CHECK;
int tmpfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
    MUST_CHECK;
int64_t tmpfs_listxattr(struct inode *ino, char *buf, size_t cap) MUST_CHECK;
int tmpfs_removexattr(struct inode *ino, const char *name) MUST_CHECK;
void tmpfs_xattrs_free(struct tmpfs_inode *ti);
