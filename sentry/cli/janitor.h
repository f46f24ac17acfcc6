#pragma once
/*
 * The janitor: one process beside a monitor, which sleeps until the monitor has ended, in whatever
 * way, and then removes what that left behind: the run's cgroups, and its entry in the state
 * directory. It is told of each before it is made, so there is no moment at which a killed monitor
 * leaves one behind. There is at most one, made when there is something to tell.
 */
#include "lib/compiler.h"

/* A cgroup's directory that is about to be made. */
void janitor_tell_group(const char *dir);
/* The entry id below root that is about to be made. */
void janitor_tell_entry(const char *root, const char *id);
/* Each who told it something lets it go when that is removed (or was never made); with the last it
 * ends. */
void janitor_release(void);
/* Before the monitor returns: waits for its end, if it is to end. Whoever would inherit it, a
 * container's first process, may not look after it. */
void janitor_reap(void);
