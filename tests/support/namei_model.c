/*
 * The model walks recursively, component by component, straight from path_resolution(7). Names and
 * paths are made of few letters, so that short inputs already hit existing names.
 */
#include "tests/support/namei_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/errno.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"

enum {
    NODES = 24,
    NAME_CAP = 4,
    TEXT_CAP = 40,
    LOOKUPS = 12
};

struct node {
    int parent; /* -1: the root */
    uint32_t mode;
    char name[NAME_CAP];
    char target[TEXT_CAP];
    struct inode *inode; /* borrowed: the tree holds it */
};

struct model {
    struct node node[NODES];
    int n;
    const uint8_t *data;
    size_t left;
    struct cred *cred;
    struct task task;
    struct fs_info *fs;
};

static uint8_t next_byte(struct model *m)
{
    if (!m->left)
        return 0;
    m->left--;
    return *m->data++;
}

/* A path over {a, b, ., /}: four letters a byte. */
static void next_text(struct model *m, char *text, size_t cap, const char *letters)
{
    size_t len = 1 + next_byte(m) % (cap - 1), at = 0;

    while (at < len) {
        uint8_t b = next_byte(m);

        for (int i = 0; i < 4 && at < len; i++, b >>= 2)
            text[at++] = letters[b & 3];
    }
    text[at] = 0;
}

/* -- the model -----------------------------------------------------------------------------------
 */

static int child_of(const struct model *m, int dir, const char *name, size_t len)
{
    for (int i = 1; i < m->n; i++) {
        const struct node *n = &m->node[i];

        if (n->parent == dir && strlen(n->name) == len && memcmp(n->name, name, len) == 0)
            return i;
    }
    return -ENOENT;
}

static int naive_walk(const struct model *m, int start, const char *path, bool follow, int *links)
{
    int cur = path[0] == '/' ? 0 : start;
    size_t total = strlen(path);
    bool slash = total && path[total - 1] == '/';

    if (!total)
        return -ENOENT;
    while (*path) {
        size_t len;
        bool last;

        path += strspn(path, "/");
        if (!*path)
            break;
        len = strcspn(path, "/");
        last = !path[len + strspn(path + len, "/")];
        if (!LX_S_ISDIR(m->node[cur].mode))
            return -ENOTDIR;
        if (!(m->node[cur].mode & 0100))
            return -EACCES;
        if (len == 2 && path[0] == '.' && path[1] == '.') {
            cur = m->node[cur].parent < 0 ? 0 : m->node[cur].parent;
        } else if (!(len == 1 && path[0] == '.')) {
            int next = child_of(m, cur, path, len);

            if (next >= 0 && LX_S_ISLNK(m->node[next].mode) && (!last || follow || slash)) {
                if ((*links)++ >= LX_MAXSYMLINKS)
                    return -ELOOP;
                next = naive_walk(m, cur, m->node[next].target, true, links);
            }
            if (next < 0)
                return next;
            cur = next;
        }
        path += len;
    }
    return slash && !LX_S_ISDIR(m->node[cur].mode) ? -ENOTDIR : cur;
}

/* -- building both ----------------------------------------------------------------------------- */

static int make_node(struct model *m, struct dentry *d, struct inode *dir, struct node *n)
{
    if (LX_S_ISLNK(n->mode))
        return dir->ops->symlink(dir, d, n->target, m->cred);
    if (LX_S_ISDIR(n->mode))
        return dir->ops->mkdir(dir, d, n->mode, m->cred);
    return dir->ops->create(dir, d, n->mode, m->cred);
}

/* The dentry of a node, looked up from the root. */
static struct dentry *node_dentry(struct model *m, int i)
{
    struct dentry *parent, *d;

    if (i == 0)
        return dentry_get(kernel.root_mount->root);
    parent = node_dentry(m, m->node[i].parent);
    if (dentry_lookup(parent, m->node[i].name, strlen(m->node[i].name), &d) < 0)
        abort();
    dentry_put(parent);
    return d;
}

static void add_node(struct model *m)
{
    static const uint32_t modes[] = {LX_S_IFDIR | 0700, LX_S_IFREG | 0600, LX_S_IFLNK | 0777,
                                     LX_S_IFDIR | 0600, LX_S_IFDIR | 0700, LX_S_IFLNK | 0777};
    struct node *n = &m->node[m->n];
    struct dentry *parent, *d;
    uint8_t kind = next_byte(m);

    memset(n, 0, sizeof(*n));
    n->mode = modes[kind % ARRAY_LEN(modes)];
    n->parent = next_byte(m) % m->n;
    next_text(m, n->name, sizeof(n->name), "abab");
    if (LX_S_ISLNK(n->mode))
        next_text(m, n->target, sizeof(n->target), "ab./");
    if (!LX_S_ISDIR(m->node[n->parent].mode) ||
        child_of(m, n->parent, n->name, strlen(n->name)) >= 0)
        return;
    parent = node_dentry(m, n->parent);
    if (dentry_lookup(parent, n->name, strlen(n->name), &d) < 0 || d->inode ||
        make_node(m, d, parent->inode, n) < 0)
        abort();
    n->inode = d->inode;
    dentry_put(d);
    dentry_put(parent);
    m->n++;
}

static void compare(struct model *m)
{
    char text[TEXT_CAP];
    bool follow = next_byte(m) & 1;
    int links = 0, want, got;
    struct path p;

    next_text(m, text, sizeof(text), "ab./");
    want = naive_walk(m, 0, text, follow, &links);
    got = path_lookup(&m->task, LX_AT_FDCWD, text, follow ? LOOKUP_FOLLOW : 0, &p);
    if (got == 0) {
        got = want >= 0 && m->node[want].inode == p.dentry->inode ? want : -EPROTO;
        path_put(&p);
    }
    if (got == want)
        return;
    fprintf(stderr, "lookup of \"%s\" (follow %d): %d, the model says %d\n", text, follow, got,
            want);
    for (int i = 0; i < m->n; i++)
        fprintf(stderr, "  %d: in %d, %06o \"%s\" -> \"%s\"\n", i, m->node[i].parent,
                m->node[i].mode, m->node[i].name, m->node[i].target);
    abort();
}

static void set_up(struct model *m)
{
    struct tmpfs_options opt = {.mode = 0700, .uid = 7};
    struct super *sb;
    struct path root;

    limits_init();
    if (tmpfs_mount_new(&opt, &sb) < 0 || mount_add(NULL, sb, 0, "model", NULL) < 0)
        abort();
    root = (struct path){kernel.root_mount, kernel.root_mount->root};
    m->cred = cred_new();
    if (!m->cred || fs_info_new(&root, &root, &m->fs) < 0)
        abort();
    m->cred->fsuid = 7;
    m->task.cred = m->cred;
    m->task.fs = m->fs;
    m->node[0] = (struct node){.parent = -1, .mode = LX_S_IFDIR | 0700};
    m->node[0].inode = root.dentry->inode;
    m->n = 1;
}

void namei_model_run(const uint8_t *data, size_t size)
{
    struct model *m = calloc(1, sizeof(*m));

    if (!m)
        abort();
    m->data = data;
    m->left = size;
    set_up(m);
    for (int i = 0; m->n < NODES && i < 2 * NODES && m->left; i++)
        add_node(m);
    for (int i = 0; i < LOOKUPS && (i == 0 || m->left); i++)
        compare(m);
    fs_info_put(m->fs);
    cred_put(m->cred);
    mounts_done();
    if (limit_used(LIMIT_DENTRIES) || limit_used(LIMIT_DISK_INODES))
        abort();
    free(m);
}
