#pragma once
/*
 * Decoding of syscall arguments into text, for --strace. Knows kinds (abi/syscall_kinds.h), not
 * calls and not tasks: guest memory comes through a reader, so tests can use a plain buffer.
 * Nothing here fails; what cannot be read or does not fit is shown as a number or cut.
 */
#include "lib/compiler.h"

#include "abi/syscall_kinds.h"
#include "abi/types.h"

#include "lib/buf.h"

enum {
    ARGFMT_STR_MAX = 64, /* bytes of a string or buffer that are shown */
    ARGFMT_LIST_MAX = 8, /* elements of a vector that are shown */
    ARGFMT_LINE_MAX = 4096,
};

struct argfmt {
    struct buf *out;
    /* Copies n bytes of guest memory; returns how many of them, from the start on, or < 0. */
    int64_t (*read)(void *ctx, gaddr_t src, void *dst, size_t n);
    void *ctx;
    const uint64_t *args; /* all six */
    bool after;           /* the call has returned ... */
    int64_t result;       /* ... this */
};

/* True if the argument's content exists only after the call. */
bool argfmt_is_out(enum syscall_arg_kind kind);
/* Appends argument i, which is of this kind. */
void argfmt_arg(struct argfmt *f, unsigned i, enum syscall_arg_kind kind);
/* Appends n bytes as a quoted, escaped string. */
void argfmt_bytes(struct buf *out, const void *p, size_t n);
/* "ENOENT", or NULL. */
const char *argfmt_errno(int err);
/* "SIGSEGV", "SIGRT_3", or NULL. */
const char *argfmt_signal(int signo);
