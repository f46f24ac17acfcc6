#pragma once
/*
 * landlock(7): from here on the process, and every one that it makes, reaches only the files and
 * trees that are listed; no TCP, no abstract socket and no signal of outside where the kernel has
 * that. May be called once more; each domain is inside of the one before.
 */
#include "lib/compiler.h"

/* What may be done beneath (or to) the file behind a descriptor. */
enum {
    LANDLOCK_WRITE_FILE = 1 << 1,
    LANDLOCK_READ_FILE = 1 << 2,
    LANDLOCK_READ_DIR = 1 << 3,
    LANDLOCK_REMOVE_DIR = 1 << 4,
    LANDLOCK_REMOVE_FILE = 1 << 5,
    LANDLOCK_MAKE_DIR = 1 << 7,
    LANDLOCK_MAKE_REG = 1 << 8,
    LANDLOCK_MAKE_SOCK = 1 << 9,
    LANDLOCK_MAKE_FIFO = 1 << 10,
    LANDLOCK_MAKE_SYM = 1 << 12,
    LANDLOCK_REFER = 1 << 13,
    LANDLOCK_TRUNCATE = 1 << 14
};

struct landlock_path {
    int fd;          /* O_PATH will do */
    uint64_t rights; /* those that the kernel does not know are left out */
};

/* The ABI that the kernel offers, 0: none. */
int landlock_abi(void);
/* The ABI in force; 0: the kernel has no Landlock; -errno: it has, and refused. Needs no_new_privs
 * or CAP_SYS_ADMIN. Changes of the mount tree are refused afterwards. */
int landlock_enter(const struct landlock_path *paths, size_t n) MUST_CHECK;
