#pragma once
/*
 * The entry of a direct run in the state directory: made before the sandbox, so that `sentry exec`
 * and its like find it, and gone with it.
 */
#include "lib/compiler.h"

#include "sentry/cli/state.h"

struct boot;

struct entry {
    bool made;
    int dir;
    char root[STATE_PATH_MAX];
    char id[STATE_ID_MAX + 1];
};

/* Claims b->name, or an id that it makes up, and sets b->listen_fd. */
int entry_begin(struct entry *e, struct boot *b, struct error *err) MUST_CHECK;
/* The program runs: state.json. */
void entry_write(const struct entry *e, const struct boot *b, pid_t sentry);
void entry_end(struct entry *e);

/* -- for the commands that talk to a running sandbox ----------------------------------------------
 */
/* Opens the entry of id in the default root and connects to it; an entry whose monitor has died is
 * removed. */
int entry_connect(const char *id, int *ret_sock, struct error *err) MUST_CHECK;
