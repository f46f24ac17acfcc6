/*
 * Red-black tree with parent pointers: every path from the top to a missing child holds the same
 * number of black nodes, and no red node has a red child. Insertion and removal are the textbook
 * ones. Summaries: a rotation recomputes the two nodes that it turns (the lower first); the path
 * from the place of a change to the top is recomputed once before rebalancing starts, so rotations
 * always see right children.
 */
#include "lib/rbtree.h"

static void update_node(const struct rb_root *root, struct rb_node *node)
{
    if (root->update)
        root->update(node);
}

void rb_update_path(struct rb_root *root, struct rb_node *node)
{
    if (!root->update)
        return;
    for (; node; node = node->parent)
        root->update(node);
}

static bool is_red(const struct rb_node *node)
{
    return node && node->red;
}

/* Puts fresh (may be NULL) where old hangs below its parent. */
static void replace_child(struct rb_root *root, const struct rb_node *old, struct rb_node *fresh)
{
    struct rb_node *parent = old->parent;

    if (!parent)
        root->top = fresh;
    else if (parent->left == old)
        parent->left = fresh;
    else
        parent->right = fresh;
    if (fresh)
        fresh->parent = parent;
}

/* Turns node down to the left (its right child comes up) or, with to_left false, to the right. */
static void rotate(struct rb_root *root, struct rb_node *node, bool to_left)
{
    struct rb_node *up = to_left ? node->right : node->left;
    struct rb_node *middle = to_left ? up->left : up->right;

    replace_child(root, node, up);
    if (to_left) {
        up->left = node;
        node->right = middle;
    } else {
        up->right = node;
        node->left = middle;
    }
    node->parent = up;
    if (middle)
        middle->parent = node;
    update_node(root, node);
    update_node(root, up);
}

static void rebalance_insert(struct rb_root *root, struct rb_node *node)
{
    struct rb_node *parent;

    while ((parent = node->parent) && parent->red) {
        struct rb_node *grand = parent->parent;
        bool left = grand->left == parent;
        struct rb_node *uncle = left ? grand->right : grand->left;

        if (is_red(uncle)) {
            parent->red = uncle->red = false;
            grand->red = true;
            node = grand;
            continue;
        }
        if (node == (left ? parent->right : parent->left)) {
            rotate(root, parent, left);
            parent = node;
        }
        parent->red = false;
        grand->red = true;
        rotate(root, grand, !left);
        break;
    }
    root->top->red = false;
}

void rb_link(struct rb_root *root, struct rb_node *node, struct rb_node *parent,
             struct rb_node **slot)
{
    node->parent = parent;
    node->left = node->right = NULL;
    node->red = true;
    *slot = node;
    rb_update_path(root, node);
    rebalance_insert(root, node);
}

void rb_insert(struct rb_root *root, struct rb_node *node, rb_cmp_fn *cmp)
{
    struct rb_node *parent = NULL, **slot = &root->top;

    while (*slot) {
        parent = *slot;
        slot = cmp(node, parent) < 0 ? &parent->left : &parent->right;
    }
    rb_link(root, node, parent, slot);
}

/* The subtree at child (may be NULL) below parent lacks one black node. */
static void rebalance_erase(struct rb_root *root, struct rb_node *child, struct rb_node *parent)
{
    while (parent && !is_red(child)) {
        bool left = parent->left == child;
        struct rb_node *sibling = left ? parent->right : parent->left;

        if (sibling->red) {
            sibling->red = false;
            parent->red = true;
            rotate(root, parent, left);
            sibling = left ? parent->right : parent->left;
        }
        struct rb_node *near = left ? sibling->left : sibling->right;
        struct rb_node *far = left ? sibling->right : sibling->left;
        if (!is_red(near) && !is_red(far)) {
            sibling->red = true;
            child = parent;
            parent = child->parent;
            continue;
        }
        if (!is_red(far)) {
            near->red = false;
            sibling->red = true;
            rotate(root, sibling, !left);
            far = sibling;
            sibling = near;
        }
        sibling->red = parent->red;
        parent->red = false;
        far->red = false;
        rotate(root, parent, left);
        return;
    }
    if (child)
        child->red = false;
}

/* Takes node, which has two children, out by putting its successor in its place. */
static void erase_inner(struct rb_root *root, struct rb_node *node)
{
    struct rb_node *next = node->right;

    while (next->left)
        next = next->left;
    struct rb_node *child = next->right;
    struct rb_node *parent = next->parent == node ? next : next->parent;
    bool lost_black = !next->red;

    replace_child(root, next, child);
    replace_child(root, node, next);
    next->red = node->red;
    next->left = node->left;
    next->left->parent = next;
    next->right = node->right;
    if (next->right)
        next->right->parent = next;
    rb_update_path(root, parent);
    if (lost_black)
        rebalance_erase(root, child, parent);
}

void rb_erase(struct rb_root *root, struct rb_node *node)
{
    if (node->left && node->right) {
        erase_inner(root, node);
    } else {
        struct rb_node *child = node->left ? node->left : node->right;
        struct rb_node *parent = node->parent;
        replace_child(root, node, child);
        rb_update_path(root, parent);
        if (!node->red)
            rebalance_erase(root, child, parent);
    }
    node->parent = node->left = node->right = NULL;
}

void rb_replace(struct rb_root *root, struct rb_node *old, struct rb_node *fresh)
{
    fresh->left = old->left;
    fresh->right = old->right;
    fresh->red = old->red;
    replace_child(root, old, fresh);
    if (fresh->left)
        fresh->left->parent = fresh;
    if (fresh->right)
        fresh->right->parent = fresh;
    old->parent = old->left = old->right = NULL;
    rb_update_path(root, fresh);
}

/* The outermost node below node on one side. */
static struct rb_node *outermost(struct rb_node *node, bool left)
{
    struct rb_node *child;

    while (node && (child = left ? node->left : node->right))
        node = child;
    return node;
}

struct rb_node *rb_first(const struct rb_root *root)
{
    return outermost(root->top, true);
}

struct rb_node *rb_last(const struct rb_root *root)
{
    return outermost(root->top, false);
}

struct rb_node *rb_next(const struct rb_node *node)
{
    if (node->right)
        return outermost(node->right, true);
    while (node->parent && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
    if (node->left)
        return outermost(node->left, false);
    while (node->parent && node->parent->left == node)
        node = node->parent;
    return node->parent;
}

struct rb_node *rb_lower_bound(const struct rb_root *root, const void *key, rb_key_fn *cmp)
{
    struct rb_node *best = NULL, *node = root->top;

    while (node) {
        if (cmp(key, node) <= 0) {
            best = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return best;
}

struct rb_node *rb_find(const struct rb_root *root, const void *key, rb_key_fn *cmp)
{
    struct rb_node *node = rb_lower_bound(root, key, cmp);

    return node && cmp(key, node) == 0 ? node : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): depth is logarithmic, and only tests call it */
static int check_node(const struct rb_node *node, const struct rb_node *parent)
{
    if (!node)
        return 0;
    if (node->parent != parent || (node->red && (is_red(node->left) || is_red(node->right))))
        return -1;
    int left = check_node(node->left, node);
    int right = check_node(node->right, node);
    if (left < 0 || left != right)
        return -1;
    return left + (node->red ? 0 : 1);
}

int rb_check(const struct rb_root *root)
{
    return is_red(root->top) ? -1 : check_node(root->top, NULL);
}
