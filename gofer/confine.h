#pragma once
/*
 * How the image server locks itself in before it reads its first request. Two steps: confine_split
 * makes the process that serves (in namespaces of its own) and turns the calling one into its
 * keeper; confine_enter takes everything away that serving does not need. What a host does not
 * offer is left out and written down in struct confinement; only a promise that would leave the
 * server unconfined (no seccomp filter, descriptors that stay open) is an error.
 */
#include "lib/compiler.h"

struct error;

struct confinement {
    bool userns;     /* own user namespace, with all ids of the caller's mapped */
    bool namespaces; /* own mount, pid, network, IPC and UTS namespaces */
    bool read_only;  /* every root is a private, read-only, nodev, nosuid mount */
    bool root_gone;  /* the root directory is the image, the host's mounts are detached */
    bool chrooted;   /* the root directory is the image */
    bool reads_all;  /* kept CAP_DAC_READ_SEARCH */
    int landlock;    /* ABI version in force, 0: none */
    int parent_pipe; /* readable end-of-file when the keeper is gone; -1: no keeper */
};

/*
 * Arranges to die with the parent and creates the serving process. Returns in that one; the other
 * waits for it and exits with its status (128 + N for a signal).
 */
MUST_CHECK int confine_split(struct confinement *c, struct error *err);

/* Confines the calling process. root_fds are replaced in place by their read-only mounts; every
 * descriptor but these, sock and standard error is closed. */
MUST_CHECK int confine_enter(struct confinement *c, const int *root_fds, uint32_t nroots, int sock,
                             struct error *err);
