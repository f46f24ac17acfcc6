#pragma once
/*
 * hooks.h: programs of the host that config.json asks to be run at points of a container's life.
 */
#include "runsc-shim/oci_config.h"

struct error;

/* Runs the hooks of one kind in order, each with the state (JSON) on standard input, in bundle_fd's
 * directory and with exactly the environment of its entry. The first that fails or takes too long
 * ends the list with an error that says what it wrote. */
int hooks_run(const struct oci_hooks *hooks, enum oci_hook_kind kind, const char *state,
              int bundle_fd, struct error *err) MUST_CHECK;
