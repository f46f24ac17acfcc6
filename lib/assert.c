/* Broken promises; see assert.h. */
#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"

static void (*fail_handler)(const char *text);

void kassert_set_handler(void (*handler)(const char *text))
{
    fail_handler = handler;
}

void kassert_fail(const char *file, int line, const char *what)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "broken promise at %s:%d: %s", file, line, what);
    log_raw(text);
    void (*handler)(const char *) = fail_handler;
    fail_handler = NULL;
    if (handler)
        handler(text);
    abort();
}
