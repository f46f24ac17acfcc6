#pragma once
/*
 * Intrusive red-black tree, optionally augmented. The user embeds a struct rb_node and orders nodes
 * through a comparison, or descends by hand and links at the slot that it found:
 *
 *      struct rb_node *parent = NULL, **slot = &root->top;
 *      while (*slot) { parent = *slot; slot = less ? &parent->left : &parent->right; }
 *      rb_link(root, node, parent, slot);
 *
 * An augmented tree has an update function that recomputes a node's summary (say, the largest gap
 * below it) from the node itself and its two children; it is called bottom-up for every node whose
 * subtree changed. After changing a linked node's own contribution call rb_update_path.
 */
#include "lib/compiler.h"

struct rb_node {
    struct rb_node *parent, *left, *right;
    bool red;
};

typedef void rb_update_fn(struct rb_node *node);
typedef int rb_cmp_fn(const struct rb_node *a, const struct rb_node *b);
/* Negative: key lies before node; 0: equal; positive: after. */
typedef int rb_key_fn(const void *key, const struct rb_node *node);

struct rb_root {
    struct rb_node *top;
    rb_update_fn *update; /* NULL for a plain tree */
};

#define rb_entry(ptr, type, member) container_of(ptr, type, member)

static inline void rb_init(struct rb_root *root, rb_update_fn *update)
{
    root->top = NULL;
    root->update = update;
}

static inline bool rb_empty(const struct rb_root *root)
{
    return !root->top;
}

/* Links node at *slot (NULL so far) below parent and rebalances. */
void rb_link(struct rb_root *root, struct rb_node *node, struct rb_node *parent,
             struct rb_node **slot);
/* Inserts in order; equal nodes keep the order of insertion. */
void rb_insert(struct rb_root *root, struct rb_node *node, rb_cmp_fn *cmp);
void rb_erase(struct rb_root *root, struct rb_node *node);
/* fresh takes the place of old, which compares equal. */
void rb_replace(struct rb_root *root, struct rb_node *old, struct rb_node *fresh);
/* Recomputes the summaries from node up to the top. */
void rb_update_path(struct rb_root *root, struct rb_node *node);

/* Each NULL when there is none. */
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *rb_prev(const struct rb_node *node);
/* A node equal to key. */
struct rb_node *rb_find(const struct rb_root *root, const void *key, rb_key_fn *cmp);
/* The first node that does not lie before key (equal or after). */
struct rb_node *rb_lower_bound(const struct rb_root *root, const void *key, rb_key_fn *cmp);

#define rb_for_each(pos, root) for ((pos) = rb_first(root); (pos); (pos) = rb_next(pos))

/* For tests: black height, or -1 when a rule of the tree is broken. */
int rb_check(const struct rb_root *root);
