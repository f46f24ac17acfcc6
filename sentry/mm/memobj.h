#pragma once
/*
 * memobj: file data in memory, shared by tmpfs inodes, memfds, shared anonymous mappings and SysV
 * shared memory. Starts as heap pages (holes cost nothing) and becomes a host memfd when it is
 * first mapped or grows large, so that read, write and mappings see one copy. Charged to
 * LIMIT_DISK_BYTES by allocated page. Counted; under the worker thread.
 */
#include "lib/compiler.h"

struct memobj;
struct uio;

/*
 * A budget that several objects share besides LIMIT_DISK_BYTES: a tmpfs's own size. Counted, since
 * a mapping may keep an object alive longer than its file system.
 */
struct memobj_quota {
    uint32_t ref;
    uint64_t max, used; /* bytes; max 0: no limit */
};
struct memobj_quota *memobj_quota_new(uint64_t max) MUST_CHECK;
void memobj_quota_put(struct memobj_quota *q);
/* Charges both budgets: -ENOSPC. q may be NULL. */
int memobj_quota_charge(struct memobj_quota *q, uint64_t bytes) MUST_CHECK;
void memobj_quota_release(struct memobj_quota *q, uint64_t bytes);

int memobj_new(uint64_t size, struct memobj **ret_obj) MUST_CHECK;
/* The same, charged to q (borrowed; a reference is taken) as well. */
int memobj_new_in(struct memobj_quota *q, uint64_t size, struct memobj **ret_obj) MUST_CHECK;
struct memobj *memobj_get(struct memobj *o);
void memobj_put(struct memobj *o);
uint64_t memobj_size(const struct memobj *o);
uint64_t memobj_allocated(const struct memobj *o); /* bytes, page granular */
/* Grows with a hole or shrinks (mapped pages beyond the new end raise SIGBUS). */
int memobj_resize(struct memobj *o, uint64_t size) MUST_CHECK;
/* Bytes moved; short at the end of the object / at a fault. -ENOSPC, -EFAULT when nothing moved.
 * write grows the size. */
int64_t memobj_read(struct memobj *o, uint64_t pos, struct uio *to) MUST_CHECK;
int64_t memobj_write(struct memobj *o, uint64_t pos, struct uio *from) MUST_CHECK;
/* Allocates without changing contents (fallocate mode 0 / KEEP_SIZE does not change the size). */
int memobj_allocate(struct memobj *o, uint64_t pos, uint64_t len) MUST_CHECK;
int memobj_punch(struct memobj *o, uint64_t pos, uint64_t len) MUST_CHECK;
/* SEEK_DATA / SEEK_HOLE: offset or -ENXIO. */
int64_t memobj_seek_data(struct memobj *o, uint64_t pos) MUST_CHECK;
int64_t memobj_seek_hole(struct memobj *o, uint64_t pos) MUST_CHECK;
/* The host descriptor for a mapping (borrowed, valid while a reference is held); converts to a
 * memfd. */
int memobj_host_fd(struct memobj *o, int *ret_fd) MUST_CHECK;
/* When the data was last changed, through a mapping above all, if that was after the last call: ns
 * of the real-time clock, else 0. What the kernel itself writes counts as well. */
uint64_t memobj_changed(struct memobj *o);
/* Charges what guests have touched through mappings meanwhile; false when nothing is mapped. */
bool memobj_settle_mapped(void);
