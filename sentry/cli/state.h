#pragma once
/*
 * The state directory: one directory a sandbox, ROOT/ID, mode 0700, with `state.json`, `lock` and
 * the control socket. ROOT is /run/sentry for root, $XDG_RUNTIME_DIR/sentry (else
 * /tmp/sentry-UID) for others; the OCI command has --root.
 *
 * state.json is replaced atomically. The lock (flock) is held over every change of the state; its
 * holder may die at any moment. Whether a sandbox lives is decided by its monitor: pid and start
 * time, so that a reused pid is nobody.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct error;

enum {
    STATE_ID_MAX = 128,
    STATE_PATH_MAX = 4096
};

enum state_status {
    STATE_CREATING,
    STATE_CREATED,
    STATE_RUNNING,
    STATE_PAUSED,
    STATE_STOPPED
};

struct state {
    char id[STATE_ID_MAX + 1];
    enum state_status status;
    pid_t monitor;         /* 0: none yet */
    uint64_t monitor_time; /* its start in clock ticks (state_process_time) */
    pid_t sentry;
    char created[40];      /* RFC 3339 */
    char *image, *command; /* words for `list`; owned, may be NULL */
    /* The OCI command's: */
    char *bundle;
    char *cgroups_json, *annotations_json; /* a JSON value each, verbatim; NULL: none */
    char *config_path;
    uint32_t uid; /* who made it */
};

void state_init(struct state *s);
void state_done(struct state *s);
const char *state_status_name(enum state_status st); /* "creating" "created" "running" ... */

/* 1 to 128 of [A-Za-z0-9_+.-], not "." or "..". */
int state_id_check(const char *id, struct error *err) MUST_CHECK;
/* The default root for the caller. */
int state_default_root(char *buf, size_t cap, struct error *err) MUST_CHECK;

/* Makes ROOT (0700, missing parents too) and ROOT/ID. -EEXIST: the id is taken. */
int state_create(const char *root, const char *id, int *ret_dir, struct error *err) MUST_CHECK;
/* -ENOENT: no such sandbox. Refuses a directory of another user. */
int state_open(const char *root, const char *id, int *ret_dir, struct error *err) MUST_CHECK;
/* The lock of the directory, waited for; closing *ret_lock gives it up. -ENOENT: the directory has
 * been removed meanwhile. */
int state_lock(int dir, int *ret_lock, struct error *err) MUST_CHECK;
/* The direct command's own way to say that it lives: an exclusive flock on the directory, held by
 * the monitor until it dies in whatever way. Directories that live by it have the sticky bit; all
 * others (containers, which exist without a process) are nobody's to claim: -EPERM. -EWOULDBLOCK
 * (without wait): somebody holds it. -ENOENT: the directory was removed before the claim. */
int state_create_claimable(const char *root, const char *id, int *ret_dir, struct error *err)
    MUST_CHECK;
int state_claim(int dir, bool wait) MUST_CHECK;
/* Removes claimable entries that nobody claims, looking at no more than max of them. */
void state_sweep(const char *root, unsigned max);
/* durable: fsync of file and directory before and after the rename. */
int state_write(int dir, const struct state *s, bool durable, struct error *err) MUST_CHECK;
/* s is initialised or from an earlier read. -ENOENT: none written yet. */
int state_read(int dir, struct state *s, struct error *err) MUST_CHECK;
/* Removes what is in the directory (only known names, then anything that is a plain file), and the
 * directory. Missing ones are fine. */
int state_remove(const char *root, const char *id, struct error *err) MUST_CHECK;
/* Calls fn for every id (in order of names); a negative result stops it. */
int state_each(const char *root, int (*fn)(void *ctx, const char *id), void *ctx, struct error *err)
    MUST_CHECK;

/* Start of a process in clock ticks since boot; 0: there is none. */
uint64_t state_process_time(pid_t pid);
/* The monitor of s lives. */
bool state_alive(const struct state *s);
void state_set_created_now(struct state *s);
