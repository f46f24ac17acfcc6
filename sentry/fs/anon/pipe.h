#pragma once
/*
 * Pipes and FIFOs, for the calls that look inside: fcntl(F_SETPIPE_SZ), splice, tee. A file is a
 * pipe when file_pipe gives one.
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
/* tee: copies up to len bytes without taking them: bytes, 0: no writer left, -EAGAIN (*ret_out: out
 * is full), -EPIPE. */
int64_t pipe_tee(struct pipe *in, struct pipe *out, size_t len, bool *ret_out) MUST_CHECK;
/* splice from a pipe: the oldest bytes that lie together in memory (at least 1 unless empty),
 * borrowed until the pipe changes; then take n of them away. */
size_t pipe_peek(const struct pipe *p, const void **ret_data);
void pipe_skip(struct pipe *p, size_t n);
bool pipe_has_writers(const struct pipe *p);
bool pipe_has_readers(const struct pipe *p);
/* Bytes that one write is sure to find room for. */
size_t pipe_room(const struct pipe *p);
