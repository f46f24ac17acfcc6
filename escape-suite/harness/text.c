/*
 * text.c: guest bytes made harmless for reports.
 */
#include "escape-suite/harness/text.h"

#include <stdint.h>
#include <string.h>

#include "lib/buf.h"

/* Length of the valid UTF-8 sequence at p (shortest form, no surrogate), 0 when there is none. */
static size_t utf8_length(const uint8_t *p, size_t n)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = p[0] < 0x80 ? 1 : p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (len == 1)
        return 1;
    if (p[0] < 0xc2 || p[0] >= 0xf8 || len > n)
        return 0;
    uint32_t v = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    /* C1 controls and what XML may not carry count as invalid too. */
    bool bad = v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) || v < 0xa0 ||
               (v & 0xfffe) == 0xfffe || (v >= 0xfdd0 && v < 0xfdf0) || v == 0xfeff ||
               (v >= 0x2028 && v <= 0x202e) || (v >= 0x2066 && v <= 0x2069);
    return bad ? 0 : len;
}

int text_escape(struct buf *b, const void *data, size_t n, bool keep_lines)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length(p + i, n - i);
        bool line = p[i] == '\n' || p[i] == '\t';
        if (p[i] == '\\') {
            (void)buf_puts(b, "\\\\");
            i++;
        } else if (len > 1 || (len == 1 && p[i] >= 0x20 && p[i] != 0x7f) || (line && keep_lines)) {
            (void)buf_append(b, p + i, len);
            i += len;
        } else {
            (void)buf_printf(b, "\\x%02x", p[i]);
            i++;
        }
    }
    return buf_error(b);
}

int text_xml(struct buf *b, const char *s)
{
    for (; *s != '\0'; s++) {
        switch (*s) {
        case '&':
            (void)buf_puts(b, "&amp;");
            break;
        case '<':
            (void)buf_puts(b, "&lt;");
            break;
        case '>':
            (void)buf_puts(b, "&gt;");
            break;
        case '"':
            (void)buf_puts(b, "&quot;");
            break;
        case '\'':
            (void)buf_puts(b, "&#39;");
            break;
        default:
            (void)buf_putc(b, *s);
            break;
        }
    }
    return buf_error(b);
}

json_t *text_json(const void *p, size_t n)
{
    struct buf b;
    buf_init(&b, n * 4 + 1);
    json_t *s = text_escape(&b, p, n, false) == 0 ? json_string(buf_cstr(&b)) : NULL;
    buf_done(&b);
    return s;
}

const char *json_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL ? s : "";
}
