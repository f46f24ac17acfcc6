#pragma once
/*
 * How the image server locks itself in before it reads its first request. Two steps:
 * confine_namespaces puts the process into namespaces that hold nothing of the host's;
 * confine_enter takes everything away that serving does not need. What a host does not offer is
 * left out and written down in struct confinement; only a promise that would leave the server
 * unconfined (no seccomp filter, descriptors that stay open) is an error.
 */
#include "lib/compiler.h"

struct error;

struct confinement {
    bool userns;     /* own user namespace, with the ids of the caller's mapped */
    bool single_id;  /* that has one user and one group only: the caller's, as 0 */
    bool pid;        /* the first process of a pid namespace */
    bool namespaces; /* mount, network, IPC and UTS namespaces that are not the caller's */
    bool detached;   /* mounts are made already, and the mount namespace holds none of the host's */
    bool read_only;  /* every root is a private, read-only, nodev, nosuid mount */
    bool root_gone;  /* the root directory is the image, the host's mounts are detached */
    bool chrooted;   /* the root directory is the image */
    bool reads_all;  /* kept CAP_DAC_READ_SEARCH */
    int landlock;    /* ABI version in force, 0: none */
    uint32_t id;     /* the user that it becomes where it is root */
};

/* The namespaces of the sentry, for a server that may share them. */
struct confine_join {
    int pidfd;        /* of the sentry; owned */
    int settled;      /* pipe that closes when its namespaces are made and empty; owned */
    const int *roots; /* directories that become private read-only mounts, attached nowhere; the */
    uint32_t nroots;  /* mount namespace is then shared too */
};

/*
 * Arranges to die with the parent, and enters namespaces. With `join` (or NULL) the process shares
 * the sentry's, where setns(2) allows it (CAP_SYS_ADMIN over them and over one's own user
 * namespace: root), instead of making network, ipc, uts and mount namespaces. own_user: it was
 * created in a user namespace of its own, in which its ids are 0.
 */
MUST_CHECK int confine_namespaces(struct confinement *c, const struct confine_join *join,
                                  bool own_user, struct error *err);

/* Confines the calling process. root_fds are replaced in place by their read-only mounts; every
 * descriptor but these, sock and standard error is closed. */
MUST_CHECK int confine_enter(struct confinement *c, const int *root_fds, uint32_t nroots, int sock,
                             struct error *err);

/*
 * The same for the volume server. Its root directory is an empty one with each volume mounted on a
 * name of its own ("0", "1", ...), which *ret_top is open on. Where no such mounts can be made it
 * is an error: nothing may be written without them. At most max_files descriptors will be open.
 */
struct volume_source;
MUST_CHECK int confine_volumes(struct confinement *c, const struct volume_source *roots,
                               uint32_t nroots, int sock, uint32_t max_files, int *ret_top,
                               struct error *err);

/* For namespaces.c: a read-only, nodev, nosuid mount of the directory behind fd, attached nowhere.
 * -1: cannot be had. */
int confine_detach(int fd);
/* A private copy of the mount of a file or directory behind fd, found again by its path in this
 * mount namespace; recursive: with what is mounted below. -1: cannot be had. */
int confine_clone(int fd, bool recursive);
