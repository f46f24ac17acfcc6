#pragma once
/*
 * The virtual file system: super, inode, dentry, mount and their operations, as in Unix. All of it
 * belongs to the worker thread; nothing here blocks (gofer round trips are bounded).
 *
 * Ownership: a dentry holds its parent and its inode; a mount holds its root, its super and its
 * mountpoint; a struct path is a pair of borrowed or owned pointers as its holder says
 * (path_get/path_put). A dentry with inode NULL is negative. Image dentries are immutable and
 * cached.
 */
#include "lib/compiler.h"

#include "abi/file.h"
#include "abi/time.h"
#include "abi/types.h"

#include "lib/hash.h"
#include "lib/list.h"
#include "sentry/kernel/waitqueue.h"

struct cred;
struct dentry;
struct dir_context;
struct file;
struct file_ops;
struct files;
struct inode;
struct mount;
struct super;
struct task;
struct uio;
struct inotify_mark;

struct path {
    struct mount *mnt;
    struct dentry *dentry;
};

/* Attributes as stat sees them. */
struct kstat {
    uint64_t ino, nlink, size, blocks; /* blocks of 512 bytes */
    uint32_t mode, uid, gid, blksize;
    uint64_t dev, rdev; /* Linux dev_t encoding, see makedev below */
    struct lx_timespec atime, mtime, ctime, btime;
};

/* What setattr changes. */
enum {
    ATTR_MODE = 1,
    ATTR_UID = 2,
    ATTR_GID = 4,
    ATTR_SIZE = 8,
    ATTR_ATIME = 16,
    ATTR_MTIME = 32,
    ATTR_CTIME = 64
};
struct iattr {
    uint32_t valid;
    uint32_t mode, uid, gid;
    uint64_t size;
    struct lx_timespec atime, mtime, ctime;
};

struct inode_ops {
    /* d is a new negative dentry of dir; on success (0) d->inode is set or d stays negative (cached
     * absence). Errors other than absence are returned (-EIO, -EACCES, -ENAMETOOLONG). */
    int (*lookup)(struct inode *dir, struct dentry *d);
    /* A walk is about to check dir and to look up the names of `path` ("a/b/c") one by one,
     * starting there: a chance to ask for all of it together. NULL: none is needed. */
    void (*lookup_ahead)(struct inode *dir, const char *path);
    /* The following find d negative and make it positive (d->inode counted), parent permission
     * checked by the caller. NULL op: -EPERM / -EROFS as the caller decides. mode includes the type
     * for mknod. */
    int (*create)(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c);
    int (*mkdir)(struct inode *dir, struct dentry *d, uint32_t mode, const struct cred *c);
    int (*mknod)(struct inode *dir, struct dentry *d, uint32_t mode, uint64_t rdev,
                 const struct cred *c);
    int (*symlink)(struct inode *dir, struct dentry *d, const char *target, const struct cred *c);
    int (*link)(struct inode *old, struct inode *dir, struct dentry *d);
    /* O_TMPFILE: an unlinked inode. */
    int (*tmpfile)(struct inode *dir, uint32_t mode, const struct cred *c,
                   struct inode **ret_inode);
    int (*unlink)(struct inode *dir, struct dentry *d);
    int (*rmdir)(struct inode *dir, struct dentry *d);
    /* flags: RENAME_NOREPLACE (already checked), RENAME_EXCHANGE, RENAME_WHITEOUT. The dentries are
     * moved by the caller. */
    int (*rename)(struct inode *odir, struct dentry *od, struct inode *ndir, struct dentry *nd,
                  uint32_t flags);
    /* Symlink text: length (cut at cap). */
    int64_t (*readlink)(struct inode *ino, char *buf, size_t cap);
    /* Magic links of proc: the target itself (counted), instead of readlink when followed. */
    int (*get_link)(struct inode *ino, struct task *t, struct path *ret_path);
    /* Refreshes / overrides what stat says; NULL: from the inode's fields. */
    int (*getattr)(struct inode *ino, struct kstat *ret_st);
    int (*setattr)(struct inode *ino, const struct iattr *attr);
    /* Brings the inode's fields up to date where others change them too; NULL: they always are. */
    void (*refresh)(struct inode *ino);
    /* mask of LX_R_OK... ; NULL: mode bits. */
    int (*permission)(struct inode *ino, const struct cred *c, int mask);
    int (*open)(struct inode *ino,
                struct file *f); /* sets f->ops, f->priv; NULL: by type (fifo, device) */
    int64_t (*getxattr)(struct inode *ino, const char *name, void *buf,
                        size_t cap); /* cap 0: size */
    int (*setxattr)(struct inode *ino, const char *name, const void *val, size_t len, int flags);
    int64_t (*listxattr)(struct inode *ino, char *buf, size_t cap);
    int (*removexattr)(struct inode *ino, const char *name);
    /* Cached negative/positive dentries are checked again on every walk (proc): false drops d.
     * NULL: always valid. */
    bool (*revalidate)(struct dentry *d);
};

