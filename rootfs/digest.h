#pragma once
/*
 * SHA-256 digests as images name their parts: "sha256:" and 64 hexadecimal digits. The hash itself
 * is nettle's, which libarchive needs anyway.
 */
#include "lib/compiler.h"

#include <nettle/sha2.h>

struct error;

enum {
    DIGEST_BYTES = 32,
    DIGEST_HEX = 64,
    DIGEST_TEXT = 72 /* "sha256:" + hex + NUL */
};

struct digest {
    uint8_t b[DIGEST_BYTES];
};

struct digest_state {
    struct sha256_ctx ctx;
};

void digest_begin(struct digest_state *s);
void digest_update(struct digest_state *s, const void *p, size_t n);
void digest_end(struct digest_state *s, struct digest *ret_d);

/* "sha256:HEX" in lower case; -EINVAL, or -ENOTSUP for another algorithm. */
int digest_parse(const char *text, struct digest *ret_d, struct error *err) MUST_CHECK;
/* Exactly n = 64 lower-case hexadecimal digits. */
bool digest_parse_hex(const char *hex, size_t n, struct digest *ret_d) MUST_CHECK;
void digest_hex(const struct digest *d, char ret_hex[DIGEST_HEX + 1]);
/* The first twelve digits, for people. */
void digest_short(const struct digest *d, char ret_hex[13]);
bool digest_equal(const struct digest *a, const struct digest *b) PURE;
