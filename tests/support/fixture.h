#pragma once
/*
 * Runs around every unit test: after the test the process must have as many open descriptors as
 * before it. A leak fails the test.
 */
#include "lib/compiler.h"

void fixture_setup(void);
void fixture_teardown(void);
