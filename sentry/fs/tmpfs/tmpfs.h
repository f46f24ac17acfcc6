#pragma once
/*
 * tmpfs: a file system in memory; inside of sentry/fs/tmpfs only. The tree is made of directory
 * entries that count their inode; dentries are a cache over it. An entry keeps its cookie for life,
 * and cookies only grow, so a listing goes on at the right place whatever happens in between.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/hash.h"
#include "lib/list.h"
#include "lib/rbtree.h"
#include "sentry/fs/vfs.h"
#include "sentry/mm/memobj.h"

struct tmpfs {
    struct super *super;
    struct memobj_quota *quota; /* counted; bytes */
    uint64_t max_inodes, inodes;
    struct hash_table names; /* tmpfs_entry by (directory, name) */
};

struct tmpfs_entry {
    struct hash_node node;
    struct rb_node by_cookie;
    struct tmpfs_inode *dir; /* borrowed */
    struct inode *inode;     /* counted */
    uint64_t cookie;
    uint32_t name_len;
    char name[];
};

struct tmpfs_xattr {
    struct list_head link;
    size_t len, charged;
    char *name;
    uint8_t *value;
};

struct tmpfs_inode {
    struct tmpfs *fs;
    struct inode *inode;    /* borrowed */
    struct memobj *obj;     /* regular file: counted */
    char *target;           /* symlink: owned */
    uint32_t target_charge; /* bytes */
    struct rb_root entries; /* directory, by cookie */
    uint64_t next_cookie, nentries;
    struct list_head xattrs;
    uint32_t nxattrs;
    uint32_t seals;
    struct list_head work; /* teardown */
};

extern const struct inode_ops tmpfs_file_iops, tmpfs_dir_iops, tmpfs_symlink_iops,
    tmpfs_special_iops;
extern const struct file_ops tmpfs_file_ops, tmpfs_dir_ops;

static inline struct tmpfs_inode *tmpfs_inode_of(const struct inode *ino)
{
    return ino->priv;
}

/* inode.c: a new inode below dir (NULL: the root), charged. */
int tmpfs_inode_new(struct tmpfs *fs, const struct inode *dir, uint32_t mode, const struct cred *c,
                    struct inode **ret_inode) MUST_CHECK;
void tmpfs_evict(struct inode *ino);
/* Text of a symlink; a long one takes a page of the file system, as in Linux. -ENOSPC. */
int tmpfs_set_target(struct tmpfs_inode *ti, const char *target) MUST_CHECK;
int tmpfs_setattr(struct inode *ino, const struct iattr *attr);

/* dir.c */
struct tmpfs_entry *tmpfs_entry_find(struct tmpfs_inode *dir, const char *name, size_t len);
int tmpfs_entry_add(struct tmpfs_inode *dir, const char *name, size_t len,
                    struct inode *ino CONSUMES) MUST_CHECK;
void tmpfs_entry_remove(struct tmpfs_entry *e);
/* Drops every entry below root, for the end of the file system. */
void tmpfs_tree_free(struct inode *root);

/* xattr.c */
int64_t tmpfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap);
int tmpfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags);
int64_t tmpfs_listxattr(struct inode *ino, char *buf, size_t cap);
int tmpfs_removexattr(struct inode *ino, const char *name);
void tmpfs_xattrs_free(struct tmpfs_inode *ti);
