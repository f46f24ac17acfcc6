#pragma once
/*
 * The small files of cgroup directories, and where the caller's own is.
 */
#include "lib/compiler.h"

int cgroup_file_write(const char *dir, const char *name, const char *text) MUST_CHECK;
/* At most cap - 1 bytes, without the last newline; false: there is none. */
bool cgroup_file_read(const char *dir, const char *name, char *buf, size_t cap);
/* A number, "max" is UINT64_MAX; 0: there is none. */
uint64_t cgroup_file_number(const char *dir, const char *name);
/* The number behind "key " in a file of such lines. */
uint64_t cgroup_file_key(const char *dir, const char *name, const char *key);
/* A name for a new group below base: of this process and of now. False: it is too long. */
bool cgroup_dir_name(const char *base, char *ret_dir, size_t cap);
/* Waits for the processes that were killed: one leaves its group a moment after it was reaped. */
void cgroup_dir_remove(const char *dir);
/* Our own path in the hierarchy of a v1 controller ("memory"), or of v2 (""), as self
 * (/proc/self/cgroup) has it; "" at its top. False: there is none. */
bool cgroup_own_path(const char *self, const char *controller, char *buf, size_t cap);
