#pragma once
/*
 * view.h: the mount namespace that an engine finds behind the container's pid.
 *
 * Engines take it for the container's: `podman cp` enters it and reads and writes paths there that
 * a guest may have chosen. In the host's that would be files of the host, so the monitor leaves it.
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct boot;

/*
 * The calling process, which opens no file afterwards, moves to where nothing of the host is: with
 * a root that is written through, a namespace that has this root and the bind mounts, and at all
 * other mount points empty read-only directories; else the sentry's own, whose root is empty and
 * read-only. To be called while no program of the guest runs yet. What fails is logged.
 */
void view_enter(const struct boot *b, pid_t sentry);
