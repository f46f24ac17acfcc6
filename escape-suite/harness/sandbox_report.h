#pragma once
/*
 * What `sentry run --report` wrote, into an observation; and an observation as JSON.
 */
#include "lib/compiler.h"

#include <jansson.h>

#include "escape-suite/harness/findings.h"
#include "escape-suite/harness/run.h"

/* A report that is there but no valid JSON, or that contradicts the exit or (counts) the bytes that
 * came, is a finding. The file is removed. */
void sandbox_report_read(const char *path, bool counts, struct observation *o, struct findings *f);
/* Status, verdict, counts, and the transcript's lines (escaped, the middle of a long one left out).
 */
json_t *observation_json(const struct observation *o);
