#pragma once
/*
 * Text that people write, read strictly: no leading blanks, no trailing characters, no overflow.
 * On failure err says what was expected (it may be NULL) and the result is untouched.
 */
#include "lib/compiler.h"

struct error;

/* Decimal, or hexadecimal after 0x. min and max are inclusive. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret_v, struct error *err)
    MUST_CHECK;
/* Bytes: "123", "64K", "512M", "2G", "1T" (powers of 1024). */
int parse_size(const char *s, uint64_t *ret_bytes, struct error *err) MUST_CHECK;
/* Nanoseconds: "500ms", "10s", "1.5s", "2m", "1h", "20us"; a bare number is seconds. */
int parse_duration(const char *s, uint64_t *ret_ns, struct error *err) MUST_CHECK;
/* A decimal fraction in thousandths: "2" is 2000, "1.5" is 1500. */
int parse_milli(const char *s, uint64_t *ret_milli, struct error *err) MUST_CHECK;
/* "key=value": *ret_key is a copy for the caller to kfree, *ret_value points into s. The key is not
 * empty. */
int parse_key_value(const char *s, char **ret_key, const char **ret_value, struct error *err)
    MUST_CHECK;
