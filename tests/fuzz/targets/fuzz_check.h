#pragma once
/*
 * For targets that use the box (tests/support/box.h): its assertions are libcheck's, which only
 * work inside its own test runs. Here a failed one is a broken promise. Included by one file of a
 * program.
 */
#include "lib/compiler.h"

#include "lib/assert.h"

void _mark_point(const char *file, int line);
NORETURN void _ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);

void _mark_point(const char *file, int line)
{
    (void)file;
    (void)line;
}

NORETURN void _ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
    (void)msg;
    kassert_fail(file, line, expr);
}
