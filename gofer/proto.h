#pragma once
/*
 * The words between the sentry (client) and the gofer (server): wire structures, limits, and the
 * bounded reader and writer that both sides use. Transport: one connected AF_UNIX SOCK_SEQPACKET
 * socket, so one packet is one message; a request is answered by exactly one reply with the same
 * tag. Numbers are in host order and structures have no padding: both sides are the same machine.
 * Each side treats what it receives as hostile. README.md describes every message.
 */
#include "lib/compiler.h"

#define GOFER_PROTO_VERSION 1u

#define GOFER_MSG_MAX   65536u   /* bytes of one message, header included */
#define GOFER_NAME_MAX  255u     /* bytes of one name */
#define GOFER_LINK_MAX  4095u    /* bytes of a symlink's target */
#define GOFER_WALK_MAX  16u      /* names in one WALK */
#define GOFER_ROOTS_MAX 64u      /* image + volumes */
#define GOFER_NODES_MAX 1048576u /* live node ids */
#define GOFER_XATTR_MAX 61440u   /* bytes of a value or of a list of names */

/* Exit status of a server that has said on standard error why it ends. */
#define GOFER_EXIT_SAID 4

enum gofer_msg {
    GOFER_HELLO = 1, /* gofer_hello -> gofer_hello, gofer_attr[nroots] */
    GOFER_WALK,      /* gofer_walk_req, name[count] -> gofer_walk_rep, gofer_step[done], target */
    GOFER_GETATTR,   /* gofer_node_req -> gofer_attr */
    GOFER_OPEN,      /* gofer_node_req -> nothing, and a descriptor */
    GOFER_READLINK,  /* gofer_node_req -> target bytes */
    GOFER_READDIR,   /* gofer_readdir_req -> gofer_readdir_rep, entries */
    GOFER_STATFS,    /* gofer_node_req -> gofer_statfs */
    GOFER_GETXATTR,  /* gofer_node_req, name -> value bytes */
    GOFER_LISTXATTR, /* gofer_node_req -> names, each with its NUL */
    GOFER_FORGET,    /* gofer_forget_req, u32[count] -> nothing */
    GOFER_MSG_END
};

/*
 * Header of every message.
 *   0  u32  size     of the whole message
 *   4  u16  type     enum gofer_msg
 *   6  u16  zero
 *   8  u32  tag      chosen by the client, returned by the server
 *  12  u32  status   request: 0; reply: 0 or a positive errno, and then nothing follows
 */
struct gofer_header {
    uint32_t size;
    uint16_t type;
    uint16_t zero;
    uint32_t tag;
    uint32_t status;
};

/*   0  i64  sec;  8  u32  nsec (< 10^9);  12  u32  zero */
struct gofer_time {
    int64_t sec;
    uint32_t nsec;
    uint32_t zero;
};

/*
 * What statx says about a node.
 *   0  u64 ino         32  u32 uid          48  u32 rdev_major    64  atime
 *   8  u64 size        36  u32 gid          52  u32 rdev_minor    80  mtime
 *  16  u64 blocks      40  u32 dev_major    56  u32 blksize       96  ctime
 *  24  u32 mode        44  u32 dev_minor    60  u32 zero         112  btime (0 if unknown)
 *  28  u32 nlink
 */
struct gofer_attr {
    uint64_t ino;
    uint64_t size;
    uint64_t blocks; /* of 512 bytes */
    uint32_t mode;   /* S_IFMT | permissions */
    uint32_t nlink;
    uint32_t uid;
    uint32_t gid;
    uint32_t dev_major;
    uint32_t dev_minor;
    uint32_t rdev_major;
    uint32_t rdev_minor;
    uint32_t blksize;
    uint32_t zero;
    struct gofer_time atime;
    struct gofer_time mtime;
    struct gofer_time ctime;
    struct gofer_time btime;
};

/*   0  u64 type (magic)   16  u64 blocks   32  u64 bavail   48  u64 ffree    64  u64 frsize
 *   8  u64 bsize          24  u64 bfree    40  u64 files    56  u64 namelen  72  u64 flags */
struct gofer_statfs {
    uint64_t type;
    uint64_t bsize;
    uint64_t blocks;
    uint64_t bfree;
    uint64_t bavail;
    uint64_t files;
    uint64_t ffree;
    uint64_t namelen;
    uint64_t frsize;
    uint64_t flags;
};

/*   0  u32 version;  4  u32 nroots */
struct gofer_hello {
    uint32_t version;
    uint32_t nroots;
};

/*   0  u32 node;  4  u32 zero */
struct gofer_node_req {
    uint32_t node;
    uint32_t zero;
};

/* WALK: open the last name too if it is a regular file (the descriptor comes with the reply). */
#define GOFER_WALK_OPEN 1u

/*   0  u32 node (a directory);  4  u16 count (1..16);  6  u16 flags; then count times
 *      u16 length (1..255), the bytes */
struct gofer_walk_req {
    uint32_t node;
    uint16_t count;
    uint16_t flags;
};

/*   0  u16 done   number of gofer_step that follow
 *   2  u16 error  errno of name number `done`; 0 if all were found or the last step is no directory
 *   4  u16 link   length of the last step's target, behind the steps; 0 if it is no symlink
 *   6  u16 fds    number of descriptors with this message, 0 or 1 */
