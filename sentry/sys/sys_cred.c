/*
 * sys_cred.c: user and group ids, supplementary groups, capabilities (credentials(7),
 * capabilities(7)). All of it is emulated.
 */
#include "lib/compiler.h"

#include "abi/errno.h"
#include "abi/prctl.h"

#include "sentry/kernel/cred.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

#define ID_KEEP UINT32_MAX

#define CRED_READ(name, field)                                          \
    struct sys_res sys_##name(struct task *t, const struct sys_args *a) \
    {                                                                   \
        (void)a;                                                        \
        return sys_ret(t->cred->field);                                 \
    }
CRED_READ(getuid, uid)
CRED_READ(geteuid, euid)
CRED_READ(getgid, gid)
CRED_READ(getegid, egid)

/* Capabilities follow the user ids (capabilities(7), "Effect of user ID changes"). */
static void caps_fixup(const struct cred *old, struct cred *c)
{
    if (c->securebits & (1u << LX_SECURE_NO_SETUID_FIXUP))
        return;
    bool had_root = old->uid == 0 || old->euid == 0 || old->suid == 0;
    bool has_root = c->uid == 0 || c->euid == 0 || c->suid == 0;
    if (had_root && !has_root) {
        if (!(c->securebits & (1u << LX_SECURE_KEEP_CAPS))) {
            c->cap_permitted = 0;
            c->cap_effective = 0;
        }
        c->cap_ambient = 0;
    }
    if (old->euid == 0 && c->euid != 0)
        c->cap_effective = 0;
    if (old->euid != 0 && c->euid == 0)
        c->cap_effective = c->cap_permitted;
}

/* Those that setfsuid(2) gives and takes. */
#define FS_CAPS                                                                                  \
    ((1ull << LX_CAP_CHOWN) | (1ull << LX_CAP_DAC_OVERRIDE) | (1ull << LX_CAP_DAC_READ_SEARCH) | \
     (1ull << LX_CAP_FOWNER) | (1ull << LX_CAP_FSETID) | (1ull << LX_CAP_LINUX_IMMUTABLE) |      \
     (1ull << LX_CAP_MKNOD) | (1ull << LX_CAP_MAC_OVERRIDE))

static void fs_caps_fixup(const struct cred *old, struct cred *c)
{
    if (c->securebits & (1u << LX_SECURE_NO_SETUID_FIXUP))
        return;
    if (old->fsuid == 0 && c->fsuid != 0)
        c->cap_effective &= ~FS_CAPS;
    if (old->fsuid != 0 && c->fsuid == 0)
        c->cap_effective |= c->cap_permitted & FS_CAPS;
}

static void commit(struct task *t, struct cred *c)
{
    if (c->euid != t->cred->euid || c->egid != t->cred->egid || c->fsuid != t->cred->fsuid ||
        c->fsgid != t->cred->fsgid) {
        t->group->dumpable = false;
        t->pdeath_signal = 0;
    }
    cred_put(t->cred);
    t->cred = c;
}

static struct sys_res commit_uids(struct task *t, struct cred *c)
{
    c->fsuid = c->euid;
    caps_fixup(t->cred, c);
    commit(t, c);
    return sys_ret(0);
}

static struct sys_res commit_gids(struct task *t, struct cred *c)
{
    c->fsgid = c->egid;
    commit(t, c);
    return sys_ret(0);
}

struct sys_res sys_setuid(struct task *t, const struct sys_args *a)
{
    uint32_t uid = sys_uint(a, 0);
    const struct cred *o = t->cred;
    bool cap = cred_capable(o, LX_CAP_SETUID);

    if (uid == ID_KEEP)
        return sys_ret(-EINVAL);
    if (!cap && uid != o->uid && uid != o->suid)
        return sys_ret(-EPERM);
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    c->euid = uid;
    if (cap)
        c->uid = c->suid = uid;
    return commit_uids(t, c);
}

struct sys_res sys_setgid(struct task *t, const struct sys_args *a)
{
    uint32_t gid = sys_uint(a, 0);
    const struct cred *o = t->cred;
    bool cap = cred_capable(o, LX_CAP_SETGID);

    if (gid == ID_KEEP)
        return sys_ret(-EINVAL);
    if (!cap && gid != o->gid && gid != o->sgid)
        return sys_ret(-EPERM);
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    c->egid = gid;
    if (cap)
        c->gid = c->sgid = gid;
    return commit_gids(t, c);
}

struct sys_res sys_setreuid(struct task *t, const struct sys_args *a)
{
    uint32_t r = sys_uint(a, 0), e = sys_uint(a, 1);
    const struct cred *o = t->cred;
    bool cap = cred_capable(o, LX_CAP_SETUID);

    if (r != ID_KEEP && !cap && r != o->uid && r != o->euid)
        return sys_ret(-EPERM);
    if (e != ID_KEEP && !cap && e != o->uid && e != o->euid && e != o->suid)
        return sys_ret(-EPERM);
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    if (r != ID_KEEP)
        c->uid = r;
    if (e != ID_KEEP)
        c->euid = e;
    if (r != ID_KEEP || (e != ID_KEEP && e != o->uid))
        c->suid = c->euid;
    return commit_uids(t, c);
}

