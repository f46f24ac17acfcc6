/*
 * inotify. An instance is a file with a queue of events and a list of marks; a mark hangs on an
 * inode and says what its instance wants to know. The generic code reports through fsnotify (an
 * object: its own marks, and those of its parent with the name) and fsnotify_name (an entry of a
 * directory). An event that repeats the last one of the queue is dropped; a full queue gets one
 * overflow event.
 */
#include "sentry/fs/inotify.h"

#include <inttypes.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/ioctl.h"
#include "abi/misc.h"
#include "abi/poll.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

#define QUEUE_MAX      16384u
#define USER_INSTANCES 128u
#define USER_WATCHES   65536u
/* What a directory hears about its children. */
#define CHILD_EVENTS (LX_IN_ACCESS | LX_IN_MODIFY | LX_IN_ATTRIB | LX_IN_CLOSE | LX_IN_OPEN)

struct event {
    struct list_head link;
    struct lx_inotify_event ev; /* ev.len: padded length of the name */
    size_t name_len;
    char name[];
};

struct instance {
    struct list_head events, marks;
    uint32_t nevents;
    size_t bytes;
    struct list_head all_link; /* instances */
    uint32_t uid;              /* whose it is: what a user may have is counted */
    uint32_t nmarks;
    int next_wd;
    bool overflowed; /* the last event is an overflow */
    struct wait_queue wait;
};

struct inotify_mark {
    struct list_head inode_link; /* inode.marks */
    struct list_head link;       /* instance.marks */
    struct instance *owner;
    struct inode *inode; /* counted */
    struct mount *mnt;   /* counted: keeps the inode's super */
    uint32_t mask;
    int wd;
};

static struct list_head instances = {&instances, &instances};

struct user_count {
    uint64_t instances, marks;
};

static struct user_count count_of(uint32_t uid)
{
    struct user_count n = {0};
    struct instance *in;

    list_for_each_entry (in, &instances, all_link) {
        if (in->uid == uid) {
            n.instances++;
            n.marks += in->nmarks;
        }
    }
    return n;
}

/* -- the queue --------------------------------------------------------------------------------- */

static size_t padded(size_t name_len)
{
    size_t unit = sizeof(struct lx_inotify_event);

    return name_len ? (name_len + 1 + unit - 1) / unit * unit : 0;
}

static bool repeats(const struct instance *in, const struct event *e)
{
    const struct event *last;

    if (list_empty(&in->events))
        return false;
    last = list_entry(in->events.prev, struct event, link);
    return last->ev.wd == e->ev.wd && last->ev.mask == e->ev.mask &&
           last->ev.cookie == e->ev.cookie && last->name_len == e->name_len &&
           memcmp(last->name, e->name, e->name_len) == 0;
}

static struct event *event_new(int wd, uint32_t mask, uint32_t cookie, const char *name, size_t len)
{
    struct event *e;

    if (limit_charge(LIMIT_INOTIFY, 1) < 0)
        return NULL;
    e = kalloc(sizeof(*e) + padded(len));
    if (!e) {
        limit_release(LIMIT_INOTIFY, 1);
        return NULL;
    }
    e->ev = (struct lx_inotify_event){
        .wd = wd, .mask = mask, .cookie = cookie, .len = (uint32_t)padded(len)};
    e->name_len = len;
    if (len)
        memcpy(e->name, name, len);
    list_init(&e->link);
    return e;
}

static void event_free(struct event *e)
{
    list_del_init(&e->link);
    kfree(e);
    limit_release(LIMIT_INOTIFY, 1);
}

static void enqueue(struct instance *in, struct event *e)
{
    list_add_tail(&in->events, &e->link);
    in->nevents++;
    in->bytes += sizeof(e->ev) + e->ev.len;
    wait_queue_wake(&in->wait, LX_POLLIN | LX_POLLRDNORM);
}

static void overflow(struct instance *in)
{
    struct event *e = in->overflowed ? NULL : event_new(-1, LX_IN_Q_OVERFLOW, 0, NULL, 0);

    if (!e)
        return;
    in->overflowed = true;
    enqueue(in, e);
}

static void post(struct instance *in, int wd, uint32_t mask, uint32_t cookie, const char *name,
                 size_t len)
{
    struct event *e = in->nevents < sysctl_number("fs.inotify.max_queued_events", QUEUE_MAX)
                          ? event_new(wd, mask, cookie, name, len)
                          : NULL;

    if (!e) {
        overflow(in);
        return;
    }
    if (repeats(in, e)) {
        event_free(e);
        return;
    }
    in->overflowed = false;
    enqueue(in, e);
}

