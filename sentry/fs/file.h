#pragma once
/*
 * Open file descriptions and descriptor tables.
 *
 * struct file is counted: by descriptor slots, by messages in flight (SCM_RIGHTS), by epoll while
 * it works on it, by vmas. struct files (the table) is counted by the tasks that share it.
 * File operations never block: -EAGAIN means "nothing happened, wait for poll".
 */
#include "lib/compiler.h"

#include "abi/file.h"
#include "abi/poll.h"
#include "abi/types.h"

#include "lib/bitmap.h"
#include "lib/list.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/syscall.h"

struct map_backing;
struct poll_table;
struct buf;

/* One entry of a directory listing; return false when the buffer is full (that entry is asked for
 * again). */
struct dir_context {
    bool (*emit)(struct dir_context *dc, const char *name, size_t len, uint64_t ino, uint32_t type,
                 uint64_t next_pos);
};

struct file_ops {
    /* Bytes, 0 at end of file, -EAGAIN, -errno. *pos is advanced by the op; streams ignore it (pos
     * is NULL for files without FMODE_POS). */
    int64_t (*read)(struct file *f, struct uio *to, uint64_t *pos);
    int64_t (*write)(struct file *f, struct uio *from, uint64_t *pos);
    bool endless; /* a short read is a step: there always is more */
    /* NULL: -ESPIPE. vfs_seek_generic for plain files. */
    int64_t (*seek)(struct file *f, int64_t off, int whence);
    bool seek_ignored; /* without a seek op: lseek changes nothing and returns the position, as for
                          eventfd */
    /* LX_POLL* now; registers on its wait queues through poll_wait(pt, queue) when pt is not NULL.
     * NULL op: always in+out. */
    uint32_t (*poll)(struct file *f, struct poll_table *pt);
    bool async; /* O_ASYNC works: what poll waits on is woken for every event */
    /* May return SYS_BLOCK (tty drain). NULL: -ENOTTY. Generic FIONBIO, FIOCLEX, FIOASYNC are
     * handled before. */
    struct sys_res (*ioctl)(struct file *f, struct task *t, uint32_t cmd, uint64_t arg);
    /* Backing for a mapping. shared/prot as asked; NULL: -ENODEV. */
    int (*map)(struct file *f, bool shared, uint64_t prot, struct map_backing *ret_backing);
    /* Emits entries from f->pos on, updating f->pos; 0 or -errno. */
    int (*readdir)(struct file *f, struct dir_context *dc);
    int (*fsync)(struct file *f, bool datasync);
    int (*fallocate)(struct file *f, int mode, uint64_t off, uint64_t len);
    int (*setfl)(struct file *f, uint32_t flags); /* may refuse; NULL: fine */
    /* A descriptor of the table `owner` is closed; the file may live on. */
    void (*flush)(struct file *f, const struct files *owner);
    void (*release)(struct file *f); /* last reference gone: free priv */
    /* Extra lines of /proc/PID/fdinfo/N. */
    int (*show_fdinfo)(struct file *f, struct buf *out);
};

/* Who gets the signals of O_ASYNC. */
struct file_owner {
    int type;           /* LX_F_OWNER_* */
    uint32_t id;        /* of the thread, process or process group; 0: nobody */
    int signal;         /* F_SETSIG; 0: SIGIO without details */
    uint32_t uid, euid; /* of the task that set it: it must be allowed to send them */
};

struct file {
    uint32_t ref;
    const struct file_ops *ops;
    struct path path; /* owned; may be {NULL, dentry} never: anonymous files have a path on the anon
                         super */
    struct inode *inode; /* = path.dentry->inode, counted by the path */
    uint32_t flags;      /* LX_O_ACCMODE | status flags (O_APPEND O_NONBLOCK O_DIRECT O_PATH ...) */
    uint64_t pos;
    void *priv;
    struct list_head epoll_items; /* epoll.c: items that watch this file */
    uint32_t inflight;            /* references from queued SCM_RIGHTS messages (net/scm.c) */
    struct file_owner owner;
    struct file_async *async; /* O_ASYNC is set; owned */
    bool created;             /* this open has made the inode: F_CREATED_QUERY */
    const char *anon_name;    /* static: "[eventfd]" of anonymous files, "pipe" or "socket" of those
                               * with an inode  of their own ("pipe:[123]"); NULL for files that have a
                               * path. file_anon_name */
    struct file *next_dead;   /* file.c: last references dropped while another one is released */
};

/* A stream: no position, pread and lseek fail with -ESPIPE, blocking writes go on until everything
 * is written. */
