#pragma once
/*
 * The list of attacks: attacks.def, with the options of each line parsed, and the notes that its
 * file opens with. Filled once by catalogue_load, immutable afterwards.
 */
#include "lib/compiler.h"

struct error;

enum group {
    GROUP_NETWORK,
    GROUP_FILES,
    GROUP_PROCESSES,
    GROUP_RESOURCES,
    GROUP_OUTLIVE,
    GROUP_SEE,
    GROUP_COMPILER,
    GROUP_OUTPUT,
    GROUP_SUPERVISOR,
    GROUP_GOFER,
    GROUP_IMAGES,
    GROUP_COUNT
};

/* What the first comments of a file say; "" where one is missing. */
struct notes {
    const char *file, *tries, *must_fail, *escape, *source;
};

struct attack {
    const char *id, *file, *what, *needs, *options;
    enum group group;
    const struct notes *notes; /* NULL: the file is not there */
    /* from options */
    const char *image; /* "busybox" or "debian" */
    bool user0, writable, tty, terminal, leak, host_side, slow, no_twin;
    char limits[256];                 /* options of `sentry run` */
    char arg[64];                     /* one more fact, "": none */
    char expect[128];                 /* "a|b", "": a last line is needed */
    int64_t want_stdout, want_stderr; /* -1: any number */
    unsigned deadline_s;
};

/* Parses every line; an error names the attack. */
int catalogue_load(struct error *err) MUST_CHECK;
size_t catalogue_count(void);
const struct attack *catalogue_get(size_t i);

/* Fills what comes from a->options. */
int attack_parse_options(struct attack *a, struct error *err) MUST_CHECK;
/* Is a named by the list: ids, prefixes of ids ("n", "n01") or groups ("network"), by commas? */
bool attack_selected(const struct attack *a, const char *only);
/* Is word one of the words of list, which are separated by sep? */
bool word_in(const char *list, char sep, const char *word);
const char *group_name(enum group g);
const char *group_title(enum group g);
