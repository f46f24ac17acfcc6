#pragma once
/*
 * File locks: POSIX record locks (owned by a descriptor table), OFD locks and flock(2) (owned by an
 * open file description). All hang on the inode; flock and record locks do not see each other.
 * Used by fcntl(2), flock(2), /proc/locks and by closing (vfs.h: locks_release_*).
 */
#include "lib/compiler.h"

#include "abi/types.h"

#include "sentry/kernel/syscall.h"

struct buf;
struct file;
struct task;

/* fcntl(F_GETLK, F_OFD_GETLK): cmd is the LX_F_* number, arg a struct lx_flock of the guest. */
struct sys_res fcntl_getlk(struct task *t, struct file *f, int cmd, gaddr_t arg);
/* fcntl(F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW); may block. */
struct sys_res fcntl_setlk(struct task *t, struct file *f, int cmd, gaddr_t arg);
/* flock(2): LX_LOCK_*. */
struct sys_res vfs_flock(struct task *t, struct file *f, int op);
/* Lines of /proc/locks. */
int locks_show(struct buf *out);
