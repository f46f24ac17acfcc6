/*
 * The node table, see nodes.h. An array finds a node by id, a hash table finds it by (parent,
 * name). Free ids are found by a scan from the lowest one that may be free; since ids are mostly
 * taken in sequence and given back in batches, the scan is short on average.
 */
#include "gofer/nodes.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "gofer/proto.h"
#include "lib/alloc.h"

enum {
    FIRST_CAP = 256
};

static struct node *node_new(const char *name, size_t len)
{
    struct node *n = kalloc(sizeof(*n) + len + 1);
    if (!n)
        return NULL;
    if (len > 0)
        memcpy(n->name, name, len);
    n->name_len = (uint8_t)len;
    return n;
}

int nodes_init(struct nodes *t, uint32_t nroots)
{
    *t = (struct nodes){0};
    hash_init(&t->by_name);
    t->by_id = kalloc(FIRST_CAP * sizeof(struct node *));
    if (!t->by_id)
        return -ENOMEM;
    t->cap = FIRST_CAP;
    for (uint32_t r = 0; r < nroots; r++) {
        struct node *n = node_new("", 0);
        if (!n) {
            nodes_done(t);
            return -ENOMEM;
        }
        n->id = n->parent = n->root = r;
        n->type = DT_DIR;
        t->by_id[r] = n;
        t->live++;
    }
    t->nroots = nroots;
    t->next_free = nroots;
    return 0;
}

void nodes_done(struct nodes *t)
{
    for (uint32_t i = 0; i < t->cap; i++)
        kfree(t->by_id[i]);
    kfree(t->by_id);
    hash_done(&t->by_name);
    *t = (struct nodes){0};
}

struct node *nodes_get(const struct nodes *t, uint32_t id)
{
    if (id >= t->cap || !t->by_id[id] || t->by_id[id]->forgotten)
        return NULL;
    return t->by_id[id];
}

static uint64_t name_hash(uint32_t parent, const char *name, size_t len)
{
    return hash_bytes(hash_seed() + parent, name, len);
}

static struct node *find(const struct nodes *t, uint64_t hash, uint32_t parent, const char *name,
                         size_t len)
{
    struct hash_node *h;
    hash_for_each_match (h, &t->by_name, hash) {
        struct node *n = hash_entry(h, struct node, link);
        if (n->parent == parent && n->name_len == len && memcmp(n->name, name, len) == 0)
            return n;
    }
    return NULL;
}

/* The lowest free id; the array grows when there is none. */
static int id_reserve(struct nodes *t, uint32_t *ret_id)
{
    uint32_t id = t->next_free;
    while (id < t->cap && t->by_id[id])
        id++;
    t->next_free = id;
    if (id == t->cap) {
        uint32_t cap = t->cap * 2;
        if (cap > GOFER_NODES_MAX)
            return -ENOMEM;
        struct node **by_id = krealloc(t->by_id, cap * sizeof(struct node *));
        if (!by_id)
            return -ENOMEM;
        t->by_id = by_id;
        t->cap = cap;
    }
    *ret_id = id;
    return 0;
}

int nodes_add(struct nodes *t, struct node *parent, const char *name, size_t len, struct node **ret)
{
    uint64_t hash = name_hash(parent->id, name, len);
    struct node *n = find(t, hash, parent->id, name, len);
    if (n) {
        n->forgotten = false;
        *ret = n;
        return 0;
    }
    if (parent->depth == GOFER_DEPTH_MAX)
        return -ENAMETOOLONG;
    uint32_t id;
    int rc = id_reserve(t, &id);
    if (rc < 0)
        return rc;
    n = node_new(name, len);
    if (!n)
        return -ENOMEM;
    n->id = id;
    n->parent = parent->id;
    n->root = parent->root;
    n->depth = (uint16_t)(parent->depth + 1);
    n->type = DT_UNKNOWN;
    parent->children++;
    hash_insert(&t->by_name, &n->link, hash);
    t->by_id[id] = n;
    t->live++;
    *ret = n;
    return 0;
}

static void node_remove(struct nodes *t, struct node *n)
{
    if (t->on_free)
        t->on_free(t->ctx, n);
    hash_remove(&t->by_name, &n->link);
    t->by_id[n->id] = NULL;
    t->next_free = MIN(t->next_free, n->id);
    t->live--;
    kfree(n);
}

void nodes_forget(struct nodes *t, uint32_t id)
{
    struct node *n = nodes_get(t, id);
    if (!n || n->depth == 0)
        return;
    n->forgotten = true;
    /* It goes when its last child has gone, and may take forgotten parents along. */
    while (n->depth > 0 && n->forgotten && n->children == 0) {
        struct node *parent = t->by_id[n->parent];
        node_remove(t, n);
        parent->children--;
        n = parent;
    }
}

static bool node_check(const struct nodes *t, uint32_t id)
{
    const struct node *n = t->by_id[id];
    if (n->id != id || n->parent >= t->cap || !t->by_id[n->parent])
        return false;
    if (id < t->nroots)
        return n->parent == id && n->depth == 0 && n->root == id && !n->forgotten;
    const struct node *parent = t->by_id[n->parent];
    if (n->depth != parent->depth + 1 || n->root != parent->root || n->depth > GOFER_DEPTH_MAX)
        return false;
    if (!gofer_name_valid(n->name, n->name_len) || n->name[n->name_len] != '\0')
        return false;
    if (n->forgotten && n->children == 0)
        return false;
    return find(t, name_hash(n->parent, n->name, n->name_len), n->parent, n->name, n->name_len) ==
           n;
}

bool nodes_check(const struct nodes *t)
{
    uint32_t live = 0;
    uint64_t children = 0;
    for (uint32_t i = 0; i < t->cap; i++) {
        if (!t->by_id[i]) {
            if (i < t->next_free)
                return false;
            continue;
        }
        if (!node_check(t, i))
            return false;
        live++;
        children += t->by_id[i]->children;
    }
    return live == t->live && t->by_name.count == live - t->nroots && children == live - t->nroots;
}
