#pragma once
/*
 * The anonymous super: home of files that no path leads to (pipes, sockets, eventfds, ...). Made on
 * first use; kernel_done drops it with anon_super_done after all files are gone.
 */
#include "lib/compiler.h"

struct file;

void anon_super_done(void);

/* inode->priv of an anonymous inode that can be opened again through /proc/self/fd (host files).
 * Without one, pipes are opened as FIFOs and everything else fails with -ENXIO. */
struct anon_opener {
    int (*open)(struct anon_opener *o, struct file *f);
};
