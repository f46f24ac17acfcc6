#pragma once
/*
 * The processes of one sandbox, made by the monitor.
 */
#include "lib/compiler.h"

#include <stdbool.h>

#include <sys/types.h>

struct boot;
struct cgroup;
struct error;

struct sandbox {
    pid_t sentry, gofer, volumes; /* gofer, volumes 0: there is no such server */
    int control;                  /* SOCK_SEQPACKET to the sentry */
};

/* Makes the cgroup, unless the description names others, and starts gofer and sentry in it with the
 * description. On failure nothing is left running; the cgroup is the caller's to remove, then too.
 */
int sandbox_start(struct boot *b, struct cgroup *ret_cg, struct sandbox *ret_sb, struct error *err)
    MUST_CHECK;
/* Kills both; they may live a moment longer. */
void sandbox_kill(const struct sandbox *sb);
/* Kills what still lives and reaps both; *ret_sentry_status is the sentry's wait status,
 * *ret_said whether a server ended by itself and has said why. */
void sandbox_end(struct sandbox *sb, int *ret_sentry_status, bool *ret_said);
