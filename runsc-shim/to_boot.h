#pragma once
/*
 * to_boot.h: config.json into the description that starts a sandbox.
 */
#include "runsc-shim/oci_config.h"

struct boot;
struct boot_process;
struct error;

/* b is from boot_init_oci. Opens the root file system and the sources of bind mounts, nothing else
 * of the host; relative names are below bundle_fd. */
int boot_from_config(struct boot *b, const struct oci_config *c, int bundle_fd, struct error *err)
    MUST_CHECK;
/* Ids, capabilities, limits of a process. */
void boot_process_from(struct boot_process *out, const struct oci_process *p);
