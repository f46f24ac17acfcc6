/*
 * File locks. Record locks (POSIX: owned by a descriptor table; OFD: by an open file) have ranges,
 * which setting splits and merges; flock(2) locks cover the file and belong to an open file. All
 * locks of a file hang on its inode; a call that must wait parks on the inode's lock_wait and tries
 * again from the top when anything was released.
 *
 * Deadlock among POSIX locks: every waiting call notes whom it waits for; a chain that leads back
 * to the caller's own table is EDEADLK.
 */
#include "sentry/fs/flock.h"

#include <inttypes.h>

#include "abi/errno.h"

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

enum lock_kind {
    KIND_POSIX,
    KIND_OFD,
    KIND_FLOCK
};

struct file_lock {
    struct list_head link;     /* inode.locks */
    struct list_head all_link; /* locks, for /proc/locks */
    struct inode *inode;       /* borrowed: a lock goes before its inode */
    enum lock_kind kind;
    const void *owner;   /* struct files or struct file */
    int type;            /* LX_F_RDLCK, LX_F_WRLCK */
    uint64_t start, end; /* inclusive */
    uint32_t pid;
};

/* A POSIX call that waits. */
struct lock_waiter {
    struct list_head link;
    const void *owner, *blocker;
};

static struct list_head locks = {&locks, &locks};
static struct list_head waiters = {&waiters, &waiters};

static struct file_lock *lock_new(struct inode *ino, const struct file_lock *like)
{
    struct file_lock *l;

    if (limit_charge(LIMIT_LOCKS, 1) < 0)
        return NULL;
    l = kalloc(sizeof(*l));
    if (!l) {
        limit_release(LIMIT_LOCKS, 1);
        return NULL;
    }
    *l = *like;
    l->inode = ino;
    list_init(&l->link);
    list_init(&l->all_link);
    return l;
}

static void lock_insert(struct file_lock *l)
{
    list_add_tail(&l->inode->locks, &l->link);
    list_add_tail(&locks, &l->all_link);
}

static void lock_free(struct file_lock *l)
{
    if (!l)
        return;
    list_del_init(&l->link);
    list_del_init(&l->all_link);
    kfree(l);
    limit_release(LIMIT_LOCKS, 1);
}

static bool same_family(enum lock_kind a, enum lock_kind b)
{
    return (a == KIND_FLOCK) == (b == KIND_FLOCK);
}

static bool overlaps(const struct file_lock *a, const struct file_lock *b)
{
    return a->start <= b->end && b->start <= a->end;
}

/* A lock that stands in the way of want, or NULL. */
/* The conflicting lock that begins first: F_GETLK shows that one. */
static struct file_lock *find_conflict(struct inode *ino, const struct file_lock *want)
{
    struct file_lock *l, *first = NULL;

    list_for_each_entry (l, &ino->locks, link) {
        if (!same_family(l->kind, want->kind) || (l->kind == want->kind && l->owner == want->owner))
            continue;
        if (overlaps(l, want) && (l->type == LX_F_WRLCK || want->type == LX_F_WRLCK) &&
            (!first || l->start < first->start))
            first = l;
    }
    return first;
}

/* -- setting a range --------------------------------------------------------------------------- */

static bool mine(const struct file_lock *l, const struct file_lock *want)
{
    return l->kind == want->kind && l->owner == want->owner;
}

/* Takes want's range away from the owner's locks; spare is used when one is cut in two. */
static void carve(struct inode *ino, const struct file_lock *want, struct file_lock **spare)
{
    struct file_lock *l, *tmp;

    list_for_each_entry_safe (l, tmp, &ino->locks, link) {
        if (!mine(l, want) || !overlaps(l, want))
            continue;
        if (l->start < want->start && l->end > want->end) {
            struct file_lock *right = *spare;

            KASSERT(right != NULL); /* a range lies within one lock of an owner at most */
            *spare = NULL;
            right->type = l->type;
            right->pid = l->pid;
            right->start = want->end + 1;
            right->end = l->end;
            l->end = want->start - 1;
            lock_insert(right);
        } else if (l->start < want->start) {
            l->end = want->start - 1;
        } else if (l->end > want->end) {
            l->start = want->end + 1;
        } else {
            lock_free(l);
        }
    }
}

/* Joins neighbours of the same type. */
static void merge(struct inode *ino, struct file_lock *with)
{
    struct file_lock *l, *tmp;

    list_for_each_entry_safe (l, tmp, &ino->locks, link) {
        if (l == with || !mine(l, with) || l->type != with->type)
            continue;
        if (l->end != UINT64_MAX && l->end + 1 == with->start) {
            with->start = l->start;
            lock_free(l);
        } else if (with->end != UINT64_MAX && with->end + 1 == l->start) {
            with->end = l->end;
            lock_free(l);
        }
    }
}

