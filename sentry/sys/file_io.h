#pragma once
/*
 * The blocking half of reading and writing, shared by the calls that move bytes through a
 * descriptor. f is borrowed; nonblock as the call decides it (O_NONBLOCK, RWF_NOWAIT,
 * MSG_DONTWAIT).
 */
#include "lib/compiler.h"

#include "sentry/kernel/syscall.h"

struct file;
struct task;
struct uio;

struct sys_res file_read_uio(struct task *t, struct file *f, struct uio *to, uint64_t *pos,
                             bool nonblock);
/* Streams are written to the end, with the progress in t->restart.progress. -EPIPE raises SIGPIPE.
 */
struct sys_res file_write_uio(struct task *t, struct file *f, struct uio *from, uint64_t *pos,
                              bool nonblock);