struct inode {
    uint32_t ref;
    const struct inode_ops *ops;
    struct super *super;
    uint64_t ino;
    uint32_t mode, uid, gid, nlink;
    uint64_t size, blocks, rdev;
    struct lx_timespec atime, mtime, ctime, btime;
    void *priv;             /* of the file system */
    uint64_t writers;       /* open for writing: ETXTBSY against exec (denied_write) */
    uint64_t denied_write;  /* running executables: inode_deny_write */
    bool linkable;          /* O_TMPFILE without O_EXCL: linkat may give it a name */
    bool dead;              /* a removed directory: nothing is created in it any more */
    bool made_up;           /* mountpoint.c: exists in the dentry cache only */
    struct list_head locks; /* flock.c */
    struct wait_queue lock_wait;
    struct list_head marks;  /* inotify.c */
    struct write_turn *turn; /* rw.c: borrowed from the write in progress, or NULL */
    void *pipe;              /* FIFO: struct pipe */
    void *socket;            /* bound AF_UNIX socket */
};

struct dentry {
    uint32_t ref;
    struct dentry *parent; /* counted; NULL for a root */
    struct inode *inode;   /* counted; NULL: negative */
    struct super *super;
    struct hash_node node;              /* in the dentry cache, by (parent, name) */
    struct list_head sibling, children; /* cached children, referenced or not */
    struct list_head lru;               /* unreferenced ones, oldest first */
    uint32_t nmounts;                   /* mounts on top of it, in any mount */
    bool hashed;                        /* in the cache */
    bool unlinked;                      /* no longer reachable from parent: "(deleted)" */
    void *priv;
    uint32_t name_len;
    char *name; /* NUL-terminated: short_name or a block of its own */
    char short_name[36];
};

struct super_ops {
    int (*statfs)(struct super *sb, struct lx_statfs *ret_st);
    void (*evict)(struct inode *ino); /* last reference of ino gone: free ino->priv */
    void (*free)(struct super *sb);
    /* The dentry's file system wants it uncached when unreferenced (proc); NULL: cache. */
    bool (*drop_dentry)(const struct dentry *d);
};

struct super {
    uint32_t ref;
    const struct super_ops *ops;
    const char *type; /* "tmpfs", "proc" ... for /proc/mounts */
    uint64_t dev;     /* st_dev, unique */
    uint64_t magic, next_ino;
    struct dentry *root; /* counted */
    bool readonly;
    bool generated; /* texts made on the fly (proc, sysfs): no size, no RLIMIT_FSIZE */
    bool lasting;   /* what is written leaves the sandbox: no devices are made in it, and mount
                       points only if it is the root */
    void *priv;
    uint32_t blksize;
    const char *options; /* extra text for /proc/mounts ("size=64k"), owned, or NULL */
};

enum {
    MOUNT_RDONLY = 1,
    MOUNT_NOSUID = 2,
    MOUNT_NODEV = 4,
    MOUNT_NOEXEC = 8,
    MOUNT_NOATIME = 1024
};
struct mount {
    uint32_t ref;
    uint32_t id;
    uint32_t flags;
    struct mount *parent;      /* counted; NULL: the root mount */
    struct dentry *mountpoint; /* in parent; counted */
    struct dentry *root;       /* counted */
    struct super *super;       /* counted */
    struct list_head all_link; /* kernel.mounts */
    char *source;              /* owned; for /proc/mounts */
};

/* -- super, inode, dentry (super.c inode.c dentry.c) ----------------------------------------- */
int super_new(const struct super_ops *ops, const char *type, uint64_t magic, struct super **ret_sb)
    MUST_CHECK;
