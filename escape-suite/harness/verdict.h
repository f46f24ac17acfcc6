#pragma once
/*
 * From what was seen to a verdict. Pure: nothing here runs or reads anything.
 */
#include "lib/compiler.h"

#include "escape-suite/harness/catalogue.h"
#include "escape-suite/harness/findings.h"
#include "escape-suite/harness/run.h"
#include "escape-suite/harness/runtime.h"

enum last_line {
    LAST_NONE,
    LAST_CONTAINED,
    LAST_ESCAPED,
    LAST_CANNOT,
    LAST_WORKS,
    LAST_BROKEN
};

struct transcript {
    enum last_line last;
    bool escaped; /* an ESCAPED line anywhere */
    char text[400];
};

enum outcome {
    OUTCOME_CONTAINED,
    OUTCOME_ESCAPED,
    OUTCOME_TWIN_BROKEN,
    OUTCOME_NOT_JUDGED,
    OUTCOME_NOT_APPLICABLE, /* the attack is about another kind of runtime */
    OUTCOME_COUNT
};

struct evidence {
    const struct attack *attack;
    enum runtime_kind kind;
    const struct observation *run, *twin, *next; /* twin, next: NULL when there was none */
    const struct findings *findings;
};

/* The last line with one of the words; bytes may be anything. */
void transcript_parse(const char *p, size_t n, struct transcript *t);
enum outcome judge(const struct evidence *e, char *reason, size_t cap);
const char *outcome_name(enum outcome o);
/* "exit status 0", "signal 9", "given up". */
void observation_status(const struct observation *o, char *buf, size_t cap);
/* What the harness itself exits with: 1 an escape or a broken twin, 2 something not judged, else 0.
 */
int suite_status(const unsigned counts[static OUTCOME_COUNT]);