struct sys_res sys_setregid(struct task *t, const struct sys_args *a)
{
    uint32_t r = sys_uint(a, 0), e = sys_uint(a, 1);
    const struct cred *o = t->cred;
    bool cap = cred_capable(o, LX_CAP_SETGID);

    if (r != ID_KEEP && !cap && r != o->gid && r != o->egid)
        return sys_ret(-EPERM);
    if (e != ID_KEEP && !cap && e != o->gid && e != o->egid && e != o->sgid)
        return sys_ret(-EPERM);
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    if (r != ID_KEEP)
        c->gid = r;
    if (e != ID_KEEP)
        c->egid = e;
    if (r != ID_KEEP || (e != ID_KEEP && e != o->gid))
        c->sgid = c->egid;
    return commit_gids(t, c);
}

static bool id_allowed(uint32_t id, uint32_t r, uint32_t e, uint32_t s)
{
    return id == ID_KEEP || id == r || id == e || id == s;
}

struct sys_res sys_setresuid(struct task *t, const struct sys_args *a)
{
    const struct cred *o = t->cred;
    if (!cred_capable(o, LX_CAP_SETUID)) {
        for (int i = 0; i < 3; i++) {
            if (!id_allowed(sys_uint(a, i), o->uid, o->euid, o->suid))
                return sys_ret(-EPERM);
        }
    }
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    if (sys_uint(a, 0) != ID_KEEP)
        c->uid = sys_uint(a, 0);
    if (sys_uint(a, 1) != ID_KEEP)
        c->euid = sys_uint(a, 1);
    if (sys_uint(a, 2) != ID_KEEP)
        c->suid = sys_uint(a, 2);
    return commit_uids(t, c);
}

struct sys_res sys_setresgid(struct task *t, const struct sys_args *a)
{
    const struct cred *o = t->cred;
    if (!cred_capable(o, LX_CAP_SETGID)) {
        for (int i = 0; i < 3; i++) {
            if (!id_allowed(sys_uint(a, i), o->gid, o->egid, o->sgid))
                return sys_ret(-EPERM);
        }
    }
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    if (sys_uint(a, 0) != ID_KEEP)
        c->gid = sys_uint(a, 0);
    if (sys_uint(a, 1) != ID_KEEP)
        c->egid = sys_uint(a, 1);
    if (sys_uint(a, 2) != ID_KEEP)
        c->sgid = sys_uint(a, 2);
    return commit_gids(t, c);
}

static struct sys_res put_three(struct task *t, const struct sys_args *a, const uint32_t v[3])
{
    for (int i = 0; i < 3; i++) {
        if (put_user(t, sys_addr(a, i), &v[i]) < 0)
            return sys_ret(-EFAULT);
    }
    return sys_ret(0);
}

struct sys_res sys_getresuid(struct task *t, const struct sys_args *a)
{
    const uint32_t v[3] = {t->cred->uid, t->cred->euid, t->cred->suid};
    return put_three(t, a, v);
}

struct sys_res sys_getresgid(struct task *t, const struct sys_args *a)
{
    const uint32_t v[3] = {t->cred->gid, t->cred->egid, t->cred->sgid};
    return put_three(t, a, v);
}

struct sys_res sys_setfsuid(struct task *t, const struct sys_args *a)
{
    const struct cred *o = t->cred;
    uint32_t uid = sys_uint(a, 0), old = o->fsuid;
    bool ok = uid == o->uid || uid == o->euid || uid == o->suid || uid == o->fsuid ||
              cred_capable(o, LX_CAP_SETUID);
    struct cred *c = ok && uid != ID_KEEP ? cred_dup(o) : NULL;
    if (c != NULL) {
        c->fsuid = uid;
        fs_caps_fixup(o, c);
        commit(t, c);
    }
    return sys_ret(old);
}

struct sys_res sys_setfsgid(struct task *t, const struct sys_args *a)
{
    const struct cred *o = t->cred;
    uint32_t gid = sys_uint(a, 0), old = o->fsgid;
    bool ok = gid == o->gid || gid == o->egid || gid == o->sgid || gid == o->fsgid ||
              cred_capable(o, LX_CAP_SETGID);
    struct cred *c = ok && gid != ID_KEEP ? cred_dup(o) : NULL;
    if (c != NULL) {
        c->fsgid = gid;
        commit(t, c);
    }
    return sys_ret(old);
}

struct sys_res sys_getgroups(struct task *t, const struct sys_args *a)
{
    int n = sys_int(a, 0);
    const struct cred *c = t->cred;
    if (n < 0)
        return sys_ret(-EINVAL);
    if (n == 0)
        return sys_ret(cred_ngroups(c));
    if ((uint32_t)n < cred_ngroups(c))
        return sys_ret(-EINVAL);
    if (c->groups != NULL && copy_to_user(t, sys_addr(a, 1), c->groups->gid,
                                          c->groups->n * sizeof(c->groups->gid[0])) < 0)
        return sys_ret(-EFAULT);
    return sys_ret(cred_ngroups(c));
}

