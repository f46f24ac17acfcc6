#pragma once
/*
 * System V IPC (sysvipc(7)): one table of objects a kind, identified by key and id. An id is
 * index + sequence * IPC_SLOTS, so that a stale id is not mistaken for a newer object.
 */
#include "lib/compiler.h"

#include "abi/misc.h"

struct buf;
struct task;
struct thread_group;

enum {
    IPC_SLOTS = 1024
};

struct ipc_object {
    struct lx_ipc_perm perm;
    int32_t id;
};

struct ipc_table {
    struct ipc_object *slots[IPC_SLOTS]; /* embedded at the start of the owner's objects */
    uint16_t seq;
    uint32_t count;
    const char *setting; /* static: the name of the most that there may be, or NULL */
};

/* The object of an id, or NULL. */
struct ipc_object *ipc_find(struct ipc_table *tb, int32_t id);
/* 0: *ret_obj is the object with that key (permission and exclusiveness checked); 1: a new one is
 * to be made; -errno. */
int ipc_lookup_key(struct ipc_table *tb, struct task *t, int32_t key, int flags,
                   struct ipc_object **ret_obj) MUST_CHECK;
/* Fills perm from the caller and gives it an id; -ENOSPC. */
int ipc_add(struct ipc_table *tb, struct task *t, int32_t key, int flags, struct ipc_object *obj)
    MUST_CHECK;
void ipc_remove(struct ipc_table *tb, struct ipc_object *obj);
/* want: 04 read, 02 write: 0 or -EACCES. */
int ipc_permission(const struct task *t, const struct lx_ipc_perm *p, uint32_t want) MUST_CHECK;
/* IPC_SET / IPC_RMID: owner, creator or CAP_SYS_ADMIN; -EPERM. */
int ipc_owner(const struct task *t, const struct lx_ipc_perm *p) MUST_CHECK;
void ipc_set(struct lx_ipc_perm *p, const struct lx_ipc_perm *from);
int64_t ipc_seconds(void);
/* A process ends: its semaphore adjustments are applied. */
void ipc_exit(struct thread_group *tg);
/* Whether semaphore adjustments of the process are kept. */
bool ipc_has_undo(const struct thread_group *tg);
/* The tables of /proc/sysvipc. */
int sem_show(struct buf *out) MUST_CHECK;
int msg_show(struct buf *out) MUST_CHECK;
int shm_show(struct buf *out) MUST_CHECK;
/* Removes everything (kernel_done). */
void ipc_done(void);
void sem_done(void);
void msg_done(void);
void shm_done(void);
