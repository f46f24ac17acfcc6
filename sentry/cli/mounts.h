#pragma once
/*
 * The file systems of a new sandbox, and users named in the image.
 */
#include "lib/compiler.h"

struct boot;
struct error;
struct gofer_client;
struct volume_client;

/* Who serves files of the host. */
struct servers {
    struct gofer_client *image;    /* NULL: the root is the first volume */
    struct volume_client *volumes; /* NULL: there are none */
};

/* Mounts everything that the description asks for: root, /proc, /sys, /dev, /dev/pts, /dev/shm,
 * /tmp, tmpfs, volumes. */
int mounts_make(const struct boot *b, const struct servers *s, struct error *err) MUST_CHECK;

struct user_ids {
    uint32_t uid, gid, ngroups;
    uint32_t groups[64];
};
/* "UID[:GID]", a name of the image's /etc/passwd, or NULL (65534). Supplementary groups from
 * /etc/group. */
int user_resolve(const char *spec, struct user_ids *ret_ids, struct error *err) MUST_CHECK;
/* The home directory of uid in the image's /etc/passwd; false: not known. */
bool user_home(uint32_t uid, char *buf, size_t cap);
