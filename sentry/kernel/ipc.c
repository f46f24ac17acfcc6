/*
 * ipc.c: ids, keys and permissions of System V IPC objects.
 */
#include "sentry/kernel/ipc.h"

#include "abi/errno.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/task.h"

struct ipc_object *ipc_find(struct ipc_table *tb, int32_t id)
{
    if (id < 0)
        return NULL;
    struct ipc_object *o = tb->slots[id % IPC_SLOTS];
    return o != NULL && o->id == id ? o : NULL;
}

int ipc_permission(const struct task *t, const struct lx_ipc_perm *p, uint32_t want)
{
    const struct cred *c = t->cred;
    uint32_t bits = p->mode & 7;
    if (c->euid == p->uid || c->euid == p->cuid)
        bits = (p->mode >> 6) & 7;
    else if (cred_in_group(c, p->gid) || cred_in_group(c, p->cgid))
        bits = (p->mode >> 3) & 7;
    if ((want & ~bits) == 0 || cred_capable(c, LX_CAP_IPC_OWNER))
        return 0;
    return -EACCES;
}

int ipc_owner(const struct task *t, const struct lx_ipc_perm *p)
{
    if (t->cred->euid == p->uid || t->cred->euid == p->cuid ||
        cred_capable(t->cred, LX_CAP_SYS_ADMIN))
        return 0;
    return -EPERM;
}

int ipc_lookup_key(struct ipc_table *tb, struct task *t, int32_t key, int flags,
                   struct ipc_object **ret_obj)
{
    if (key == LX_IPC_PRIVATE)
        return 1;
    for (int i = 0; i < IPC_SLOTS; i++) {
        struct ipc_object *o = tb->slots[i];
        if (o == NULL || o->perm.key != key)
            continue;
        if ((flags & LX_IPC_CREAT) && (flags & LX_IPC_EXCL))
            return -EEXIST;
        uint32_t want = (uint32_t)flags;
        want = ((want >> 6) | (want >> 3) | want) & 6;
        int r = ipc_permission(t, &o->perm, want);
        if (r == 0)
            *ret_obj = o;
        return r;
    }
    return (flags & LX_IPC_CREAT) ? 1 : -ENOENT;
}

int ipc_add(struct ipc_table *tb, struct task *t, int32_t key, int flags, struct ipc_object *obj)
{
    if (tb->setting != NULL && tb->count >= sysctl_number(tb->setting, IPC_SLOTS))
        return -ENOSPC;
    for (int i = 0; i < IPC_SLOTS; i++) {
        if (tb->slots[i] != NULL)
            continue;
        tb->seq = (uint16_t)((tb->seq + 1) & 0x7fff);
        obj->id = i + tb->seq * IPC_SLOTS;
        obj->perm = (struct lx_ipc_perm){
            .key = key,
            .uid = t->cred->euid,
            .gid = t->cred->egid,
            .cuid = t->cred->euid,
            .cgid = t->cred->egid,
            .mode = (uint32_t)flags & 0777,
            .seq = tb->seq,
        };
        tb->slots[i] = obj;
        tb->count++;
        return 0;
    }
    return -ENOSPC;
}

void ipc_remove(struct ipc_table *tb, struct ipc_object *obj)
{
    tb->slots[obj->id % IPC_SLOTS] = NULL;
    tb->count--;
}

void ipc_set(struct lx_ipc_perm *p, const struct lx_ipc_perm *from)
{
    p->uid = from->uid;
    p->gid = from->gid;
    p->mode = (p->mode & ~0777u) | (from->mode & 0777);
}

int64_t ipc_seconds(void)
{
    return (int64_t)(clock_realtime() / NSEC_PER_SEC);
}

void ipc_done(void)
{
    sem_done();
    msg_done();
    shm_done();
}
