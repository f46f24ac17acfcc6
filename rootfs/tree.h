#pragma once
/*
 * The directory that an image is unpacked into. Every name is resolved from its root descriptor
 * with openat2: never above the root, never through a magic link, never into another mount. A link
 * in the middle of a name is followed inside the root only (a layer may write `lib/x` where an
 * older layer made `lib` a link to `usr/lib`), the last component never.
 */
#include "lib/compiler.h"

#include <limits.h>

#include <sys/types.h>

struct error;

struct tree {
    int root;            /* borrowed: the directory's descriptor */
    uint32_t depth;      /* directories in a name at most */
    int parent;          /* the directory of the last name, -1: none; owned */
    char path[PATH_MAX]; /* its name */
    uint64_t trash;      /* counter for names of directories that wait for removal */
};

void tree_init(struct tree *t, int root, uint32_t depth);
void tree_done(struct tree *t);

/* A member's name made plain: no leading slash, no empty and no "." component; "" is the root.
 * -EPERM for a ".." component, -ENAMETOOLONG. */
int tree_name(const struct tree *t, const char *name, char ret_name[PATH_MAX], struct error *err)
    MUST_CHECK;

/* The directory (O_PATH, borrowed until the next call on t) of a plain name that is not "", and
 * where its last component starts. With make, missing directories are made, mode 0755. -ENOENT,
 * -ENOTDIR, and -ELOOP when a link on the way leads nowhere or out. */
int tree_parent(struct tree *t, const char *name, bool make, int *ret_dir, const char **ret_last)
    MUST_CHECK;
/* Forget the remembered directory: something was removed. */
void tree_forget(struct tree *t);

/* Opens one component of a directory, never a link: flags as for open. */
int tree_open_at(int dir, const char *last, int flags, mode_t mode) MUST_CHECK;
/* Opens a plain name in the root, links on the way and at the end followed inside the root. */
int tree_open_follow(const struct tree *t, const char *name, int flags) MUST_CHECK;

/* Removes a name and everything below it, links not followed, however deep. 0 also when there was
 * nothing. Works for whoever owns the directories, also without the permission to write them. */
int tree_remove(int dir, const char *last) MUST_CHECK;
/* Everything in a directory for which keep(arg, name) is false; keep may be NULL. */
int tree_clear(int dir, bool (*keep)(void *arg, const char *name), void *arg) MUST_CHECK;
