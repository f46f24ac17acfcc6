#pragma once
/*
 * The second wall: how the sentry locks itself in once everything that needs a privilege has been
 * done. Called once, by the worker, before the first byte of a guest or an image is looked at.
 */
#include "lib/compiler.h"

struct error;

/* Empty read-only root, no capability (bounding set included), no_new_privs, not dumpable, no core
 * file, and the allowlist of sentry_filter.c. */
int confine_sentry(struct error *err) MUST_CHECK;

/* The steps, for tests and other programs. */
int confine_empty_root(struct error *err) MUST_CHECK;
int confine_no_capabilities(struct error *err) MUST_CHECK;
int confine_sentry_filter(struct error *err) MUST_CHECK;
