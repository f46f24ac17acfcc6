/*
 * sys_shm.c: System V shared memory (shmget(2), shmop(2), shmctl(2)).
 *
 * A segment is a memobj; attaching maps it. How often it is attached is read off the vma trees, so
 * nothing has to be told about fork, exit and munmap. A removed segment keeps its id until nobody
 * has it attached.
 */
#include "lib/compiler.h"

#include <inttypes.h>

#include "abi/errno.h"
#include "abi/mman.h"
#include "abi/prctl.h"
#include "abi/rlimit.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/checked.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/ipc.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/mm.h"
#include "sentry/mm/mm_ops.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

struct shm_segment {
    struct ipc_object ipc;
    struct memobj *obj;
    uint64_t size;
    int64_t atime, dtime, ctime;
    uint32_t cpid, lpid;
};

static struct ipc_table segments = {.setting = "kernel.shmmni"};

/* The memory of a process, whose leader may have ended before its other threads. */
static struct mm *mm_of(const struct thread_group *tg)
{
    struct task *t;
    list_for_each_entry (t, &tg->threads, group_link) {
        if (t->mm != NULL)
            return t->mm;
    }
    return NULL;
}

static bool first_of_mm(const struct thread_group *tg, const struct mm *mm)
{
    for (struct thread_group *o = thread_group_first(); o != tg; o = thread_group_next(o)) {
        if (mm_of(o) == mm)
            return false;
    }
    return true;
}

static uint64_t attached(const struct shm_segment *s)
{
    uint64_t n = 0;
    for (struct thread_group *tg = thread_group_first(); tg != NULL; tg = thread_group_next(tg)) {
        struct mm *mm = mm_of(tg);
        if (mm == NULL || !first_of_mm(tg, mm))
            continue;
        for (struct vma *v = mm_first(mm); v != NULL; v = vma_next(v)) {
            if (v->obj == s->obj && v->offset == 0)
                n++;
        }
    }
    return n;
}

static void segment_free(struct shm_segment *s)
{
    ipc_remove(&segments, &s->ipc);
    memobj_put(s->obj);
    limit_release(LIMIT_IPC, 1);
    kfree(s);
}

/* Removed segments that nobody has attached any more go now. */
static void reap_removed(void)
{
    for (int i = 0; i < IPC_SLOTS; i++) {
        struct shm_segment *s = (struct shm_segment *)(void *)segments.slots[i];
        if (s != NULL && (s->ipc.perm.mode & LX_SHM_DEST) && attached(s) == 0)
            segment_free(s);
    }
}

static struct shm_segment *segment_of(int32_t id)
{
    return (struct shm_segment *)(void *)ipc_find(&segments, id);
}

static uint64_t shmmax(void)
{
    return MIN(sysctl_number("kernel.shmmax", 1ull << 40), 1ull << 40);
}

struct sys_res sys_shmget(struct task *t, const struct sys_args *a)
{
    struct ipc_object *o;
    int32_t key = sys_int(a, 0);
    uint64_t size = a->v[1];
    int flags = sys_int(a, 2);

    reap_removed();
    int r = ipc_lookup_key(&segments, t, key, flags, &o);
    if (r == 0) {
        struct shm_segment *s = (struct shm_segment *)(void *)o;
        return sys_ret(size > s->size ? -EINVAL : s->ipc.id);
    }
    if (r < 0)
        return sys_ret(r);
    if (size == 0 || size > shmmax() || (flags & LX_SHM_HUGETLB))
        return sys_ret(-EINVAL);
    if (size > mm_commit_max() && !(flags & LX_SHM_NORESERVE))
        return sys_ret(-ENOMEM);
    if (limit_charge(LIMIT_IPC, 1) < 0)
        return sys_ret(-ENOSPC);
    struct shm_segment *s = kalloc(sizeof(*s));
    r = s == NULL ? -ENOMEM : memobj_new(page_up(size), &s->obj);
    if (r == 0)
        r = ipc_add(&segments, t, key, flags, &s->ipc);
    if (r < 0) {
        if (s != NULL)
            memobj_put(s->obj);
        kfree(s);
        limit_release(LIMIT_IPC, 1);
        return sys_ret(r);
    }
    s->size = size;
    s->ctime = ipc_seconds();
    s->cpid = t->group->pid;
    return sys_ret(s->ipc.id);
}

