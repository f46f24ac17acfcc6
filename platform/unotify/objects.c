/*
 * How this works: the objects behind a guest's address spaces, host processes and threads, and the
 * slots of threads. An address space owns its processes, a process its threads; a process that goes
 * takes its threads along, and the last one its address space.
 *
 * The slot of a thread that has ended may be used again only when the host has seen the end: until
 * then the thread may still stand on the slot's stack. So slots retire first, and are reclaimed.
 */
#include <signal.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/syscall.h>

#include "abi/errno.h"

#include "platform/unotify/private.h"

#include "lib/alloc.h"

/* -- slots ------------------------------------------------------------------------------------ */

/* Slots of threads that the host has seen to the end by now become free. */
static void slots_reclaim(struct plat_as *as)
{
    struct retired_slot *r, *tmp;

    list_for_each_entry_safe (r, tmp, &as->retired, link) {
        if (syscall(SYS_tgkill, r->tgid, r->tid, 0) == 0 || errno != ESRCH)
            continue;
        bitmap_clear(&as->slots, r->slot);
        list_del_init(&r->link);
        kfree(r);
    }
}

int slot_alloc(struct plat_as *as, uint32_t *ret_slot)
{
    for (int tries = 0; tries < 100; tries++) {
        size_t slot = bitmap_first_zero(&as->slots, 0);

        if (slot < as->p->max_slots) {
            if (slot >= as->slots.nbits && bitmap_grow(&as->slots, slot + 64))
                return -ENOMEM;
            bitmap_set(&as->slots, slot);
            *ret_slot = (uint32_t)slot;
            return 0;
        }
        slots_reclaim(as);
        if (tries)
            usleep(1000);
    }
    return -EAGAIN;
}

/* A slot that cannot be remembered stays in use for the life of the address space. */
static void slot_retire(struct plat_as *as, const struct plat_thread *th)
{
    struct retired_slot *r = kalloc(sizeof(*r));

    if (!r)
        return;
    r->slot = th->slot;
    r->tgid = th->proc->tgid;
    r->tid = th->tid;
    list_add_tail(&as->retired, &r->link);
    if (bitmap_count(&as->slots) > 16)
        slots_reclaim(as);
}

/* -- objects ------------------------------------------------------------------------------------
 */

struct plat_as *as_make(struct plat *p)
{
    struct plat_as *as = kalloc(sizeof(*as));

    if (!as)
        return NULL;
    as->p = p;
    list_init(&as->procs);
    list_init(&as->retired);
    bitmap_init(&as->slots);
    list_add_tail(&p->spaces, &as->link);
    return as;
}

void as_free(struct plat_as *as)
{
    struct retired_slot *r, *tmp;

    list_del_init(&as->link);
    list_for_each_entry_safe (r, tmp, &as->retired, link)
        kfree(r);
    bitmap_done(&as->slots);
    kfree(as);
}

int slot_take(struct plat_as *as, uint32_t slot)
{
    if (slot >= as->slots.nbits && bitmap_grow(&as->slots, slot + 1))
        return -ENOMEM;
    bitmap_set(&as->slots, slot);
    return 0;
}

static int proc_open(struct host_proc *proc, uint64_t notif_id)
{
    proc->pidfd = (int)syscall(SYS_pidfd_open, proc->tgid, 0);
    if (proc->pidfd < 0)
        return -errno;
    if (!listener_alive(proc->p, notif_id))
        return -EIO;
    return deaths_watch(proc);
}

struct host_proc *proc_make(struct plat_as *as, pid_t tgid, uint64_t notif_id)
{
    struct host_proc *proc = kalloc(sizeof(*proc));

    if (!proc)
        return NULL;
    proc->p = as->p;
    proc->as = as;
    proc->tgid = tgid;
    list_init(&proc->threads);
    if (proc_open(proc, notif_id)) {
        if (proc->pidfd >= 0)
            close(proc->pidfd);
        kfree(proc);
        return NULL;
    }
    list_add_tail(&as->procs, &proc->link);
    return proc;
}

struct plat_thread *thread_make(struct host_proc *proc, pid_t tid, uint32_t slot)
{
    struct plat_thread *th = kalloc(sizeof(*th));

    if (!th)
        return NULL;
    th->proc = proc;
    th->as = proc->as;
    th->tid = tid;
    th->slot = slot;
    th->host = HOST_PARKED;
    th->vis = VIS_CONTEXT;
    hash_insert(&proc->p->threads, &th->node, hash_u64(0, (uint64_t)tid));
    list_add_tail(&proc->threads, &th->link);
    return th;
}

void thread_free(struct plat_thread *th)
{
    struct plat_as *as = th->as;

    events_forget(th);
    if (th->kick_sent)
        as->p->kicks--;
    if (as->helper == th)
        as->helper = NULL;
    if (as->first == th)
        as->first = NULL;
    if (!th->helper)
        as->guest_threads--;
    slot_retire(as, th);
    hash_remove(&as->p->threads, &th->node);
    list_del_init(&th->link);
    kfree(th);
}

void proc_kill(struct host_proc *proc)
{
    struct plat_as *as = proc->as;
    struct plat_thread *th, *tmp;

    syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
    if (!proc->dead)
        epoll_ctl(proc->p->deaths, EPOLL_CTL_DEL, proc->pidfd, NULL);
    close(proc->pidfd);
    list_for_each_entry_safe (th, tmp, &proc->threads, link)
        thread_free(th);
    list_del_init(&proc->link);
    kfree(proc);
    if (list_empty(&as->procs))
        as_free(as);
}