static inline bool file_is_stream(const struct file *f)
{
    return f->ops->seek == NULL;
}
static inline bool file_nonblock(const struct file *f)
{
    return (f->flags & LX_O_NONBLOCK) != 0;
}

static inline bool file_readable(const struct file *f)
{
    uint32_t acc = f->flags & LX_O_ACCMODE;
    return (acc == LX_O_RDONLY || acc == LX_O_RDWR) && !(f->flags & LX_O_PATH);
}
static inline bool file_writable(const struct file *f)
{
    uint32_t acc = f->flags & LX_O_ACCMODE;
    return (acc == LX_O_WRONLY || acc == LX_O_RDWR) && !(f->flags & LX_O_PATH);
}

/* path and its inode: references are taken. Charged to LIMIT_FILES: -ENFILE. */
int file_new(const struct path *p, const struct file_ops *ops, uint32_t flags,
             struct file **ret_file) MUST_CHECK;
struct file *file_get(struct file *f);
void file_put(struct file *f);
/* A file on the anonymous super: name like "[eventfd]" (shown as anon_inode:[eventfd]). */
int anon_file_new(const char *name, const struct file_ops *ops, uint32_t flags, void *priv,
                  struct file **ret_file) MUST_CHECK;
/* The same with an inode of its own: "pipe:[123]", "socket:[123]"; mode S_IFIFO or S_IFSOCK with
 * permission bits. */
int anon_inode_file_new(const char *prefix, uint32_t mode, const struct file_ops *ops,
                        uint32_t flags, void *priv, struct file **ret_file) MUST_CHECK;
/* A second file on the inode of an anonymous one (the other end of a pipe). */
int anon_file_reopen(const struct file *f, const struct file_ops *ops, uint32_t flags, void *priv,
                     struct file **ret_file) MUST_CHECK;
/* "anon_inode:[eventfd]", "pipe:[123]" into buf: length, or -ENOENT when f has a real path (use
 * path_name). */
int64_t file_anon_name(const struct file *f, char *buf, size_t cap) MUST_CHECK;
/* An inode, counted, on the anonymous super (sockets before they have a file). */
int anon_inode_new(uint32_t mode, struct inode **ret_inode) MUST_CHECK;
int64_t vfs_seek_generic(struct file *f, int64_t off, int whence, uint64_t size);

/* Generic read/write: mode, O_APPEND, RLIMIT_FSIZE (SIGXFSZ), access, notify; pos NULL: f->pos.
 * -EAGAIN as the op. */
int64_t vfs_read(struct task *t, struct file *f, struct uio *to, uint64_t *pos) MUST_CHECK;
/* The most that vfs_read, and vfs_write to a regular file, move at once: some 10 ms. */
#define VFS_STEP ((size_t)16 << 20)
int64_t vfs_write(struct task *t, struct file *f, struct uio *from, uint64_t *pos) MUST_CHECK;
/* A write of many steps has the turn of its inode (counted) until it frees it; NULL: no memory. */
struct write_turn *write_turn_new(struct inode *ino) MUST_CHECK;
void write_turn_free(void *p);
/* NULL: whoever holds mine (or NULL) may write. Else what wakes it when it may try again. */
struct wait_queue *write_turn_of_other(const struct inode *ino, const struct write_turn *mine);
/* -EFBIG with SIGXFSZ when a write at pos is beyond RLIMIT_FSIZE; else 0, *len cut to what fits.
 * Regular files only. */
int file_size_limit(struct task *t, const struct inode *ino, uint64_t pos, uint64_t *len)
    MUST_CHECK;
/* Whole reads for the kernel itself (exec headers): bytes. */
int64_t kernel_read(struct file *f, void *buf, size_t len, uint64_t pos) MUST_CHECK;

/* -- async.c ----------------------------------------------------------------------------------- */
/* -ESRCH: there is no such thread, process (LX_F_OWNER_PID) or group. */
int file_set_owner(struct file *f, const struct task *t, int type, uint32_t id) MUST_CHECK;
/* As F_SETOWN has it: a negative number is a process group. -EINVAL. */
int file_set_owner_number(struct file *f, const struct task *t, int32_t who) MUST_CHECK;
int32_t file_owner_number(const struct file *f);
/* O_ASYNC; fd is what the signals name. -ENOTTY: not for this type of file. -ENOMEM. */
int file_set_async(struct file *f, int fd, bool on) MUST_CHECK;
/* The last reference of f has gone. */
void file_async_released(struct file *f);

