#pragma once
/*
 * Pipes and FIFOs, for the calls that look inside: fcntl(F_SETPIPE_SZ), splice, tee. A file is a pipe
 * when file_pipe gives one.
 */
#include "lib/compiler.h"

struct file;
struct pipe;
struct task;

/* The pipe of an open pipe or FIFO end (borrowed), or NULL. */
struct pipe *file_pipe(const struct file *f);
uint32_t pipe_size(const struct pipe *p);
/* Capacity afterwards; -EBUSY: holds more than that, -EPERM: above the maximum. */
int64_t pipe_set_size(struct pipe *p, uint64_t size, bool privileged) MUST_CHECK;
bool pipe_is_empty(const struct pipe *p);
bool pipe_is_full(const struct pipe *p);
/* tee: copies up to len bytes without taking them: bytes, 0: no writer left, -EAGAIN (*ret_out: out is full), -EPIPE. */
int64_t pipe_tee(struct pipe *in, struct pipe *out, size_t len, bool *ret_out) MUST_CHECK;
