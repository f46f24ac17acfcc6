#pragma once
/*
 * cgroup_file.h: reading and writing the small files of cgroup directories.
 */
#include "lib/compiler.h"

int cgroup_file_write(const char *dir, const char *name, const char *text) MUST_CHECK;
/* At most cap - 1 bytes, without the last newline; false: there is none. */
bool cgroup_file_read(const char *dir, const char *name, char *buf, size_t cap);
/* A number, "max" is UINT64_MAX; 0: there is none. */
uint64_t cgroup_file_number(const char *dir, const char *name);
/* The number behind "key " in a file of such lines. */
uint64_t cgroup_file_key(const char *dir, const char *name, const char *key);
