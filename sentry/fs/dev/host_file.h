#pragma once
/*
 * The caller's descriptors inside: what the monitor and the report ask about them.
 */
#include "lib/compiler.h"

struct file;

/* Bytes that the guest wrote to a host file so far; 0 for other files. */
uint64_t host_file_written(const struct file *f);
/*
 * What may go out through one of the caller's descriptors: at most `limit` bytes; the write that
 * would cross it passes the bytes up to the limit and ends the run (output-limit). capture, when
 * given, gets a copy.
 */
struct host_output {
    uint64_t limit;
    uint64_t bytes; /* passed on */
    bool exceeded;
    uint8_t *capture; /* limit bytes, or NULL */
};
/* out is borrowed for the life of the file. */
void host_file_set_output(struct file *f, struct host_output *out);