struct sys_res sys_shmat(struct task *t, const struct sys_args *a)
{
    struct shm_segment *s = segment_of(sys_int(a, 0));
    uint64_t addr = a->v[1], prot = LX_PROT_READ, flags = LX_MAP_SHARED;
    int shmflg = sys_int(a, 2);

    if (s == NULL)
        return sys_ret(-EINVAL);
    if (addr != 0 && (shmflg & LX_SHM_RND))
        addr = page_down(addr);
    if (!page_aligned(addr) || (addr == 0 && (shmflg & LX_SHM_REMAP)))
        return sys_ret(-EINVAL);
    if (!(shmflg & LX_SHM_RDONLY))
        prot |= LX_PROT_WRITE;
    if (shmflg & LX_SHM_EXEC)
        prot |= LX_PROT_EXEC;
    /* The numbers of the protections are not those of a mode. */
    uint32_t want = 4u | ((prot & LX_PROT_WRITE) ? 2u : 0) | ((prot & LX_PROT_EXEC) ? 1u : 0);
    int r = ipc_permission(t, &s->ipc.perm, want);
    if (r < 0)
        return sys_ret(r);
    if (addr != 0)
        flags |= (shmflg & LX_SHM_REMAP) ? LX_MAP_FIXED : LX_MAP_FIXED_NOREPLACE;
    struct mmap_args args = {.addr = addr, .len = page_up(s->size), .prot = prot, .flags = flags};
    int64_t at = mm_map_obj(t, t->mm, &args, s->obj);
    if (at >= 0 || at < -LX_MAX_ERRNO) {
        s->atime = ipc_seconds();
        s->lpid = t->group->pid;
    }
    return sys_ret(at == -EEXIST ? -EINVAL : at);
}

struct sys_res sys_shmdt(struct task *t, const struct sys_args *a)
{
    struct vma *v = mm_find(t->mm, a->v[0]);
    if (v == NULL || v->obj == NULL || v->start != a->v[0] || v->offset != 0)
        return sys_ret(-EINVAL);
    for (int i = 0; i < IPC_SLOTS; i++) {
        struct shm_segment *s = (struct shm_segment *)(void *)segments.slots[i];
        if (s == NULL || s->obj != v->obj)
            continue;
        int r = mm_munmap(t, t->mm, v->start, page_up(s->size));
        if (r < 0)
            return sys_ret(r);
        s->dtime = ipc_seconds();
        s->lpid = t->group->pid;
        reap_removed();
        return sys_ret(0);
    }
    return sys_ret(-EINVAL);
}

static int64_t shm_stat(struct task *t, struct shm_segment *s, gaddr_t out, int cmd)
{
    int r = cmd == LX_SHM_STAT_ANY ? 0 : ipc_permission(t, &s->ipc.perm, 4);
    if (r < 0)
        return r;
    struct lx_shmid_ds ds = {
        .shm_perm = s->ipc.perm,
        .shm_segsz = s->size,
        .shm_atime = s->atime,
        .shm_dtime = s->dtime,
        .shm_ctime = s->ctime,
        .shm_cpid = (int32_t)s->cpid,
        .shm_lpid = (int32_t)s->lpid,
        .shm_nattch = attached(s),
    };
    r = put_user(t, out, &ds);
    return r < 0 ? r : cmd == LX_IPC_STAT ? 0 : s->ipc.id;
}

static int64_t shm_info(struct task *t, int cmd, gaddr_t out)
{
    int64_t top = 0;
    struct lx_shm_info si = {.used_ids = (int32_t)segments.count};
    struct lx_shminfo lim = {.shmmax = sysctl_number("kernel.shmmax", LX_SHMMAX),
                             .shmmin = 1,
                             .shmmni = sysctl_number("kernel.shmmni", IPC_SLOTS),
                             .shmall = sysctl_number("kernel.shmall", LX_SHMALL)};
    lim.shmseg = lim.shmmni;
    for (int i = 0; i < IPC_SLOTS; i++) {
        struct shm_segment *s = (struct shm_segment *)(void *)segments.slots[i];
        if (s == NULL)
            continue;
        top = i;
        si.shm_tot += page_up(s->size) / PAGE_SIZE;
        si.shm_rss += memobj_allocated(s->obj) / PAGE_SIZE;
    }
    int r = cmd == LX_SHM_INFO ? put_user(t, out, &si) : put_user(t, out, &lim);
    return r < 0 ? r : top;
}

