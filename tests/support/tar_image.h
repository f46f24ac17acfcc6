#pragma once
/*
 * Tars and small OCI layouts in memory and in a directory, for tests of rootfs/.
 */
#include "lib/compiler.h"

#include "lib/buf.h"

struct tar_member {
    const char *name;
    char type; /* '0' file, '1' hard link, '2' symbolic link, '3' '4' device, '5' directory, '6'
                  fifo */
    const char *data; /* of a file */
    const char *link;
    unsigned mode; /* 0: 0644, for directories 0755 */
};

#define TAR_FILE(n, d)                        \
    {                                         \
        .name = (n), .type = '0', .data = (d) \
    }
#define TAR_LINK(n, kind, to)                     \
    {                                             \
        .name = (n), .type = (kind), .link = (to) \
    }
#define TAR_NODE(n, kind)           \
    {                               \
        .name = (n), .type = (kind) \
    }
#define TAR_DIR(n) TAR_NODE(n, '5')
#define TAR_END      \
    {                \
        .name = NULL \
    }

/* One ustar header with its data, padded. */
void tar_add(struct buf *tar, const struct tar_member *m);
/* Members up to the first without a name, and the end. */
void tar_make(struct buf *tar, const struct tar_member *members);
/* The bytes in an open, unlinked file. */
int tar_file(const struct buf *tar);
/* A new empty directory: its path (for tar_rm) and descriptor. */
int tar_dir(char path[64]);
void tar_rm(const char *path);
/* The text of a file below dir, "(none)" without one; links are followed. Valid until the next. */
const char *tar_text(int dir, const char *name);
bool tar_there(int dir, const char *name);
