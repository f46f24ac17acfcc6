#pragma once
/*
 * What the file systems of servers share (goferfs, hostfs): inodes made of the attributes that came
 * over the wire, and nodes that are no longer needed, given back in batches. A server hands out the
 * same node again until it is told to forget it, so one that comes back in an answer is taken off
 * the batch.
 */
#include "lib/compiler.h"

#include "gofer/client.h"
#include "sentry/fs/vfs.h"

/* Everything but type and mode. */
void served_fill(struct inode *ino, const struct gofer_attr *a);
/* A new inode with these attributes; its priv is a zeroed block of priv_size bytes, which evict
 * frees. -ENOMEM. */
int served_inode_new(struct super *sb, const struct inode_ops *ops, const struct gofer_attr *a,
                     size_t priv_size, struct inode **ret_inode) MUST_CHECK;

struct served_forget {
    uint32_t nodes[64];
    uint32_t n;
};
/* To be emptied by its owner when it is full, before the next one. */
static inline bool served_forget_full(const struct served_forget *f)
{
    return f->n == ARRAY_LEN(f->nodes);
}
void served_forget_add(struct served_forget *f, uint32_t node);
void served_forget_undo(struct served_forget *f, uint32_t node);