static int64_t shm_remove(struct task *t, struct shm_segment *s)
{
    int r = ipc_owner(t, &s->ipc.perm);
    if (r < 0)
        return r;
    s->ipc.perm.mode |= LX_SHM_DEST;
    s->ipc.perm.key = LX_IPC_PRIVATE;
    reap_removed();
    return 0;
}

/* Remembered: pages of guests are never locked on the host. */
static int64_t shm_lock(struct task *t, struct shm_segment *s, bool lock)
{
    const struct lx_ipc_perm *p = &s->ipc.perm;

    if (!cred_capable(t->cred, LX_CAP_IPC_LOCK)) {
        if (t->cred->euid != p->uid && t->cred->euid != p->cuid)
            return -EPERM;
        if (lock && task_rlimit(t, LX_RLIMIT_MEMLOCK)->rlim_cur == 0)
            return -EPERM;
    }
    s->ipc.perm.mode &= ~(uint32_t)LX_SHM_LOCKED;
    s->ipc.perm.mode |= lock ? LX_SHM_LOCKED : 0;
    return 0;
}

struct sys_res sys_shmctl(struct task *t, const struct sys_args *a)
{
    int cmd = sys_int(a, 1);
    struct lx_shmid_ds ds;
    struct shm_segment *s;

    if (sys_int(a, 0) < 0 || cmd < 0)
        return sys_ret(-EINVAL);
    if (cmd == LX_IPC_INFO || cmd == LX_SHM_INFO)
        return sys_ret(shm_info(t, cmd, sys_addr(a, 2)));
    bool by_index = cmd == LX_SHM_STAT || cmd == LX_SHM_STAT_ANY;
    s = by_index ? (struct shm_segment *)(void *)segments.slots[sys_int(a, 0) % IPC_SLOTS]
                 : segment_of(sys_int(a, 0));
    if (s == NULL)
        return sys_ret(-EINVAL);
    switch (cmd) {
    case LX_IPC_STAT:
    case LX_SHM_STAT:
    case LX_SHM_STAT_ANY:
        return sys_ret(shm_stat(t, s, sys_addr(a, 2), cmd));
    case LX_IPC_SET:
        if (get_user(t, &ds, sys_addr(a, 2)) < 0)
            return sys_ret(-EFAULT);
        if (ipc_owner(t, &s->ipc.perm) < 0)
            return sys_ret(-EPERM);
        ipc_set(&s->ipc.perm, &ds.shm_perm);
        s->ctime = ipc_seconds();
        return sys_ret(0);
    case LX_IPC_RMID:
        return sys_ret(shm_remove(t, s));
    case LX_SHM_LOCK:
    case LX_SHM_UNLOCK:
        return sys_ret(shm_lock(t, s, cmd == LX_SHM_LOCK));
    default:
        return sys_ret(-EINVAL);
    }
}

int shm_show(struct buf *out)
{
    int r =
        buf_puts(out, "       key      shmid perms                  size  cpid  lpid nattch   uid"
                      "   gid  cuid  cgid      atime      dtime      ctime"
                      "                   rss                  swap\n");
    for (int i = 0; i < IPC_SLOTS && r == 0; i++) {
        const struct shm_segment *s = (struct shm_segment *)(void *)segments.slots[i];
        if (s == NULL)
            continue;
        const struct lx_ipc_perm *p = &s->ipc.perm;
        r = buf_printf(
            out,
            "%10d %10d  %4o %21" PRIu64 " %5u %5u  %5" PRIu64 " %5u %5u %5u %5u %10" PRId64
            " %10" PRId64 " %10" PRId64 " %21" PRIu64 " %21u\n",
            p->key, s->ipc.id, p->mode, s->size, s->cpid, s->lpid, attached(s), p->uid, p->gid,
            p->cuid, p->cgid, s->atime, s->dtime, s->ctime, memobj_allocated(s->obj), 0u);
    }
    return r;
}

void shm_done(void)
{
    for (int i = 0; i < IPC_SLOTS; i++) {
        if (segments.slots[i] != NULL)
            segment_free((struct shm_segment *)(void *)segments.slots[i]);
    }
}
