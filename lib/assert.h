#pragma once
/*
 * Broken promises. KASSERT stays in release builds and ends the program: in the sentry through the
 * handler that it installs (verdict internal-error), elsewhere by abort(). It is for promises that
 * our own code made; nothing that a guest does may reach one. DCHECK exists in debug builds only.
 */
#include "lib/compiler.h"

#define KASSERT(cond)                                \
    do {                                             \
        if (UNLIKELY(!(cond)))                       \
            kassert_fail(__FILE__, __LINE__, #cond); \
    } while (0)

#if SENTRY_DEBUG
#define DCHECK(cond) KASSERT(cond)
#else
#define DCHECK(cond) ((void)sizeof(cond))
#endif

/* Logs the broken promise, calls the handler and, should that return, aborts. */
NORETURN void kassert_fail(const char *file, int line, const char *what);

/* Called with the text of a broken promise before the program ends; NULL for none. */
void kassert_set_handler(void (*handler)(const char *text));
