#pragma once
/*
 * Path walks against a naive walker. A case is a byte string: it builds a small tree on a tmpfs
 * (and the same as an array), then looks paths up in both. A difference ends the program with the
 * case printed. Used by the namei unit test and fuzz target.
 */
#include "lib/compiler.h"

void namei_model_run(const uint8_t *data, size_t size);
