#pragma once
/*
 * The harness's scratch directory: the image with the attacks in it, bundles, canaries.
 */
#include "lib/compiler.h"

struct error;
struct settings;

/* Makes the directory and the copy of the busybox image with /attack. */
int scratch_make(struct settings *s, struct error *err) MUST_CHECK;
/* Removes the tree without following any link. Harmless on "". */
void scratch_remove(const char *dir);
