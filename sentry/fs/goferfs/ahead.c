/*
 * Looking ahead. The walker says what it is going to look up: the names of a path that are not
 * cached are asked for in one request, and the lookups, which come one by one after the checks of
 * rights, find the answers here. The image does not change, so an answer stays true; each is used
 * once. The start of a sandbox says so of several paths at once.
 */
#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/host/host.h"

/* The index of an answer, or -1. */
static int find(const struct goferfs_ahead *a, uint32_t dir, const char *name, size_t len)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct goferfs_answer *e = &a->e[i];
        if (!e->used && e->dir == dir && e->len == len && memcmp(e->name, name, len) == 0)
            return (int)i;
    }
    return -1;
}

void goferfs_ahead_drop(struct goferfs *fs)
{
    struct goferfs_ahead *a = &fs->ahead;

    for (uint32_t i = 0; i < a->n; i++) {
        if (!a->e[i].used && !a->e[i].absent) {
            a->e[i].used = true;
            goferfs_unused_node(fs, &a->e[i].step);
        }
    }
    a->n = 0;
    if (a->fd >= 0)
        host_close(a->fd);
    a->fd = -1;
}

void goferfs_ahead_lost(struct goferfs *fs, uint32_t node)
{
    struct goferfs_ahead *a = &fs->ahead;

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->e[i].used || a->e[i].dir != node)
            continue;
        a->e[i].used = true;
        if (!a->e[i].absent)
            goferfs_unused_node(fs, &a->e[i].step);
    }
}

bool goferfs_ahead_holds(const struct goferfs *fs, uint32_t node)
{
    const struct goferfs_ahead *a = &fs->ahead;

    for (uint32_t i = 0; i < a->n; i++) {
        if (!a->e[i].used && !a->e[i].absent && a->e[i].step.node == node)
            return true;
    }
    return false;
}

/* The plain names at the start of path. */
static uint16_t split(const char *path, struct gofer_walk *w)
{
    w->n = 0;
    while (w->n < GOFER_WALK_MAX) {
        size_t len;

        path += strspn(path, "/");
        len = strcspn(path, "/");
        if (!gofer_name_valid(path, len))
            break;
        w->names[w->n] = path;
        w->lens[w->n++] = (uint16_t)len;
        path += len;
    }
    return w->n;
}

/* Adds the answers. Only one walk's descriptor and target are kept. */
static void store(struct goferfs *fs, const struct gofer_walk *w, bool last)
{
    struct goferfs_ahead *a = &fs->ahead;
    uint32_t dir = w->node, n = (uint32_t)w->done + (w->error == -ENOENT ? 1 : 0);

    if (last) {
        a->fd = w->fd;
        a->link_len = w->link ? MIN(w->link_len, sizeof(a->link) - 1) : 0;
        if (w->link)
            memcpy(a->link, w->link, a->link_len);
        a->link[a->link_len] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct goferfs_answer *e = &a->e[a->n++];

        e->used = false;
        e->absent = i == w->done;
        e->last = last && i + 1 == w->done;
        e->dir = dir;
        e->len = w->lens[i];
        memcpy(e->name, w->names[i], e->len);
        if (e->absent)
            break;
        e->step = w->steps[i];
        served_forget_undo(&fs->forget, e->step.node);
        dir = e->step.node;
    }
}

void goferfs_lookup_ahead(struct inode *dir, const char *path)
{
    static struct gofer_walk w; /* too large for a stack */
    struct gofer_inode *gi = gofer_inode_of(dir);
    struct goferfs *fs = gi->fs;

    if (find(&fs->ahead, gi->node, path, strcspn(path, "/")) >= 0 || split(path, &w) < 2 ||
        goferfs_known_absent(gi, w.names[0], w.lens[0]))
        return;
    goferfs_ahead_drop(fs);
    w.node = gi->node;
    w.flags = GOFER_WALK_OPEN;
    goferfs_fd_make_room();
    /* What goes wrong here is seen by the lookup itself. */
    if (gofer_walk(fs->client, &w) == 0)
        store(fs, &w, true);
}

/* Whether one of the n walks begins with the same name as w[n]. */
static bool begins_alike(const struct gofer_walk *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (w[i].lens[0] == w[n].lens[0] && memcmp(w[i].names[0], w[n].names[0], w[n].lens[0]) == 0)
            return true;
    }
    return false;
}

void goferfs_preload(struct super *sb, const char *const *paths, size_t n)
{
    static struct gofer_walk w[GOFER_WALKS_MAX];
    struct goferfs *fs = sb->priv;
    size_t walks = 0, names = 0;

    for (size_t i = 0; i < n && walks < ARRAY_LEN(w); i++) {
        uint16_t more = split(paths[i], &w[walks]);

        if (more == 0 || names + more + 1 > ARRAY_LEN(fs->ahead.e) || begins_alike(w, walks))
            continue;
        w[walks].node = gofer_inode_of(sb->root->inode)->node;
        w[walks].flags = 0;
        names += more;
        walks++;
    }
    if (walks == 0)
        return;
    goferfs_ahead_drop(fs);
    w[walks - 1].flags = GOFER_WALK_OPEN;
    goferfs_fd_make_room();
    if (gofer_walks(fs->client, w, walks) < 0)
        return;
    for (size_t i = 0; i < walks; i++)
        store(fs, &w[i], i + 1 == walks);
}

bool goferfs_ahead_take(struct gofer_inode *dir, const struct dentry *d,
                        struct goferfs_answer *ret_e, int *ret_fd, const char **ret_link,
                        size_t *ret_link_len)
{
    struct goferfs_ahead *a = &dir->fs->ahead;
    int i = find(a, dir->node, d->name, d->name_len);

    if (i < 0)
        return false;
    a->e[i].used = true;
    *ret_e = a->e[i];
    *ret_fd = -1;
    *ret_link = NULL;
    *ret_link_len = 0;
    if (ret_e->last) {
        *ret_fd = a->fd;
        a->fd = -1;
        if (LX_S_ISLNK(ret_e->step.attr.mode) && a->link_len > 0) {
            *ret_link = a->link;
            *ret_link_len = a->link_len;
        }
    }
    return true;
}