struct super *super_get(struct super *sb);
void super_put(struct super *sb);
/* super_ops.statfs of a file system that takes no space. */
int statfs_plain(struct super *sb, struct lx_statfs *ret_st) MUST_CHECK;
int inode_new(struct super *sb, const struct inode_ops *ops, uint32_t mode,
              struct inode **ret_inode) MUST_CHECK;
struct inode *inode_get(struct inode *ino);
void inode_put(struct inode *ino);
void inode_touch(struct inode *ino, uint32_t attr); /* ATTR_ATIME|MTIME|CTIME := now */
void inode_touch_relatime(struct inode *ino);       /* atime, by the relatime rule */
struct lx_timespec inode_now(void);
/* The root dentry of a super (not cached by name). */
int dentry_new_root(struct super *sb, struct inode *root CONSUMES, struct dentry **ret_d)
    MUST_CHECK;
/* A negative, cached child. */
int dentry_new(struct dentry *parent, const char *name, size_t len, struct dentry **ret_d)
    MUST_CHECK;
/* A positive child that no lookup finds, shown as deleted (O_TMPFILE, memfd). */
int dentry_new_unlinked(struct dentry *parent, const char *name, struct inode *ino CONSUMES,
                        struct dentry **ret_d) MUST_CHECK;
/* Cached child (counted) or NULL. */
struct dentry *dentry_cached(struct dentry *parent, const char *name, size_t len);
/* Cached or looked up: counted, possibly negative. */
int dentry_lookup(struct dentry *parent, const char *name, size_t len, struct dentry **ret_d)
    MUST_CHECK;
struct dentry *dentry_get(struct dentry *d);
void dentry_put(struct dentry *d);
void dentry_instantiate(struct dentry *d, struct inode *ino CONSUMES);
/* Detaches from the name space (unlink, rmdir, rename over): later lookups of the name start
 * afresh. */
void dentry_drop(struct dentry *d);
/* d takes the parent and name of target, which is dropped. */
void dentry_move(struct dentry *d, struct dentry *target);
/* The two swap parents and names. */
void dentry_exchange(struct dentry *a, struct dentry *b);
bool dentry_is_dir(const struct dentry *d);
bool dentry_is_symlink(const struct dentry *d);
/* Frees what is cached below top and unreferenced. */
void dentry_prune(struct dentry *top);

/* Write access against execution: each pair of calls balances. -ETXTBSY. */
int inode_write_get(struct inode *ino) MUST_CHECK;
void inode_write_put(struct inode *ino);
int inode_deny_write(struct inode *ino)
    MUST_CHECK; /* exec: the program file, while it is mm->exe */
void inode_allow_write(struct inode *ino);

/* -- mount.c, path.c, perm.c ------------------------------------------------------------------ */
int mount_add(const struct path *at, struct super *sb CONSUMES, uint32_t flags, const char *source,
              struct mount **ret_mnt)
    MUST_CHECK; /* at NULL: the root; *ret_mnt is borrowed (or ret_mnt NULL) */
/* Makes `from`, a directory or a file of some mount, visible at `at` as well. flags are the new
 * mount's own. -ENOTDIR when one of them is a directory and the other is not. */
int mount_bind(const struct path *at, const struct path *from, uint32_t flags, const char *source,
               struct mount **ret_mnt) MUST_CHECK;
/* Takes all mounts away, last one first (end of the sandbox, tests). */
void mounts_done(void);
/* A mount that no path leads to (anonymous files, memfds). */
int mount_new_internal(struct super *sb CONSUMES, struct mount **ret_mnt) MUST_CHECK;
/* The same, of a directory or file of some mount. */
int mount_clone_internal(const struct path *from, struct mount **ret_mnt) MUST_CHECK;
struct mount *mount_get(struct mount *m);
void mount_put(struct mount *m);
/* The mount on top of (mnt, d), borrowed, or NULL. */
struct mount *mount_on(const struct mount *mnt, const struct dentry *d);
void path_get(const struct path *p);
void path_put(struct path *p); /* clears *p; harmless on an empty one */
/* Absolute path as seen from root (NULL: the sandbox's), NUL-terminated; " (deleted)" appended as
 * Linux does. Outside of root: up to the top of its mounts. Length or -ENAMETOOLONG. */
