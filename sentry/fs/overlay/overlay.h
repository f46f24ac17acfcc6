#pragma once
/*
 * Objects of the overlay. An ovl_inode lives as long as its struct inode. Its real inode is
 * `upper`, or the inode of `lower` as long as nothing was copied up. parent and name tell where a
 * lower-only inode lies, which cannot change: renaming one copies it up first.
 */
#include "lib/compiler.h"

#include "lib/hash.h"
#include "lib/list.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"

struct ovl {
    struct super *super;                 /* borrowed: it owns us */
    struct mount *lower_mnt, *upper_mnt; /* counted; internal */
    struct hash_table by_upper;          /* ovl_inode.upper_node, pinned ones */
    struct hash_table by_lower;          /* ovl_inode.lower_node, those without upper */
    struct list_head pinned;             /* ovl_inode.pin_link */
    uint64_t next_ino;
    struct cred *cred; /* all capabilities: opens of the real files */
};

struct ovl_whiteout {
    struct hash_node node;
    size_t len;
    char name[];
};

struct ovl_inode {
    struct ovl *fs;
    struct inode *inode;      /* borrowed: it owns us */
    struct inode *upper;      /* counted, or NULL */
    struct dentry *upper_dir; /* directories with upper: counted */
    struct dentry *lower; /* counted, or NULL; for a directory with upper: what it is merged with */
    struct inode *parent; /* counted overlay inode; NULL for the root */
    char *name;
    struct hash_node upper_node, lower_node;
    bool in_upper, in_lower;
    struct list_head pin_link;
    struct hash_table whiteouts;
    uint32_t lost_names; /* names of a lower-only file that were removed */
    struct inode *copy;  /* counted: a large copy-up that goes on in steps, so far without a name */
    uint64_t copied;     /* bytes of it */
};

static inline struct ovl_inode *ovl_inode_of(const struct inode *ino)
{
    return ino->priv;
}

/* -- inode.c ----------------------------------------------------------------------------------- */
/* upper_dir is given for directories; all are borrowed. The new inode is counted. */
int ovl_inode_new(struct ovl *fs, struct inode *upper, struct dentry *upper_dir,
                  struct dentry *lower, struct ovl_inode *parent, const struct dentry *d,
                  struct inode **ret_inode) MUST_CHECK;
/* The inode got its upper: it moves to the upper table and stays until ovl_unpin. */
void ovl_pin(struct ovl_inode *oi);
void ovl_unpin(struct ovl_inode *oi);
/* No lookup finds it by its lower inode any more. */
void ovl_leave_lower(struct ovl_inode *oi);
void ovl_unpin_if_gone(struct ovl_inode *oi);
void ovl_evict(struct inode *ino);
struct ovl_inode *ovl_find_upper(struct ovl *fs, const struct inode *upper); /* borrowed or NULL */
int ovl_lookup(struct inode *dir, struct dentry *d) MUST_CHECK;
bool ovl_whiteout_has(const struct ovl_inode *dir, const char *name, size_t len);
int ovl_whiteout_add(struct ovl_inode *dir, const char *name, size_t len) MUST_CHECK;
/* *ret says whether the lower layer shows that name in dir. */
int ovl_lower_has(struct ovl_inode *dir, const char *name, size_t len, bool *ret) MUST_CHECK;

/* -- attr.c ------------------------------------------------------------------------------------ */
struct inode *ovl_real(const struct ovl_inode *oi); /* borrowed */
/* Everything from the real inode / only what changes behind the overlay's back (size, names,
 * times). */
void ovl_sync(struct ovl_inode *oi);
void ovl_refresh(struct ovl_inode *oi);
int ovl_getattr(struct inode *ino, struct kstat *ret_st) MUST_CHECK;
int ovl_setattr(struct inode *ino, const struct iattr *attr) MUST_CHECK;
int64_t ovl_readlink(struct inode *ino, char *buf, size_t cap) MUST_CHECK;
int64_t ovl_getxattr(struct inode *ino, const char *name, void *buf, size_t cap) MUST_CHECK;
int ovl_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
    MUST_CHECK;
int64_t ovl_listxattr(struct inode *ino, char *buf, size_t cap) MUST_CHECK;
int ovl_removexattr(struct inode *ino, const char *name) MUST_CHECK;

/* -- copyup.c ---------------------------------------------------------------------------------- */
/* Gives oi an upper, with at most data_max bytes of content (or more, if a copy-up of more was
 * under way). 0 when it has one. -ESTEP in a system call: the file is large, and the call has to
 * run again for the rest; so nothing may have happened before. */
int ovl_copy_up(struct ovl_inode *oi, uint64_t data_max) MUST_CHECK;
/* Owner, mode and times. */
int ovl_copy_attr(const struct inode *lower, struct inode *upper) MUST_CHECK;

/* A real file for f: flags as in open. Counted. */
int ovl_open_real(struct ovl_inode *oi, uint32_t flags, struct file **ret_real) MUST_CHECK;

/* -- dirops.c, readdir.c, file.c --------------------------------------------------------------- */
int ovl_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c) MUST_CHECK;
int ovl_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c) MUST_CHECK;
int ovl_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
              const struct cred *c) MUST_CHECK;
int ovl_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
    MUST_CHECK;
int ovl_link(struct inode *old, struct inode *dir, struct dentry *d) MUST_CHECK;
int ovl_tmpfile(struct inode *dir, uint32_t mode, const struct cred *c, struct inode **ret_inode)
    MUST_CHECK;
int ovl_unlink(struct inode *dir, struct dentry *d) MUST_CHECK;
int ovl_rmdir(struct inode *dir, struct dentry *d) MUST_CHECK;
int ovl_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
               uint32_t flags) MUST_CHECK;
int ovl_dir_empty(struct ovl_inode *dir) MUST_CHECK; /* 0 or -ENOTEMPTY */
extern const struct file_ops ovl_dir_ops;
int ovl_open(struct inode *ino, struct file *f) MUST_CHECK;
extern const struct inode_ops ovl_inode_ops;