static void dequeue(struct instance *in, struct event *e)
{
    in->nevents--;
    in->bytes -= sizeof(e->ev) + e->ev.len;
    if (e->ev.mask == LX_IN_Q_OVERFLOW)
        in->overflowed = false;
    event_free(e);
}

/* -- marks ------------------------------------------------------------------------------------- */

static void mark_free(struct inotify_mark *m)
{
    m->owner->nmarks--;
    list_del_init(&m->inode_link);
    list_del_init(&m->link);
    inode_put(m->inode);
    mount_put(m->mnt);
    kfree(m);
    limit_release(LIMIT_INOTIFY, 1);
}

static void mark_end(struct inotify_mark *m)
{
    post(m->owner, m->wd, LX_IN_IGNORED, 0, NULL, 0);
    mark_free(m);
}

static void tell(struct inode *ino, uint32_t mask, uint32_t flags, uint32_t cookie,
                 const struct dentry *child)
{
    struct inotify_mark *m, *tmp;

    list_for_each_entry_safe (m, tmp, &ino->marks, inode_link) {
        if (!(m->mask & mask) || (child && child->unlinked && (m->mask & LX_IN_EXCL_UNLINK)))
            continue;
        post(m->owner, m->wd, mask | flags, cookie, child ? child->name : NULL,
             child ? child->name_len : 0);
        if (m->mask & LX_IN_ONESHOT)
            mark_end(m);
    }
}

void fsnotify(const struct path *p, uint32_t mask, uint32_t cookie)
{
    struct dentry *d = p->dentry, *up = d ? d->parent : NULL;
    uint32_t dir;

    if (!d || !d->inode)
        return;
    dir = LX_S_ISDIR(d->inode->mode) ? LX_IN_ISDIR : 0;
    if (up && up->inode && (mask & CHILD_EVENTS) && !list_empty(&up->inode->marks))
        tell(up->inode, mask & CHILD_EVENTS, dir, cookie, d);
    if (mask & (LX_IN_MOVE_SELF | LX_IN_DELETE_SELF))
        dir = 0; /* programs rely on these two coming without it */
    if (!list_empty(&d->inode->marks))
        tell(d->inode, mask, dir, cookie, NULL);
}

void fsnotify_inode(struct inode *ino, uint32_t mask)
{
    if (!list_empty(&ino->marks))
        tell(ino, mask, LX_S_ISDIR(ino->mode) ? LX_IN_ISDIR : 0, 0, NULL);
}

void fsnotify_name(struct dentry *dir, struct dentry *child, uint32_t mask, uint32_t cookie)
{
    if (dir->inode && !list_empty(&dir->inode->marks))
        tell(dir->inode, mask & ~(uint32_t)LX_IN_ISDIR, mask & LX_IN_ISDIR, cookie, child);
}

void inotify_inode_removed(struct inode *ino)
{
    while (!list_empty(&ino->marks)) {
        struct inotify_mark *m = list_first(&ino->marks, struct inotify_mark, inode_link);

        if (m->mask & LX_IN_DELETE_SELF)
            post(m->owner, m->wd, LX_IN_DELETE_SELF, 0, NULL, 0);
        mark_end(m);
    }
}

/* -- the file ---------------------------------------------------------------------------------- */

static int64_t inotify_read(struct file *f, struct uio *to, uint64_t *pos)
{
    struct instance *in = f->priv;
    int64_t done = 0;

    (void)pos;
    while (!list_empty(&in->events)) {
        struct event *e = list_first(&in->events, struct event, link);
        size_t n = sizeof(e->ev) + e->ev.len;
        int64_t c;

        if (to->left < n)
            return done ? done : -EINVAL;
        c = uio_copy_to(to, &e->ev, sizeof(e->ev));
        if (c == (int64_t)sizeof(e->ev) && e->ev.len)
            c += uio_copy_to(to, e->name, e->ev.len);
        if (c < (int64_t)n)
            return done ? done : -EFAULT;
        done += c;
        dequeue(in, e);
    }
    return done ? done : -EAGAIN;
}

static uint32_t inotify_poll(struct file *f, struct poll_table *pt)
{
    struct instance *in = f->priv;

    poll_wait(pt, &in->wait);
    return list_empty(&in->events) ? 0 : LX_POLLIN | LX_POLLRDNORM;
}

