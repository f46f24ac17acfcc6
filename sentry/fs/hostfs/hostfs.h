#pragma once
/*
 * Private objects of hostfs. A host_inode lives exactly as long as its struct inode (evict frees it
 * and gives its node back). One file of the volume is one inode, found by its node; because
 * dentries are not kept beyond their use (super_ops.drop_dentry), every walk asks the host anew.
 */
#include "lib/compiler.h"

#include "gofer/volume_client.h"
#include "lib/list.h"
#include "sentry/fs/file.h"
#include "sentry/fs/served.h"
#include "sentry/fs/vfs.h"

#define HOSTFS_BUCKETS 256u
#define HOSTFS_BOUNCE  ((size_t)256 * 1024)

/* What a walk will ask for next, learned in one request. Good for one use each, and for the system
 * call that asked. */
struct hostfs_ahead {
    uint64_t stamp; /* kernel.nsyscalls + 1 */
    uint32_t n;
    struct {
        bool used, absent;
        uint32_t dir;
        char name[GOFER_NAME_MAX + 1];
        struct gofer_step step;
    } e[VOLUME_WALK_MAX];
    char link[GOFER_LINK_MAX + 1]; /* of the last one, if that is a symlink */
};

struct hostfs {
    struct volume_client *client; /* borrowed */
    struct super *super;          /* borrowed: it owns us */
    uint32_t root;                /* node of its root */
    bool squash;                  /* everything of the caller's appears as owned by uid, gid */
    uint32_t uid, gid;
    struct list_head buckets[HOSTFS_BUCKETS]; /* host_inode.hash_link */
    struct served_forget forget;
    struct hostfs_ahead ahead;
};

struct host_inode {
    struct hostfs *fs;
    struct inode *inode; /* borrowed: it owns us */
    struct list_head hash_link;
    uint32_t node;
    /* Where it was seen last: counted directory and name; NULL for the root. */
    struct inode *dir;
    char *name;
    uint64_t fresh;         /* kernel.nsyscalls + 1 when the attributes were learned */
    struct list_head files; /* host_file.link */
    int made_fd;            /* came when it was made, O_RDWR, for the open that follows; or -1 */
    char *link;             /* target of a symlink, or NULL */
    struct host_inode *next_dead;
};

/* An open regular file. */
struct host_file {
    struct list_head link; /* host_inode.files */
    int fd;
    uint32_t access; /* VOLUME_READ | VOLUME_WRITE */
};

static inline struct host_inode *host_inode_of(const struct inode *ino)
{
    return ino->priv;
}

/* -- super.c ------------------------------------------------------------------------------------
 */
/* The inode of a node, new or known, with these attributes; it was found in dir under this name
 * (both NULL: the root). Counted. Takes the node over: it is given back with the inode, or on
 * failure. */
int hostfs_inode(struct hostfs *fs, uint32_t node, const struct gofer_attr *a, struct inode *dir,
                 const char *name, struct inode **ret_inode) MUST_CHECK;
/* It is there now. -ENOMEM. */
int hostfs_moved(struct host_inode *hi, struct inode *dir, const char *name) MUST_CHECK;
/* Found but never used: its node is given back unless an inode has it. */
void hostfs_drop_node(struct hostfs *fs, uint32_t node);
void hostfs_keep_node(struct hostfs *fs, uint32_t node);
void hostfs_fill(struct inode *ino, const struct gofer_attr *a);
void hostfs_ref(const struct host_inode *hi, struct volume_ref *ret);

/* -- attr.c -------------------------------------------------------------------------------------
 */
void hostfs_refresh(struct inode *ino);
int hostfs_getattr(struct inode *ino, struct kstat *ret_st) MUST_CHECK;
int hostfs_setattr(struct inode *ino, const struct iattr *attr) MUST_CHECK;
int hostfs_permission(struct inode *ino, const struct cred *c, int mask) MUST_CHECK;
int64_t hostfs_getxattr(struct inode *ino, const char *name, void *buf, size_t cap) MUST_CHECK;
int64_t hostfs_listxattr(struct inode *ino, char *buf, size_t cap) MUST_CHECK;
int hostfs_setxattr(struct inode *ino, const char *name, const void *val, size_t len, int flags)
    MUST_CHECK;
int hostfs_removexattr(struct inode *ino, const char *name) MUST_CHECK;

/* -- ahead.c ------------------------------------------------------------------------------------
 */
void hostfs_lookup_ahead(struct inode *dir, const char *path);
/* One name: 0, -ENOENT, or another error. *ret_link is borrowed. */
int hostfs_ask(struct host_inode *dir, const char *name, struct gofer_step *ret_step,
               const char **ret_link) MUST_CHECK;
void hostfs_ahead_drop(struct hostfs *fs);
/* The node is given back: no answer that names it may be used, or give it back again. */
void hostfs_ahead_lost(struct hostfs *fs, uint32_t node);

/* -- dirops.c -----------------------------------------------------------------------------------
 */
int hostfs_lookup(struct inode *dir, struct dentry *d) MUST_CHECK;
bool hostfs_revalidate(struct dentry *d);
int hostfs_create(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
    MUST_CHECK;
int hostfs_mkdir(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c)
    MUST_CHECK;
int hostfs_mknod(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                 const struct cred *c) MUST_CHECK;
int hostfs_symlink(struct inode *dir, struct dentry *d, const char *target, const struct cred *c)
    MUST_CHECK;
int hostfs_link(struct inode *old, struct inode *dir, struct dentry *d) MUST_CHECK;
int hostfs_unlink(struct inode *dir, struct dentry *d) MUST_CHECK;
int hostfs_rmdir(struct inode *dir, struct dentry *d) MUST_CHECK;
int hostfs_rename(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
                  uint32_t flags) MUST_CHECK;
int64_t hostfs_readlink(struct inode *ino, char *buf, size_t cap) MUST_CHECK;

/* -- file.c, readdir.c --------------------------------------------------------------------------
 */
int hostfs_open(struct inode *ino, struct file *f) MUST_CHECK;
/* Makes sure of a free number: a message whose descriptor does not fit ends the connection. */
int hostfs_make_room(void) MUST_CHECK;
/* A descriptor that can do what access says: *ret_own tells whether it is the caller's to close or
 * one of an open file's. */
int hostfs_fd(struct host_inode *hi, uint32_t access, int *ret_fd, bool *ret_own) MUST_CHECK;
extern const struct file_ops hostfs_dir_ops;