/* -- poll.c ------------------------------------------------------------------------------------ */
struct poll_table {
    struct task *task; /* registers task waits; or NULL with a callback (epoll) */
    int (*queue)(struct poll_table *pt, struct wait_queue *q);
    uint32_t mask;
    int error; /* -ENOMEM from registering */
};
void poll_wait(struct poll_table *pt, struct wait_queue *q);
uint32_t vfs_poll(struct file *f, struct poll_table *pt);
/* Parks t until f is ready for mask (LX_POLLIN ...): the tail of every blocking read/write. The
 * call keeps f open until it ends (t->restart.ptr, if that is free). */
struct sys_res file_block(struct task *t, struct file *f, uint32_t mask, int intr);
void file_hold(struct task *t, struct file *f);
/* fd_get, but a re-run gets the file that file_block kept, whatever fd means by now. */
struct file *fd_get_held(struct task *t, int fd);
#define POLL_DEFAULT (LX_POLLIN | LX_POLLOUT | LX_POLLRDNORM | LX_POLLWRNORM)

/* -- copy.c ------------------------------------------------------------------------------------ */
/* What a transfer between two files waits for when it returns -EAGAIN. */
enum copy_wait {
    COPY_WAIT_IN,
    COPY_WAIT_OUT
};
/* sendfile, copy_file_range: moves up to len bytes from in, which has a position (in_pos NULL: its
 * own). Bytes, 0 at the end of in, -EAGAIN (out is full), -errno. Reading goes no further than what
 * was written. */
int64_t vfs_copy(struct task *t, struct file *in, uint64_t *in_pos, struct file *out,
                 uint64_t *out_pos, uint64_t len) MUST_CHECK;
/* splice: one of them is a pipe. Bytes, 0 at the end, -EAGAIN and *ret_wait. */
int64_t vfs_splice(struct task *t, struct file *in, uint64_t *in_pos, struct file *out,
                   uint64_t *out_pos, uint64_t len, enum copy_wait *ret_wait) MUST_CHECK;

/* -- fdtable.c ----------------------------------------------------------------------------------
 */
struct fd_slot {
    struct file *file; /* counted */
    bool cloexec;
};
struct files {
    uint32_t ref;
    struct fd_slot *slots;
    uint32_t nslots;
    struct bitmap used;
    uint32_t nopen;
};
int files_new(struct files **ret_files) MUST_CHECK;
int files_dup(const struct files *from, struct files **ret_files) MUST_CHECK;
struct files *files_get(struct files *fs);
void files_put(struct files *fs); /* the last put closes everything */
/* Counted file, or NULL. fd_get_path_ok: also O_PATH descriptors. */
struct file *fd_get(struct task *t, int fd);
struct file *fd_get_path_ok(struct task *t, int fd);
/* Lowest free number >= min; -EMFILE. The reference is handed over on success only. */
int fd_install(struct task *t, struct file *f, bool cloexec, int min) MUST_CHECK;
/* Whether an fd_install from 0 on, as long as nothing else is installed, will work: 0, -EMFILE,
 * -ENOMEM. */
int fd_prepare(struct task *t) MUST_CHECK;
/* dup2 semantics: closes what is there. */
int fd_replace(struct task *t, struct file *f, bool cloexec, int fd) MUST_CHECK;
int fdtable_close(struct task *t, int fd); /* 0 or -EBADF */
void files_close_on_exec(struct task *t, struct files *fs);
void file_close(struct files *owner, struct file *f CONSUMES); /* posix locks, then put */

/* -- fs_info ------------------------------------------------------------------------------------
 */
struct fs_info {
    uint32_t ref;
    struct path cwd, root;
    uint32_t umask;
};
int fs_info_new(const struct path *root, const struct path *cwd, struct fs_info **ret_fs)
    MUST_CHECK;
int fs_info_dup(const struct fs_info *from, struct fs_info **ret_fs) MUST_CHECK;
struct fs_info *fs_info_get(struct fs_info *fs);
void fs_info_put(struct fs_info *fs);

/* -- pieces with their own files ------------------------------------------------------------------
 */
int pipe_new(uint32_t flags, struct file **ret_read, struct file **ret_write) MUST_CHECK;
int fifo_open(struct inode *ino, struct file *f)
    MUST_CHECK; /* may return -EAGAIN: wait on the inode's pipe (see open) */
struct wait_queue *fifo_wait_queue(struct inode *ino);
/* epoll.c: the last reference of f has gone. */
void epoll_file_released(struct file *f);
/* A host descriptor (the caller's stdin/stdout/stderr) as a guest file. On success the file owns
 * fd; name is static. */
int host_file_new(int fd, uint32_t flags, const char *name, struct file **ret_file) MUST_CHECK;