static struct sys_res inotify_ioctl(struct file *f, struct task *t, uint32_t cmd, uint64_t arg)
{
    struct instance *in = f->priv;
    int32_t n = (int32_t)in->bytes;

    if (cmd != LX_FIONREAD)
        return sys_ret(-ENOTTY);
    return sys_ret(put_user(t, GADDR(arg), &n));
}

static void inotify_release(struct file *f)
{
    struct instance *in = f->priv;

    if (!in)
        return;
    list_del_init(&in->all_link);
    while (!list_empty(&in->marks))
        mark_free(list_first(&in->marks, struct inotify_mark, link));
    while (!list_empty(&in->events))
        dequeue(in, list_first(&in->events, struct event, link));
    wait_queue_done(&in->wait);
    kfree(in);
    f->priv = NULL;
}

static int inotify_fdinfo(struct file *f, struct buf *out)
{
    struct instance *in = f->priv;
    struct inotify_mark *m;

    list_for_each_entry (m, &in->marks, link)
        (void)buf_printf(out,
                         "inotify wd:%x ino:%" PRIx64 " sdev:%" PRIx64 " mask:%x ignored_mask:0\n",
                         (unsigned)m->wd, m->inode->ino, m->inode->super->dev,
                         m->mask & (LX_IN_ALL_EVENTS | LX_IN_EXCL_UNLINK | LX_IN_ONESHOT));
    return buf_error(out);
}

static const struct file_ops inotify_ops = {
    .read = inotify_read,
    .poll = inotify_poll,
    .async = true,
    .ioctl = inotify_ioctl,
    .release = inotify_release,
    .show_fdinfo = inotify_fdinfo,
};

int inotify_new(const struct task *t, uint32_t flags, struct file **ret_file)
{
    struct instance *in;
    int r;

    if (count_of(t->cred->uid).instances >=
        sysctl_number("fs.inotify.max_user_instances", USER_INSTANCES))
        return -EMFILE;
    in = kalloc(sizeof(*in));
    if (!in)
        return -ENOMEM;
    in->uid = t->cred->uid;
    list_init(&in->all_link);
    list_init(&in->events);
    list_init(&in->marks);
    wait_queue_init(&in->wait);
    in->next_wd = 1;
    r = anon_file_new("[inotify]", &inotify_ops, LX_O_RDONLY | (flags & LX_O_NONBLOCK), in,
                      ret_file);
    if (r < 0) {
        kfree(in);
        return r;
    }
    list_add_tail(&instances, &in->all_link);
    return 0;
}

static struct inotify_mark *find_mark(struct instance *in, const struct inode *ino)
{
    struct inotify_mark *m;

    list_for_each_entry (m, &in->marks, link) {
        if (m->inode == ino)
            return m;
    }
    return NULL;
}

int inotify_add(struct file *f, const struct path *p, uint32_t mask)
{
    struct instance *in = f->priv;
    struct inode *ino = p->dentry->inode;
    struct inotify_mark *m;
    int r;

    if (f->ops != &inotify_ops)
        return -EINVAL;
    m = find_mark(in, ino);
    if (m) {
        uint32_t keep = mask & LX_IN_MASK_ADD ? m->mask : 0;

        if (mask & LX_IN_MASK_CREATE)
            return -EEXIST;
        m->mask = keep | (mask & ~(uint32_t)LX_IN_MASK_ADD);
        return m->wd;
    }
    if (count_of(in->uid).marks >= sysctl_number("fs.inotify.max_user_watches", USER_WATCHES))
        return -ENOSPC;
    r = limit_charge(LIMIT_INOTIFY, 1);
    if (r < 0)
        return r;
    m = kalloc(sizeof(*m));
    if (!m) {
        limit_release(LIMIT_INOTIFY, 1);
        return -ENOMEM;
    }
    m->owner = in;
    m->inode = inode_get(ino);
    m->mnt = mount_get(p->mnt);
    m->mask = mask;
    m->wd = in->next_wd++;
    list_add_tail(&ino->marks, &m->inode_link);
    list_add_tail(&in->marks, &m->link);
    in->nmarks++;
    return m->wd;
}

int inotify_remove(struct file *f, int wd)
{
    struct instance *in = f->priv;
    struct inotify_mark *m;

    if (f->ops != &inotify_ops)
        return -EINVAL;
    list_for_each_entry (m, &in->marks, link) {
        if (m->wd == wd) {
            mark_end(m);
            return 0;
        }
    }
    return -EINVAL;
}
