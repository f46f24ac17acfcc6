#pragma once
/*
 * The state of one path walk (namei.c), for namei.c and open.c only. A walk goes name by name to
 * the directory that holds the last component; what happens there is up to the caller, who may
 * find a symlink and let the walk go on through its text. Lives on the stack: walk_init, walk_done.
 */
#include "lib/compiler.h"

#include "sentry/fs/vfs.h"

struct walk {
    struct task *task; /* NULL: the kernel's own walk */
    const struct cred *cred;
    struct path root, cur; /* owned */
    uint32_t flags;        /* LOOKUP_* */
    unsigned links;        /* symlinks followed */
    const char *rest;      /* text still to go */
    char *text; /* owned: the text with symlinks put in, or NULL while it is the caller's */
    /* the last component */
    const char *last;
    size_t last_len;
    int last_type; /* LAST_* */
    bool slash;    /* slashes follow it: it must be a directory */
};

int walk_init(struct walk *w, struct task *t, int dfd, const char *name, uint32_t flags) MUST_CHECK;
void walk_done(struct walk *w);
/* To the parent of the last component: w->cur is a directory that may be searched. */
int walk_parent(struct walk *w) MUST_CHECK;
/* The last component when it is "." or "..": w->cur becomes it. */
int walk_last_dots(struct walk *w) MUST_CHECK;
/* The last component as a dentry, mounts not crossed: counted, maybe negative. */
int walk_last_dentry(struct walk *w, struct dentry **ret_d) MUST_CHECK;
/* Makes w->cur the (positive) child d, across mounts; consumes d. */
int walk_enter(struct walk *w, struct dentry *d CONSUMES) MUST_CHECK;
/* d is a symlink in w->cur. A magic link moves w->cur and sets *ret_jumped; text becomes what is
 * left to walk. Consumes d. */
int walk_follow(struct walk *w, struct dentry *d CONSUMES, bool *ret_jumped) MUST_CHECK;
