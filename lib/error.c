/* Errors for people; see error.h. */
#include "lib/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_init(struct error *err)
{
    err->code = 0;
    err->text[0] = '\0';
}

static int code_or_eio(int code)
{
    return code > 0 ? code : EIO;
}

/* The code, made positive, and the words; err may be NULL. */
PRINTF(3, 0) static int set(struct error *err, int code, const char *fmt, va_list ap)
{
    code = code_or_eio(code);
    if (err) {
        err->code = code;
        (void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
    }
    return code;
}

int(error_set)(struct error *err, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    code = set(err, code, fmt, ap);
    va_end(ap);
    return -code;
}

int(error_errno)(struct error *err, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    code = set(err, code, fmt, ap);
    va_end(ap);
    if (err) {
        size_t used = strlen(err->text);
        const char *words = strerrordesc_np(code);

        (void)snprintf(err->text + used, sizeof(err->text) - used, ": %s",
                       words ? words : "unknown error");
    }
    return -code;
}

int(error_prefix)(struct error *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;

    if (!err)
        return -EIO;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
    return -code_or_eio(err->code);
}
