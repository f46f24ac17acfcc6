#pragma once
/*
 * seccomp_filter.h: the seccomp profile of config.json as the program that the guest starts with.
 */
#include "lib/compiler.h"

struct boot;
struct error;
struct oci_seccomp;

int seccomp_filter_set(struct boot *b, const struct oci_seccomp *s, struct error *err) MUST_CHECK;