int64_t path_name(const struct path *p, const struct path *root, char *buf, size_t cap) MUST_CHECK;
bool path_reachable(const struct path *p, const struct path *root);
static inline bool path_equal(const struct path *a, const struct path *b)
{
    return a->mnt == b->mnt && a->dentry == b->dentry;
}
/* mask of LX_R_OK|LX_W_OK|LX_X_OK with the fs ids of c: 0, -EACCES, -EROFS (super read-only;
 * path_permission: or the mount, after everything else). */
int path_permission(const struct path *p, const struct cred *c, int mask) MUST_CHECK;
int inode_permission(struct inode *ino, const struct cred *c, int mask) MUST_CHECK;
/* The rule for inodes without a permission op of their own. */
int inode_permission_by_mode(const struct inode *ino, const struct cred *c, int mask) MUST_CHECK;
/* To be called before size, owner or mode are looked at outside of a walk. */
static inline void inode_refresh(struct inode *ino)
{
    if (ino->ops && ino->ops->refresh)
        ino->ops->refresh(ino);
}
bool inode_owner_or_capable(const struct inode *ino, const struct cred *c);
/* Permission to change the entries of dir, and the sticky rule for victim (directory or not as
 * want_dir says). */
int may_create(const struct path *dir, const struct cred *c) MUST_CHECK;
int may_delete(const struct path *dir, const struct dentry *victim, bool want_dir,
               const struct cred *c) MUST_CHECK;
/* Owner, group and mode of a new inode: fs ids, setgid directories. The umask has been applied to
 * mode. */
void inode_init_owner(struct inode *ino, const struct inode *dir, uint32_t mode,
                      const struct cred *c);
/* The mode without the setuid/setgid bits that a write or chown by c takes away. */
uint32_t inode_mode_without_privs(const struct inode *ino, const struct cred *c);
int mount_writable(const struct mount *m) MUST_CHECK; /* 0 or -EROFS */
/* What the inode's own fields say, for getattr ops that are done with them. */
void inode_fill_stat(const struct inode *ino, struct kstat *ret_st);
int vfs_getattr(const struct path *p, struct kstat *ret_st) MUST_CHECK;
int vfs_setattr(const struct path *p, struct iattr *attr, const struct cred *c) MUST_CHECK;
/* Stores all of a but the size in the inode: the body of most setattr ops. */
void inode_store_attr(struct inode *ino, const struct iattr *a);
/* The truncation of an inode that is open for writing: RLIMIT_FSIZE, setuid bits, times. */
int inode_truncate(const struct path *p, uint64_t size, struct task *t) MUST_CHECK;
int vfs_truncate(const struct path *p, uint64_t size, struct task *t)
    MUST_CHECK; /* RLIMIT_FSIZE, writers */

/* -- mountpoint.c: places to mount on that the image lacks ------------------------------------- */
/* The path of a place to mount on, owned. What is missing of it is made: in memory, or in the
 * dentry cache of a file system that is not written. dir: it has to be a directory, else a file. */
int mountpoint_make(const char *at, bool dir, struct path *ret_path) MUST_CHECK;
/* Emits the made-up entries of f's directory, at positions from base on; known (or NULL) says which
 * names were emitted already. For readdir operations. */
int mountpoint_readdir(struct file *f, struct dir_context *dc, uint64_t base,
                       bool (*known)(void *ctx, const char *name, size_t len), void *ctx);

/* -- namei.c: the one path walker -------------------------------------------------------------- */
enum {
    LOOKUP_FOLLOW = 1 << 0,    /* follow a symlink in the last component */
    LOOKUP_DIRECTORY = 1 << 1, /* the result must be a directory */
    LOOKUP_EMPTY = 1 << 2,     /* AT_EMPTY_PATH */
    LOOKUP_NO_SYMLINKS = 1 << 3,
    LOOKUP_NO_MAGICLINKS = 1 << 4,
    LOOKUP_BENEATH = 1 << 5,
    LOOKUP_IN_ROOT = 1 << 6,
    LOOKUP_NO_XDEV = 1 << 7, /* openat2 */
};
/* dfd is LX_AT_FDCWD or a descriptor of t. The result is positive and owned. */
int path_lookup(struct task *t, int dfd, const char *name, uint32_t flags, struct path *ret_path)
    MUST_CHECK;
/* The parent directory (owned) and the last component, for create/unlink/rename: *ret_d is counted,
 * maybe negative. Trailing slashes are reported in *ret_slash. "." / ".." / "/" as last: -EEXIST,
 * -EINVAL, -EBUSY ... by want (see namei.c). */
