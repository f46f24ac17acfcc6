/*
 * Looking ahead. A path of several names would cost a request each, and one more for the rights of
 * the directory that it starts in; since the walker says what it is going to ask for, one request
 * brings the answers, which the lookups then find here. The host
 * may change a name in between, as it may between two lookups.
 */
#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/hostfs/hostfs.h"
#include "sentry/kernel/kernel.h"

void hostfs_ahead_drop(struct hostfs *fs)
{
    struct hostfs_ahead *a = &fs->ahead;

    for (uint32_t i = 0; i < a->n; i++) {
        if (!a->e[i].used && !a->e[i].absent)
            hostfs_drop_node(fs, a->e[i].step.node);
    }
    a->n = 0;
}

void hostfs_ahead_lost(struct hostfs *fs, uint32_t node)
{
    struct hostfs_ahead *a = &fs->ahead;

    for (uint32_t i = 0; i < a->n; i++) {
        if (!a->e[i].absent && a->e[i].step.node == node)
            a->e[i].used = true;
    }
}

/* The index of an answer that can still be used, or -ENOENT. */
static int find(const struct hostfs_ahead *a, uint32_t dir, const char *name, size_t len)
{
    if (a->stamp != kernel.nsyscalls + 1)
        return -ENOENT;
    for (uint32_t i = 0; i < a->n; i++) {
        if (!a->e[i].used && a->e[i].dir == dir && strlen(a->e[i].name) == len &&
            memcmp(a->e[i].name, name, len) == 0)
            return (int)i;
    }
    return -ENOENT;
}

/* The plain names at the start of path, copied to names. */
static uint16_t split(const char *path, char names[][GOFER_NAME_MAX + 1])
{
    uint16_t n = 0;

    while (n < VOLUME_WALK_MAX) {
        size_t len;

        path += strspn(path, "/");
        len = strcspn(path, "/");
        if (!gofer_name_valid(path, len))
            break;
        memcpy(names[n], path, len);
        names[n++][len] = 0;
        path += len;
    }
    return n;
}

static void store(struct hostfs *fs, uint32_t dir, char names[][GOFER_NAME_MAX + 1],
                  const struct volume_walk *w)
{
    struct hostfs_ahead *a = &fs->ahead;
    uint32_t n = (uint32_t)w->done + (w->error == -ENOENT ? 1 : 0);

    a->link[0] = 0;
    if (w->link)
        strncpy(a->link, w->link, sizeof(a->link) - 1);
    for (uint32_t i = 0; i < n; i++) {
        a->e[i].used = false;
        a->e[i].absent = i == w->done;
        a->e[i].dir = dir;
        memcpy(a->e[i].name, names[i], sizeof(names[i]));
        if (i == w->done)
            break;
        a->e[i].step = w->steps[i];
        hostfs_keep_node(fs, w->steps[i].node);
        dir = w->steps[i].node;
    }
    a->n = n;
    a->stamp = kernel.nsyscalls + 1;
}

void hostfs_lookup_ahead(struct inode *dir, const char *path)
{
    static char names[VOLUME_WALK_MAX][GOFER_NAME_MAX + 1];
    static struct volume_walk w;
    const char *list[VOLUME_WALK_MAX];
    struct host_inode *hi = host_inode_of(dir);
    uint16_t n;

    if (find(&hi->fs->ahead, hi->node, path, strcspn(path, "/")) >= 0)
        return;
    n = split(path, names);
    if (n == 0)
        return;
    hostfs_ahead_drop(hi->fs);
    for (uint16_t i = 0; i < n; i++)
        list[i] = names[i];
    /* What goes wrong here is seen by the lookup itself. */
    if (volume_client_walk(hi->fs->client, hi->node, list, n, &w) < 0)
        return;
    if (((dir->mode ^ w.dir.mode) & LX_S_IFMT) == 0)
        hostfs_fill(dir, &w.dir);
    store(hi->fs, hi->node, names, &w);
}

int hostfs_ask(struct host_inode *dir, const char *name, struct gofer_step *ret_step,
               const char **ret_link)
{
    struct hostfs_ahead *a = &dir->fs->ahead;
    int i = find(a, dir->node, name, strlen(name));

    if (i < 0)
        return volume_client_lookup(dir->fs->client, dir->node, name, ret_step, ret_link);
    a->e[i].used = true;
    if (a->e[i].absent)
        return -ENOENT;
    *ret_step = a->e[i].step;
    *ret_link = LX_S_ISLNK(ret_step->attr.mode) && a->link[0] ? a->link : NULL;
    return 0;
}
