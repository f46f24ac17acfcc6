/*
 * whiteout.c: deletions in layers.
 */
#include "rootfs/whiteout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/cleanup.h"

void seen_init(struct seen *s)
{
    hash_init(&s->table);
}

void seen_done(struct seen *s)
{
    struct hash_node *n;
    while ((n = hash_next(&s->table, NULL)) != NULL) {
        hash_remove(&s->table, n);
        kfree(n);
    }
    hash_done(&s->table);
}

static bool has_hash(const struct seen *s, uint64_t hash)
{
    return hash_first_match(&s->table, hash) != NULL;
}

/* Two names of one hash only make a whiteout keep too much, in an image made for that. */
static uint64_t name_hash(const char *name, size_t n)
{
    return hash_bytes(hash_seed(), name, n);
}

int seen_add(struct seen *s, const char *name)
{
    size_t n = strlen(name);
    while (n > 0) {
        uint64_t hash = name_hash(name, n);
        if (has_hash(s, hash))
            return 0; /* and so are its directories */
        struct hash_node *node = kalloc(sizeof(*node));
        if (node == NULL)
            return -ENOMEM;
        hash_insert(&s->table, node, hash);
        while (n > 0 && name[n - 1] != '/')
            n--;
        n -= n > 0;
    }
    return 0;
}

bool seen_has(const struct seen *s, const char *name)
{
    return has_hash(s, name_hash(name, strlen(name)));
}

enum whiteout_kind whiteout_parse(const char *last, const char **ret_victim)
{
    if (strncmp(last, ".wh.", 4) != 0)
        return WHITEOUT_NONE;
    if (strcmp(last, ".wh..wh..opq") == 0)
        return WHITEOUT_OPAQUE;
    if (strncmp(last, ".wh..wh.", 8) == 0)
        return WHITEOUT_IGNORED;
    *ret_victim = last + 4;
    return WHITEOUT_NAME;
}

struct hide {
    struct tree *tree;
    const struct seen *seen;
    char name[PATH_MAX]; /* of the directory */
    int error;
};

/* True for what the current layer has there; what is older below that goes all the same. */
static bool keep_own(void *arg, const char *last)
{
    struct hide *h = arg;
    struct stat st;
    size_t n = strlen(h->name);
    char *full = h->name;
    int r = 0;

    if (n + strlen(last) + 2 > sizeof(h->name))
        return false;
    (void)snprintf(full + n, sizeof(h->name) - n, "%s%s", n > 0 ? "/" : "", last);
    bool own = seen_has(h->seen, full);
    if (own && h->error == 0) {
        auto_fd int fd = tree_open_at(h->tree->root, full, O_PATH, 0);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
            r = tree_clear(fd, keep_own, h);
    }
    full[n] = '\0';
    if (r < 0 && h->error == 0)
        h->error = r;
    return own;
}

static int hide_below(struct tree *t, const struct seen *s, const char *name, int dir)
{
    auto_free struct hide *h = kalloc(sizeof(*h));
    if (h == NULL)
        return -ENOMEM;
    h->tree = t;
    h->seen = s;
    memcpy(h->name, name, strlen(name) + 1);
    int r = tree_clear(dir, keep_own, h);
    return r < 0 ? r : h->error;
}

int whiteout_opaque(struct tree *t, const struct seen *s, const char *name)
{
    tree_forget(t);
    auto_fd int fd = tree_open_follow(t, name, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
    return hide_below(t, s, name, fd);
}

int whiteout_name(struct tree *t, const struct seen *s, const char *name)
{
    const char *last;
    struct stat st;
    int dir;
    int r = tree_parent(t, name, false, &dir, &last);
    if (r < 0)
        return r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? 0 : r;
    if (!seen_has(s, name)) {
        r = tree_remove(dir, last);
        tree_forget(t);
        return r;
    }
    auto_fd int fd = tree_open_at(dir, last, O_PATH, 0);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        tree_forget(t);
        return hide_below(t, s, name, fd);
    }
    return 0;
}
