#pragma once
/*
 * A run of the suite: its settings, the lanes that make the attacks, the documents that come out.
 */
#include "lib/compiler.h"

#include <jansson.h>

#include "escape-suite/harness/runtime.h"

struct error;

struct settings {
    const char *runtime_name, *only, *format, *output;
    char images[512];  /* directory with busybox, debian */
    char attacks[512]; /* built programs */
    char bin[512];     /* our own programs */
    unsigned jobs;
    unsigned deadline_s; /* 0: each attack's own */
    bool quick, verbose;
    struct runtime runtime;
    char scratch[256]; /* of this run */
    char busybox[300]; /* copy of the image with /attack in it */
    char debian[600];  /* the image, "" when there is none */
};

/* One attack, judged by a lane: receives requests (a uint32_t index) on `in` and answers each on
 * `out` (a uint32_t length, then JSON) until the other side closes. */
NORETURN void lane_main(const struct settings *s, unsigned number, int in, int out);

/* Called with the document of each attack, in the order of the list. */
typedef void suite_each_fn(void *arg, const json_t *attack);
/* Runs all that settings select. The document is in the format of the JSON report. */
int suite_run(struct settings *s, suite_each_fn *each, void *arg, json_t **ret_doc,
              struct error *err) MUST_CHECK;

/* An attack's document before anything was seen. */
json_t *attack_json(const struct attack *a);
/* Sets outcome and reason. */
void attack_json_outcome(json_t *o, const char *outcome, const char *reason);
