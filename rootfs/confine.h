#pragma once
/*
 * The box of the process that unpacks: the one that reads tar, gzip, zstd and JSON of strangers.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct error;

struct unpack_box {
    int target;   /* the directory to fill; becomes the root directory */
    int source;   /* a layout's directory, read-only; -1 */
    int blobs;    /* another one with its blobs; -1 */
    int files[4]; /* further descriptors to keep; -1 where unused */
    bool all_ids; /* set by unpack_box_fork: every id of the host exists inside */
};

/* Forks into new user, mount, pid, net, ipc and uts namespaces. Returns 0 in the child, once its
 * ids are mapped; the child dies with its parent. */
pid_t unpack_box_fork(struct unpack_box *box, struct error *err) MUST_CHECK;
/* In the child: target becomes the root, nothing else of the host is in reach; then limits,
 * capabilities, Landlock, filter. */
int unpack_box_enter(struct unpack_box *box, struct error *err) MUST_CHECK;
