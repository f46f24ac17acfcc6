#pragma once
/*
 * inotify instances and their marks. Marks hang on inodes (inode.marks) and hold the inode and a
 * mount; the inode does not hold its marks, so it cannot go before them. Events are made by
 * fsnotify* (vfs.h), called from the generic code.
 */
#include "lib/compiler.h"

#include "abi/types.h"

struct file;
struct inode;
struct path;
struct task;

int inotify_new(const struct task *t, uint32_t flags, struct file **ret_file) MUST_CHECK;
/* The watch descriptor, or -EINVAL (not inotify), -ENOSPC, -EEXIST ... */
int inotify_add(struct file *f, const struct path *p, uint32_t mask) MUST_CHECK;
int inotify_remove(struct file *f, int wd) MUST_CHECK;
/* The object is gone (last link and last user): IN_DELETE_SELF, and the watches end. */
void inotify_inode_removed(struct inode *ino);