struct sys_res sys_setgroups(struct task *t, const struct sys_args *a)
{
    uint32_t n = sys_uint(a, 0);
    if (!cred_capable(t->cred, LX_CAP_SETGID))
        return sys_ret(-EPERM);
    if (n > CRED_NGROUPS)
        return sys_ret(-EINVAL);
    struct cred *c = cred_dup(t->cred);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    struct group_list *l = n != 0 ? group_list_new(n) : NULL;
    cred_set_groups(c, l);
    int r = n != 0 && l == NULL ? -ENOMEM : 0;
    if (r == 0 && l != NULL)
        r = copy_from_user(t, l->gid, sys_addr(a, 1), n * sizeof(l->gid[0]));
    if (r < 0) {
        cred_put(c);
        return sys_ret(r);
    }
    if (l != NULL)
        group_list_sort(l);
    commit(t, c);
    return sys_ret(0);
}

/* -- capabilities ------------------------------------------------------------------------------ */

/* Version and pid of the header; *ret_words: 1 or 2 data structures; 0 or -errno. */
static int cap_header(struct task *t, gaddr_t addr, struct lx_cap_user_header *ret_h,
                      int *ret_words)
{
    if (get_user(t, ret_h, addr) < 0)
        return -EFAULT;
    switch (ret_h->version) {
    case LX_LINUX_CAPABILITY_VERSION_1:
        *ret_words = 1;
        return 0;
    case LX_LINUX_CAPABILITY_VERSION_2:
    case LX_LINUX_CAPABILITY_VERSION_3:
        *ret_words = 2;
        return 0;
    default: {
        struct lx_cap_user_header h = {LX_LINUX_CAPABILITY_VERSION_3, ret_h->pid};
        return put_user(t, addr, &h) < 0 ? -EFAULT : -EINVAL;
    }
    }
}

struct sys_res sys_capget(struct task *t, const struct sys_args *a)
{
    struct lx_cap_user_header h;
    struct lx_cap_user_data d[2];
    int words;
    int r = cap_header(t, sys_addr(a, 0), &h, &words);
    if (r < 0)
        return sys_ret(r == -EINVAL && gaddr_is_null(sys_addr(a, 1)) ? 0 : r);
    if (h.pid < 0)
        return sys_ret(-EINVAL);
    struct task *other = h.pid == 0 ? t : task_by_pid((uint32_t)h.pid);
    if (other == NULL)
        return sys_ret(-ESRCH);
    for (int i = 0; i < 2; i++) {
        d[i].effective = (uint32_t)(other->cred->cap_effective >> (32 * i));
        d[i].permitted = (uint32_t)(other->cred->cap_permitted >> (32 * i));
        d[i].inheritable = (uint32_t)(other->cred->cap_inheritable >> (32 * i));
    }
    if (gaddr_is_null(sys_addr(a, 1)))
        return sys_ret(0);
    return sys_ret(copy_to_user(t, sys_addr(a, 1), d, (size_t)words * sizeof(d[0])));
}

struct sys_res sys_capset(struct task *t, const struct sys_args *a)
{
    struct lx_cap_user_header h;
    struct lx_cap_user_data d[2] = {{0}, {0}};
    int words;
    int r = cap_header(t, sys_addr(a, 0), &h, &words);
    if (r < 0)
        return sys_ret(r);
    if (h.pid != 0 && (uint32_t)h.pid != t->pid)
        return sys_ret(-EPERM);
    if (copy_from_user(t, d, sys_addr(a, 1), (size_t)words * sizeof(d[0])) < 0)
        return sys_ret(-EFAULT);
    uint64_t e = (d[0].effective | (uint64_t)d[1].effective << 32) & LX_CAP_FULL_SET;
    uint64_t p = (d[0].permitted | (uint64_t)d[1].permitted << 32) & LX_CAP_FULL_SET;
    uint64_t i = (d[0].inheritable | (uint64_t)d[1].inheritable << 32) & LX_CAP_FULL_SET;
    const struct cred *o = t->cred;
    bool setpcap = cred_capable(o, LX_CAP_SETPCAP);
    if ((!setpcap && (i & ~(o->cap_inheritable | o->cap_permitted)) != 0) ||
        (i & ~(o->cap_inheritable | o->cap_bounding)) != 0 || (p & ~o->cap_permitted) != 0 ||
        (e & ~p) != 0)
        return sys_ret(-EPERM);
    struct cred *c = cred_dup(o);
    if (c == NULL)
        return sys_ret(-ENOMEM);
    c->cap_effective = e;
    c->cap_permitted = p;
    c->cap_inheritable = i;
    c->cap_ambient &= p & i;
    commit(t, c);
    return sys_ret(0);
}
