#pragma once
/*
 * The table of nodes: what the ids mean that the server hands out. A node is (parent node, name)
 * and a file type; a path is never stored and no descriptor is kept here. Ids are bounded
 * (GOFER_NODES_MAX), given back with nodes_forget and then used again. Root r has id r and is
 * never forgotten. A node stays while nodes below it exist, so every live node's chain of parents
 * ends at a root; it is at most GOFER_DEPTH_MAX long. Makes no host call.
 */
#include "lib/compiler.h"

#include "lib/hash.h"

#define GOFER_DEPTH_MAX 2048u

struct node {
    struct hash_node link; /* in nodes.by_name, except for roots */
    uint32_t id;
    uint32_t parent; /* a root's is itself */
    uint32_t root;   /* which tree it is in */
    uint32_t children;
    uint16_t depth; /* 0 for roots */
    uint16_t slot;  /* of the descriptor cache, 0: none (see tree.h) */
    uint8_t type;   /* DT_* of the last lookup */
    bool forgotten; /* given back while it still has children */
    uint8_t name_len;
    char name[]; /* NUL-terminated */
};

struct nodes {
    struct node **by_id; /* [cap]; NULL: free */
    uint32_t cap;
    uint32_t live;
    uint32_t nroots;
    uint32_t next_free; /* no id below it is free */
    struct hash_table by_name;
    /* Called when a node goes, before its id is free. */
    void (*on_free)(void *ctx, struct node *n);
    void *ctx;
};

MUST_CHECK int nodes_init(struct nodes *t, uint32_t nroots);
void nodes_done(struct nodes *t);

/* The live node of this id, or NULL. Borrowed until it is forgotten. */
struct node *nodes_get(const struct nodes *t, uint32_t id);
/* Finds (parent, name) or makes it. -ENOMEM: out of memory or ids; -ENAMETOOLONG: too deep. */
MUST_CHECK int nodes_add(struct nodes *t, struct node *parent, const char *name, size_t len,
                         struct node **ret);
/* Gives an id back; unknown ids and roots are ignored. */
void nodes_forget(struct nodes *t, uint32_t id);
/* True when every promise above holds (tests and fuzzing; reads the whole table). */
bool nodes_check(const struct nodes *t);
