#pragma once
/*
 * Looks for the canaries' secrets in a stream: as they are, in upper case, reversed, as
 * hexadecimal, as base64 at each alignment, and as the bytes that the digits stand for.
 */
#include "lib/compiler.h"

enum {
    SECRET_DIGITS = 32, /* hexadecimal digits of a secret */
    SCAN_SECRETS = 8,
    SCAN_FORMS = 12,
    SCAN_LONGEST = 2 * SECRET_DIGITS
};

struct scan_pattern {
    uint8_t bytes[SCAN_LONGEST];
    size_t len;
    const char *form;
};

struct scan_secret {
    const char *name; /* whose secret; borrowed */
    struct scan_pattern patterns[SCAN_FORMS];
    size_t n;
};

/* The set of secrets; shared by the streams. */
struct scan_set {
    struct scan_secret secrets[SCAN_SECRETS];
    size_t n;
};

/* One stream: remembers the end of what it saw, so that a secret may lie across two pieces. */
struct scan {
    const struct scan_set *set; /* NULL: nothing is looked for */
    uint8_t carry[SCAN_LONGEST];
    size_t ncarry;
    const char *found, *form; /* NULL: nothing yet */
};

/* digits are SECRET_DIGITS hexadecimal digits in lower case. */
void scan_set_add(struct scan_set *set, const char *name, const char *digits);
void scan_init(struct scan *s, const struct scan_set *set);
void scan_feed(struct scan *s, const void *data, size_t n);
