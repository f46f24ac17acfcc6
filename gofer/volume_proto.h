#pragma once
/*
 * The words between the sentry and the volume server, which serves bind mounts: directories and
 * single files of the host that may change while they are served, some of which the guest may
 * change. Same transport, header, reader and writer as proto.h; other messages, so that neither
 * server takes a request that was meant for the other one.
 *
 * A node is a file of the host, not a name: as long as the sentry has it, the server holds it open
 * (O_PATH), so its device and inode number are nobody else's, and one file is one node whatever its
 * names. What cannot be done with such a descriptor (open, extended attributes, a second name) is
 * asked for by place: directory node, name and the node that is expected there; something else
 * there is ESTALE. The place of a root is the root itself and an empty name.
 */
#include "gofer/proto.h"

#define VOLUME_PROTO_VERSION 2u

enum volume_msg {
    VOLUME_HELLO = 32, /* gofer_hello -> gofer_hello, volume_root[nroots] */
    VOLUME_LOOKUP,     /* volume_dir_req, name -> gofer_step, target of a symlink */
    VOLUME_GETATTR,    /* gofer_node_req -> gofer_attr */
    VOLUME_OPEN,       /* volume_place_req (flags: VOLUME_READ|WRITE), name -> a descriptor */
    VOLUME_READDIR,    /* gofer_readdir_req -> gofer_readdir_rep, entries */
    VOLUME_STATFS,     /* gofer_node_req -> gofer_statfs */
    VOLUME_GETXATTR,   /* volume_place_req, name, xattr name -> value */
    VOLUME_LISTXATTR,  /* volume_place_req, name -> names, each with its NUL */
    VOLUME_FORGET,     /* gofer_forget_req, u32[count] -> nothing */
    VOLUME_WALK,     /* volume_walk_req, name[count] -> volume_walk_rep, gofer_step[done], target */
    VOLUME_WRITES,   /* no message; those behind it need a writable root, else EROFS */
    VOLUME_CREATE,   /* volume_create_req, name, target of a symlink -> gofer_step, and of a file
                        mostly a descriptor, for reading and writing */
    VOLUME_LINK,     /* volume_link_req, name, new name -> gofer_attr */
    VOLUME_REMOVE,   /* volume_dir_req (flags: VOLUME_DIRECTORY), name -> nothing */
    VOLUME_RENAME,   /* volume_rename_req, name, new name -> nothing */
    VOLUME_SETATTR,  /* volume_setattr_req, name -> gofer_attr */
    VOLUME_SETXATTR, /* volume_place_req (flags: XATTR_CREATE|REPLACE), name, xattr name, value */
    VOLUME_REMOVEXATTR, /* volume_place_req, name, xattr name -> nothing */
    VOLUME_SYNC,        /* gofer_node_req of a directory -> nothing */
    VOLUME_MSG_END
};
#define VOLUME_MSG_FIRST VOLUME_HELLO

#define VOLUME_WALK_MAX 8u /* names in one WALK */

/* volume_root.flags */
#define VOLUME_ROOT_WRITABLE 1u
#define VOLUME_ROOT_SQUASH \
    2u /* one id only: everything that is made belongs to the server's user */

/* VOLUME_OPEN */
#define VOLUME_READ  1u
#define VOLUME_WRITE 2u
/* VOLUME_REMOVE */
#define VOLUME_DIRECTORY 1u
/* VOLUME_RENAME, as the host has them */
#define VOLUME_NOREPLACE 1u
#define VOLUME_EXCHANGE  2u
/* volume_setattr_req.valid */
#define VOLUME_SET_MODE  1u
#define VOLUME_SET_UID   2u
#define VOLUME_SET_GID   4u
#define VOLUME_SET_ATIME 8u
#define VOLUME_SET_MTIME 16u
#define VOLUME_SET_ALL   31u

/*   0  u32 flags;  4  u32 zero;  8  gofer_attr */
struct volume_root {
    uint32_t flags;
    uint32_t zero;
    struct gofer_attr attr;
};

/*   0  u32 dir;  4  u32 flags; then the name */
struct volume_dir_req {
    uint32_t dir;
    uint32_t flags;
};

/*   0  u32 dir;  4  u16 count (1..8);  6  u16 zero; then count names */
struct volume_walk_req {
    uint32_t dir;
    uint16_t count;
    uint16_t zero;
};

/*   0  u16 done (steps that follow);  2  u16 error (errno of name number `done`; 0 if all were
 * found or the last step is no directory);  4  u32 zero;  8  gofer_attr; behind the steps the
 * target if the last one is a symlink; dir is what the walk starts in */
struct volume_walk_rep {
    uint16_t done;
    uint16_t error;
    uint32_t zero;
    struct gofer_attr dir;
};

/*   0  u32 dir;  4  u32 node;  8  u32 flags;  12  u32 zero; then the name (u16 0 for a root) */
struct volume_place_req {
    uint32_t dir;
    uint32_t node;
    uint32_t flags;
    uint32_t zero;
};

/*   0  u32 dir;  4  u32 mode (S_IFMT and permissions);  8  u32 uid;  12  u32 gid; then the name;
 * the target of a symlink takes the rest. Types: file, directory, symlink, fifo, socket. */
struct volume_create_req {
    uint32_t dir;
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
};

/*   0  u32 dir;  4  u32 node;  8  u32 new_dir;  12  u32 zero; then name and new name */
struct volume_link_req {
    uint32_t dir;
    uint32_t node;
    uint32_t new_dir;
    uint32_t zero;
};

/*   0  u32 dir;  4  u32 new_dir;  8  u32 flags;  12  u32 zero; then name and new name */
struct volume_rename_req {
    uint32_t dir;
    uint32_t new_dir;
    uint32_t flags;
    uint32_t zero;
};

/*   0  u32 dir;  4  u32 node;  8  u32 valid;  12  u32 mode (permissions);  16  u32 uid;  20  u32
 * gid; 24  atime;  40  mtime; then the name */
struct volume_setattr_req {
    uint32_t dir;
    uint32_t node;
    uint32_t valid;
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    struct gofer_time atime;
    struct gofer_time mtime;
};

_Static_assert(sizeof(struct volume_root) == 136, "wire");
_Static_assert(sizeof(struct volume_dir_req) == 8, "wire");
_Static_assert(sizeof(struct volume_walk_req) == 8, "wire");
_Static_assert(sizeof(struct volume_walk_rep) == 136, "wire");
_Static_assert(sizeof(struct volume_place_req) == 16, "wire");
_Static_assert(sizeof(struct volume_create_req) == 16, "wire");
_Static_assert(sizeof(struct volume_link_req) == 16, "wire");
_Static_assert(sizeof(struct volume_rename_req) == 16, "wire");
_Static_assert(sizeof(struct volume_setattr_req) == 56, "wire");
