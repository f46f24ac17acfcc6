#pragma once
/*
 * One entry of an OCI configuration's "mounts", turned into a struct boot_mount:
 *
 *      struct boot_mount m = {.fd = -1, .guest = destination, .source = source};
 *      boot_mount_type(&m, type, err);                 "bind" where the configuration names none
 *      boot_mount_option(&m, options[i], err);         each
 *      if (m.type == BOOT_MOUNT_BIND)
 *          boot_mount_source(&m, source, err);         relative to the caller's working directory
 *      boot_add_mount(&boot, &m, err);
 *
 * A tmpfs at /dev is BOOT_MOUNT_TMPFS too: with mounts_given the usual devices are made there
 * anyway.
 */
#include "lib/compiler.h"

#include "lib/error.h"

struct boot_mount;

/* "proc", "bind", "tmpfs" ...; an option "bind" or "rbind" makes any of them a bind, as with runc.
 * -EINVAL with a sentence. */
int boot_mount_type(struct boot_mount *m, const char *name, struct error *err) MUST_CHECK;
/* One option: ro nosuid noexec size=64m rprivate ... -EINVAL for an unknown one. */
int boot_mount_option(struct boot_mount *m, const char *option, struct error *err) MUST_CHECK;
/* Opens the host's file or directory of a bind. Symlinks are followed; sockets, fifos and devices
 * are refused. */
int boot_mount_source(struct boot_mount *m, const char *host_path, struct error *err) MUST_CHECK;
