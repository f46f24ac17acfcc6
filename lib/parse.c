/* Strict reading of numbers, sizes and durations; see parse.h. */
#include "lib/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/checked.h"
#include "lib/error.h"

struct unit {
    const char *suffix;
    uint64_t factor;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits of base 10 or 16 at *s, which moves behind them. False: none, or too large. */
static bool read_digits(const char **s, unsigned base, uint64_t *ret_v)
{
    const char *p = *s;
    uint64_t v = 0;

    for (;; p++) {
        unsigned digit;
        if (is_digit(*p))
            digit = (unsigned)(*p - '0');
        else if (base == 16 && ((*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F')))
            digit = (unsigned)((*p | 0x20) - 'a' + 10);
        else
            break;
        if (!checked_mul(v, (uint64_t)base, &v) || !checked_add(v, (uint64_t)digit, &v))
            return false;
    }
    if (p == *s)
        return false;
    *s = p;
    *ret_v = v;
    return true;
}

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret_v, struct error *err)
{
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const char *p = hex ? s + 2 : s;
    uint64_t v;

    if (!read_digits(&p, hex ? 16 : 10, &v) || *p != '\0')
        return error_set(err, EINVAL, "'%s' is not a number", s);
    if (v < min || v > max)
        return error_set(err, ERANGE, "%s is not between %llu and %llu", s, (unsigned long long)min,
                         (unsigned long long)max);
    *ret_v = v;
    return 0;
}

/* whole[.fraction] times the factor of the unit that follows; at most nine digits of fraction. */
static bool read_scaled(const char *s, const struct unit *units, size_t n, bool fraction,
                        uint64_t *ret_v)
{
    uint64_t whole, part = 0, part_scale = 1;

    if (!read_digits(&s, 10, &whole))
        return false;
    if (fraction && *s == '.') {
        const char *start = ++s;
        if (!read_digits(&s, 10, &part) || s - start > 9)
            return false;
        for (ptrdiff_t i = s - start; i > 0; i--)
            part_scale *= 10;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s, units[i].suffix) != 0)
            continue;
        uint64_t v;
        /* The fraction as a 128-bit product: no unit is exact in 64 bits with nine digits. */
        uint64_t extra = (uint64_t)((unsigned __int128)part * units[i].factor / part_scale);
        if (!checked_mul(whole, units[i].factor, &v) || !checked_add(v, extra, &v))
            return false;
        *ret_v = v;
        return true;
    }
    return false;
}

int parse_size(const char *s, uint64_t *ret_bytes, struct error *err)
{
    static const struct unit units[] = {
        {"", 1},           {"K", 1ull << 10}, {"k", 1ull << 10}, {"M", 1ull << 20},
        {"m", 1ull << 20}, {"G", 1ull << 30}, {"g", 1ull << 30}, {"T", 1ull << 40},
    };

    if (!read_scaled(s, units, ARRAY_LEN(units), false, ret_bytes))
        return error_set(err, EINVAL, "'%s' is not a size (like 4096, 64K, 512M, 2G)", s);
    return 0;
}

int parse_duration(const char *s, uint64_t *ret_ns, struct error *err)
{
    static const struct unit units[] = {
        {"", 1000000000ull}, {"s", 1000000000ull},  {"ms", 1000000ull},      {"us", 1000ull},
        {"ns", 1ull},        {"m", 60000000000ull}, {"h", 3600000000000ull},
    };

    if (!read_scaled(s, units, ARRAY_LEN(units), true, ret_ns))
        return error_set(err, EINVAL, "'%s' is not a duration (like 500ms, 10s, 2m)", s);
    return 0;
}

int parse_milli(const char *s, uint64_t *ret_milli, struct error *err)
{
    static const struct unit units[] = {{"", 1000}};

    if (!read_scaled(s, units, ARRAY_LEN(units), true, ret_milli))
        return error_set(err, EINVAL, "'%s' is not a number (like 2 or 1.5)", s);
    return 0;
}

int parse_key_value(const char *s, char **ret_key, const char **ret_value, struct error *err)
{
    const char *equals = strchr(s, '=');

    if (!equals || equals == s)
        return error_set(err, EINVAL, "'%s' is not KEY=VALUE", s);
    char *key = kstrndup(s, (size_t)(equals - s));
    if (!key)
        return error_set(err, ENOMEM, "out of memory");
    *ret_key = key;
    *ret_value = equals + 1;
    return 0;
}