struct parent_lookup {
    struct path parent;
    struct dentry *d;
    bool trailing_slash;
    enum {
        LAST_NORM,
        LAST_DOT,
        LAST_DOTDOT,
        LAST_ROOT
    } last;
};
int path_lookup_parent(struct task *t, int dfd, const char *name, uint32_t flags,
                       struct parent_lookup *ret_pl) MUST_CHECK;
void parent_lookup_done(struct parent_lookup *pl);
/* Copies the path in (LX_PATH_MAX, -ENOENT for "" unless LOOKUP_EMPTY) and walks. */
int user_path_at(struct task *t, int dfd, gaddr_t name, uint32_t flags, struct path *ret_path)
    MUST_CHECK;
/* Only the copy: buf has LX_PATH_MAX bytes. */
int user_path_copy(struct task *t, gaddr_t name, char *buf) MUST_CHECK;
int user_path_parent(struct task *t, int dfd, gaddr_t name, struct parent_lookup *ret_pl)
    MUST_CHECK;
/* A path from kernel code, relative to the sandbox root, as the emulated root user. */
int kernel_path_lookup(const char *name, uint32_t flags, struct path *ret_path) MUST_CHECK;

/* Name space operations on looked-up parents; all checks inside (link.c, rename.c). */
int vfs_mkdir(struct parent_lookup *pl, uint32_t mode, const struct cred *c) MUST_CHECK;
/* The type is in mode; 0 means a regular file. CAP_MKNOD is checked here. */
int vfs_mknod(struct parent_lookup *pl, uint32_t mode, uint64_t rdev, const struct cred *c)
    MUST_CHECK;
int vfs_symlink(struct parent_lookup *pl, const char *target, const struct cred *c) MUST_CHECK;
int vfs_link(const struct path *old, struct parent_lookup *pl, const struct cred *c) MUST_CHECK;
int vfs_unlink(struct parent_lookup *pl, const struct cred *c) MUST_CHECK;
int vfs_rmdir(struct parent_lookup *pl, const struct cred *c) MUST_CHECK;
int vfs_rename(struct parent_lookup *from, struct parent_lookup *to, uint32_t flags,
               const struct cred *c) MUST_CHECK;

/* -- open.c ------------------------------------------------------------------------------------ */
/* Both check permission for what flags ask and open by the inode's op or type. One exception to the
 * rule for ret_ parameters: -EAGAIN with *ret_file set is a FIFO that waits for its other end; wait
 * on fifo_wait_queue and call fifo_open(f->inode, f) again until it returns something else. */
int vfs_open_path(const struct path *p, uint32_t flags, const struct cred *c,
                  struct file **ret_file) MUST_CHECK;
int vfs_open_at(struct task *t, int dfd, const char *name, uint32_t flags, uint32_t mode,
                uint32_t lookup_flags, struct file **ret_file) MUST_CHECK;
/* For execve: regular file with execute permission, not on a noexec mount; file opened for reading.
 */
int vfs_open_exec(struct task *t, int dfd, const char *name, uint32_t lookup_flags,
                  struct file **ret_file) MUST_CHECK;

/* file_put calls this when the last reference goes, before ops->release: write access, flock and
 * OFD locks, inotify. */
void vfs_file_released(struct file *f);

/* -- readdir.c -----------------------------------------------------------------------------------
 */
/* Emits "." and ".." at positions 0 and 1 (f->pos moves on to 2); false: the buffer is full. */
bool dir_emit_dots(struct file *f, struct dir_context *dc);
uint32_t mode_to_dt(uint32_t mode); /* LX_DT_* */

/* -- xattr.c: permission by name space, then the inode's op ------------------------------------ */
int64_t vfs_getxattr(const struct path *p, const char *name, void *buf, size_t cap,
                     const struct cred *c) MUST_CHECK;
int vfs_setxattr(const struct path *p, const char *name, const void *val, size_t len, int flags,
                 const struct cred *c) MUST_CHECK;
int64_t vfs_listxattr(const struct path *p, char *buf, size_t cap, const struct cred *c) MUST_CHECK;
int vfs_removexattr(const struct path *p, const char *name, const struct cred *c) MUST_CHECK;

