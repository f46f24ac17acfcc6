#pragma once
/*
 * pipe_private.h: a pipe's insides, for pipe.c (the ring, read and write), fifo.c (opening by name)
 * and pipe_splice.c (fcntl, splice, tee).
 */
#include "lib/compiler.h"

#include "sentry/fs/anon/pipe.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/waitqueue.h"

#define SLOT_SIZE     4096u
#define PIPE_MAX_SIZE (1u << 20)

struct pipe_slot {
    uint16_t off, len;
    bool packet;
};

struct pipe {
    struct wait_queue wait;
    struct pipe_slot *slots; /* nalloc of them, with the pages behind it */
    uint8_t *pages;          /* nalloc * SLOT_SIZE */
    uint32_t nalloc;         /* power of two */
    uint32_t max;            /* capacity in slots, power of two */
    uint32_t head, used;     /* oldest slot, slots in use */
    uint32_t readers, writers, files;
    uint32_t r_counter, w_counter; /* opens so far: a FIFO's open waits for a change */
    bool anonymous; /* made by pipe(2): opening it through /proc/self/fd never waits */
};

extern const struct file_ops pipe_ops;

/* Without ends; NULL: no memory, or the limit of pipes' bytes. */
struct pipe *pipe_alloc(void);
/* Moves the ring into blocks of n slots (n >= used). */
int pipe_realloc(struct pipe *p, uint32_t n) MUST_CHECK;
/* Where the slot i after the oldest one is. */
uint32_t pipe_slot_index(const struct pipe *p, uint32_t i);
/* How many bytes from the oldest slot on lie side by side in memory. */
size_t pipe_run(const struct pipe *p);
/* Takes n bytes away. */
void pipe_consume(struct pipe *p, size_t n);
/* Fills free slots that lie side by side with one copy: bytes or -EFAULT, -ENOMEM. */
int64_t pipe_fill(struct pipe *p, struct uio *from, bool packet) MUST_CHECK;
