#pragma once
/*
 * capabilities(7): what a process of ours is left with.
 */
#include "lib/compiler.h"

/* Keeps those of `keep` (bit N: capability N), permitted and effective; none is inheritable,
 * ambient or, for who may drop them, in the bounding set. -EPERM: one of them is not there to keep.
 */
int caps_keep(uint64_t keep) MUST_CHECK;
