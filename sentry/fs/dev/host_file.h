#pragma once
/*
 * The caller's descriptors inside: what the monitor and the report ask about them.
 */
#include "lib/compiler.h"

struct file;

/* Bytes that the guest wrote to a host file so far; 0 for other files. */
uint64_t host_file_written(const struct file *f);
/* Called after each write to a host file with the running total; NULL: nobody. */
void host_file_set_hook(void (*hook)(const struct file *f, uint64_t total));
