/*
 * Control messages of sendmsg and recvmsg: descriptors (SCM_RIGHTS) and credentials. The guest's
 * buffer is copied once and parsed from the copy.
 */
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/net/socket.h"
#include "sentry/sys/sock_util.h"

#define CONTROL_MAX 20480u

static int cmsg_fds(struct task *t, const uint8_t *data, uint64_t len, struct unix_send *s)
{
    uint32_t n = (uint32_t)(len / sizeof(int32_t));

    if (!s->fds) {
        s->fds = kalloc(sizeof(*s->fds));
        if (!s->fds)
            return -ENOMEM;
    }
    if (s->fds->n + n > LX_SCM_MAX_FD)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        struct file *f;
        int32_t fd;

        memcpy(&fd, data + i * sizeof(fd), sizeof(fd));
        f = fd_get_path_ok(t, fd);
        if (!f)
            return -EBADF;
        s->fds->files[s->fds->n++] = f;
    }
    return 0;
}

static bool cred_uid_ok(const struct task *t, uint32_t uid)
{
    const struct cred *c = t->cred;

    return uid == c->uid || uid == c->euid || uid == c->suid || cred_capable(c, LX_CAP_SETUID);
}

static bool cred_gid_ok(const struct task *t, uint32_t gid)
{
    const struct cred *c = t->cred;

    return gid == c->gid || gid == c->egid || gid == c->sgid || cred_capable(c, LX_CAP_SETGID);
}

static int cmsg_cred(struct task *t, const uint8_t *data, uint64_t len, struct unix_send *s)
{
    struct lx_ucred cred;

    if (len != sizeof(cred))
        return -EINVAL;
    memcpy(&cred, data, sizeof(cred));
    if ((uint32_t)cred.pid != t->group->pid && !cred_capable(t->cred, LX_CAP_SYS_ADMIN))
        return -EPERM;
    if (!cred_uid_ok(t, cred.uid) || !cred_gid_ok(t, cred.gid))
        return -EPERM;
    if (!thread_group_by_pid((uint32_t)cred.pid))
        return -ESRCH;
    s->cred = cred;
    return 0;
}

static int cmsg_walk(struct task *t, const uint8_t *buf, uint64_t len, struct unix_send *s)
{
    uint64_t off = 0;

    while (len - off >= sizeof(struct lx_cmsghdr)) {
        struct lx_cmsghdr h;
        const uint8_t *data = buf + off + sizeof(h);
        int r = 0;

        memcpy(&h, buf + off, sizeof(h));
        if (h.cmsg_len < sizeof(h) || h.cmsg_len > len - off)
            return -EINVAL;
        if (h.cmsg_level == LX_SOL_SOCKET) {
            if (h.cmsg_type == LX_SCM_RIGHTS)
                r = cmsg_fds(t, data, h.cmsg_len - sizeof(h), s);
            else if (h.cmsg_type == LX_SCM_CREDENTIALS)
                r = cmsg_cred(t, data, h.cmsg_len - sizeof(h), s);
            else
                r = -EINVAL;
        }
        if (r < 0)
            return r;
        if (LX_CMSG_ALIGN(h.cmsg_len) > len - off)
            break;
        off += LX_CMSG_ALIGN(h.cmsg_len);
    }
    return 0;
}

int cmsg_parse(struct task *t, gaddr_t control, uint64_t len, struct unix_send *s)
{
    uint8_t *buf;
    int r;

    if (len > CONTROL_MAX)
        return -ENOBUFS;
    if (len == 0)
        return 0;
    buf = kalloc(len);
    if (!buf)
        return -ENOBUFS;
    r = copy_from_user(t, buf, control, len);
    if (r == 0)
        r = cmsg_walk(t, buf, len, s);
    kfree(buf);
    if (r == 0 && s->fds && s->fds->n == 0) {
        kfree(s->fds);
        s->fds = NULL;
    }
    /* As on Linux, nobody has more descriptors under way than it may have open. */
    if (r == 0 && s->fds &&
        scm_inflight() + s->fds->n > task_rlimit(t, LX_RLIMIT_NOFILE)->rlim_cur &&
        !cred_capable(t->cred, LX_CAP_SYS_RESOURCE))
        r = -ETOOMANYREFS;
    if (r < 0) {
        scm_fds_put(s->fds);
        s->fds = NULL;
    }
    return r;
}

/* -- delivery --------------------------------------------------------------------------------- */

struct cmsg_out {
    struct task *task;
    gaddr_t at;
    uint64_t left, used;
    uint32_t flags;
};

static void cmsg_advance(struct cmsg_out *o, uint64_t data)
{
    uint64_t n = MIN(LX_CMSG_SPACE(data), o->left);

    o->at = gaddr_add(o->at, n);
    o->left -= n;
    o->used += n;
}

static void cmsg_put(struct cmsg_out *o, int type, const void *data, uint64_t len)
{
    struct lx_cmsghdr h = {LX_CMSG_LEN(len), LX_SOL_SOCKET, type};

    if (o->left < sizeof(h)) {
        o->flags |= LX_MSG_CTRUNC;
        return;
    }
    if (o->left < h.cmsg_len) {
        o->flags |= LX_MSG_CTRUNC;
        h.cmsg_len = o->left;
    }
    if (put_user(o->task, o->at, &h) < 0 ||
        copy_to_user(o->task, gaddr_add(o->at, sizeof(h)), data, h.cmsg_len - sizeof(h)) < 0)
        return;
    cmsg_advance(o, h.cmsg_len - sizeof(h));
}

/* Installs as many descriptors as there is room for; the rest is closed. */
static void cmsg_put_fds(struct cmsg_out *o, const struct scm_fds *fds, bool cloexec)
{
    struct lx_cmsghdr h = {0, LX_SOL_SOCKET, LX_SCM_RIGHTS};
    uint64_t room = o->left > sizeof(h) ? (o->left - sizeof(h)) / sizeof(int32_t) : 0;
    uint32_t max = (uint32_t)MIN(room, (uint64_t)fds->n), n;
    int32_t numbers[LX_SCM_MAX_FD];

    for (n = 0; n < max; n++) {
        numbers[n] = fd_install(o->task, fds->files[n], cloexec, 0);
        if (numbers[n] < 0)
            break;
        file_get(fds->files[n]);
    }
    if (n < fds->n)
        o->flags |= LX_MSG_CTRUNC;
    if (n == 0)
        return;
    h.cmsg_len = LX_CMSG_LEN(n * sizeof(int32_t));
    if (put_user(o->task, o->at, &h) < 0 ||
        copy_to_user(o->task, gaddr_add(o->at, sizeof(h)), numbers, n * sizeof(int32_t)) < 0) {
        while (n > 0)
            fdtable_close(o->task, numbers[--n]);
        return;
    }
    cmsg_advance(o, n * sizeof(int32_t));
}

uint64_t cmsg_deliver(struct task *t, const struct unix_sock *sk, struct unix_recv *r,
                      gaddr_t control, uint64_t len, uint32_t *ret_flags)
{
    struct cmsg_out o = {t, control, gaddr_is_null(control) ? 0 : len, 0, 0};

    if (sk->passcred && r->has_cred)
        cmsg_put(&o, LX_SCM_CREDENTIALS, &r->cred, sizeof(r->cred));
    if (r->fds)
        cmsg_put_fds(&o, r->fds, (r->flags & LX_MSG_CMSG_CLOEXEC) != 0);
    *ret_flags |= o.flags;
    return o.used;
}
