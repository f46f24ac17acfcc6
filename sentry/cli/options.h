#pragma once
/*
 * The command line of `sentry run`, turned into a boot description.
 */
#include "lib/compiler.h"

struct boot;
struct error;

/* argv[0] is "run". On failure err holds one sentence that names the option. Opens the image, the
 * volumes and the files that options name. -EINVAL etc. */
int options_parse_run(int argc, char **argv, struct boot *b, struct error *err) MUST_CHECK;