static int set_range(struct inode *ino, const struct file_lock *want)
{
    struct file_lock *spare = lock_new(ino, want), *l = NULL;

    if (!spare)
        return -ENOLCK;
    if (want->type != LX_F_UNLCK) {
        l = lock_new(ino, want);
        if (!l) {
            lock_free(spare);
            return -ENOLCK;
        }
    }
    carve(ino, want, &spare);
    lock_free(spare);
    if (l) {
        lock_insert(l);
        merge(ino, l);
    }
    wait_queue_wake(&ino->lock_wait, 0);
    return 0;
}

/* -- deadlock ---------------------------------------------------------------------------------- */

static bool would_deadlock(const void *owner, const void *blocker)
{
    struct lock_waiter *w;
    bool moved = true;

    for (unsigned steps = 0; moved && steps < 64; steps++) {
        if (blocker == owner)
            return true;
        moved = false;
        list_for_each_entry (w, &waiters, link) {
            if (w->owner == blocker) {
                blocker = w->blocker;
                moved = true;
                break;
            }
        }
    }
    return false;
}

static void waiter_free(void *ptr)
{
    struct lock_waiter *w = ptr;

    list_del_init(&w->link);
    kfree(w);
}

/* Notes whom the call waits for. */
static int note_waiter(struct task *t, const void *owner, const void *blocker)
{
    struct lock_waiter *w = t->restart.ptr;

    if (w && t->restart.free_ptr != waiter_free)
        return 0;
    if (!w) {
        w = kalloc(sizeof(*w));
        if (!w)
            return -ENOMEM;
        list_init(&w->link);
        list_add_tail(&waiters, &w->link);
        t->restart.ptr = w;
        t->restart.free_ptr = waiter_free;
    }
    w->owner = owner;
    w->blocker = blocker;
    return 0;
}

/* -- fcntl ------------------------------------------------------------------------------------- */

static int range_of(const struct file *f, const struct lx_flock *lk, struct file_lock *want)
{
    int64_t start, end;

    switch (lk->l_whence) {
    case LX_SEEK_SET:
        start = 0;
        break;
    case LX_SEEK_CUR:
        start = (int64_t)f->pos;
        break;
    case LX_SEEK_END:
        inode_refresh(f->inode);
        start = (int64_t)f->inode->size;
        break;
    default:
        return -EINVAL;
    }
    if (__builtin_add_overflow(start, lk->l_start, &start))
        return -EOVERFLOW;
    if (start < 0)
        return -EINVAL;
    if (lk->l_len > 0) {
        if (__builtin_add_overflow(start, lk->l_len - 1, &end))
            return -EOVERFLOW;
    } else if (lk->l_len < 0) {
        end = start - 1;
        if (__builtin_add_overflow(start, lk->l_len, &start) || start < 0)
            return -EINVAL;
    } else {
        end = INT64_MAX;
    }
    want->start = (uint64_t)start;
    want->end = (uint64_t)end;
    return 0;
}

static bool is_ofd(int cmd)
{
    return cmd == LX_F_OFD_GETLK || cmd == LX_F_OFD_SETLK || cmd == LX_F_OFD_SETLKW;
}

static int decode(struct task *t, struct file *f, int cmd, gaddr_t arg, struct lx_flock *lk,
                  struct file_lock *want)
{
    int r = get_user(t, lk, arg);

    if (r < 0)
        return r;
    if (is_ofd(cmd) && lk->l_pid != 0)
        return -EINVAL;
    if (lk->l_type != LX_F_RDLCK && lk->l_type != LX_F_WRLCK && lk->l_type != LX_F_UNLCK)
        return -EINVAL;
    *want = (struct file_lock){
        .kind = is_ofd(cmd) ? KIND_OFD : KIND_POSIX,
        .owner = is_ofd(cmd) ? (const void *)f : (const void *)t->files,
        .type = lk->l_type,
        .pid = t->group->pid,
    };
    return range_of(f, lk, want);
}

struct sys_res fcntl_getlk(struct task *t, struct file *f, int cmd, gaddr_t arg)
{
    struct file_lock want, *l;
    struct lx_flock lk;
    int r = decode(t, f, cmd, arg, &lk, &want);

    if (r == 0 && want.type == LX_F_UNLCK && !is_ofd(cmd))
        r = -EINVAL;
    if (r < 0)
        return sys_ret(r);
    l = want.type == LX_F_UNLCK ? NULL : find_conflict(f->inode, &want);
    if (l) {
        lk.l_type = (int16_t)l->type;
        lk.l_whence = LX_SEEK_SET;
        lk.l_start = (int64_t)l->start;
        lk.l_len = l->end >= INT64_MAX ? 0 : (int64_t)(l->end - l->start + 1);
        lk.l_pid = l->kind == KIND_OFD ? -1 : (int32_t)l->pid;
    } else {
        lk.l_type = LX_F_UNLCK;
    }
    return sys_ret(put_user(t, arg, &lk));
}

