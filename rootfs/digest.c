/*
 * digest.c: SHA-256 and its text.
 */
#include "rootfs/digest.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"

void digest_begin(struct digest_state *s)
{
    sha256_init(&s->ctx);
}

void digest_update(struct digest_state *s, const void *p, size_t n)
{
    sha256_update(&s->ctx, n, p);
}

void digest_end(struct digest_state *s, struct digest *ret_d)
{
    sha256_digest(&s->ctx, DIGEST_BYTES, ret_d->b);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool digest_parse_hex(const char *hex, size_t n, struct digest *ret_d)
{
    struct digest d;
    if (n != DIGEST_HEX)
        return false;
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        int high = hex_value(hex[2 * i]);
        int low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        d.b[i] = (uint8_t)(high << 4 | low);
    }
    *ret_d = d;
    return true;
}

int digest_parse(const char *text, struct digest *ret_d, struct error *err)
{
    static const char prefix[] = "sha256:";
    size_t n = sizeof(prefix) - 1;
    if (strncmp(text, prefix, n) != 0)
        return error_set(err, ENOTSUP, "not a sha256 digest");
    if (!digest_parse_hex(text + n, strlen(text + n), ret_d))
        return error_set(err, EINVAL, "not 64 hexadecimal digits behind sha256:");
    return 0;
}

void digest_hex(const struct digest *d, char ret_hex[DIGEST_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        ret_hex[2 * i] = digits[d->b[i] >> 4];
        ret_hex[2 * i + 1] = digits[d->b[i] & 15];
    }
    ret_hex[DIGEST_HEX] = '\0';
}

void digest_short(const struct digest *d, char ret_hex[13])
{
    char hex[DIGEST_HEX + 1];
    digest_hex(d, hex);
    memcpy(ret_hex, hex, 12);
    ret_hex[12] = '\0';
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->b, b->b, DIGEST_BYTES) == 0;
}
