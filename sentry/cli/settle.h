#pragma once
/*
 * The sentry's namespaces: made by the sentry, with the monitor's help. Both ends of what they say
 * meanwhile; it goes over the sandbox's control socket, before anything else does.
 */
#include "lib/compiler.h"

struct cgroup_entry;
struct error;

/* In the sentry: the namespaces, and nothing of the host in them. `settled` is closed when that is
 * so; *ret_proc is the host's /proc, owned by the caller. The caller has new user and pid
 * namespaces, and one thread. */
int settle(int control, int settled, int *ret_proc, struct error *err) MUST_CHECK;

/* In the monitor: the user's maps are written, and these are the groups to enter. -errno:
 * the host does not pass them on. */
int settle_go(int control, const struct cgroup_entry *e) MUST_CHECK;
/* Waits until the sentry has entered, or not, which e->errors then says. An end of the sentry, here
 * and there, is seen elsewhere. */
void settle_entered(int control, struct cgroup_entry *e);