/* -- file systems ------------------------------------------------------------------------------ */
struct gofer_client;
struct tmpfs_options {
    uint64_t max_bytes, max_inodes; /* 0: only the sandbox-wide limit */
    uint32_t mode, uid, gid;
};
int tmpfs_mount_new(const struct tmpfs_options *opt, struct super **ret_sb) MUST_CHECK;
/* An unlinked regular tmpfs inode on the kernel's internal tmpfs (memfd_create, shared anonymous
 * files). */
int tmpfs_anon_inode(const char *name, struct path *ret_path) MUST_CHECK;
void tmpfs_anon_done(void); /* end of the sandbox, tests: no such file may be open */
/* Seals of a tmpfs file (F_GET_SEALS, F_ADD_SEALS): LX_F_SEAL_* or -EINVAL for other inodes;
 * -EPERM. Files start with F_SEAL_SEAL; memfd_create(MFD_ALLOW_SEALING) sets them to 0. */
int tmpfs_get_seals(struct inode *ino) MUST_CHECK;
int tmpfs_add_seals(struct inode *ino, uint32_t seals) MUST_CHECK;
void tmpfs_set_seals(struct inode *ino, uint32_t seals);
struct volume_client;
/* A bind mount: root `root` of the volume server. uid, gid: who owns, as the guest sees it, what is
 * the server's own user's where that user is the only one (VOLUME_ROOT_SQUASH). */
int hostfs_mount_new(struct volume_client *c, uint32_t root, uint32_t uid, uint32_t gid,
                     struct super **ret_sb) MUST_CHECK;
void hostfs_done(void); /* end of the sandbox, tests */
int goferfs_mount_new(struct gofer_client *c, uint32_t root_node, struct super **ret_sb) MUST_CHECK;
/* Asks at once for absolute paths that will be looked up soon, the last one to be opened. Those
 * that begin with the same name as an earlier one, and what is too much, are left out. */
void goferfs_preload(struct super *sb, const char *const *paths, size_t n);
int overlay_mount_new(struct super *lower, struct super *upper_tmpfs, struct super **ret_sb)
    MUST_CHECK;
/* The same over one directory of a mount. */
int overlay_mount_on(const struct path *lower, struct super *upper_tmpfs, struct super **ret_sb)
    MUST_CHECK;
int procfs_mount_new(struct super **ret_sb) MUST_CHECK;
/* The arguments of t's program with blanks between, as far as they fit: bytes of the guest, without
 * a NUL. */
size_t proc_command_line(const struct task *t, char *buf, size_t cap);
int sysfs_mount_new(struct super **ret_sb) MUST_CHECK;
int devfs_mount_new(struct super **ret_sb) MUST_CHECK; /* tmpfs-like, populated */
/* Makes what is missing of the usual devices and links in a directory (an OCI container's /dev). */
int devfs_populate(struct dentry *dir) MUST_CHECK;
int devpts_mount_new(struct super **ret_sb) MUST_CHECK;
int cgroupfs_mount_new(struct super **ret_sb)
    MUST_CHECK; /* the sandbox's limits as a cgroup2 leaf */
int mqueuefs_mount_new(struct super **ret_sb) MUST_CHECK; /* there is one: counted */
/* Sets "kernel.shmmax" or another name of /proc/sys (dots or slashes). -ENOENT: no such setting;
 * -EACCES: it cannot be changed; -EINVAL. */
int sysctl_set(const char *name, const char *value) MUST_CHECK;
/* The (first) number that such a setting was given, for whoever it concerns. */
uint64_t sysctl_number(const char *name, uint64_t otherwise);
void sysctl_done(void); /* end of the sandbox, tests */

/* Devices: open of a character device inode by number (fs/dev). -ENXIO. */
int chrdev_open(struct inode *ino, struct file *f) MUST_CHECK;

/* -- inotify.c: told by the generic code --------------------------------------------------------
 */
void fsnotify(const struct path *p, uint32_t mask,
              uint32_t cookie); /* the object itself and its parent */
void fsnotify_inode(struct inode *ino,
                    uint32_t mask); /* the object only (its link count changed) */
void fsnotify_name(struct dentry *dir, struct dentry *child, uint32_t mask, uint32_t cookie);

/* -- flock.c ------------------------------------------------------------------------------------
 */
void locks_release_files(struct inode *ino, struct files *owner); /* close(2) drops POSIX locks */
void locks_release_file(struct inode *ino, struct file *f); /* last close drops flock/OFD locks */
