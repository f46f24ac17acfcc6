#pragma once
/*
 * guest_hooks.h: startContainer hooks: programs of the image, run in the sandbox before its first
 * process is let go.
 */
struct container;
struct error;
struct oci_config;

#include "lib/compiler.h"

int guest_hooks_run(struct container *c, const struct oci_config *cfg, const char *state,
                    struct error *err) MUST_CHECK;