struct sys_res fcntl_setlk(struct task *t, struct file *f, int cmd, gaddr_t arg)
{
    struct file_lock want, *l;
    struct lx_flock lk;
    int r = decode(t, f, cmd, arg, &lk, &want);

    if (r == 0 && ((want.type == LX_F_RDLCK && !file_readable(f)) ||
                   (want.type == LX_F_WRLCK && !file_writable(f))))
        r = -EBADF;
    if (r < 0)
        return sys_ret(r);
    l = want.type == LX_F_UNLCK ? NULL : find_conflict(f->inode, &want);
    if (!l)
        return sys_ret(set_range(f->inode, &want));
    if (cmd == LX_F_SETLK || cmd == LX_F_OFD_SETLK)
        return sys_ret(-EAGAIN);
    if (want.kind == KIND_POSIX) {
        if (l->kind == KIND_POSIX && would_deadlock(want.owner, l->owner))
            return sys_ret(-EDEADLK);
        r = note_waiter(t, want.owner, l->owner);
        if (r < 0)
            return sys_ret(r);
    }
    r = task_wait_on(t, &f->inode->lock_wait, 0);
    return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTSYS);
}

/* -- flock ------------------------------------------------------------------------------------- */

static void drop_flock(struct inode *ino, const struct file *f)
{
    struct file_lock *l, *tmp;

    list_for_each_entry_safe (l, tmp, &ino->locks, link) {
        if (l->kind == KIND_FLOCK && l->owner == f) {
            lock_free(l);
            wait_queue_wake(&ino->lock_wait, 0);
        }
    }
}

struct sys_res vfs_flock(struct task *t, struct file *f, int op)
{
    struct file_lock want = {
        .kind = KIND_FLOCK, .owner = f, .end = UINT64_MAX, .pid = t->group->pid};
    struct file_lock *l;
    int r;

    switch (op & ~LX_LOCK_NB) {
    case LX_LOCK_UN:
        drop_flock(f->inode, f);
        return sys_ret(0);
    case LX_LOCK_SH:
        want.type = LX_F_RDLCK;
        break;
    case LX_LOCK_EX:
        want.type = LX_F_WRLCK;
        break;
    default:
        return sys_ret(-EINVAL);
    }
    list_for_each_entry (l, &f->inode->locks, link) {
        if (l->kind == KIND_FLOCK && l->owner == f && l->type == want.type)
            return sys_ret(0);
    }
    /* A conversion gives up the old lock first: it is not atomic, as flock(2) says. */
    drop_flock(f->inode, f);
    if (!find_conflict(f->inode, &want)) {
        l = lock_new(f->inode, &want);
        if (!l)
            return sys_ret(-ENOLCK);
        lock_insert(l);
        return sys_ret(0);
    }
    if (op & LX_LOCK_NB)
        return sys_ret(-EAGAIN);
    r = task_wait_on(t, &f->inode->lock_wait, 0);
    return r < 0 ? sys_ret(r) : task_block(t, -ERESTARTSYS);
}

/* -- releasing --------------------------------------------------------------------------------- */

static void release_owner(struct inode *ino, const void *owner, bool posix)
{
    struct file_lock *l, *tmp;
    bool any = false;

    list_for_each_entry_safe (l, tmp, &ino->locks, link) {
        if (l->owner == owner && (l->kind == KIND_POSIX) == posix) {
            lock_free(l);
            any = true;
        }
    }
    if (any)
        wait_queue_wake(&ino->lock_wait, 0);
}

void locks_release_files(struct inode *ino, struct files *owner)
{
    if (ino)
        release_owner(ino, owner, true);
}

void locks_release_file(struct inode *ino, struct file *f)
{
    if (ino)
        release_owner(ino, f, false);
}

int locks_show(struct buf *out)
{
    static const char *const kinds[] = {"POSIX ", "OFDLCK", "FLOCK "};
    struct file_lock *l;
    unsigned n = 1;

    list_for_each_entry (l, &locks, all_link) {
        uint64_t dev = l->inode->super->dev;

        (void)buf_printf(out, "%u: %s ADVISORY  %s %d %02x:%02x:%" PRIu64 " %" PRIu64 " ", n++,
                         kinds[l->kind], l->type == LX_F_WRLCK ? "WRITE" : "READ ",
                         l->kind == KIND_OFD ? -1 : (int)l->pid, lx_major(dev), lx_minor(dev),
                         l->inode->ino, l->start);
        if (l->end >= INT64_MAX)
            (void)buf_puts(out, "EOF\n");
        else
            (void)buf_printf(out, "%" PRIu64 "\n", l->end);
    }
    return buf_error(out);
}
