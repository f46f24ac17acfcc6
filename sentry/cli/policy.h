#pragma once
/*
 * The policy file (`--policy sandbox.json`).
 */
#include "lib/compiler.h"

struct boot;
struct error;

/* Reads the file into b's limits. An unknown key, a wrong type or a number out of range is an error
 * that names file, line and key. */
int policy_read(const char *path, struct boot *b, struct error *err) MUST_CHECK;
int policy_parse(const char *name, const char *text, size_t len, struct boot *b, struct error *err)
    MUST_CHECK;
