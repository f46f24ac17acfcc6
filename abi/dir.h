#pragma once
/* Directory entries as getdents64(2) and getdents(2) write them. */
#include "lib/compiler.h"

/* d_type */
#define LX_DT_UNKNOWN 0
#define LX_DT_FIFO    1
#define LX_DT_CHR     2
#define LX_DT_DIR     4
#define LX_DT_BLK     6
#define LX_DT_REG     8
#define LX_DT_LNK     10
#define LX_DT_SOCK    12
#define LX_DT_WHT     14

/*
 * Header of one entry; the name with its NUL follows d_type directly, and the entry is padded to
 * a multiple of 8. Its size is LX_DIRENT64_LEN(strlen(name)).
 */
struct lx_dirent64 {
    uint64_t d_ino;
    int64_t d_off; /* position of the next entry */
    uint16_t d_reclen;
    uint8_t d_type;
    char d_name[]; /* offset 19 */
};

#define LX_DIRENT64_NAME_OFFSET 19u
#define LX_DIRENT64_LEN(namelen) \
    (((size_t)(namelen) + 1 + LX_DIRENT64_NAME_OFFSET + 7) & ~(size_t)7)

/* The old getdents: d_type is the last byte of the record, after the NUL. */
struct lx_dirent {
    uint64_t d_ino;
    uint64_t d_off;
    uint16_t d_reclen;
    char d_name[]; /* offset 18 */
};

#define LX_DIRENT_NAME_OFFSET  18u
#define LX_DIRENT_LEN(namelen) (((size_t)(namelen) + 2 + LX_DIRENT_NAME_OFFSET + 7) & ~(size_t)7)
