/*
 * scan.c: the search for secrets in output.
 */
#include "escape-suite/harness/scan.h"

#include <stdio.h>
#include <string.h>

static void add(struct scan_secret *s, const char *form, const uint8_t *p, size_t len)
{
    struct scan_pattern *pat = &s->patterns[s->n++];
    pat->len = len;
    pat->form = form;
    (void)memcpy(pat->bytes, p, len);
}

static uint8_t base64_digit(uint32_t v)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (uint8_t)digits[v & 63];
}

/* Base64 of p when skip bytes (0..2) of a group come before it: only the digits that depend on p
 * alone. */
static void add_base64(struct scan_secret *s, const uint8_t *p, size_t n, size_t skip)
{
    uint8_t out[SCAN_LONGEST];
    size_t len = 0, start = (3 - skip) % 3;
    for (size_t i = start; i + 3 <= n && len + 4 <= sizeof(out); i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 | p[i + 2];
        for (int k = 0; k < 4; k++)
            out[len++] = base64_digit(v >> (18 - 6 * k));
    }
    add(s, "in base64", out, len);
}

static unsigned digit_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 15;
}

void scan_set_add(struct scan_set *set, const char *name, const char *digits)
{
    uint8_t plain[SECRET_DIGITS], upper[SECRET_DIGITS], back[SECRET_DIGITS], hex[2 * SECRET_DIGITS],
        raw[SECRET_DIGITS / 2];
    if (set->n == SCAN_SECRETS)
        return;
    struct scan_secret *s = &set->secrets[set->n++];
    *s = (struct scan_secret){.name = name};
    for (size_t i = 0; i < SECRET_DIGITS; i++) {
        static const char low[] = "0123456789abcdef";
        plain[i] = (uint8_t)digits[i];
        upper[i] = plain[i] >= 'a' ? (uint8_t)(plain[i] - 'a' + 'A') : plain[i];
        back[SECRET_DIGITS - 1 - i] = (uint8_t)digits[i];
        hex[2 * i] = (uint8_t)low[plain[i] >> 4];
        hex[2 * i + 1] = (uint8_t)low[plain[i] & 15];
        if (i % 2 == 0)
            raw[i / 2] = (uint8_t)(digit_value(digits[i]) << 4 | digit_value(digits[i + 1]));
    }
    add(s, "as it is", plain, sizeof(plain));
    add(s, "in upper case", upper, sizeof(upper));
    add(s, "reversed", back, sizeof(back));
    add(s, "in hexadecimal", hex, sizeof(hex));
    add(s, "as bytes", raw, sizeof(raw));
    for (size_t skip = 0; skip < 3; skip++) {
        add_base64(s, plain, sizeof(plain), skip);
        add_base64(s, raw, sizeof(raw), skip);
    }
}

void scan_init(struct scan *s, const struct scan_set *set)
{
    *s = (struct scan){.set = set};
}

static void search(struct scan *s, const uint8_t *p, size_t n)
{
    for (size_t i = 0; s->set != NULL && i < s->set->n && s->found == NULL; i++) {
        const struct scan_secret *secret = &s->set->secrets[i];
        for (size_t k = 0; k < secret->n && s->found == NULL; k++) {
            if (memmem(p, n, secret->patterns[k].bytes, secret->patterns[k].len) != NULL) {
                s->found = secret->name;
                s->form = secret->patterns[k].form;
            }
        }
    }
}

void scan_feed(struct scan *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint8_t seam[2 * SCAN_LONGEST];
    size_t head = MIN(n, (size_t)SCAN_LONGEST);
    if (n == 0)
        return;
    /* The seam between the last piece and this one, then the piece itself. */
    (void)memcpy(seam, s->carry, s->ncarry);
    (void)memcpy(seam + s->ncarry, p, head);
    search(s, seam, s->ncarry + head);
    search(s, p, n);
    if (n >= SCAN_LONGEST) {
        (void)memcpy(s->carry, p + n - SCAN_LONGEST, SCAN_LONGEST);
        s->ncarry = SCAN_LONGEST;
        return;
    }
    size_t both = s->ncarry + n;
    size_t keep = MIN(both, (size_t)SCAN_LONGEST);
    (void)memcpy(s->carry, seam + both - keep, keep);
    s->ncarry = keep;
}