struct gofer_walk_rep {
    uint16_t done;
    uint16_t error;
    uint16_t link;
    uint16_t fds;
};

/*   0  u32 node;  4  u32 zero;  8  gofer_attr */
struct gofer_step {
    uint32_t node;
    uint32_t zero;
    struct gofer_attr attr;
};

/*   0  u32 node;  4  u32 zero;  8  u64 cookie (0, or one that the server gave) */
struct gofer_readdir_req {
    uint32_t node;
    uint32_t zero;
    uint64_t cookie;
};

/*   0  u32 count (0: the end);  4  u32 zero; then count entries */
struct gofer_readdir_rep {
    uint32_t count;
    uint32_t zero;
};

/*   0  u64 ino;  8  u64 cookie (where the next entry is);  16  u16 length (1..255);
 *  18  u8 type (DT_*);  19  u8 zero[5];  24  the name and a NUL, no alignment behind it */
struct gofer_dirent_wire {
    uint64_t ino;
    uint64_t cookie;
    uint16_t length;
    uint8_t type;
    uint8_t zero[5];
};

/*   0  u32 count;  4  u32 zero; then count times u32 node */
struct gofer_forget_req {
    uint32_t count;
    uint32_t zero;
};

_Static_assert(sizeof(struct gofer_header) == 16, "wire");
_Static_assert(sizeof(struct gofer_time) == 16, "wire");
_Static_assert(offsetof(struct gofer_attr, uid) == 32, "wire");
_Static_assert(offsetof(struct gofer_attr, atime) == 64, "wire");
_Static_assert(sizeof(struct gofer_attr) == 128, "wire");
_Static_assert(sizeof(struct gofer_statfs) == 80, "wire");
_Static_assert(sizeof(struct gofer_hello) == 8, "wire");
_Static_assert(sizeof(struct gofer_node_req) == 8, "wire");
_Static_assert(sizeof(struct gofer_walk_req) == 8, "wire");
_Static_assert(sizeof(struct gofer_walk_rep) == 8, "wire");
_Static_assert(sizeof(struct gofer_step) == 136, "wire");
_Static_assert(sizeof(struct gofer_readdir_req) == 16, "wire");
_Static_assert(sizeof(struct gofer_readdir_rep) == 8, "wire");
_Static_assert(sizeof(struct gofer_dirent_wire) == 24, "wire");
_Static_assert(sizeof(struct gofer_forget_req) == 8, "wire");

/* Writer: appends to a buffer of fixed size; once something did not fit, `full` stays set. */
struct gofer_out {
    uint8_t *data;
    size_t size;
    size_t cap;
    bool full;
};

/* Reader: takes from a received message; once something was missing, `bad` stays set. */
struct gofer_in {
    const uint8_t *data;
    size_t left;
    bool bad;
};

void gofer_out_init(struct gofer_out *o, void *buf, size_t cap);
void gofer_put(struct gofer_out *o, const void *bytes, size_t n);
void gofer_put_name(struct gofer_out *o, const char *name, size_t len);
/* Reserves n bytes and returns them (zeroed), or NULL when full. */
void *gofer_put_space(struct gofer_out *o, size_t n);

void gofer_in_init(struct gofer_in *in, const void *data, size_t size);
/* Copies the next n bytes to ret; zeroes it and marks the reader bad when fewer are left. */
void gofer_get(struct gofer_in *in, void *ret, size_t n);
/* Returns the next n bytes in place (borrowed from the message), or NULL. */
const void *gofer_get_bytes(struct gofer_in *in, size_t n);
/* u16 length + bytes; the name is valid by gofer_name_valid. *ret_len is 0 when bad. */
const char *gofer_get_name(struct gofer_in *in, size_t *ret_len);
/* The same, with gofer_xattr_name_valid. */
const char *gofer_get_xattr_name(struct gofer_in *in, size_t *ret_len);
/* True when nothing was missing and nothing is left over. */
MUST_CHECK bool gofer_in_done(const struct gofer_in *in);

/* One end of the connection. */
struct gofer_port {
    int sock;
    unsigned spins; /* how often to look for a message before going to sleep */
    int timeout_ms; /* how long to sleep, 0: without end */
    /* Called whenever there was no message yet; may wait until there is one. NULL: nothing to do. */
    void (*meanwhile)(void *arg, int sock);
    void *arg;
};
/*
 * fd_recv that looks for the message some times first: the other side answers within microseconds,
 * and to be woken takes longer than that. -ETIMEDOUT.
 */
MUST_CHECK int64_t gofer_recv(const struct gofer_port *p, void *buf, size_t n, int *fds,
                              size_t max_fds, size_t *ret_nfds);
/* How often to look on this machine: 0 where the other side could not run meanwhile. */
unsigned gofer_spins(void);

/* 1..255 bytes, no '/', no NUL, not "." and not "..". */
MUST_CHECK bool gofer_name_valid(const char *name, size_t len);
/* 1..255 bytes, no NUL: the name of an extended attribute. */
MUST_CHECK bool gofer_xattr_name_valid(const char *name, size_t len);
/* user.* and security.capability: no other attribute is known to anybody. */
bool gofer_xattr_served(const char *name);
/* 1..4095 bytes, no NUL: what a symlink points at. */
MUST_CHECK bool gofer_link_valid(const char *target, size_t len);
/* Times in range and reserved fields zero. */
MUST_CHECK bool gofer_attr_valid(const struct gofer_attr *a);
